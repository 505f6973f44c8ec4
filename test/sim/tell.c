/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callbacks of the application. The checks concern their number, their order, and that they run one at a time. The
 * callbacks also make the calls that are allowed in callbacks.
 */
#include "ops.h"
#include "threads.h"

/* Check that blocking calls are refused at once in a callback. */
static void try_to_block(struct process *p)
{
    const struct {
        const char *name;
        int rc;
    } calls[] = {
        {"acquire",
         p->locks[LOCK_A] ? zkr_mutex_acquire(p->locks[LOCK_A], 1) : ZKR_ESTATE},
        {"flush", zkr_client_flush(p->c, 1)},
        {"wait_connected", zkr_client_wait_connected(p->c, 1)},
        {"close", zkr_client_close(p->c)},
        {"await", p->latch ? zkr_leader_latch_await(p->latch, 1) : ZKR_ESTATE},
    };
    did.refused++;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (calls[i].rc != ZKR_ESTATE) {
            sim_violation("%s in a callback returns %s", calls[i].name,
                          zkr_err_name(calls[i].rc));
        }
    }
}

static void call_back(struct process *p)
{
    /* Objects that are about to be destroyed are not used. */
    if (!p->ending && zkf_chance(20)) {
        try_to_block(p);
    }
    if (!p->ending && scene.cancels && p->locks[LOCK_B] && zkf_chance(20)) {
        (void)zkr_mutex_cancel(p->locks[LOCK_B]);
    }
    if (!p->ending && p->locks[WRITER] && zkf_chance(20)) {
        (void)zkr_mutex_is_held_in_process(p->locks[WRITER]);
    }
    sim_point();
    if (zkf_chance(20)) {
        sim_sleep(zkf_below(20 * ZKR__MS)); /* slow callbacks */
    }
}

static void begin(struct process *p, const char *what)
{
    zkf_trace("client %d: %s", p->client, what);
    did.callbacks++;
    if (p->calling++ != 0) {
        sim_violation("client %d runs two callbacks at once", p->client);
    }
    if (sim_self()->locks != 0) {
        sim_violation("a callback is called with a lock held");
    }
}

/* End the thread as pthread_exit() does, when the callback returns. Threads of the application are not ended. */
void sim_may_exit(struct process *p)
{
    enum { MOST = 3 };
    struct sim_thread *self = sim_self();
    if (scene.exits && self && self->self.ours && p->exits < MOST && zkf_chance(10)) {
        zkf_trace("client %d: a callback ends its thread", p->client);
        self->cut = true;
        p->exits++;
        did.exits++;
    }
}

static void end(struct process *p)
{
    p->calling--;
    sim_may_exit(p);
}

void sim_on_state(zkr_client *c, int state, void *process)
{
    struct process *p = process;
    begin(p, zkr_client_state_name(state));
    if (p->open) {
        call_back(p);
    }
    end(p);
}

/* Returns how many threads may have taken the grant in a call that has not returned yet. */
static long acquiring(const struct process *p, int lock)
{
    long count = 0;
    for (int i = 0; i < SIM_APPS; i++) {
        const struct app *a = &p->apps[i];
        count += a->acquires > 0 && (int)a->acquiring == lock && a->depth[lock] == 0;
    }
    return count;
}

void sim_on_revoke(zkr_mutex *m, void *process)
{
    struct process *p = process;
    begin(p, "on_revoke");
    did.asked++;
    if (!m || ++p->asked > p->wishes) {
        sim_violation("client %d is told of %ld wishes of %ld", p->client, p->asked,
                      p->wishes);
    }
    call_back(p);
    end(p);
}

static int lock_of(const struct process *p, const zkr_mutex *m)
{
    int lock = 0;
    while (lock < SIM_LOCKS && p->locks[lock] != m) {
        lock++;
    }
    return lock;
}

void sim_on_warn(zkr_mutex *m, int64_t token, int64_t left_ms, void *process)
{
    struct process *p = process;
    begin(p, "on_warn");
    did.warned++;
    int lock = lock_of(p, m);
    if (lock == SIM_LOCKS || token == 0 || left_ms < 0) {
        sim_violation("on_warn for a mutex that is not there, or no hold");
    } else if (++p->warned[lock] > p->begun[lock] + acquiring(p, lock)) {
        sim_violation("on_warn is called %ld times for %ld holds of %s",
                      p->warned[lock], p->begun[lock], sim_dir(AT_LOCK));
    }
    call_back(p);
    end(p);
}

void sim_on_lost(zkr_mutex *m, const zkr_lost *lost, void *process)
{
    struct process *p = process;
    begin(p, "on_lost");
    did.on_lost++;
    int lock = lock_of(p, m);
    if (lock == SIM_LOCKS || lost->fencing_token == 0 || lost->reason == 0) {
        sim_violation("on_lost for a mutex that is not there, or no hold");
    } else if (++p->told[lock] > p->begun[lock] + acquiring(p, lock)) {
        sim_violation("on_lost is called %ld times for %ld holds of %s", p->told[lock],
                      p->begun[lock], sim_dir(AT_LOCK));
    }
    call_back(p);
    end(p);
}

void sim_on_ticket(zkr_ticket *t, int state, void *ctx)
{
    struct pass *pass = ctx;
    struct process *p = pass->p;
    begin(p, "a ticket is told of");
    bool warns = state == ZKR_TICKET_WARNED;
    bool in_order = warns ? pass->told == ZKR_TICKET_HELD && !pass->warned
                    : state == ZKR_TICKET_LOST
                        ? pass->told == ZKR_TICKET_HELD
                        : pass->told == 0 &&
                              (state == ZKR_TICKET_HELD || state == ZKR_TICKET_FAILED);
    if (!in_order || t != pass->ticket) {
        sim_violation("a ticket is told %d after %d, or when it is none", state,
                      pass->told);
    }
    did.warned += warns;
    pass->warned = warns;
    pass->told = warns ? pass->told : state;
    if (zkf_chance(15)) {
        pass->released = true;
        pass->promise.until = 0;
        (void)zkr_ticket_release(t);
    }
    call_back(p);
    if (t != pass->ticket) {
        sim_violation("a ticket is destroyed while its callback runs");
    }
    end(p);
}

void sim_on_gain(zkr_leader_latch *l, int64_t token, void *process)
{
    struct process *p = process;
    begin(p, "on_gain");
    did.gains++;
    if ((p->led && !p->silent && p->stopping == 0) || l != p->latch || token == 0) {
        sim_violation("on_gain twice without on_loss");
    }
    if (p->term != token && zkr_leader_latch_term_valid_for_ms(l, p->term) != 0) {
        sim_violation("a term is valid when the next one begins");
    }
    p->led = true;
    p->silent = false;
    p->term = token;
    p->term_warned = false;
    call_back(p);
    end(p);
}

void sim_on_latch_warn(zkr_leader_latch *l,
                       int64_t token,
                       int64_t left_ms,
                       void *process)
{
    struct process *p = process;
    begin(p, "on_warn");
    did.warned++;
    if (!p->led || l != p->latch || token != p->term || p->term_warned || left_ms < 0) {
        sim_violation("on_warn without on_gain, or twice");
    }
    p->term_warned = true;
    call_back(p);
    end(p);
}

/* Check that no answer concerns the next term, because work of the ended term may still run. */
static void check_ending(zkr_leader_latch *l, int64_t token)
{
    if (zkr_leader_latch_has_leadership(l) || zkr_leader_latch_valid_for_ms(l) != 0 ||
        zkr_leader_latch_term_valid_for_ms(l, token) != 0) {
        sim_violation("a latch leads while on_loss of its last term runs");
    }
}

void sim_on_loss(zkr_leader_latch *l, const zkr_lost *lost, void *process)
{
    struct process *p = process;
    begin(p, "on_loss");
    if (!p->led || l != p->latch) {
        sim_violation("on_loss without on_gain");
    }
    p->led = false;
    check_ending(l, lost->fencing_token);
    call_back(p);
    check_ending(l, lost->fencing_token);
    end(p);
}

void sim_on_failed(zkr_leader_selector *s, int code, void *process)
{
    struct process *p = process;
    begin(p, "on_failed");
    if (s != p->selector || code == ZKR_OK) {
        sim_violation("on_failed of a selector that is not there, or with no code");
    }
    call_back(p);
    end(p);
}

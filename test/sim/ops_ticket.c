/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets of mutexes, semaphores and multi-locks. Any thread may use a ticket, and one thread has to end it. */
#include <string.h>

#include "ops.h"

static struct pass *free_pass(struct process *p)
{
    for (int i = 0; i < SIM_PASSES; i++) {
        if (!p->passes[i].owner && p->passes[i].users == 0) {
            return &p->passes[i];
        }
    }
    return NULL;
}

/* Returns a ticket that may be used. With @mine, @a has to end it. */
static struct pass *some_pass(struct app *a, bool mine)
{
    struct process *p = a->p;
    int first = (int)zkf_below(SIM_PASSES);
    for (int i = 0; i < SIM_PASSES; i++) {
        struct pass *pass = &p->passes[(first + i) % SIM_PASSES];
        if (pass->ticket && !pass->destroyed && (!mine || pass->owner == a)) {
            return pass;
        }
    }
    return NULL;
}

/* --- asking for one --- */

enum kind { OF_MUTEX, OF_PERMITS, OF_MULTI };

static bool is_there(const struct process *p, enum kind kind, enum sim_lock lock)
{
    return kind == OF_MUTEX
               ? scene.tickets && p->locks[lock]
               : (kind == OF_PERMITS ? p->semaphore != NULL : p->multi != NULL);
}

static int request(struct app *a,
                   struct pass *pass,
                   enum kind kind,
                   enum sim_lock lock,
                   int64_t timeout_ms)
{
    struct process *p = a->p;
    zkr_ticket_fn fn = zkf_chance(70) ? sim_on_ticket : NULL;
    int n = 1 + (int)zkf_below(scene.resizes ? SIM_PERMITS : scene.max);
    switch (kind) {
    case OF_MUTEX:
        return zkr_mutex_request(p->locks[lock], timeout_ms, fn, pass, &pass->ticket);
    case OF_PERMITS:
        pass->count = n;
        did.permits++;
        sim_permits_asked(pass, n, timeout_ms == 0);
        return zkr_semaphore_request(p->semaphore, n, timeout_ms, fn, pass,
                                     &pass->ticket);
    case OF_MULTI:
        did.multis++;
        break;
    }
    return zkr_multi_lock_request(p->multi, timeout_ms, fn, pass, &pass->ticket);
}

/* Like request(), but wait for the grant. */
static int acquire(struct app *a, struct pass *pass, enum kind kind, int64_t timeout_ms)
{
    struct process *p = a->p;
    zkr_ticket *t = NULL;
    int n = kind == OF_PERMITS ? 1 + (int)zkf_below(scene.max) : 0;
    pass->count = n;
    int rc = kind == OF_PERMITS ? zkr_semaphore_acquire(p->semaphore, n, timeout_ms, &t)
                                : zkr_multi_lock_acquire(p->multi, timeout_ms, &t);
    if ((rc == ZKR_OK) != (t != NULL)) {
        sim_violation("acquire returns %s and ticket %p", zkr_err_name(rc), (void *)t);
    }
    pass->ticket = t;
    return rc;
}

static void ask_for(struct app *a, enum kind kind, enum sim_lock lock)
{
    struct pass *pass = free_pass(a->p);
    if (!pass) {
        return;
    }
    *pass = (struct pass){.p = a->p,
                          .owner = a,
                          .dir = kind == OF_MUTEX     ? sim_lock_dir(lock)
                                 : kind == OF_PERMITS ? AT_PERMITS
                                                      : AT_LOCK,
                          .shared = kind == OF_PERMITS ||
                                    (kind == OF_MUTEX && lock == READER),
                          .promise.both = kind == OF_MULTI};
    bool wait = kind != OF_MUTEX && zkf_chance(40);
    int64_t timeout_ms = sim_timeout(a);
    if (!wait && zkf_chance(50)) {
        timeout_ms = ZKR_FOREVER;
    }
    struct call call = sim_call(a, wait ? "acquire a ticket" : "request",
                                wait ? timeout_ms : ZKR_FOREVER);
    a->passes++;
    did.tickets++;
    int rc = wait ? acquire(a, pass, kind, timeout_ms)
                  : request(a, pass, kind, lock, timeout_ms);
    pass->done = sim_permits_tick();
    sim_called(&call, rc);
    if (!wait && rc != ZKR_OK && !(rc == ZKR_ENOMEM && scene.starved)) {
        sim_violation("a request is refused: %s", zkr_err_name(rc));
    }
    if (!pass->ticket) {
        pass->owner = NULL;
        a->passes--;
    }
}

/* Request one ticket, or several permits at once. */
void sim_op_request(struct app *a)
{
    int first = (int)zkf_below(3);
    enum sim_lock lock = (enum sim_lock)zkf_below(SIM_LOCKS);
    for (int i = 0; i < 3; i++) {
        enum kind kind = (enum kind)((first + i) % 3);
        if (is_there(a->p, kind, lock)) {
            int64_t count = kind == OF_PERMITS && scene.rush ? 1 + zkf_below(4) : 1;
            while (count-- > 0) {
                ask_for(a, kind, lock);
            }
            return;
        }
    }
}

/* --- using one --- */

static void wait_for(struct app *a, struct pass *pass)
{
    int64_t timeout_ms = zkf_chance(30) ? 0 : 1 + zkf_below(scene.session / ZKR__MS);
    if (!sim_owes(a) && zkf_chance(30)) {
        timeout_ms = ZKR_FOREVER;
    }
    struct call call =
        sim_call(a, "ticket wait", timeout_ms == 0 ? ZKR_FOREVER : timeout_ms);
    int rc = zkr_ticket_wait(pass->ticket, timeout_ms);
    if (rc == ZKR_ETIMEDOUT || rc == ZKR_ENOANSWER) {
        call.timeout_ms = ZKR_FOREVER; /* perhaps the ticket's own timeout */
    }
    sim_called(&call, rc);
}

/* Report the hold from the time at which it was seen. The judge does not know a maximum that changes. */
static void tell_granted(const struct app *a,
                         struct pass *pass,
                         int64_t since,
                         int64_t token,
                         int64_t by)
{
    if (pass->promise.hold != 0 || (pass->dir == AT_PERMITS && scene.resizes) ||
        !sim_may_judge(pass->p->client)) {
        return;
    }
    sim_tell_hold(&pass->promise,
                  &(struct sim_told){.client = pass->p->client,
                                     .thread = a->at,
                                     .dir = pass->dir,
                                     .kind = pass->dir == AT_PERMITS ? "permits"
                                             : pass->shared          ? "reader"
                                             : pass->dir == AT_RW    ? "writer"
                                                                     : "mutex",
                                     .called = since,
                                     .token = token,
                                     .pass = by,
                                     .permits = pass->count});
}

static void ask(struct app *a, struct pass *pass)
{
    int64_t since = zkf_now();
    int64_t token = 0, by = 0;
    int state = zkr_ticket_state(pass->ticket);
    int rc = zkr_ticket_fencing_token(pass->ticket, &token);
    bool passed = zkr_ticket_pass(pass->ticket, &by) == ZKR_OK;
    int64_t valid = zkr_ticket_valid_for_ms(pass->ticket);
    if (state < ZKR_TICKET_WAITING || state > ZKR_TICKET_RELEASED ||
        (rc != ZKR_OK && rc != ZKR_ESTATE && rc != ZKR_ESESSION)) {
        sim_violation("a ticket is in state %d, its token %s", state, zkr_err_name(rc));
    }
    if (pass->owner && !pass->released) { /* otherwise this was recorded before */
        if (rc == ZKR_OK && passed && valid > 0) {
            tell_granted(a, pass, since, token, by);
        }
        sim_promise(pass->p, &pass->promise, pass->dir, pass->shared, since, valid);
    }
}

static void give_back(struct app *a, struct pass *pass)
{
    int64_t called = zkf_now();
    pass->released = true;
    pass->promise.until = 0;
    struct call call = sim_call(a, "ticket release", ZKR_FOREVER);
    int rc = zkr_ticket_release(pass->ticket);
    sim_called(&call, rc);
    sim_tell_over(&pass->promise, called);
    if (rc != ZKR_OK && rc != ZKR_ESESSION) {
        sim_violation("a ticket cannot be released: %s", zkr_err_name(rc));
    }
}

static void
use(struct app *a, struct pass *pass, void (*fn)(struct app *, struct pass *))
{
    pass->users++;
    fn(a, pass);
    pass->users--;
}

/* Release the ticket, which makes all threads return that use it, and destroy it. */
static void end(struct app *a, struct pass *pass)
{
    use(a, pass, give_back);
    pass->destroyed = true;
    while (pass->users > 0) {
        sim_sleep(1 + zkf_below(ZKR__MS));
    }
    int rc = zkr_ticket_destroy(pass->ticket);
    if (rc != ZKR_OK) {
        sim_violation("a ticket that was released cannot be destroyed: %s",
                      zkr_err_name(rc));
    }
    pass->ticket = NULL;
    pass->owner = NULL;
    a->passes--;
}

void sim_op_ticket(struct app *a)
{
    int64_t what = zkf_below(100);
    struct pass *pass = some_pass(a, what >= 70);
    if (!pass) {
        return;
    }
    if (what < 30) {
        use(a, pass, ask);
    } else if (what < 60) {
        use(a, pass, wait_for);
    } else if (what < 70) {
        use(a, pass, give_back);
    } else {
        end(a, pass);
    }
}

void sim_hand_in_all(struct app *a)
{
    struct pass *pass;
    while (sim_violated[0] == '\0' && (pass = some_pass(a, true)) != NULL) {
        end(a, pass);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A process opens a client, creates the objects that its threads use, waits for the threads, and ends everything. */
#include <string.h>

#include "ops.h"
#include "recipes/mutex.h"
#include "session/open.h"
#include "util.h"

/* --- threads of the application --- */

static void *run_app(void *arg)
{
    struct app *a = arg;
    a->thread = sim_self();
    for (int64_t left = scene.ops; left > 0 && sim_violated[0] == '\0'; left--) {
        sim_op(a);
        while (sim_still) {
            sim_sleep(20 * ZKR__MS);
        }
        if (sim_quiet || a->p->shut ||
            zkr_client_state(a->p->c) == ZKR_STATE_AUTH_FAILED) {
            break;
        }
        sim_sleep(sim_pause());
    }
    /* The end of a thread releases its holds. */
    bool holds = scene.early_ends && zkf_chance(60);
    sim_let_go(a, !holds);
    for (int lock = 0; lock < SIM_LOCKS; lock++) {
        did.ends_holding += a->depth[lock] > 0;
        a->promise[lock].until = 0;
        sim_tell_over(&a->promise[lock], zkf_now());
    }
    return NULL;
}

/* --- what there is --- */

static void must(int rc, const char *what)
{
    if (rc != ZKR_OK) {
        sim_violation("%s returns %s", what, zkr_err_name(rc));
    }
}

/* Warnings are used in a quarter of the scenes. */
static int64_t warn_ms(const struct process *p)
{
    enum { SCENES = 4, PART = 4 };
    const zkr_client_options *o = &p->c->options;
    return scene.seed % SCENES == 0 && o->lease_probe_ms >= 0
               ? o->session_timeout_ms / PART
               : 0;
}

static void make_mutexes(struct process *p)
{
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.warn_ms = warn_ms(p);
    o.on_warn = o.warn_ms > 0 ? sim_on_warn : NULL;
    o.on_warn_ctx = p;
    o.on_lost = zkf_chance(60) ? sim_on_lost : NULL;
    o.on_lost_ctx = p;
    o.wait_on_release = scene.wait_on_release;
    o.watch_node = scene.watch_node;
    o.on_revoke = scene.wishes && zkf_chance(70) ? sim_on_revoke : NULL;
    o.on_revoke_ctx = p;
    for (int lock = LOCK_A; lock <= LOCK_C; lock++) {
        o.keep_ms = lock == LOCK_A2 && scene.seed % 3 == 0 ? 0 : scene.keep_ms;
        o.max_waiters = lock == LOCK_C && o.keep_ms == 0 ? scene.max_waiters : 0;
        if (lock == LOCK_A || zkf_chance(40)) {
            must(zkr_mutex_create(&p->locks[lock], p->c,
                                  sim_dir(sim_lock_dir((enum sim_lock)lock)), &o),
                 "create of a mutex");
        }
    }
}

static void make_rw(struct process *p)
{
    zkr_rwlock_options o = ZKR_RWLOCK_OPTIONS_INIT;
    o.warn_ms = warn_ms(p);
    o.on_warn = o.warn_ms > 0 ? sim_on_warn : NULL;
    o.on_warn_ctx = p;
    o.on_lost = zkf_chance(scene.reads ? 90 : 60) ? sim_on_lost : NULL;
    o.on_lost_ctx = p;
    o.wait_on_release = scene.wait_on_release;
    o.on_revoke = scene.wishes && zkf_chance(70) ? sim_on_revoke : NULL;
    o.on_revoke_ctx = p;
    must(zkr_rwlock_create(&p->rw, p->c, sim_dir(AT_RW), &o),
         "create of the read-write lock");
    p->locks[READER] = zkr_rwlock_reader(p->rw);
    p->locks[WRITER] = zkr_rwlock_writer(p->rw);
}

static void make_multi(struct process *p)
{
    const char *paths[] = {sim_dir(AT_LOCK), sim_dir(AT_SECOND), sim_dir(AT_THIRD)};
    size_t count = 2 + (size_t)zkf_below(2);
    must(zkr_multi_lock_create(&p->multi, p->c, paths, count, NULL),
         "create of the multi-lock");
}

static void make_leaders(struct process *p)
{
    zkr_leader_latch_options l = ZKR_LEADER_LATCH_OPTIONS_INIT;
    l.on_gain = sim_on_gain;
    l.on_loss = sim_on_loss;
    l.ctx = p;
    l.step_down_when_suspended = zkf_chance(25);
    l.warn_ms = warn_ms(p);
    l.on_warn = l.warn_ms > 0 ? sim_on_latch_warn : NULL;
    zkr_leader_selector_options s = ZKR_LEADER_SELECTOR_OPTIONS_INIT;
    s.auto_requeue = zkf_chance(40);
    s.requeue_delay_ms = zkf_chance(30) ? zkf_below(200) : 0;
    s.on_failed = sim_on_failed;
    s.step_down_when_suspended = zkf_chance(25);
    if (scene.latches) {
        must(zkr_leader_latch_create(&p->latch, p->c, sim_dir(AT_LATCH), "x", &l),
             "create of the latch");
    }
    if (scene.selectors) {
        must(zkr_leader_selector_create(&p->selector, p->c, sim_dir(AT_SELECTOR), "x",
                                        sim_take_leadership, p, &s),
             "create of the selector");
    }
}

static void make_all(struct process *p)
{
    if (scene.mutexes || scene.tickets) {
        make_mutexes(p);
    }
    if (scene.rw) {
        make_rw(p);
    }
    zkr_semaphore_options o = ZKR_SEMAPHORE_OPTIONS_INIT;
    o.max_from = sim_max_from();
    if (scene.permits) {
        must(zkr_semaphore_create(&p->semaphore, p->c, "/permits", scene.max, &o),
             "create of the semaphore");
    }
    if (scene.multis) {
        make_multi(p);
    }
    make_leaders(p);
}

/* --- the end of it --- */

static void end_leaders(struct process *p)
{
    if (p->latch) {
        must(zkr_leader_latch_stop(p->latch, zkf_chance(50) ? ZKR_LATCH_SILENT
                                                            : ZKR_LATCH_NOTIFY),
             "stop of the latch");
        must(zkr_leader_latch_destroy(p->latch), "destroy of the latch");
        p->latch = NULL;
    }
    if (p->selector) {
        must(zkr_leader_selector_stop(p->selector, ZKR_FOREVER), "stop");
        if (p->leading != 0) {
            sim_violation("stop returns while take_leadership() runs");
        }
        must(zkr_leader_selector_destroy(p->selector), "destroy of the selector");
        p->selector = NULL;
    }
}

static void end_locks(struct process *p)
{
    if (p->rw) {
        must(zkr_rwlock_destroy(p->rw), "destroy of the read-write lock");
        p->rw = NULL;
        p->locks[READER] = p->locks[WRITER] = NULL;
    }
    must(zkr_semaphore_destroy(p->semaphore), "destroy of the semaphore");
    p->semaphore = NULL;
    must(zkr_multi_lock_destroy(p->multi), "destroy of the multi-lock");
    p->multi = NULL;
    int first = (int)zkf_below(SIM_LOCKS);
    for (int i = 0; i < SIM_LOCKS; i++) {
        int lock = (first + i) % SIM_LOCKS;
        must(zkr_mutex_destroy(p->locks[lock]), "destroy of a mutex");
        p->locks[lock] = NULL;
    }
}

/* Check that on_lost was called for each loss that a release has reported, once the queued callbacks have run. */
static void check_told(struct process *p)
{
    const struct zkr__dispatch *d = &p->c->dispatch;
    for (int i = 0; i < 100 && (d->head || d->running); i++) {
        sim_sleep(20 * ZKR__MS);
    }
    for (int lock = 0; lock < SIM_LOCKS && !d->head && !d->running && p->calling == 0;
         lock++) {
        bool told = p->locks[lock] && p->locks[lock]->on_lost;
        if (told && p->told[lock] < p->lost[lock]) {
            sim_violation("on_lost was called %ld times for %ld losses of %s",
                          p->told[lock], p->lost[lock],
                          sim_dir(sim_lock_dir((enum sim_lock)lock)));
        }
    }
}

/* Returns whether all meters show no waiter and no holder. */
static bool meters_rest(const zkr_client *c)
{
    const struct zkr__meter *m = c->meters.list;
    while (m && m->n.waiting == 0 && m->n.held == 0) {
        m = m->next;
    }
    return !m;
}

/* Returns whether everything was released: no claim, no count and no node is left. */
static bool is_out(const zkr_client *c)
{
    const struct zkr__engine *engine = c->engine;
    bool out = c->stats.pending_deletes == 0 && c->stats.waiting == 0 &&
               c->stats.held == 0 && (!engine || !engine->claims) && meters_rest(c);
    for (const struct zkf_node *n = zkf_nodes(); n && out; n = n->next) {
        out = n->owner == 0 || n->owner != c->session_id;
    }
    return out;
}

/* Check that the candidate becomes leader, or gets an error. */
static void await_leadership(struct process *p)
{
    int rc = zkr_leader_latch_start(p->latch);
    if (rc == ZKR_OK || rc == ZKR_ESTATE) {
        rc = zkr_leader_latch_await(p->latch, 30 * scene.session / ZKR__MS);
    }
    if (rc == ZKR_ETIMEDOUT || rc == ZKR_ENOANSWER) {
        sim_violation("client %d is a candidate for ever", p->client);
    }
}

static void settle(struct process *p, bool killed)
{
    enum { PATIENCE = 40 }; /* in session timeouts, from the end of the faults */
    int64_t calm = 0;
    bool waits = !killed && !p->shut && zkf_chance(sim_quiet ? 100 : 30);
    while (waits && p->c->state != ZKR_STATE_AUTH_FAILED && !is_out(p->c)) {
        sim_sleep(20 * ZKR__MS);
        calm = !sim_quiet ? 0 : calm == 0 ? zkf_now() : calm;
        if (calm != 0 && zkf_now() > calm + PATIENCE * scene.session) {
            sim_violation(
                "client %d leaves for ever: a claim, %d; waiting %lld, held %lld, "
                "pending %lld; or a node, or a meter",
                p->client, p->c->engine && ((struct zkr__engine *)p->c->engine)->claims,
                (long long)p->c->stats.waiting, (long long)p->c->stats.held,
                (long long)p->c->stats.pending_deletes);
            return;
        }
    }
}

/* End everything. From here on, callbacks use nothing that may be gone. */
static void end_all(struct process *p)
{
    if (zkf_chance(80)) {
        check_told(p);
    }
    if (zkf_chance(10)) {
        p->shut = true;
        must(zkr_client_shutdown(p->c), "shutdown");
    }
    bool killed = scene.kills && !sim_quiet && zkf_chance(30);
    did.kills += killed;
    zkf_client_killed(p->client, killed);
    p->vanishes = killed;
    p->ending = true;
    while (p->calling > 0) {
        sim_sleep(ZKR__MS);
    }
    if (p->latch && sim_quiet && !p->shut) {
        await_leadership(p);
    }
    if (zkf_chance(50)) {
        end_leaders(p);
        end_locks(p);
    } else {
        end_locks(p);
        end_leaders(p);
    }
    if (zkf_chance(30)) {
        (void)zkr_client_flush(p->c, zkf_below(scene.session / ZKR__MS));
    }
    settle(p, killed);
    p->checked = NULL;
    p->open = false;
    did.closes++;
    must(zkr_client_close(p->c), "close");
    p->c = NULL;
    if (p->calling != 0) {
        sim_violation("close returns while a callback runs");
    }
}

/* --- callbacks that the application runs --- */

static void *run_dispatcher(void *arg)
{
    struct process *p = arg;
    while (p->open) {
        int rc = zkr_client_dispatch(p->c, (int)zkf_below(3));
        if (rc < 0 && rc != ZKR_EBUSY) {
            sim_violation("zkr_client_dispatch() returns %s", zkr_err_name(rc));
        }
        sim_sleep(1 + zkf_below(20 * ZKR__MS));
    }
    return NULL;
}

/* --- its main thread --- */

static bool open_client(struct process *p)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = scene.session / ZKR__MS;
    o.retry_attempts = scene.attempts;
    o.lease_margin_ppm = scene.margin_ppm;
    o.look_ahead = scene.look_ahead;
    o.nearby = scene.nearby && (scene.seed / 87 + (uint64_t)p->client) % 5 != 0;
    o.on_state = sim_on_state;
    o.on_state_ctx = p;
    o.dispatch_by_application = scene.by_hand;
    static const zkr_auth more = {"digest", "other:word", 10};
    if (scene.auth) {
        o.auth_scheme = "digest";
        o.auth_cert = "user:word";
        o.auth_cert_len = 9;
        o.more_auth = &more;
        o.more_auth_count = zkf_below(2);
    }
    zkf_client_killed(p->client, false);
    const struct zkr__env env = {.door = sim_door(), .nearby = sim_nearby_door()};
    int client = p->client;
    *p = (struct process){.client = client,
                          .stopped = p->stopped,
                          .stalled = p->stalled,
                          .stalled_at = p->stalled_at};
    int cancel_state = zkr__cancel_hold();
    int rc = zkr__client_open(&p->c, "127.0.0.1:1", &o, &env);
    zkr__cancel_restore(cancel_state);
    p->checked = p->c;
    p->open = rc == ZKR_OK;
    if (rc != ZKR_OK && !(scene.no_threads && rc == ZKR_ESYS)) {
        sim_violation("a client cannot be opened: %s", zkr_err_name(rc));
    }
    return p->open;
}

static void live(struct process *p)
{
    struct sim_thread *threads[SIM_APPS] = {NULL}, *dispatcher = NULL;
    if (zkf_chance(40)) {
        (void)zkr_client_wait_connected(p->c, scene.session / ZKR__MS);
    }
    make_all(p);
    if (scene.by_hand) {
        dispatcher = sim_thread_start(p->client, "dispatcher", run_dispatcher, p);
    }
    for (int i = 0; i < scene.apps; i++) {
        p->apps[i] = (struct app){.p = p, .at = i};
        threads[i] = sim_thread_start(p->client, "app", run_app, &p->apps[i]);
        did.threads++;
    }
    for (int i = 0; i < scene.apps; i++) {
        sim_thread_join(threads[i]);
    }
    if (dispatcher) {
        p->open = false;
        sim_thread_join(dispatcher);
    }
    end_all(p);
}

static void *run_main(void *arg)
{
    struct process *p = arg;
    sim_self()->fed = true;
    for (int64_t round = 0; round < scene.rounds && sim_violated[0] == '\0'; round++) {
        if (open_client(p)) {
            live(p);
        }
        sim_sleep(zkf_below(scene.pace));
    }
    return NULL;
}

void sim_process_start(int client)
{
    struct process *p = &processes[client];
    *p = (struct process){.client = client};
    zkf_client_clock(client, zkf_below(scene.session), sim_skew());
    (void)sim_thread_start(client, "main", run_main, p);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Threads and mutexes, including the two sides of a read-write lock. */
#include <string.h>

#include <zkr/guard.h>

#include "ops.h"
#include "recipes/mutex.h"

static const char *const names[] = {"acquire A", "acquire A again", "acquire B",
                                    "acquire C", "acquire reader",  "acquire writer"};

static struct taken {
    int64_t token, pass;
} taken[SIM_DIRS];

void sim_taken_begin(void)
{
    memset(taken, 0, sizeof(taken));
}

/* Returns a lock that exists, or SIM_LOCKS if there is none. */
static enum sim_lock some_lock(const struct app *a)
{
    const struct process *p = a->p;
    int first = (int)zkf_below(SIM_LOCKS);
    if (p->rw && sim_held(a, WRITER) && zkf_chance(50)) {
        return a->depth[READER] > 0 ? WRITER : READER; /* a downgrade follows */
    }
    if (p->rw && scene.reads && zkf_chance(50)) {
        return READER;
    }
    for (int i = 0; i < SIM_LOCKS; i++) {
        int lock = (first + i) % SIM_LOCKS;
        if (p->locks[lock]) {
            return (enum sim_lock)lock;
        }
    }
    return SIM_LOCKS;
}

static bool shared(enum sim_lock lock)
{
    return lock == READER;
}

/* --- asking --- */

static void ask_valid(struct app *a, enum sim_lock lock)
{
    int64_t since = zkf_now();
    int64_t valid = zkr_mutex_valid_for_ms(a->p->locks[lock]);
    if (valid != 0 && !sim_held(a, lock)) {
        sim_violation("a thread that does not hold %s is promised it",
                      sim_dir(sim_lock_dir(lock)));
    }
    if (valid != 0 && a->lost[lock]) {
        sim_violation("%s comes back after it was lost", sim_dir(sim_lock_dir(lock)));
    }
    sim_promise(a->p, &a->promise[lock], sim_lock_dir(lock), shared(lock), since,
                valid);
}

static void ask_token(struct app *a, enum sim_lock lock)
{
    int64_t token = 0;
    int rc = zkr_mutex_fencing_token(a->p->locks[lock], &token);
    bool fits = !sim_held(a, lock) ? rc == ZKR_ENOTOWNER
                                   : (rc == ZKR_OK && !a->lost[lock]) ||
                                         (rc == ZKR_ESESSION && !scene.peace);
    if (!fits) {
        sim_violation("the token of %s with depth %d: %s", sim_dir(sim_lock_dir(lock)),
                      a->depth[lock], zkr_err_name(rc));
    }
    a->lost[lock] = a->lost[lock] || rc == ZKR_ESESSION;
}

static void ask_held(struct app *a, enum sim_lock lock)
{
    bool held = zkr_mutex_is_held(a->p->locks[lock]);
    if (held && (!sim_held(a, lock) || a->lost[lock])) {
        sim_violation("%s is held by a thread that does not hold it, or lost it",
                      sim_dir(sim_lock_dir(lock)));
    }
    if (!held && sim_held(a, lock)) {
        a->lost[lock] = true;
        if (scene.peace) {
            sim_violation("%s is lost without a fault", sim_dir(sim_lock_dir(lock)));
        }
    }
}

static void ask_depth(struct app *a, enum sim_lock lock)
{
    int depth = zkr_mutex_depth(a->p->locks[lock]);
    if (depth != a->depth[lock]) {
        sim_violation("the depth of %s is %d, not %d", sim_dir(sim_lock_dir(lock)),
                      depth, a->depth[lock]);
    }
}

void sim_op_ask(struct app *a)
{
    enum sim_lock lock = some_lock(a);
    if (lock == SIM_LOCKS) {
        return;
    }
    switch (zkf_below(5)) {
    case 0:
        ask_held(a, lock);
        break;
    case 1:
        ask_depth(a, lock);
        break;
    case 2:
        ask_token(a, lock);
        break;
    default:
        ask_valid(a, lock);
        break;
    }
}

/* A cancel makes threads that sleep for the lock return at once. */
void sim_op_cancel(struct app *a)
{
    enum sim_lock lock = some_lock(a);
    struct process *p = a->p;
    long waits[SIM_APPS];
    if (lock == SIM_LOCKS) {
        return;
    }
    for (int i = 0; i < SIM_APPS; i++) {
        const struct app *other = &p->apps[i];
        bool sleeps = other->acquires > 0 && other->acquiring == lock &&
                      other->thread->wait == SIM_CONDITION && !other->thread->woken;
        waits[i] = sleeps ? other->acquires : 0;
    }
    struct call call = sim_call(a, "cancel", ZKR_FOREVER);
    sim_called(&call, zkr_mutex_cancel(p->locks[lock]));
    for (int i = 0; i < SIM_APPS; i++) {
        struct app *other = &p->apps[i];
        if (waits[i] > 0 && other->acquires == waits[i] && other->canceled.at == 0) {
            other->canceled = call.started;
        }
    }
}

static void check_canceled(const struct app *a)
{
    if (a->canceled.at != 0 && sim_since(a->p, &a->canceled) > SIM_SLACK) {
        sim_violation("a thread that was canceled returns %.1f ms later",
                      (double)(zkf_door.now() - a->canceled.at) / 1e6);
    }
}

/* --- acquire --- */

/* A hand-over wakes one thread once, so a thread whose wait succeeds was woken at most once. */
static void check_wakes(const struct app *a, long signals, int rc)
{
    long woken = a->thread->signals - signals;
    did.wakes += woken;
    if (sim_peace() && !a->p->shut && !scene.cancels && woken > 1) {
        sim_violation("a thread was woken %ld times for one acquire (%s)", woken,
                      zkr_err_name(rc));
    }
}

static void check_acquired(struct app *a, enum sim_lock lock, int rc)
{
    struct process *p = a->p;
    bool first = a->depth[lock] == 0;
    if (rc == ZKR_OK && a->lost[lock]) {
        sim_violation("%s is acquired again while its loss is not released",
                      sim_dir(sim_lock_dir(lock)));
    }
    if (rc == ZKR_EDEADLK &&
        (lock != WRITER || a->depth[READER] == 0 || a->depth[WRITER] > 0)) {
        sim_violation("EDEADLK for %s", sim_dir(sim_lock_dir(lock)));
    }
    if (rc == ZKR_OK && lock == WRITER && first && a->depth[READER] > 0) {
        sim_violation("a thread that reads gets the writer");
    }
    if (rc == ZKR_ESESSION) {
        bool reader_lost = lock == WRITER && a->depth[READER] > 0;
        bool writer_lost = lock == READER && a->depth[WRITER] > 0;
        if (first && !reader_lost && !writer_lost) {
            sim_violation("%s: ESESSION without a hold", names[lock]);
        }
        a->lost[lock] = !first;
    }
    if (rc == ZKR_ENOTOWNER || rc == ZKR_ESTATE ||
        (rc == ZKR_EBUSY && (lock != LOCK_C || scene.max_waiters == 0)) ||
        rc == ZKR_ENONODE || (rc == ZKR_ECANCELED && !scene.cancels)) {
        sim_violation("%s returns %s", names[lock], zkr_err_name(rc));
    }
    if (rc == ZKR_OK) {
        a->depth[lock]++;
        did.acquired++;
        p->begun[lock] += first;
    }
    did.timed_out += rc == ZKR_ETIMEDOUT;
}

/* Record the hold. A read hold beside a write hold of the same thread is the same hold, so it is not recorded. */
static void
tell_held(struct app *a, enum sim_lock lock, int64_t called, const struct taken *by)
{
    static const char *const kinds[] = {[READER] = "reader", [WRITER] = "writer"};
    if (sim_may_judge(a->p->client) && !(lock == READER && a->depth[WRITER] > 0)) {
        sim_tell_hold(&a->promise[lock],
                      &(struct sim_told){.client = a->p->client,
                                         .thread = a->at,
                                         .dir = sim_lock_dir(lock),
                                         .kind = kinds[lock] ? kinds[lock] : "mutex",
                                         .called = called,
                                         .token = by->token,
                                         .pass = by->pass});
    }
}

/* Check that the pair of token and pass rises from one exclusive hold to the next. */
static void check_later(const struct app *a, enum sim_lock lock, struct taken now)
{
    struct taken *last = &taken[sim_lock_dir(lock)];
    bool later =
        now.token > last->token || (now.token == last->token && now.pass > last->pass);
    if (!later && sim_may_judge(a->p->client)) {
        sim_violation(
            "%s is held by token %lld, pass %lld, after token %lld, pass %lld",
            sim_dir(sim_lock_dir(lock)), (long long)now.token, (long long)now.pass,
            (long long)last->token, (long long)last->pass);
    }
    *last = now;
}

/* Record a new hold if it is surely held. */
static void begin_hold(struct app *a, enum sim_lock lock, int64_t called)
{
    zkr_mutex *m = a->p->locks[lock];
    struct taken now = {0};
    if (zkr_mutex_fencing_token(m, &now.token) != ZKR_OK ||
        zkr_mutex_pass(m, &now.pass) != ZKR_OK || !zkr_mutex_is_held(m)) {
        return;
    }
    tell_held(a, lock, called, &now);
    if (!shared(lock)) {
        check_later(a, lock, now);
    }
}

static void acquire(struct app *a, enum sim_lock lock)
{
    int64_t timeout_ms = sim_timeout(a), called = zkf_now();
    long signals = a->thread->signals;
    struct call call = sim_call(a, names[lock], timeout_ms);
    a->acquires++;
    a->acquiring = lock;
    a->canceled = (struct moment){0};
    int rc = zkr_mutex_acquire(a->p->locks[lock], timeout_ms);
    a->acquiring = SIM_LOCKS;
    sim_called(&call, rc);
    check_canceled(a);
    check_acquired(a, lock, rc);
    check_wakes(a, signals, rc);
    if (rc == ZKR_OK && a->depth[lock] == 1) {
        begin_hold(a, lock, called);
    }
    if (rc == ZKR_OK && zkf_chance(70)) {
        ask_valid(a, lock);
    }
}

void sim_op_acquire(struct app *a)
{
    enum sim_lock lock = some_lock(a);
    if (lock != SIM_LOCKS) {
        acquire(a, lock);
    }
}

/* --- release --- */

static void check_released(struct app *a, enum sim_lock lock, int rc)
{
    bool held = a->depth[lock] > 0;
    bool fits = held ? (rc == ZKR_OK && (!a->lost[lock] || a->depth[lock] == 0)) ||
                           (rc == ZKR_ESESSION && !scene.peace)
                     : rc == ZKR_ENOTOWNER;
    if (!fits) {
        sim_violation("release of %s, depth %d, lost %d: %s",
                      sim_dir(sim_lock_dir(lock)), a->depth[lock], a->lost[lock],
                      zkr_err_name(rc));
    }
    if (rc == ZKR_ESESSION) {
        a->p->lost[lock]++;
        did.lost++;
    }
    a->depth[lock] = rc == ZKR_OK && held ? a->depth[lock] - 1 : 0;
    a->lost[lock] = a->lost[lock] && a->depth[lock] > 0;
}

static void tell_released(struct app *a, enum sim_lock lock, int64_t called)
{
    if (lock == WRITER && a->depth[READER] > 0) {
        sim_tell_reader(&a->promise[WRITER], &a->promise[READER], called);
    } else {
        sim_tell_over(&a->promise[lock], called);
    }
}

static void release(struct app *a, enum sim_lock lock)
{
    int64_t called = zkf_now();
    /* From here on, the next contender may hold. */
    if (a->depth[lock] <= 1) {
        a->promise[lock].until = 0;
    }
    did.downgrades += lock == WRITER && a->depth[WRITER] == 1 && a->depth[READER] > 0;
    struct call call = sim_call(a, "release", ZKR_FOREVER);
    int rc = zkr_mutex_release(a->p->locks[lock]);
    sim_called(&call, rc);
    check_released(a, lock, rc);
    if (a->depth[lock] == 0) {
        tell_released(a, lock, called);
    }
}

void sim_op_release(struct app *a)
{
    enum sim_lock lock = some_lock(a);
    if (lock != SIM_LOCKS && (sim_held(a, lock) || scene.misuse)) {
        release(a, lock);
    }
}

/* A writer becomes a reader, with the same token. */
void sim_op_downgrade(struct app *a)
{
    int64_t before, after;
    const struct process *p = a->p;
    if (!p->rw || sim_held(a, READER) || sim_held(a, WRITER)) {
        return;
    }
    acquire(a, WRITER);
    if (sim_held(a, WRITER)) {
        sim_sleep(sim_pause());
        acquire(a, READER);
    }
    if (!sim_held(a, READER) ||
        zkr_mutex_fencing_token(p->locks[WRITER], &before) != ZKR_OK) {
        return;
    }
    release(a, WRITER);
    sim_sleep(sim_pause());
    if (zkr_mutex_fencing_token(p->locks[READER], &after) == ZKR_OK &&
        after != before) {
        sim_violation("token %lld of a writer is %lld of the reader that it becomes",
                      (long long)before, (long long)after);
    }
}

void sim_release_all(struct app *a)
{
    for (int lock = 0; lock < SIM_LOCKS; lock++) {
        while (a->depth[lock] > 0 && sim_violated[0] == '\0') {
            release(a, (enum sim_lock)lock);
        }
    }
}

/* --- writes under a lock --- */

/* Record the outcome of the write. The code tells whether the hold continues, has ended with the write, or is lost. */
static void
after_write(struct app *a, enum sim_lock lock, bool releases, int64_t called, int rc)
{
    struct process *p = a->p;
    bool over =
        rc == ZKR_OK || rc == ZKR_ESESSION || rc == ZKR_ECLOSED || rc == ZKR_ECONNLOSS;
    if (rc == ZKR_ESESSION && scene.peace) {
        sim_violation("%s is lost without a fault", sim_dir(sim_lock_dir(lock)));
    }
    a->lost[lock] = a->lost[lock] || rc == ZKR_ESESSION;
    if (releases && over) {
        p->lost[lock] += rc == ZKR_ESESSION;
        a->depth[lock] = 0;
        a->lost[lock] = false;
        tell_released(a, lock, called);
        did.write_releases += rc == ZKR_OK;
    }
    if (zkr_mutex_depth(p->locks[lock]) != a->depth[lock]) {
        sim_violation("after a write (%s) the depth of %s is %d, not %d",
                      zkr_err_name(rc), sim_dir(sim_lock_dir(lock)),
                      zkr_mutex_depth(p->locks[lock]), a->depth[lock]);
    }
}

void sim_op_write(struct app *a)
{
    int64_t by[2]; /* token, pass */
    enum sim_lock lock = some_lock(a);
    if (lock == SIM_LOCKS || shared(lock) || a->depth[lock] != 1 ||
        zkr_mutex_fencing_token(a->p->locks[lock], &by[0]) != ZKR_OK ||
        zkr_mutex_pass(a->p->locks[lock], &by[1]) != ZKR_OK) {
        return;
    }
    zkr_mutex *m = a->p->locks[lock];
    bool releases = zkf_chance(50);
    int64_t timeout_ms = 1 + zkf_below(scene.session / ZKR__MS), called = zkf_now();
    zoo_op_t op;
    zoo_set_op_init(&op, sim_written(sim_lock_dir(lock)), (const char *)by, sizeof(by),
                    -1, NULL);
    if (releases) {
        a->promise[lock].until = 0;
    }
    struct call call =
        sim_call(a, releases ? "write and release" : "write", timeout_ms);
    a->releasing[lock] = releases;
    int rc = releases ? zkr_mutex_release_multi(m, 1, &op, NULL, timeout_ms)
                      : zkr_mutex_multi(m, 1, &op, NULL, timeout_ms);
    /* Without a fault, the outcome of the write is unknown only after the timeout. */
    sim_called(&call, rc == ZKR_ECONNLOSS && sim_peace() ? ZKR_ETIMEDOUT : rc);
    a->releasing[lock] = false;
    after_write(a, lock, releases, called, rc);
}

/* --- looking on --- */

void sim_op_look(struct app *a)
{
    zkr_contenders *list = NULL;
    int64_t timeout_ms = 1 + zkf_below(scene.session / ZKR__MS);
    int64_t what = zkf_below(3);
    zkr_mutex *m = a->p->locks[zkf_below(SIM_LOCKS)];
    if (!m) {
        return;
    }
    did.looks++;
    static const char *const calls[] = {"contenders", "watch", "await free"};
    struct call call = sim_call(a, calls[what], what == 0 ? ZKR_FOREVER : timeout_ms);
    int rc = what == 0   ? zkr_mutex_contenders(m, &list)
             : what == 1 ? zkr_mutex_watch(m, timeout_ms)
                         : zkr_mutex_await_free(m, timeout_ms);
    sim_called(&call, rc);
    zkr_contenders_free(list);
}

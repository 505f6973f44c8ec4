/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock: runs a command while holding a lock. zkr once: does the same, unless the command has succeeded recently. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "any.h"
#include "cli.h"
#include "client.h"
#include "clock.h"
#include "cmd.h"
#include "held.h"
#include "lock_options.h"
#include "locks.h"
#include "obtain.h"
#include "once.h"
#include "owner.h"
#include "settings.h"
#include "stats.h"
#include "use.h"
#include "view.h"

struct lock {
    struct lock_options o;
    struct locks locks;
    struct held held;
    /* This thread compares the maximum of --permits with the maximum of other holders. */
    pthread_t thread;
    bool compares;
    atomic_bool compared; /* the thread has finished */
};

/* --- obtaining the lock --- */

/*
 * Returns whether the request may exceed jute.maxbuffer. One request creates the nodes of all paths, or of all permits.
 */
static bool is_long(const struct lock *l)
{
    enum { MANY = 10 };
    return l->o.permits >= MANY || (l->locks.multi && l->o.path_count >= MANY);
}

/*
 * Reports that no server answers. @done is true if all our nodes are known to be deleted. Otherwise zkr exits at once.
 */
static int no_answer(struct lock *l, bool done)
{
    int status = l->o.wait_ms == 0 ? CLI_SERVER : (int)l->o.conflict;
    (void)cli_fail(status,
                   "no server has answered in time about %.1000s%s; try again later, "
                   "or check -z and the servers%s",
                   l->held.path,
                   done ? ""
                        : "; a node that remains there goes when the session times out",
                   is_long(l) ? "; jute.maxbuffer may be too small there, because one "
                                "request creates all nodes"
                              : "");
    if (!done) {
        client_exit(status);
    }
    return status;
}

static int conflict(const struct lock *l)
{
    if (l->o.quiet) {
        return (int)l->o.conflict;
    }
    return cli_fail(
        (int)l->o.conflict,
        l->o.permits_max > 0
            ? "too few permits of %.1000s are free; see 'zkr status %.1000s'"
        : l->o.any ? "%.1000s and all other paths are held; see 'zkr status %.1000s'"
        : l->o.path_count > 1
            ? "%.1000s or a path of --also is held; see 'zkr status %.1000s'"
            : "%.1000s is already held; see 'zkr status %.1000s'",
        l->held.path, l->held.path);
}

static int full(const struct lock *l)
{
    if (l->o.quiet) {
        return (int)l->o.conflict;
    }
    return cli_fail((int)l->o.conflict,
                    "--max-queue %lld is reached at %.1000s; see 'zkr status %.1000s'",
                    (long long)l->o.max_queue, l->held.path, l->held.path);
}

/* Reports why the lock was not obtained. */
static int refuse(struct lock *l, int rc)
{
    bool held = rc == ZKR_ETIMEDOUT;
    if (rc == ZKR_OK) {
        return cli_fail(
            (int)l->o.conflict,
            "the release of %.1000s was requested before the command started",
            l->held.path);
    }
    if (rc == ZKR_EBUSY) {
        return full(l);
    }
    if (!held && rc != ZKR_ENOANSWER && rc != ZKR_ECANCELED && rc != ZKR_ECONNLOSS) {
        return cli_fail_rc(rc);
    }
    if (held && l->o.wait_ms == 0) { /* the queue has just been read */
        return conflict(l);
    }
    locks_leave(&l->locks);
    bool done = client_is_done(l->held.env);
    return held && done ? conflict(l) : no_answer(l, done);
}

/*
 * Joins the queue and waits in it. With -n the library makes a single try without a time limit, so obtain_held() gets
 * one.
 */
static int obtain(struct lock *l)
{
    struct held *h = &l->held;
    int64_t ms = l->o.wait_ms;
    if (ms > 0) {
        int left = clock_left_ms(h->until);
        ms = left > 0 ? left : 1;
    }
    int status = locks_join(&l->locks, ms);
    return status == 0 ? obtain_held(h, l->o.wait_ms == 0 ? h->until : NEVER) : status;
}

/* --- the hold --- */

/*
 * Warns if other holders have another maximum, because each holder counts with its own maximum. If the maximum of
 * others cannot be read, that is not a failure.
 */
static void *compare_max(void *ctx)
{
    enum { ATTEMPTS = 3, CONNECT_MS = 1000 };
    struct lock *l = ctx;
    zkr_contenders *permits = NULL;
    int rc = ZKR_ECONNLOSS;
    /* The read is repeated, because a server that lacks an operation closes the connection. */
    for (int i = 0; i < ATTEMPTS && zkr_err_retriable(rc); i++) {
        (void)zkr_client_wait_connected(l->held.env->client, CONNECT_MS);
        rc = zkr_semaphore_holders(l->locks.semaphore, &permits);
    }
    int64_t max = view_other_max(permits, l->o.permits_max);
    zkr_contenders_free(permits);
    if (max > 0) {
        cli_note("other holders of permits of %.1000s use the maximum %" PRId64
                 ", but this zkr uses %" PRId64 "; give the same maximum everywhere",
                 l->held.path, max, l->o.permits_max);
    }
    atomic_store(&l->compared, true);
    return NULL;
}

static int64_t requests_of(const struct lock *l)
{
    zkr_stats stats = {.requests = 0};
    (void)zkr_client_stats(l->held.env->client, &stats, sizeof(stats));
    return stats.requests;
}

/*
 * Starts the comparison, and waits until it has sent its list request. If the list was read before our nodes existed,
 * and shows no holders, no further read is needed.
 */
static void begin_compare(struct lock *l)
{
    enum { TRIES = 100, PAUSE_NS = 100000 };
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    int64_t before = requests_of(l);
    l->compares = pthread_create(&l->thread, NULL, compare_max, l) == 0;
    for (int i = 0; l->compares && i < TRIES && !atomic_load(&l->compared) &&
                    requests_of(l) == before;
         i++) {
        (void)nanosleep(&pause, NULL);
    }
}

/*
 * Sends the deletes first, and then waits for the comparison, whose warning may depend on an answer that is still
 * outstanding.
 */
static void end_compare(struct lock *l)
{
    enum { WAIT_S = 1 };
    struct timespec late;
    if (!l->compares) {
        return;
    }
    locks_leave(&l->locks);
    (void)clock_gettime(CLOCK_REALTIME, &late);
    late.tv_sec += WAIT_S;
    if (l->held.lost || pthread_timedjoin_np(l->thread, NULL, &late) != 0) {
        /* This ends the thread's wait. */
        (void)zkr_client_shutdown(l->held.env->client);
        (void)pthread_join(l->thread, NULL);
    }
}

/* Joins the queue and waits. Joins again if the lock is lost before the command starts. */
static int get(struct lock *l)
{
    struct held *h = &l->held;
    int status = HELD_AGAIN;
    while (status == HELD_AGAIN) {
        status = l->o.any ? any_obtain(&l->locks) : obtain(l);
        status = status == HELD_REFUSED ? refuse(l, h->refusal) : status;
        if (status == HELD_START && l->o.every_ms > 0) {
            status = once_begin(h, l->o.every_ms);
        }
        if (status != HELD_START) {
            locks_leave(&l->locks);
            held_reset(h);
        }
    }
    return status;
}

static int begin(struct lock *l)
{
    struct held *h = &l->held;
    int64_t wait = l->o.wait_ms == 0 ? h->env->globals.connect_ms : l->o.wait_ms;
    h->until = wait == ZKR_FOREVER ? NEVER : h->started + wait;
    h->what = l->o.permits_max > 0 ? "hold on permits of" : "lock on";
    h->revocable = l->o.permits_max == 0 && (l->o.any || l->o.path_count == 1);
    h->nearby = h->revocable && !l->o.shared && !l->o.rw;
    char *owner = l->o.id ? NULL : owner_text(h->env->globals.command);
    int status = held_begin(h, owner ? owner : l->o.id);
    free(owner);
    if (status != 0) {
        return status;
    }
    status = locks_create(&l->locks);
    return status == 0 && l->o.stats ? stats_begin(h->env->client, l->o.stats, h->path)
                                     : status;
}

static int run(struct lock *l)
{
    int status = begin(l);
    if (status == 0) {
        obtain_say_waiting(&l->held);
        status = held_connect(&l->held);
    }
    if (status == 0 && l->locks.semaphore) {
        begin_compare(l);
    }
    status = status == 0 ? get(l) : status;
    if (status == HELD_START) {
        status = use_held(&l->held);
        status = once_end(&l->held, status);
    }
    end_compare(l);
    locks_destroy(&l->locks);
    return held_end(&l->held, status);
}

int cmd_lock(struct env *env)
{
    struct lock l = {.held = {.env = env,
                              .once = true,
                              .kill_signal = SIGTERM,
                              .lease = {.kill_after_ms = -1},
                              .started = clock_now_ms()}};
    l.locks = (struct locks){.o = &l.o, .h = &l.held};
    int status = lock_options_begin(&l.o, &env->globals)
                     ? lock_options_take(&l.o, &l.held)
                     : cli_fail_memory();
    if (status == GO_ON) {
        status = run(&l);
    }
    lock_options_end(&l.o);
    return status;
}

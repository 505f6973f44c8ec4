/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock: run a command while holding a lock. */
#include <stdlib.h>

#include <zkr/zkr.h>

#include "cli.h"
#include "commands.h"
#include "connect.h"
#include "grip.h"
#include "hold.h"
#include "leave.h"
#include "lock_options.h"
#include "owner.h"

struct lock {
    struct env *env;
    struct lock_options o;
    int64_t started;
    int64_t until; /* when -w is over, or what -n may take; or CLI_NEVER */
    int64_t granted;

    zkr_client *client;
    struct grip grip;
    struct hold hold;
    struct stats stats;
};

static int open_all(struct lock *l)
{
    struct hold *h = &l->hold;
    if (!hold_begin(h, l->o.path)) {
        return cli_fail(CLI_INTERNAL,
                        "out of memory or descriptors; raise the limits (ulimit)");
    }
    char *owner = l->o.id ? NULL : owner_text(l->o.command.argv);
    int status = connect_open(&l->client, &l->env->globals, owner ? owner : l->o.id);
    free(owner);
    if (status != 0) {
        return status;
    }
    l->grip.loss = &h->loss;
    l->grip.wish = l->o.ignores_wishes ? NULL : &h->wish;
    int rc = grip_begin(&l->grip, l->client, &l->o);
    h->client = l->client;
    h->what = l->o.kind == LOCK_PERMITS ? "permits of" : "lock on";
    h->revocable = l->o.kind != LOCK_PERMITS && l->o.kind != LOCK_SEVERAL;
    h->kill_signal = l->o.kill_signal;
    h->lease.wanted_ms = l->o.command.argv ? l->o.kill_after_ms : 0;
    h->lease.notify = &l->env->notify;
    h->lease.client = l->client;
    h->lease.valid_for_ms = grip_valid_for_ms;
    h->lease.ctx = &l->grip;
    l->stats.client = l->client;
    l->stats.file = l->o.stats;
    l->stats.path = l->o.path;
    return rc == ZKR_OK ? stats_begin(&l->stats) : cli_fail_rc(rc);
}

/* Nothing has been asked of a server yet. */
static int connect_first(struct lock *l)
{
    struct signals_guard *guard =
        signals_guard_begin(&l->env->signals, CLI_NEVER, NULL);
    if (!guard) {
        return cli_fail_thread();
    }
    notify_send(&l->env->notify, "STATUS=waiting for the %s %.1000s", l->hold.what,
                l->o.path);
    int64_t left = cli_until(l->until), limit = l->env->globals.connect_ms;
    int status = connect_wait(l->client, &l->env->globals, left < limit ? left : limit);
    (void)signals_guard_end(guard);
    if (status == CLI_SERVER) {
        l->until = LEAVE_NOW;
    }
    return status;
}

/* --- getting it --- */

/* For the library. A try is for -n alone: it may last as long as the servers are silent. */
static int64_t time_left(const struct lock *l)
{
    if (l->o.wait_ms <= 0) {
        return l->o.wait_ms;
    }
    int left = cli_until(l->until);
    return left > 0 ? left : 1;
}

/* What is held; a code of the library when the hold is over already. */
static int read_hold(struct lock *l)
{
    struct hold *h = &l->hold;
    l->granted = cli_now_ms();
    h->session_id = zkr_client_session_id(l->client);
    int rc = zkr_ticket_node(l->grip.ticket, h->node, h->node_size);
    if (rc == ZKR_OK) {
        rc = zkr_ticket_fencing_token(l->grip.ticket, &h->token);
    }
    return rc;
}

/* Out of the queue; what is still said of this hold is not meant for the next. */
static void give_back(struct lock *l)
{
    grip_give_back(&l->grip);
    loss_reset(&l->hold.loss);
    (void)wish_take(&l->hold.wish);
}

/* The line is dark. If what was asked of the servers is never answered, there is no use in staying. */
static int no_answer(struct lock *l, bool done)
{
    const char *rest =
        done ? "" : "; what it may have left there goes with the session";
    int status = l->o.wait_ms == 0 ? CLI_SERVER : (int)l->o.conflict;
    (void)cli_fail(
        status,
        "no server answers in time about %.1000s%s; try again later, or check "
        "-z and the servers",
        l->o.path, rest);
    if (!done) {
        stats_end(&l->stats);
        leave_now(status);
    }
    return status;
}

static int conflict(const struct lock *l)
{
    return cli_fail((int)l->o.conflict,
                    l->o.kind == LOCK_PERMITS
                        ? "too few permits of %.1000s are free; 'zkr status %.1000s' "
                          "shows who has them"
                    : l->o.kind == LOCK_SEVERAL
                        ? "%.1000s, or a path of --also, is held by another; 'zkr "
                          "status %.1000s' and so on show by whom"
                        : "%.1000s is held by another; 'zkr status %.1000s' shows by "
                          "whom",
                    l->o.path, l->o.path);
}

/* Is it somebody who holds it, or nobody who answers? */
static int refuse(struct lock *l, int rc)
{
    bool held = rc == ZKR_ETIMEDOUT;
    if (!held && rc != ZKR_ENOANSWER && rc != ZKR_ECANCELED && rc != ZKR_ECONNLOSS) {
        return cli_fail_rc(rc);
    }
    if (held && l->o.wait_ms == 0) { /* a list has just said so */
        return conflict(l);
    }
    bool done = leave_is_done(l->client);
    return held && done ? conflict(l) : no_answer(l, done);
}

enum { HELD = -1, AGAIN = -2 }; /* besides exit codes; that of -E may be 0 */

/* Joins the queue and waits. Returns HELD, AGAIN, or an exit code, reported. */
static int queue(struct lock *l)
{
    int64_t late = l->o.wait_ms == 0 ? l->until : CLI_NEVER;
    const struct signals_cancel how = {grip_cancel, &l->grip};
    int rc = grip_ask(&l->grip, time_left(l));
    if (rc != ZKR_OK) {
        return cli_fail_rc(rc);
    }
    struct signals_guard *guard = signals_guard_begin(&l->env->signals, late, &how);
    if (!guard) {
        return cli_fail_thread();
    }
    rc = grip_wait(&l->grip);
    int signo = signals_guard_end(guard);
    if (rc != ZKR_OK) {
        return signo ? cli_exit_signal(signo) : refuse(l, rc);
    }
    if (signo) {
        return cli_exit_signal(signo);
    }
    return read_hold(l) == ZKR_OK ? HELD : AGAIN;
}

/* Was anybody ahead of us, now or before a hold that was lost again? */
static bool was_contended(const struct lock *l)
{
    zkr_stats stats = {.contended = 0};
    (void)zkr_client_stats(l->client, &stats, sizeof(stats));
    return stats.contended > 0;
}

/* Returns as queue(). */
static int await_start(struct lock *l)
{
    int signo = 0;
    int64_t from = was_contended(l) ? l->granted + l->o.delay_ms : l->granted;
    int64_t until = l->until == CLI_NEVER ? CLI_NEVER : l->until + LEAVE_GRACE_MS;
    switch (hold_await(&l->hold, l->env, from, until, &signo)) {
    case HOLD_START:
        return HELD;
    case HOLD_OVER:
        return AGAIN;
    case HOLD_LATE:
        give_back(l);
        return no_answer(l, leave_is_done(l->client));
    case HOLD_ASKED:
        return cli_fail((int)l->o.conflict,
                        "asked to release %.1000s before the command was started",
                        l->o.path);
    case HOLD_STOPPED:
        break;
    }
    return cli_exit_signal(signo);
}

/* A hold that is lost before the command starts is no loss: it queues again. */
static int get(struct lock *l)
{
    int status;
    do {
        status = queue(l);
        if (status == HELD) {
            status = await_start(l);
        }
        if (status != HELD) {
            give_back(l);
        }
    } while (status == AGAIN);
    return status;
}

/* --- holding it --- */

static int use(struct lock *l)
{
    struct hold *h = &l->hold;
    if (l->env->globals.verbose) {
        hold_note(h, l->granted - l->started);
    }
    hold_ready(h, l->env);
    stats_news(&l->stats);
    lease_begin(&h->lease);
    int status = l->o.command.argv ? hold_run(h, l->env, l->o.command.argv)
                                   : hold_wait(h, l->env);
    hold_linger(h, l->env, l->granted + l->o.min_hold_ms);
    lease_end(&h->lease);
    notify_send(&l->env->notify, "STOPPING=1\nSTATUS=releasing the %s %.1000s", h->what,
                h->path);
    grip_give_back(&l->grip);
    l->until = h->lost ? leave_lost() : CLI_NEVER;
    return status;
}

int cmd_lock(struct env *env, int argc, char **argv)
{
    struct lock l = {
        .env = env, .started = cli_now_ms(), .hold.loss.fd = -1, .hold.wish.fd = -1};
    int status = lock_options_take(&l.o, &env->globals, argc, argv);
    if (status != OPTIONS_GO_ON) {
        lock_options_end(&l.o);
        return status;
    }
    int64_t wait = l.o.wait_ms == 0 ? env->globals.connect_ms : l.o.wait_ms;
    l.until = wait == ZKR_FOREVER ? CLI_NEVER : l.started + wait;
    status = open_all(&l);
    if (status == 0) {
        status = connect_first(&l);
    }
    if (status == 0) {
        status = get(&l);
    }
    if (status == HELD) {
        status = use(&l);
    }
    grip_end(&l.grip);
    const struct leave how = {.signals = &env->signals,
                              .until = l.until,
                              .stats = &l.stats,
                              .told = l.hold.lost};
    status = leave(l.client, &how, status);
    hold_end(&l.hold);
    lock_options_end(&l.o);
    return status;
}

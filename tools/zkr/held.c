/* SPDX-License-Identifier: Apache-2.0 */
#include "held.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <zkr/error.h>

#include "cli.h"

/* --- loss and revocation, reported by threads of the library --- */

static void set_event(int event)
{
    const uint64_t one = 1;
    (void)!write(event, &one, sizeof(one));
}

/* Resets the event. False: it was not set. */
static bool take_event(int event)
{
    uint64_t count;
    return read(event, &count, sizeof(count)) == sizeof(count);
}

void held_revoked(struct held *h)
{
    set_event(h->revoked_fd);
}

void held_lost(struct held *h, const zkr_lost *lost)
{
    const char *text = lost->text ? lost->text : "";
    (void)pthread_mutex_lock(&h->mu);
    child_deny(&h->permit);
    h->loss.reason = (int)lost->reason;
    h->loss.stopped = lost->stopped_ms > 0;
    (void)snprintf(h->loss.text, sizeof(h->loss.text), "%.200s",
                   lost->reason == ZKR_LOST_NODE ? "somebody deleted its node" : text);
    (void)pthread_mutex_unlock(&h->mu);
    set_event(h->lost_fd);
}

static struct held_reason loss_of(struct held *h)
{
    (void)pthread_mutex_lock(&h->mu);
    struct held_reason loss = h->loss;
    (void)pthread_mutex_unlock(&h->mu);
    return loss;
}

static bool is_lost(struct held *h)
{
    return loss_of(h).reason != 0;
}

void held_reset(struct held *h)
{
    (void)pthread_mutex_lock(&h->mu);
    h->loss.reason = 0;
    (void)pthread_mutex_unlock(&h->mu);
    (void)take_event(h->lost_fd);
    (void)take_event(h->revoked_fd);
    child_allow(&h->permit);
}

/* The lease bound is near. @slept: zkr was stopped until now. */
static void on_doubt(void *ctx, bool slept)
{
    struct held *h = ctx;
    zkr_client *c = h->env->client;
    struct held_reason *r = &h->doubt;
    zkr_stats stats = {.last_answer_ms = -1};
    (void)zkr_client_stats(c, &stats, sizeof(stats));
    int64_t ago = stats.last_answer_ms;
    const char *what = slept ? "zkr was stopped, or the machine was frozen"
                       : zkr_client_state(c) == ZKR_STATE_CONNECTED
                           ? "connected, but a majority of the servers does not answer"
                           : "there is no connection to a server";
    r->reason = ZKR_LOST_LEASE;
    r->stopped = slept;
    if (slept || ago < 0) { /* after a stop answers have come already */
        (void)snprintf(r->text, sizeof(r->text), "%s", what);
    } else {
        (void)snprintf(r->text, sizeof(r->text),
                       "%s; the last write that was answered was sent %" PRId64
                       ".%03" PRId64 " s ago",
                       what, ago / 1000, ago % 1000);
    }
}

static const char *remedy(const struct held_reason *r, bool revocable)
{
    if (r->reason == ZKR_LOST_NODE) {
        return revocable ? "to free a lock 'zkr revoke' does no harm"
                         : "to free it, TERM to its zkr does no harm";
    }
    return r->stopped
               ? "see what stopped it; -t makes the session longer"
               : "check the servers and the network; -t makes the session longer";
}

/* Reports the loss of the node, of the session, or a lease in doubt. Returns CLI_LOST. */
static int say_lost(struct held *h, const char *rest)
{
    struct held_reason loss = loss_of(h);
    bool known = loss.reason != 0;
    const struct held_reason *r = known ? &loss : &h->doubt;
    h->lost = true;
    return cli_fail(CLI_LOST, "the %s %.1000s was %s: %s; %s; %s", h->what, h->path,
                    known ? "lost" : "in doubt", r->text, rest,
                    remedy(r, h->revocable));
}

/* --- the wait for it --- */

int held_begin(struct held *h, const char *owner)
{
    enum { NAME_ROOM = 128 }; /* a slash, "_c_", a GUID, a prefix, the digits */
    h->node_size = strlen(h->path) + NAME_ROOM;
    h->node = calloc(1, h->node_size);
    (void)pthread_mutex_init(&h->mu, NULL);
    (void)pthread_mutex_init(&h->permit.mu, NULL);
    h->lost_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    h->revoked_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!h->node || h->lost_fd < 0 || h->revoked_fd < 0) {
        return cli_fail(CLI_INTERNAL,
                        "out of memory or descriptors; raise the limits (ulimit)");
    }
    h->lease.ctx = h->ctx;
    h->lease.on_doubt = on_doubt;
    h->lease.on_doubt_ctx = h;
    h->lease.notify = &h->env->notify;
    int status = client_open(h->env, owner);
    h->lease.client = h->stats.client = h->env->client;
    h->stats.path = h->path;
    return status;
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int connect_by(void *ctx)
{
    const struct held *h = ctx;
    int64_t left = cli_until(h->until);
    return client_wait(h->env, lesser(left, h->env->globals.connect_ms));
}

int held_connect(struct held *h)
{
    int status = client_work(h->env, connect_by, h);
    if (status == CLI_SERVER) {
        h->until = CLIENT_NOW;
    }
    return status;
}

/* Was another client ahead of this one, now or before an earlier grant that was lost? */
static bool was_contended(const struct held *h)
{
    zkr_stats stats = {.contended = 0};
    (void)zkr_client_stats(h->env->client, &stats, sizeof(stats));
    return stats.contended > 0;
}

/* Sleeps until a signal, a loss, a revocation, or input from @other. True: @other is readable. */
static bool sleep_on(const struct held *h, int other, int64_t ms)
{
    struct pollfd fds[] = {
        {.fd = h->env->signals.fd, .events = POLLIN},
        {.fd = h->lease.phase == LEASE_OVER ? -1 : h->lost_fd, .events = POLLIN},
        {.fd = h->revoked_fd, .events = POLLIN},
        {.fd = other, .events = POLLIN}};
    (void)poll(fds, sizeof(fds) / sizeof(fds[0]), (int)ms);
    return fds[3].revents != 0;
}

static enum held_start await_start(struct held *h, int *code)
{
    enum { PROBE_MS = 2 };
    int64_t from = h->granted + (was_contended(h) ? h->delay_ms : 0);
    int64_t until = h->until == CLI_NEVER ? CLI_NEVER : h->until + CLIENT_GRACE_MS;
    for (;;) {
        int64_t valid = h->lease.valid_for_ms(h->ctx);
        if (is_lost(h) || valid <= 0) {
            return HELD_OVER;
        }
        if (take_event(h->revoked_fd)) {
            return HELD_REVOKED;
        }
        int delay = cli_until(from);
        if (delay == 0 && lease_is_ample(&h->lease, valid)) {
            return HELD_START;
        }
        if (delay == 0 && cli_until(until) == 0) {
            return HELD_LATE;
        }
        int rest = delay > 0 ? (int)lesser(delay, valid) : PROBE_MS;
        (void)sleep_on(h, -1, signals_pulse(&h->env->signals, rest));
        int signo = signals_stop(&h->env->signals);
        if (signo) {
            *code = cli_exit_signal(signo);
            return HELD_ENDED;
        }
    }
}

enum held_start held_obtain(struct held *h, int64_t late, int *code)
{
    const struct signals_cancel how = {h->grantor->cancel, h->ctx};
    struct signals_guard *guard = signals_guard_begin(&h->env->signals, late, &how);
    if (!guard) {
        *code = cli_fail_thread();
        return HELD_ENDED;
    }
    int rc = h->grantor->wait(h->ctx);
    int signo = signals_guard_end(guard);
    *code = signo ? cli_exit_signal(signo) : rc;
    if (signo || rc != ZKR_OK) {
        return signo ? HELD_ENDED : HELD_REFUSED;
    }
    h->granted = cli_now_ms();
    h->session_id = zkr_client_session_id(h->env->client);
    return h->grantor->read(h->ctx, h) == ZKR_OK ? await_start(h, code) : HELD_OVER;
}

/* --- the command's environment --- */

enum { OURS = 4 };
static const char *const our_names[OURS] = {
    "ZKR_LOCK_PATH=", "ZKR_LOCK_NODE=", "ZKR_FENCING_TOKEN=", "ZKR_SESSION_ID="};

static bool is_ours(const char *var)
{
    for (int i = 0; i < OURS; i++) {
        if (strncmp(var, our_names[i], strlen(our_names[i])) == 0) {
            return true;
        }
    }
    return false;
}

static void free_environment(char **vars)
{
    for (char **var = vars; var && *var; var++) {
        if (is_ours(*var)) {
            free(*var);
        }
    }
    free(vars);
}

/* Our variables replace those of an outer zkr. NULL: out of memory. */
static char **make_environment(const struct held *h)
{
    size_t count = 0, n = 0;
    while (environ[count]) {
        count++;
    }
    char **vars = calloc(count + OURS + 1, sizeof(*vars));
    for (size_t i = 0; vars && i < count; i++) {
        if (!is_ours(environ[i])) {
            vars[n++] = environ[i];
        }
    }
    bool made = vars && asprintf(&vars[n], "%s%s", our_names[0], h->path) > 0 &&
                asprintf(&vars[n + 1], "%s%s", our_names[1], h->node) > 0 &&
                asprintf(&vars[n + 2], "%s%" PRId64, our_names[2], h->token) > 0 &&
                asprintf(&vars[n + 3], "%s0x%" PRIx64, our_names[3],
                         (uint64_t)h->session_id) > 0;
    if (!made) {
        free_environment(vars);
        return NULL;
    }
    return vars;
}

/* --- with a command --- */

struct run {
    struct held *h;
    struct child child;
    bool lost;        /* before the command had ended */
    bool killed;      /* the kill signal has been sent */
    bool stopping;    /* INT, TERM, HUP or QUIT was forwarded */
    bool interrupted; /* by ^C or ^\ of the terminal, which only its group got */
    bool resume;      /* zkr got SIGCONT */
    bool stop;        /* zkr got SIGTSTP */
    int64_t end_at;   /* after a revocation: when SIGKILL is due; 0 = none */
};

/* False: not permitted. */
static bool send_kill_signal(const struct run *r)
{
    bool allowed = child_kill(&r->child, r->h->kill_signal);
    (void)child_kill(&r->child, SIGCONT);
    return allowed;
}

/* Comes before everything else, above all after zkr was stopped. */
static void check_lease(struct run *r)
{
    if (is_lost(r->h)) {
        lease_lost(&r->h->lease);
    }
    enum lease_phase phase = lease_step(&r->h->lease);
    bool allowed = true;
    if (phase == LEASE_OVER) {
        allowed = child_kill(&r->child, SIGKILL);
    } else if (phase == LEASE_DOUBT && !r->killed) {
        allowed = send_kill_signal(r);
    }
    if (phase != LEASE_SURE && !r->killed) {
        r->killed = true;
        if (!allowed) {
            cli_note("not allowed to kill process group %ld; it goes on without the "
                     "lock; run zkr itself with its privileges",
                     (long)r->child.pid);
        }
    }
}

/* The lock is released when the group has gone, also when revoked again. */
static void check_revocation(struct run *r)
{
    if (take_event(r->h->revoked_fd) && r->end_at == 0) {
        cli_note("asked to release %.1000s: ending the command", r->h->path);
        r->end_at = cli_now_ms() + lease_patience(&r->h->lease);
        (void)send_kill_signal(r);
    }
    if (r->end_at != 0 && cli_until(r->end_at) == 0) {
        (void)child_kill(&r->child, SIGKILL);
    }
}

static void forward_signals(struct run *r)
{
    int signo;
    bool timer;
    while (signals_next(&r->h->env->signals, &signo, &timer)) {
        if (signals_is_forwarded(signo)) {
            (void)child_kill(&r->child, signo);
            r->stopping = r->stopping || (signo != SIGUSR1 && signo != SIGUSR2);
        } else if (signo == SIGCONT && timer) {
            lease_doubt(&r->h->lease); /* zkr was stopped for too long */
        } else if (signo == SIGCONT) {
            r->resume = true;
        } else if (signo == SIGTSTP) {
            r->stop = true;
            (void)child_kill(&r->child, SIGTSTP);
        }
    }
}

/*
 * Stops the group of zkr as the terminal would, so that the shell sees the job stop. Returns
 * when continued, or at once when there is no shell to do that.
 */
static void stop_ourselves(struct run *r)
{
    (void)lease_rest(&r->h->lease);
    (void)kill(0, SIGTSTP);
    if (!r->h->env->signals.stop_ignored) {
        signals_mask_stop(SIG_UNBLOCK);
        signals_mask_stop(SIG_BLOCK);
    }
    r->stop = false;
    r->resume = true;
}

static void check_group(struct run *r)
{
    struct child *c = &r->child;
    child_read_exec(c);
    child_reap(c);
    bool sure = r->h->lease.phase == LEASE_SURE;
    if (r->resume && sure) {
        child_resume(c);
    }
    r->resume = false;
    if (c->stopped_by && !c->reaped && sure && child_stop(c, r->stop)) {
        stop_ourselves(r);
    }
}

static void wait_for_event(const struct run *r)
{
    enum { ORPHANS_MS = 20 };
    int64_t rest = lease_rest(&r->h->lease);
    if (r->child
            .reaped) { /* no signal reports the end of processes that are not our children */
        rest = lesser(rest, ORPHANS_MS);
    }
    if (r->end_at != 0) {
        int64_t left = cli_until(r->end_at);
        rest = lesser(rest, left > ORPHANS_MS ? left : ORPHANS_MS);
    }
    (void)sleep_on(r->h, r->child.exec_fd, rest);
}

/* Runs the command until its whole group has gone. Returns 0, or the errno of a failed start. */
static int run_child(struct run *r, const struct child_spec *spec)
{
    struct held *h = r->h;
    signals_take_stop(&h->env->signals);
    /* Sets the timer: zkr may be stopped as soon as there is a child. */
    (void)lease_rest(&h->lease);
    if (!child_start(&r->child, spec)) {
        r->lost = errno == ECANCELED;
        return r->lost ? 0 : errno;
    }
    for (;;) {
        check_lease(r);
        check_revocation(r);
        check_group(r);
        if (r->child.gone) {
            break;
        }
        if (!r->resume) {
            wait_for_event(r);
        }
        forward_signals(r);
    }
    /* A lease that is sure now was sure all the time. */
    r->lost = lease_step(&h->lease) == LEASE_OVER || r->killed;
    child_read_exec(&r->child);
    r->interrupted = child_end(&r->child);
    return r->child.exec_errno;
}

static void check_kill_after(const struct lease *l)
{
    int64_t most = lease_kill_after_most(l);
    if (l->wanted_ms > most) {
        cli_note(
            "--kill-after is reduced to %" PRId64 ".%03" PRId64
            " s, a third of the session timeout, for when the lock is in doubt; -t "
            "makes that longer",
            most / 1000, most % 1000);
    }
}

static int run_command(struct held *h, char **command)
{
    char **vars = make_environment(h);
    h->failed = !vars;
    if (h->failed) {
        return cli_fail(CLI_INTERNAL, "out of memory");
    }
    check_kill_after(&h->lease);
    const struct child_spec spec = {.argv = command,
                                    .envp = vars,
                                    .fds = &h->env->fds,
                                    .signals = &h->env->signals,
                                    .permit = &h->permit};
    struct run r = {.h = h};
    int fault = run_child(&r, &spec), status;
    free_environment(vars);
    h->lost = r.lost;
    h->ended = r.stopping || r.interrupted || r.end_at != 0;
    h->failed = fault != 0;
    h->used = !h->failed;
    if (h->failed) {
        return cli_fail(CLI_COMMAND,
                        "cannot start '%.1000s': %s; check the command and $PATH",
                        command[0], strerrordesc_np(fault));
    }
    if (h->lost) {
        return say_lost(h, "the command was killed; check what it left undone, "
                           "then run it again");
    }
    status = child_exit(&r.child);
    /* ^C reached the command alone: a script that runs zkr has to learn of it. */
    if (r.interrupted && getpid() != getpgrp()) {
        h->env->die_of = status - cli_exit_signal(0);
    }
    return status;
}

/* --- without a command --- */

/* False: end of the input. *later: zkr is in the background and cannot read from the terminal. */
static bool read_input(bool *later)
{
    char waste[4096];
    ssize_t n = read(STDIN_FILENO, waste, sizeof(waste));
    *later = n < 0 && errno == EIO && isatty(STDIN_FILENO);
    return n > 0 || *later || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/* The first pending signal that tells zkr to stop, or 0. */
static int take_signals(struct held *h)
{
    int signo;
    bool timer;
    while (signals_next(&h->env->signals, &signo, &timer)) {
        if (signals_is_forwarded(signo)) {
            return signo;
        }
        if (timer) {
            lease_doubt(&h->lease);
        }
    }
    return 0;
}

/* The reader learns at once that the lock is lost. The descriptor stays open. */
static void end_output(void)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, STDOUT_FILENO) < 0) {
        (void)close(STDOUT_FILENO);
    }
    if (null >= 0) {
        (void)close(null);
    }
}

static int end_lost(struct held *h)
{
    end_output();
    return say_lost(h, "the hold is over; run zkr again");
}

static int wait_for_end(struct held *h)
{
    enum { LATER_MS = 500 };
    bool later = false;
    (void)printf("node=%s token=%" PRId64 " session=0x%" PRIx64 "\n", h->node, h->token,
                 (uint64_t)h->session_id);
    int status = cli_flush();
    h->used = true;
    while (status == 0) {
        if (is_lost(h) || lease_step(&h->lease) != LEASE_SURE) {
            return end_lost(h);
        }
        int64_t rest = lease_rest(&h->lease);
        bool input = sleep_on(h, later ? -1 : STDIN_FILENO,
                              later ? lesser(rest, LATER_MS) : rest);
        int signo = take_signals(h);
        later = false;
        if (is_lost(h)) {
            return end_lost(h);
        }
        bool asked = take_event(h->revoked_fd);
        h->ended = signo != 0 || asked;
        if (signo) {
            return cli_exit_signal(signo);
        }
        if (asked) {
            cli_note("asked to release %.1000s; released", h->path);
            return 0;
        }
        if (input && !read_input(&later)) {
            return 0;
        }
    }
    return status;
}

/* --- from the grant to the release --- */

void held_say_waiting(const struct held *h)
{
    notify_send(&h->env->notify, "STATUS=waiting for the %s %.1000s", h->what, h->path);
}

/* --min-hold: keeps the lock until @until, unless it is lost, which is reported, revoked, or zkr is told to stop. */
static void linger(struct held *h, int64_t until)
{
    bool over = h->lost || h->ended || !h->used;
    while (!over && cli_until(until) > 0) {
        if (is_lost(h) || lease_step(&h->lease) != LEASE_SURE) {
            (void)say_lost(h, "the command had ended, but --min-hold was not over");
            return;
        }
        (void)sleep_on(h, -1, lesser(cli_until(until), lease_rest(&h->lease)));
        over = signals_stop(&h->env->signals) != 0 || take_event(h->revoked_fd);
    }
}

int held_use(struct held *h, char **command)
{
    int64_t ms = h->granted - h->started;
    if (h->env->globals.verbose) {
        cli_note("got the %s %s after %" PRId64 ".%03" PRId64
                 " s: node=%s token=%" PRId64 " session=0x%" PRIx64,
                 h->what, h->path, ms / 1000, ms % 1000, h->node, h->token,
                 (uint64_t)h->session_id);
    }
    notify_send(&h->env->notify, "READY=1\nSTATUS=holding the %s %.1000s", h->what,
                h->path);
    stats_wake(&h->stats);
    lease_begin(&h->lease);
    int status = command ? run_command(h, command) : wait_for_end(h);
    linger(h, h->granted + h->min_hold_ms);
    lease_end(&h->lease);
    h->last = h->once || h->ended || h->failed;
    h->until = CLI_NEVER;
    notify_send(&h->env->notify, "%sSTATUS=releasing the %s %.1000s",
                h->last ? "STOPPING=1\n" : "", h->what, h->path);
    return status;
}

int held_end(struct held *h, int status)
{
    enum { LOST_MS = 750 }; /* the session is about to end anyway */
    const struct client_end how = {.until = h->lost ? cli_now_ms() + LOST_MS : h->until,
                                   .stats = &h->stats,
                                   .silent = h->lost};
    status = client_end(h->env, &how, status);
    (void)close(h->lost_fd);
    (void)close(h->revoked_fd);
    free(h->node);
    return status;
}

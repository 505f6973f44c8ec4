/* SPDX-License-Identifier: Apache-2.0 */
#include "held.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <zkr/error.h>

#include "children.h"
#include "cli.h"
#include "client.h"
#include "clock.h"
#include "interrupt.h"
#include "notify.h"
#include "say.h"
#include "signals.h"
#include "stats.h"
#include "view.h"

/* --- loss and revocation, reported by threads of the library --- */

void held_on_revoke(zkr_mutex *m, void *held)
{
    struct held *h = held;
    (void)m;
    h->revoked = true;
    (void)eventfd_write(h->news_fd, 1);
}

bool held_is_revoked(struct held *h)
{
    return atomic_exchange(&h->revoked, false);
}

/* How long the last write took, if that was long; 0 = it was not. */
static int64_t slow_answer_ms(const struct held *h)
{
    zkr_stats stats = {.slow_answer_ms = 0};
    (void)zkr_client_stats(h->env->client, &stats, sizeof(stats));
    return stats.slow_answer_ms;
}

/*
 * Kills the command at once, and prevents a start: when somebody has deleted the lock node, the next client gets the lock
 * without waiting for our main thread.
 */
static void lose(struct held *h, const zkr_lost *lost)
{
    const char *text = lost->text ? lost->text : "";
    (void)pthread_mutex_lock(&h->mu);
    if (h->bond >= 0) {
        (void)!write(h->bond, "", 1); /* the main thread kills the other descendants */
    }
    h->loss.reason = (int)lost->reason;
    h->loss.stopped = lost->stopped_ms > 0;
    h->loss.slow = slow_answer_ms(h) > 0;
    h->loss.early = lost->reason == ZKR_LOST_SESSION && lost->last_write_ms >= 0 &&
                    lost->last_write_ms < zkr_client_session_timeout_ms(h->env->client);
    (void)snprintf(h->loss.text, sizeof(h->loss.text), "%.200s",
                   lost->reason == ZKR_LOST_NODE ? "somebody deleted its node" : text);
    (void)eventfd_write(h->news_fd, 1);
    (void)pthread_mutex_unlock(&h->mu);
}

void held_on_ticket(zkr_ticket *t, int state, void *held)
{
    struct held *h = held;
    zkr_lost lost = {.reason = ZKR_LOST_LEASE};
    if (state == ZKR_TICKET_LOST) {
        (void)zkr_ticket_lost(t, &lost, sizeof(lost));
        lose(h, &lost);
        return;
    }
    (void)eventfd_write(h->news_fd, 1);
}

void held_on_latch(zkr_leader_latch *latch, const zkr_lost *lost, void *held)
{
    struct held *h = held;
    (void)latch;
    if (lost->fencing_token == h->token) { /* it is not an earlier term */
        lose(h, lost);
    }
}

void held_on_contenders(zkr_leader_latch *latch, void *held)
{
    const struct held *h = held;
    (void)latch;
    (void)eventfd_write(h->news_fd, 1);
}

/* The latch is told with the mutex held, so that it hears the last word last. It calls nobody back meanwhile. */
void held_set_fit(struct held *h, bool fit)
{
    (void)pthread_mutex_lock(&h->mu);
    bool runs = h->bond >= 0;
    h->unfit = !fit;
    h->revoked = !fit && runs;
    (void)eventfd_write(h->news_fd, 1);
    if (fit || !runs) {
        (void)zkr_leader_latch_set_fit(h->latch, fit);
    }
    (void)pthread_mutex_unlock(&h->mu);
}

void held_tell_fit(struct held *h)
{
    (void)pthread_mutex_lock(&h->mu);
    (void)zkr_leader_latch_set_fit(h->latch, !h->unfit);
    (void)pthread_mutex_unlock(&h->mu);
}

static struct held_reason loss_of(struct held *h)
{
    (void)pthread_mutex_lock(&h->mu);
    struct held_reason loss = h->loss;
    (void)pthread_mutex_unlock(&h->mu);
    return loss;
}

void held_reset(struct held *h)
{
    (void)pthread_mutex_lock(&h->mu);
    h->loss.reason = 0;
    (void)pthread_mutex_unlock(&h->mu);
    h->revoked = false;
    h->phase = LEASE_SURE;
}

/* Notes what there is to see of the cause. */
static void explain_doubt(struct held *h)
{
    zkr_client *c = h->env->client;
    struct held_reason *r = &h->doubt;
    zkr_stats stats = {.last_answer_ms = -1};
    (void)zkr_client_stats(c, &stats, sizeof(stats));
    int64_t ago = stats.last_answer_ms;
    r->slow = stats.slow_answer_ms > 0 && !h->slept;
    const char *what = h->slept ? "zkr was stopped, or the machine was frozen"
                       : r->slow
                           ? "the servers answer too slowly for this session timeout"
                       : zkr_client_state(c) == ZKR_STATE_CONNECTED
                           ? "connected, but a majority of the servers does not answer"
                           : "there is no connection to a server";
    r->reason = ZKR_LOST_LEASE;
    r->stopped = h->slept;
    if (h->slept || ago < 0) { /* after a stop answers have come already */
        (void)snprintf(r->text, sizeof(r->text), "%s", what);
    } else if (r->slow) {
        (void)snprintf(r->text, sizeof(r->text), "%s: a write took %.3f s", what,
                       (double)stats.slow_answer_ms / 1000);
    } else {
        (void)snprintf(r->text, sizeof(r->text),
                       "%s; the last write that was answered was sent %.3f s ago", what,
                       (double)ago / 1000);
    }
}

static const char *remedy(const struct held_reason *r, bool revocable)
{
    if (r->reason == ZKR_LOST_NODE) {
        return revocable ? "to free a lock 'zkr revoke' does no harm"
                         : "to free it, TERM to its zkr does no harm";
    }
    if (r->early) {
        return "ClickHouse Keeper gives a new session at each re-connection; -t does "
               "not "
               "help";
    }
    return r->stopped ? "see what stopped it; -t makes the session longer"
           : r->slow  ? "-t makes the session longer"
                     : "check the servers and the network; -t makes the session longer";
}

int held_say_lost(struct held *h, const char *rest)
{
    struct held_reason loss = loss_of(h);
    bool known = loss.reason != 0;
    const struct held_reason *r = known ? &loss : &h->doubt;
    h->lost = true;
    return cli_fail(CLI_LOST, "the %s %.1000s was %s: %s; %s; %s", h->what, h->path,
                    known ? "lost" : "in doubt", r->text, rest,
                    remedy(r, h->revocable));
}

/* --- the lease --- */

static int64_t valid_for_ms(const struct held *h)
{
    if (!h->latch) {
        return h->ticket ? zkr_ticket_valid_for_ms(h->ticket) : 0;
    }
    /* The latch queues again by itself, so it may lead in a later term. */
    return zkr_leader_latch_term_valid_for_ms(h->latch, h->token);
}

/* Read each time: a server with a smaller limit can shorten the session. */
static int64_t session_ms(const struct held *h)
{
    return zkr_client_session_timeout_ms(h->env->client);
}

static bool is_ample(const struct held *h, int64_t valid)
{
    return valid >= session_ms(h) / 3;
}

/* Time for SIGKILL to take effect, and for zkr to be late. */
static int64_t margin(const struct held *h)
{
    enum { LEAST_MS = 20 };
    return greater(session_ms(h) / 30, LEAST_MS);
}

int64_t held_patience(const struct held *h)
{
    return h->kill_after_ms < 0 ? session_ms(h) / 12 : h->kill_after_ms;
}

/* Time between kill signal and SIGKILL, in doubt. After a long wait there is little lease at first. */
static int64_t kill_after(const struct held *h)
{
    return lesser(held_patience(h), session_ms(h) / (h->settled ? 3 : 10));
}

static void check_kill_after(const struct held *h)
{
    int64_t most = session_ms(h) / 3;
    if (h->kill_after_ms > most) {
        cli_note("--kill-after is reduced to %.3f s, a third of the session timeout, "
                 "for when the lock is in doubt; -t makes that longer",
                 (double)most / 1000);
    }
}

static void begin_lease(struct held *h)
{
    struct sigevent wake = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT};
    h->phase = LEASE_SURE;
    h->slept = h->settled = false;
    h->wake_at = 0;
    h->stepped_at = h->bound = clock_now_ms();
    h->has_timer = timer_create(CLOCK_BOOTTIME, &wake, &h->timer) == 0;
}

static void end_lease(struct held *h)
{
    if (h->has_timer) {
        (void)timer_delete(h->timer);
    }
}

/* The lock is not surely held any more. No keep-alive message says otherwise. */
static void leave_sure(struct held *h, enum lease_phase phase)
{
    if (h->phase == LEASE_SURE) {
        explain_doubt(h);
    }
    notify_alive_mute(true);
    h->phase = phase;
}

static void enter_doubt(struct held *h, int64_t valid)
{
    leave_sure(h, LEASE_DOUBT);
    h->kill_at = clock_now_ms() + lesser(kill_after(h), greater(valid - margin(h), 0));
}

void held_doubt(struct held *h)
{
    h->slept = true;
    if (h->phase == LEASE_SURE) {
        enter_doubt(h, valid_for_ms(h));
    }
}

enum lease_phase held_step(struct held *h)
{
    if (loss_of(h).reason != 0) {
        leave_sure(h, LEASE_OVER);
    }
    if (h->phase == LEASE_OVER) {
        return h->phase;
    }
    h->stepped_at = clock_now_ms();
    if (h->phase == LEASE_SURE) {
        h->slept = h->wake_at != 0 && h->stepped_at >= h->wake_at;
    }
    int64_t valid = valid_for_ms(h);
    h->settled = h->settled || valid >= session_ms(h) / 2;
    if (valid <= margin(h) ||
        (h->phase == LEASE_DOUBT && clock_now_ms() >= h->kill_at)) {
        leave_sure(h, LEASE_OVER);
    } else if (h->phase == LEASE_SURE && valid <= kill_after(h) + margin(h)) {
        enter_doubt(h, valid);
    } else if (h->phase == LEASE_SURE && is_ample(h, valid)) {
        notify_alive();
    }
    return h->phase;
}

static void set_timer(struct held *h, int64_t ms)
{
    const struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(ms / 1000),
                     .tv_nsec = (long)(ms % 1000) * 1000000}};
    /* Counted from before @ms was worked out: zkr may have been stopped since. */
    h->wake_at = ms > 0 ? h->stepped_at + ms : 0;
    if (h->has_timer) {
        (void)timer_settime(h->timer, 0, &when, NULL);
    }
}

int64_t held_rest(struct held *h)
{
    enum { BUSY_MS = 50 };
    int64_t valid = h->phase == LEASE_OVER ? 0 : valid_for_ms(h);
    if (valid <= 0) {
        set_timer(h, 0);
        h->bound = h->phase == LEASE_OVER ? 0 : h->bound;
        return h->phase == LEASE_OVER ? BUSY_MS : 0;
    }
    int64_t rest = h->phase == LEASE_DOUBT
                       ? lesser(h->kill_at - clock_now_ms(), valid - margin(h))
                       : valid - kill_after(h) - margin(h);
    rest = greater(rest, 1);
    h->bound = clock_now_ms() + greater(valid - margin(h) / 2, 1);
    /* The timer fires after the sleep has ended, so it only acts when zkr is stopped. */
    int64_t later = h->phase == LEASE_DOUBT ? margin(h) / 2 : margin(h);
    set_timer(h, rest + later);
    return h->phase == LEASE_SURE && is_ample(h, valid) ? notify_alive_rest(rest)
                                                        : rest;
}

/* --- the wait for it --- */

int held_begin(struct held *h, const char *owner)
{
    enum { NAME_ROOM = 128 }; /* a slash, "_c_", a GUID, a prefix, the digits */
    h->node_size = strlen(h->path) + NAME_ROOM;
    h->node = calloc(1, h->node_size);
    h->bond = -1;
    (void)pthread_mutex_init(&h->mu, NULL);
    h->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!h->node || h->news_fd < 0) {
        return cli_fail_limits();
    }
    if (!say_begin()) {
        return cli_fail_thread();
    }
    return client_open(h->env, owner, !h->no_guardian);
}

static int connect_by(void *ctx)
{
    const struct held *h = ctx;
    return client_wait(h->env,
                       lesser(clock_left_ms(h->until), h->env->globals.connect_ms));
}

int held_connect(struct held *h)
{
    int status = client_work(h->env, NEVER, connect_by, h);
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

bool held_sleep(const struct held *h, int other, int64_t ms)
{
    struct pollfd fds[] = {{.fd = h->env->signals.fd, .events = POLLIN},
                           {.fd = h->news_fd, .events = POLLIN},
                           {.fd = other, .events = POLLIN}};
    eventfd_t count;
    (void)poll(fds, sizeof(fds) / sizeof(fds[0]), (int)ms);
    (void)eventfd_read(h->news_fd, &count);
    return fds[2].revents != 0;
}

int held_pause(const struct held *h, int64_t ms)
{
    notify_alive();
    (void)held_sleep(h, -1, notify_alive_rest(ms));
    int signo = signals_stop(&h->env->signals);
    return signo ? cli_exit_signal(signo) : 0;
}

int held_refuse(struct held *h, int rc)
{
    h->refusal = rc;
    return HELD_REFUSED;
}

/* The library keeps a hold up to an eighth of the session timeout. zkr also needs time to kill the command. */
void held_say_slow(struct held *h)
{
    int64_t slow = slow_answer_ms(h);
    if (!h->said_slow && slow > session_ms(h) / 10) {
        h->said_slow = true;
        cli_note("the servers answer too slowly for this session timeout: a write took "
                 "%.3f s, and a tenth of the timeout is %.3f s; -t makes the session "
                 "longer",
                 (double)slow / 1000, (double)session_ms(h) / 10000);
    }
}

/* Is the lease long enough to start a command? A slow answer must still come before the lock is in doubt. */
static bool is_enough(const struct held *h, int64_t valid, int64_t first_end)
{
    int64_t slow = slow_answer_ms(h);
    /* The lease of the grant may end before it is renewed. */
    bool renewed = clock_now_ms() + valid > first_end + session_ms(h) / 16;
    return slow == 0 ? is_ample(h, valid)
                     : renewed && (is_ample(h, valid) ||
                                   valid >= kill_after(h) + margin(h) + slow);
}

static int await_start(struct held *h)
{
    enum { PROBE_MS = 2 };
    int64_t from = h->granted + (was_contended(h) ? h->delay_ms : 0);
    int64_t until = h->until == NEVER ? NEVER : h->until + CLIENT_GRACE_MS;
    int64_t first_end = clock_now_ms() + valid_for_ms(h);
    for (;;) {
        int64_t valid = valid_for_ms(h);
        if (loss_of(h).reason != 0 || valid <= 0 || h->unfit) {
            held_say_slow(h);
            return HELD_AGAIN;
        }
        if (held_is_revoked(h)) {
            return held_refuse(h, ZKR_OK);
        }
        int delay = clock_left_ms(from);
        if (delay == 0 && is_enough(h, valid, first_end)) {
            return HELD_START;
        }
        if (delay == 0 && clock_left_ms(until) == 0) {
            held_say_slow(h);
            return held_refuse(h, ZKR_ENOANSWER);
        }
        int status = held_pause(h, delay > 0 ? lesser(delay, valid) : PROBE_MS);
        if (status != 0) {
            return status;
        }
    }
}

/* Ends the wait for the grant. */
static void cancel(void *held)
{
    const struct held *h = held;
    (void)(h->latch ? zkr_leader_latch_stop(h->latch, ZKR_LATCH_SILENT)
                    : zkr_ticket_release(h->ticket));
}

/* Node and token. False: it is lost. */
static bool read_grant(struct held *h)
{
    int64_t token;
    if (h->latch) {
        held_reset(h); /* of the term before */
    }
    int rc = h->latch ? zkr_leader_latch_fencing_token(h->latch, &token)
                      : zkr_ticket_fencing_token(h->ticket, &token);
    if (rc == ZKR_OK) {
        rc = h->latch ? zkr_leader_latch_node(h->latch, h->node, h->node_size)
                      : zkr_ticket_node(h->ticket, h->node, h->node_size);
    }
    h->token = rc == ZKR_OK ? token : h->token;
    return rc == ZKR_OK;
}

/* What -v has said of the wait. */
struct said {
    int64_t ahead;         /* how many are in front */
    int64_t token;         /* of the nearest; 0 = not known */
    int64_t held_since_ms; /* by the nearest; 0 = not known */
};

/* ", held by db1/4711 for 12s", or ", behind db1/4711"; "" if it is not known. */
static void describe(char *buf, size_t size, const zkr_contender *nearest)
{
    char age[40] = "";
    if (nearest->holds && (nearest->held_since_ms > 0 || nearest->created_ms > 0)) {
        (void)snprintf(age, sizeof(age), " for ");
        view_held(age + strlen(age), sizeof(age) - strlen(age), nearest);
    }
    (void)snprintf(buf, size, ", %s %.200s%s", nearest->holds ? "held by" : "behind",
                   view_owner(nearest), age);
}

/* With -v: how many are in front, and who is the nearest, when that is news. */
static void say_place(const struct held *h, struct said *said)
{
    int64_t ahead;
    char text[300] = "";
    zkr_contenders *list = NULL;
    if (zkr_ticket_position(h->ticket, &ahead) != ZKR_OK || ahead == 0) {
        return;
    }
    (void)zkr_ticket_ahead(h->ticket, &list);
    const zkr_contender *nearest = zkr_contenders_get(list, 0);
    struct said now = {.ahead = ahead};
    if (nearest) {
        now.token = nearest->fencing_token;
        now.held_since_ms = nearest->held_since_ms;
        describe(text, sizeof(text), nearest);
    }
    if (now.ahead != said->ahead || now.token != said->token ||
        now.held_since_ms != said->held_since_ms) {
        *said = now;
        cli_note("waiting for %.1000s: %lld in front when last seen%s", h->path,
                 (long long)ahead, text);
    }
    zkr_contenders_free(list);
}

static int await_grant(struct held *h)
{
    enum { LOOK_MS = 500 };
    struct said said = {0};
    bool tells = h->ticket && h->env->globals.log_level > 0;
    int rc;
    for (;;) {
        int64_t ms = tells ? LOOK_MS : session_ms(h);
        rc = h->latch ? zkr_leader_latch_await(h->latch, ms)
                      : zkr_ticket_wait(h->ticket, ms);
        if (rc != ZKR_ETIMEDOUT) {
            return rc;
        }
        if (h->ticket && zkr_ticket_state(h->ticket) != ZKR_TICKET_WAITING) {
            return zkr_ticket_wait(h->ticket, 0); /* it has ended just now */
        }
        held_say_slow(h);
        if (tells) {
            say_place(h, &said);
        }
    }
}

int held_obtain(struct held *h, int64_t late)
{
    struct interrupt interrupt;
    if (!interrupt_begin(&interrupt, &h->env->signals, late, cancel, h)) {
        return cli_fail_thread();
    }
    int rc = await_grant(h);
    int signo = interrupt_end(&interrupt);
    if (signo || rc != ZKR_OK) {
        return signo ? cli_exit_signal(signo) : held_refuse(h, rc);
    }
    h->granted = clock_now_ms();
    h->session_id = zkr_client_session_id(h->env->client);
    return read_grant(h) ? await_start(h) : HELD_AGAIN;
}

void held_leave(struct held *h)
{
    (void)zkr_ticket_release(h->ticket);
    (void)zkr_ticket_destroy(h->ticket); /* waits for a running callback */
    h->ticket = NULL;
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
    while ((signo = signals_next(&h->env->signals)) != 0) {
        if (signals_is_forwarded(signo)) {
            return signo;
        }
        if (signo == SIGNALS_TIMER) {
            held_doubt(h);
        } else if (signo == SIGCHLD) {
            children_reap();
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

/* Prints the holder line. Returns 0 or an exit code, reported. */
static int print_holder(const struct held *h)
{
    char *text = NULL;
    int n = asprintf(&text, "node=%s token=%" PRId64 " session=0x%" PRIx64 "\n",
                     h->node, h->token, (uint64_t)h->session_id);
    return n < 0                       ? cli_fail_memory()
           : say_out(text, h->news_fd) ? 0
                                       : cli_fail_thread();
}

/*
 * The end of the output reports the loss, and readers need time to stop. So the node of a session that lives on is not
 * deleted: it keeps others out for longer than was promised.
 */
static void end_before_others(struct held *h, int status)
{
    if (loss_of(h).early) {
        client_exit(status);
    }
}

static int wait_for_end(struct held *h)
{
    enum { LATER_MS = 500 };
    bool later = false;
    int status = print_holder(h);
    while (status == 0) {
        if (held_step(h) != LEASE_SURE) {
            end_output();
            say_in_haste();
            status = held_say_lost(h, "the hold is over; run zkr again");
            end_before_others(h, status);
            return status;
        }
        int64_t rest = held_rest(h);
        int written = say_out_error();
        if (written > 0) {
            return cli_fail_output(written);
        }
        bool input = held_sleep(h, later || written < 0 ? -1 : STDIN_FILENO,
                                later ? lesser(rest, LATER_MS) : rest);
        int signo = take_signals(h);
        later = false;
        if (loss_of(h).reason != 0) {
            continue;
        }
        bool asked = held_is_revoked(h);
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
    notify_send("STATUS=waiting for the %s %.1000s", h->what, h->path);
}

/* --min-hold: keeps the lock until @until, unless it is lost, which is reported, revoked, or zkr is told to stop. */
static void linger(struct held *h, int64_t until)
{
    bool over = h->lost || h->ended || h->failed;
    while (!over && clock_left_ms(until) > 0) {
        if (held_step(h) != LEASE_SURE) {
            (void)held_say_lost(h,
                                "the command had ended, but --min-hold was not over");
            return;
        }
        (void)held_sleep(h, -1, lesser(clock_left_ms(until), held_rest(h)));
        over = signals_stop(&h->env->signals) != 0 || held_is_revoked(h);
    }
}

int held_use(struct held *h)
{
    if (h->env->globals.verbose) {
        cli_note("got the %s %s after %.3f s: node=%s token=%" PRId64
                 " session=0x%" PRIx64,
                 h->what, h->path, (double)(h->granted - h->started) / 1000, h->node,
                 h->token, (uint64_t)h->session_id);
    }
    notify_send("READY=1\nSTATUS=holding the %s %.1000s", h->what, h->path);
    stats_wake();
    begin_lease(h);
    check_kill_after(h);
    int status = h->env->globals.command ? child_run(h) : wait_for_end(h);
    linger(h, h->granted + h->min_hold_ms);
    end_lease(h);
    h->last = h->once || h->ended || h->failed;
    notify_alive_mute(h->last && h->lost);
    h->until = NEVER;
    notify_send("%sSTATUS=releasing the %s %.1000s", h->last ? "STOPPING=1\n" : "",
                h->what, h->path);
    return status;
}

/* When zkr ends at the latest. Without a command, its end reports the loss, so it comes before the lease ends. */
static int64_t end_by(struct held *h)
{
    enum { LOST_MS = 1000 }; /* the session is about to end anyway */
    if (!h->lost) {
        return client_grace(h->until);
    }
    bool tells = !h->env->globals.command && loss_of(h).reason != ZKR_LOST_NODE;
    return tells ? h->kill_at : clock_now_ms() + LOST_MS;
}

int held_end(struct held *h, int status)
{
    status = client_end(h->env, end_by(h), h->lost, status);
    (void)close(h->news_fd);
    free(h->node);
    return status;
}

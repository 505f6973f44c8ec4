/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_epoll SERVERS PATH NAME: one thread on epoll. It works while it has the lock at PATH,
 * queues up again when that is lost, and ends cleanly on SIGTERM or SIGINT. It says "NAME holds
 * TOKEN", "NAME works TOKEN" and "NAME lost TOKEN".
 *
 * The client has no dispatch thread: callbacks run in zkr_client_dispatch(), in the loop.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <zkr/zkr.h>

enum { PERIOD_MS = 100, WORK_MS = 20 }; /* a piece of work takes no longer */

static const char *name;
static zkr_ticket *ticket; /* our place in the queue; NULL = none */
static int64_t token;
static int rc; /* other than ZKR_OK: why we cannot go on */

static void say(const char *what)
{
    printf("%s %s %" PRId64 "\n", name, what, token);
    fflush(stdout);
}

/* Give up our place, whether we wait or hold. */
static void leave(void)
{
    zkr_ticket_release(ticket);
    zkr_ticket_destroy(ticket);
    ticket = NULL;
}

/* Called by zkr_client_dispatch(): once with _HELD or _FAILED, later perhaps with _LOST. */
static void on_ticket(zkr_ticket *t, int state, void *ctx)
{
    (void)ctx;
    if (state == ZKR_TICKET_HELD) {
        if (zkr_ticket_fencing_token(t, &token) == ZKR_OK) {
            say("holds");
        }
        return;
    }
    if (state == ZKR_TICKET_LOST) {
        say("lost");
    } else if (!zkr_err_retriable(zkr_ticket_error(t))) {
        rc = zkr_ticket_error(t);
    }
    leave(); /* the loop queues up again */
}

static void on_tick(int timer)
{
    uint64_t ticks;
    /* Begin only what is sure to end in time: 0 unless we hold, < 0 when nobody measures. */
    int64_t left = zkr_ticket_valid_for_ms(ticket);
    if (read(timer, &ticks, sizeof(ticks)) > 0 && (left < 0 || left > WORK_MS)) {
        say("works"); /* stands for a write to a store that checks the token */
    }
}

static void run_loop(zkr_client *c, zkr_mutex *m, int signals, int timer)
{
    const int fds[] = {signals, timer, zkr_client_event_fd(c)};
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        event.data.fd = fds[i];
        epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event);
    }
    do {
        on_tick(timer);
        zkr_client_dispatch(c, 0);
        if (!ticket && rc == ZKR_OK) {
            rc = zkr_mutex_request(m, ZKR_FOREVER, on_ticket, NULL, &ticket);
        }
    } while (rc == ZKR_OK &&
             (epoll_wait(epoll, &event, 1, -1) < 1 || event.data.fd != signals));
}

int main(int argc, char **argv)
{
    const struct timespec period = {0, PERIOD_MS * 1000000};
    sigset_t ends;
    if (argc != 4) {
        fputs("usage: daemon_epoll SERVERS PATH NAME\n", stderr);
        return 64;
    }
    name = argv[3];
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    timerfd_settime(timer, 0, &(struct itimerspec){period, period}, NULL);

    zkr_client *c = NULL;
    zkr_mutex *m = NULL;
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.dispatch_by_application = 1;
    o.owner = name;
    if ((rc = zkr_client_open(&c, argv[1], &o)) == ZKR_OK &&
        (rc = zkr_mutex_create(&m, c, argv[2], NULL)) == ZKR_OK) {
        run_loop(c, m, signalfd(-1, &ends, SFD_CLOEXEC), timer);
    }
    if (rc != ZKR_OK) {
        fprintf(stderr, "daemon_epoll: %s\n", zkr_strerror(rc));
    }
    leave();
    zkr_mutex_destroy(m);
    zkr_client_close(c); /* ends the session: the next one holds at once */
    return rc == ZKR_OK ? 0 : 1;
}

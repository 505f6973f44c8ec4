/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_epoll SERVERS NAME PATH...: one thread with epoll, and a lock at each PATH, possibly thousands. It works under
 * the locks that it holds, queues again for a lock that is lost, and exits cleanly on SIGTERM or SIGINT. It prints
 * "NAME holds TOKEN", "NAME works TOKEN" and "NAME lost TOKEN". The client has no dispatch thread. Callbacks run in
 * zkr_client_dispatch(), which the loop calls.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <zkr/zkr.h>

enum { PERIOD_MS = 100, WORK_MS = 20, FLUSH_MS = 10000 };

struct lock {
    zkr_mutex *mutex;
    zkr_ticket *ticket; /* our place in the queue; NULL = none */
    int64_t token;
};

static const char *name;
static int rc; /* other than ZKR_OK: why the program cannot continue */

static void say(const struct lock *l, const char *what)
{
    printf("%s %s %" PRId64 "\n", name, what, l->token);
    fflush(stdout);
}

/* Called by zkr_client_dispatch(), once with _HELD or _FAILED, and possibly later with _LOST. */
static void on_ticket(zkr_ticket *t, int state, void *ctx)
{
    struct lock *l = ctx;
    if (state == ZKR_TICKET_HELD && zkr_ticket_fencing_token(t, &l->token) == ZKR_OK) {
        say(l, "holds");
    } else if (state == ZKR_TICKET_LOST) {
        say(l, "lost");
        zkr_ticket_destroy(t);
        l->ticket = NULL; /* the next tick will queue again */
    } else if (state == ZKR_TICKET_FAILED) {
        rc = zkr_ticket_error(t);
    }
}

/*
 * Queue for the locks for which we have no ticket. Work under the locks that we surely hold for as long as a piece of
 * work takes.
 */
static void on_tick(struct lock *locks, int count)
{
    for (struct lock *l = locks; l < locks + count && rc == ZKR_OK; l++) {
        if (!l->ticket) {
            rc = zkr_mutex_request(l->mutex, ZKR_FOREVER, on_ticket, l, &l->ticket);
        } else if (zkr_ticket_valid_for_ms(l->ticket) > WORK_MS) {
            say(l, "works"); /* stands for a write to a store that checks the token */
        }
    }
}

static void run_loop(zkr_client *c, struct lock *locks, int count, int signals)
{
    const struct timespec period = {0, PERIOD_MS * 1000000};
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    const int fds[] = {signals, timer, zkr_client_event_fd(c)};
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    uint64_t ticks;
    timerfd_settime(timer, 0, &(struct itimerspec){period, period}, NULL);
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        event.data.fd = fds[i];
        epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event);
    }
    while (rc == ZKR_OK && event.data.fd != signals) {
        if (read(timer, &ticks, sizeof(ticks)) > 0) {
            on_tick(locks, count);
        }
        zkr_client_dispatch(c, 0);
        epoll_wait(epoll, &event, 1, -1);
    }
}

int main(int argc, char **argv)
{
    zkr_client *c = NULL;
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    int count = argc - 3;
    struct lock *locks = count > 0 ? calloc((size_t)count, sizeof(*locks)) : NULL;
    sigset_t ends;
    if (!locks) {
        fputs("usage: daemon_epoll SERVERS NAME PATH...\n", stderr);
        return 64;
    }
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    o.dispatch_by_application = 1;
    o.owner = name = argv[2];
    rc = zkr_client_open(&c, argv[1], &o);
    for (int i = 0; i < count && rc == ZKR_OK; i++) {
        rc = zkr_mutex_create(&locks[i].mutex, c, argv[3 + i], NULL);
    }
    run_loop(c, locks, count, signalfd(-1, &ends, SFD_CLOEXEC));
    if (rc != ZKR_OK) {
        fprintf(stderr, "daemon_epoll: %s\n", zkr_strerror(rc));
    }
    for (int i = 0; i < count; i++) {
        zkr_ticket_release(locks[i].ticket); /* no matter whether it waits or holds */
        zkr_ticket_destroy(locks[i].ticket);
        zkr_mutex_destroy(locks[i].mutex);
    }
    free(locks);
    /* Wait until the nodes are deleted, which takes a moment for many. */
    zkr_client_flush(c, FLUSH_MS);
    zkr_client_close(c);
    return rc == ZKR_OK ? 0 : 1;
}

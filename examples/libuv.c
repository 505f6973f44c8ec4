/* SPDX-License-Identifier: Apache-2.0 */
/* libuv SERVERS NAME PATH: does what daemon_epoll.c does, in a loop of libuv. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <uv.h>

#include <zkr/zkr.h>

/* A piece of work takes at most WORK_MS. */
enum { PERIOD_MS = 100, WORK_MS = 20 };

static const char *name;
static zkr_client *client;
static zkr_mutex *mutex;
static zkr_ticket *ticket; /* our place in the queue; NULL = none */
static int64_t token;
static int rc; /* other than ZKR_OK: why the program cannot continue */

static void say(const char *what)
{
    printf("%s %s %" PRId64 "\n", name, what, token);
    fflush(stdout);
}

/* Give up our place, no matter whether we wait or hold. */
static void leave(void)
{
    zkr_ticket_release(ticket);
    zkr_ticket_destroy(ticket);
    ticket = NULL;
}

/* Called by zkr_client_dispatch(), once with _HELD or _FAILED, and possibly later with _LOST. */
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
    leave(); /* on_events() will queue again */
}

/* The descriptor is readable, so callbacks are waiting to be called. */
static void on_events(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    zkr_client_dispatch(client, 0);
    if (!ticket && rc == ZKR_OK) {
        rc = zkr_mutex_request(mutex, ZKR_FOREVER, on_ticket, NULL, &ticket);
    }
    if (rc != ZKR_OK) {
        uv_stop(poll->loop);
    }
}

static void on_tick(uv_timer_t *timer)
{
    /*
     * Begin only work that is sure to end in time. The value is 0 unless we hold the lock, and negative if probes are
     * off.
     */
    int64_t left = zkr_ticket_valid_for_ms(ticket);
    (void)timer;
    if (left < 0 || left > WORK_MS) {
        say("works"); /* stands for a write to a store that checks the token */
    }
}

static void on_signal(uv_signal_t *handle, int number)
{
    (void)number;
    uv_stop(handle->loop);
}

static void catch_signals(uv_loop_t *loop)
{
    static uv_signal_t term, interrupt;
    uv_signal_init(loop, &term);
    uv_signal_start(&term, on_signal, SIGTERM);
    uv_signal_init(loop, &interrupt);
    uv_signal_start(&interrupt, on_signal, SIGINT);
}

static void run_loop(uv_loop_t *loop)
{
    static uv_poll_t poll;
    static uv_timer_t timer;
    uv_timer_init(loop, &timer);
    uv_timer_start(&timer, on_tick, PERIOD_MS, PERIOD_MS);
    uv_poll_init(loop, &poll, zkr_client_event_fd(client));
    uv_poll_start(&poll, UV_READABLE, on_events);
    on_events(&poll, 0, 0); /* this queues for the lock */
    uv_run(loop, UV_RUN_DEFAULT);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fputs("usage: libuv SERVERS NAME PATH\n", stderr);
        return 64;
    }
    name = argv[2];
    catch_signals(uv_default_loop());
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.dispatch_by_application = 1;
    o.owner = name;
    if ((rc = zkr_client_open(&client, argv[1], &o)) == ZKR_OK &&
        (rc = zkr_mutex_create(&mutex, client, argv[3], NULL)) == ZKR_OK) {
        run_loop(uv_default_loop());
    }
    if (rc != ZKR_OK) {
        fprintf(stderr, "libuv: %s\n", zkr_strerror(rc));
    }
    leave();
    zkr_mutex_destroy(mutex);
    zkr_client_close(client); /* ends the session, so the next waiter holds at once */
    return rc == ZKR_OK ? 0 : 1;
}

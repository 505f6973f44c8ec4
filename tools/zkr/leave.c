/* SPDX-License-Identifier: Apache-2.0 */
#include "leave.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <zkr/error.h>

#include "cli.h"

void leave_now(int status)
{
    (void)cli_flush();
    _exit(status);
}

bool leave_is_done(zkr_client *c)
{
    return zkr_client_flush(c, LEAVE_GRACE_MS) == ZKR_OK;
}

static _Noreturn void
give_up(zkr_client *c, const struct leave *how, bool told, int status)
{
    stats_end(how->stats);
    int64_t session_ms = zkr_client_session_timeout_ms(c);
    if (!told) {
        cli_note("the servers have not confirmed that our node is deleted; it goes at "
                 "the latest when the session times out, after %" PRId64 ".%03" PRId64
                 " s",
                 session_ms / 1000, session_ms % 1000);
    }
    leave_now(status);
}

/* --- closing --- */

struct closing {
    zkr_client *c;
    int done; /* eventfd */
};

static void *close_client(void *ctx)
{
    const uint64_t one = 1;
    struct closing *k = ctx;
    (void)zkr_client_close(k->c);
    (void)!write(k->done, &one, sizeof(one));
    return NULL;
}

/* A silent server can keep it for 2.5 s; there is nothing left to lose. */
static void close_until(zkr_client *c, int64_t until, int status)
{
    pthread_t thread;
    struct closing k = {.c = c, .done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    struct pollfd done = {.fd = k.done, .events = POLLIN};
    if (k.done < 0 || pthread_create(&thread, NULL, close_client, &k) != 0 ||
        poll(&done, 1, cli_until(until)) <= 0) {
        leave_now(status);
    }
    (void)pthread_join(thread, NULL);
    (void)close(k.done);
}

/* --- leaving --- */

int64_t leave_lost(void)
{
    enum { LOST_MS = 750 };
    return cli_now_ms() + LOST_MS;
}

int leave(zkr_client *c, const struct leave *how, int status)
{
    enum { LOOK_UP_MS = 50, SAY_MS = 1000, NO_AUTH = -102 };
    int64_t now = cli_now_ms(), say = now + SAY_MS, until = how->until;
    if (until != CLI_NEVER) {
        until = (until > now ? until : now) + LEAVE_GRACE_MS;
    }
    while (c && zkr_client_flush(c, LOOK_UP_MS) == ZKR_ETIMEDOUT) {
        int signo = signals_stop(how->signals);
        (void)signals_pulse(how->signals, LOOK_UP_MS);
        if (signo) {
            give_up(c, how, false, cli_exit_signal(signo));
        }
        if (cli_until(until) == 0) {
            give_up(c, how, how->told, status);
        }
        bool refused = zkr_last_error()->zk_rc == NO_AUTH;
        if (cli_until(say) == 0 && refused) {
            cli_note("we may not delete our node any more; it goes with our session, "
                     "which ends now");
            break;
        }
        if (cli_until(say) == 0) {
            say = CLI_NEVER;
            cli_note("waiting for the servers to confirm that our node is deleted, or "
                     "for the end of the session; a signal ends this");
        }
    }
    stats_end(how->stats);
    if (c && until != CLI_NEVER) {
        close_until(c, until, status);
    } else {
        (void)zkr_client_close(c);
    }
    return status;
}

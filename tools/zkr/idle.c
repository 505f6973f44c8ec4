/* SPDX-License-Identifier: Apache-2.0 */
#include "idle.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "children.h"
#include "cli.h"
#include "client.h"
#include "clock.h"
#include "held.h"
#include "lease.h"
#include "news.h"
#include "say.h"
#include "signals.h"

/*
 * Discards input. Returns false at the end of input. Sets *later if zkr is in the background and cannot read from the
 * terminal.
 */
static bool read_input(bool *later)
{
    char waste[4096];
    ssize_t n = read(STDIN_FILENO, waste, sizeof(waste));
    *later = n < 0 && errno == EIO && isatty(STDIN_FILENO);
    return n > 0 || *later || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/* Returns the first pending signal that ends zkr, or 0. */
static int take_signals(struct held *h)
{
    int signo;
    while ((signo = signals_next(&h->env->signals)) != 0) {
        if (signals_is_forwarded(signo)) {
            return signo;
        }
        if (signo == SIGNALS_TIMER) {
            lease_doubt(&h->lease);
        } else if (signo == SIGCHLD) {
            children_reap();
        }
    }
    return 0;
}

/* Ends stdout, so that its reader learns at once that the lock is lost. The descriptor stays open. */
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

/* Prints the holder line. Returns 0 or a reported exit code. */
static int print_holder(const struct held *h)
{
    char *text = NULL;
    int n = asprintf(&text, "node=%s token=%" PRId64 " session=0x%" PRIx64 "\n",
                     h->grant.node, h->grant.token, (uint64_t)h->grant.session_id);
    return n < 0                       ? cli_fail_memory()
           : say_out(text, h->news.fd) ? 0
                                       : cli_fail_thread();
}

/*
 * The end of the output reports the loss, and readers need time to stop. If the session ended early, exits without
 * closing the client. If the session is in fact still alive, it then keeps its node, and that node keeps other
 * contenders out.
 */
static void end_if_early(struct held *h, int status)
{
    if (news_loss(&h->news).early) {
        client_exit(status);
    }
}

int idle_run(struct held *h)
{
    enum { LATER_MS = 500 };
    bool later = false;
    int status = print_holder(h);
    while (status == 0) {
        if (held_step(h) != LEASE_SURE) {
            end_output();
            say_in_haste();
            status = held_say_lost(h, "the hold is over; run zkr again");
            end_if_early(h, status);
            return status;
        }
        int64_t rest = lease_arm(&h->lease);
        int written = say_out_error();
        if (written > 0) {
            return cli_fail_output(written);
        }
        bool input = held_sleep(h, later || written < 0 ? -1 : STDIN_FILENO,
                                later ? lesser(rest, LATER_MS) : rest);
        int signo = take_signals(h);
        later = false;
        if (news_loss(&h->news).reason != 0) {
            continue;
        }
        bool asked = news_take_revocation(&h->news);
        h->ended = signo != 0 || asked;
        if (signo) {
            return cli_exit_signal(signo);
        }
        if (asked) {
            cli_note("the release of %.1000s was requested; released it", h->path);
            return 0;
        }
        if (input && !read_input(&later)) {
            return 0;
        }
    }
    return status;
}

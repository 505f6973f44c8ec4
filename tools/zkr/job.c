/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

#include <errno.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

/* --- the lease --- */

/* Before everything else, above all when we have been asleep. */
static void mind_lease(struct job *j)
{
    struct pollfd lost = {.fd = j->spec.loss->fd, .events = POLLIN};
    if (poll(&lost, 1, 0) > 0) {
        lease_lost(j->lease);
    }
    enum lease_phase phase = lease_step(j->lease);
    bool allowed = true;
    if (phase == LEASE_OVER) {
        allowed = child_kill(&j->child, SIGKILL);
    } else if (phase == LEASE_DOUBT && !j->killed) {
        allowed = child_kill(&j->child, j->kill_signal);
        (void)child_kill(&j->child, SIGCONT);
    }
    if (phase != LEASE_SURE && !j->killed) {
        j->killed = true;
        if (!allowed) {
            cli_note("not allowed to kill process group %ld; it goes on without the "
                     "lock; run zkr itself with its privileges",
                     (long)j->child.pid);
        }
    }
}

/* --- wishes --- */

/* The lock is let go of when the group has gone. Asked again, no sooner than that. */
static void mind_wish(struct job *j)
{
    if (wish_take(j->wish) && j->end_at == 0) {
        cli_note("asked to release %.1000s: ending the command", j->path);
        j->end_at = cli_now_ms() + lease_patience(j->lease);
        (void)child_kill(&j->child, j->kill_signal);
        (void)child_kill(&j->child, SIGCONT);
    }
    if (j->end_at != 0 && cli_until(j->end_at) == 0) {
        (void)child_kill(&j->child, SIGKILL);
    }
}

/* --- job control --- */

static void resume_group(struct job *j)
{
    struct terminal *t = j->spec.terminal;
    if (terminal_wanted(t) || (t->lent && terminal_is_ours(t))) {
        terminal_lend(t, j->child.pid);
    }
    j->child.stopped_by = 0;
    (void)child_kill(&j->child, SIGCONT);
}

static void take_signals(struct job *j)
{
    int signo;
    bool timer;
    while (signals_next(j->signals, &signo, &timer)) {
        if (signals_is_forwarded(signo)) {
            (void)child_kill(&j->child, signo);
            j->told = j->told || (signo != SIGUSR1 && signo != SIGUSR2);
        } else if (signo == SIGCONT && timer) {
            lease_doubt(j->lease); /* we have been stopped for too long */
        } else if (signo == SIGCONT) {
            j->resume = true;
        } else if (signo == SIGTSTP) {
            j->stop = true;
            (void)child_kill(&j->child, SIGTSTP);
        }
    }
}

/*
 * Stops our own group, the way the terminal would have, so that the shell sees the job stop. Back
 * when continued, or at once when there is no shell that could do that.
 */
static void stop_ourselves(struct job *j)
{
    sigset_t stop;
    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGTSTP);
    (void)lease_rest(j->lease);
    (void)kill(0, SIGTSTP);
    if (!j->signals->stop_ignored) {
        (void)pthread_sigmask(SIG_UNBLOCK, &stop, NULL);
        (void)pthread_sigmask(SIG_BLOCK, &stop, NULL);
    }
    j->stop = false;
    j->resume = true;
}

static bool is_of_terminal(int signo)
{
    return signo == SIGTSTP || signo == SIGTTIN || signo == SIGTTOU;
}

/* The command has stopped. */
static void mind_stop(struct job *j)
{
    struct terminal *t = j->spec.terminal;
    int by = j->child.stopped_by;
    bool asks = by == SIGTTIN || by == SIGTTOU;
    if (asks && !j->stop && terminal_is_ours(t)) {
        terminal_lend(t, j->child.pid);
        j->child.stopped_by = 0;
        (void)child_kill(&j->child, SIGCONT);
        return;
    }
    bool had = terminal_take(t, j->child.pid);
    if (had || j->stop || (t->fd >= 0 && is_of_terminal(by))) {
        stop_ourselves(j);
    }
}

/* --- the loop --- */

static void wait_for_news(struct job *j)
{
    enum { LAST_ONES_MS = 20 };
    int64_t rest = lease_rest(j->lease);
    if (j->child.reaped && rest > LAST_ONES_MS) {
        rest =
            LAST_ONES_MS; /* of orphans that are no children of ours nobody tells us */
    }
    if (j->end_at != 0 && rest > cli_until(j->end_at)) {
        rest =
            cli_until(j->end_at) > LAST_ONES_MS ? cli_until(j->end_at) : LAST_ONES_MS;
    }
    struct pollfd fds[4] = {{.fd = j->signals->fd, .events = POLLIN},
                            {.fd = j->spec.loss->fd, .events = POLLIN},
                            {.fd = j->child.exec_fd, .events = POLLIN},
                            {.fd = j->wish->fd, .events = POLLIN}};
    if (j->lease->phase == LEASE_OVER) {
        fds[1].fd = -1;
    }
    (void)poll(fds, 4, (int)rest);
}

static void mind_group(struct job *j)
{
    child_read_exec(&j->child);
    child_reap(&j->child);
    bool sure = j->lease->phase == LEASE_SURE;
    if (j->resume && sure) {
        resume_group(j);
    }
    j->resume = false;
    if (j->child.stopped_by && !j->child.reaped && sure) {
        mind_stop(j);
    }
}

static int finish(struct job *j)
{
    struct child *c = &j->child;
    struct terminal *t = j->spec.terminal;
    bool had = terminal_take(t, c->pid);
    if (WIFSIGNALED(c->status)) {
        int by = WTERMSIG(c->status);
        terminal_reset(t);
        j->interrupted = had && (by == SIGINT || by == SIGQUIT);
    }
    /* Sure now means sure all the time. */
    j->lost = lease_step(j->lease) == LEASE_OVER || j->killed;
    child_read_exec(c);
    j->start_errno = c->exec_errno;
    child_end(c);
    return child_exit(c);
}

int job_run(struct job *j)
{
    signals_take_stop(j->signals);
    (void)lease_rest(
        j->lease); /* sets the timer: we may be stopped as soon as there is a child */
    if (!child_start(&j->child, &j->spec)) {
        j->lost = errno == ECANCELED;
        j->start_errno = j->lost ? 0 : errno;
        return CLI_COMMAND;
    }
    for (;;) {
        mind_lease(j);
        mind_wish(j);
        mind_group(j);
        if (j->child.gone) {
            return finish(j);
        }
        if (!j->resume) {
            wait_for_news(j);
        }
        take_signals(j);
    }
}

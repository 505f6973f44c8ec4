/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "children.h"
#include "cli.h"
#include "client.h"
#include "clock.h"
#include "environment.h"
#include "held.h"
#include "keeper.h"
#include "lease.h"
#include "news.h"
#include "signals.h"
#include "terminal.h"

struct command {
    struct held *h;
    struct child child;
    bool ended;       /* the command itself has exited */
    bool gone;        /* all its descendants have exited, too */
    int status;       /* from waitpid(), once `ended` is set */
    int stopped_by;   /* the signal that stopped it; 0 = not stopped */
    bool killed;      /* the kill signal was sent because of the lease */
    bool ending;      /* INT, TERM, HUP or QUIT was forwarded */
    bool interrupted; /* by ^C or ^\, which only the command's group received */
    bool resume;      /* zkr has received SIGCONT */
    bool stop;        /* zkr has received SIGTSTP */
    int64_t end_at;   /* after a revocation: when SIGKILL is due; 0 = none */
    /* After SIGKILL: when to report survivors; 0 = not sent, NEVER = done. */
    int64_t late_at;
};

/* --- the end of the command --- */

/*
 * Exits without closing the session. Without the keeper, the command's other descendants are not known, so the session
 * stays until it times out.
 */
static _Noreturn void die_with_keeper(const struct command *c)
{
    child_kill_group(&c->child);
    cli_note(
        "zkr-keeper was killed, so zkr killed the command, but processes that the "
        "command started may still be running; the %s %.1000s is free when the session "
        "times out",
        c->h->what, c->h->path);
    client_exit(CLI_LOST);
}

static void say_denied(const struct command *c, int pid)
{
    const struct held *h = c->h;
    cli_note("not allowed to signal process %d of the command; %s the %s %.1000s%s; "
             "run zkr with the privileges of that process",
             pid, c->killed ? "the process continues without" : "zkr keeps", h->what,
             h->path, c->killed ? "" : " until it ends");
}

static void hear_keeper(struct command *c)
{
    struct keeper_word word;
    while (!c->gone && keeper_hear(&c->child.keeper, &word)) {
        switch (word.kind) {
        case KEEPER_STATUS:
            c->stopped_by = WIFSTOPPED(word.value) ? WSTOPSIG(word.value) : 0;
            if (!WIFSTOPPED(word.value) && !WIFCONTINUED(word.value)) {
                c->ended = true;
                c->status = word.value;
            }
            break;
        case KEEPER_DENIED:
            say_denied(c, word.value);
            break;
        case KEEPER_GONE:
            c->gone = c->ended = true;
            c->status = word.value;
            break;
        default:
            die_with_keeper(c);
        }
    }
}

static void send_signal(const struct command *c, int signo)
{
    keeper_signal(&c->child.keeper, signo, false);
}

/* Also signals the descendants that outlive the group. */
static void send_ending(const struct command *c, int signo)
{
    keeper_signal(&c->child.keeper, signo, true);
}

static void send_kill_signal(const struct command *c)
{
    send_ending(c, c->h->kill_signal);
    send_signal(c, SIGCONT);
}

/* Sends SIGKILL once. The keeper repeats it. A later call reports that processes are left. */
static void send_kill(struct command *c)
{
    enum { LATE_MS = 2000 };
    if (c->late_at == 0) {
        c->late_at = clock_now_ms() + LATE_MS;
        send_signal(c, SIGKILL);
    } else if (c->late_at != NEVER && clock_left_ms(c->late_at) == 0) {
        c->late_at = NEVER;
        cli_note("the command, or a process that it started, has not ended 2 s after "
                 "SIGKILL; %s the %s %.1000s%s",
                 c->killed ? "the process may continue without" : "zkr keeps",
                 c->h->what, c->h->path, c->killed ? "" : " until it ends");
    }
}

static void warn(const struct command *c)
{
    const struct held *h = c->h;
    cli_note("no server has confirmed the %s %.1000s lately, so it may be lost soon; "
             "sending signal %d to the command",
             h->what, h->path, h->warn_signal);
    send_signal(c, h->warn_signal);
}

/* Checks the lease. Called before all other checks, and especially after zkr was stopped. */
static void check_lease(struct command *c)
{
    enum lease_phase phase = held_step(c->h);
    if (atomic_load(&c->child.keeper.bound->passed)) {
        lease_doubt(&c->h->lease); /* the keeper has already killed everything */
        phase = held_step(c->h);
    }
    bool first = phase != LEASE_SURE && !c->killed;
    c->killed = c->killed || first;
    if (lease_take_warning(&c->h->lease)) {
        warn(c);
    }
    if (phase == LEASE_OVER) {
        send_kill(c);
    } else if (first) {
        send_kill_signal(c);
    }
}

/* Ends the command at the first revocation. The lock is released when all the command's processes have exited. */
static void check_revocation(struct command *c)
{
    if (news_take_revocation(&c->h->news) && c->end_at == 0) {
        if (!c->h->grant.latch) {
            cli_note("the release of %.1000s was requested; ending the command",
                     c->h->path);
        }
        c->end_at = clock_now_ms() + lease_patience_ms(&c->h->lease);
        send_kill_signal(c);
    }
    if (c->end_at != 0 && clock_left_ms(c->end_at) == 0) {
        send_kill(c);
    }
}

/*
 * Cleans up when all processes have exited. Records whether ^C or ^\ of the terminal, which only the group received,
 * ended the command.
 */
static void end(struct command *c)
{
    bool had = terminal_take(&c->child.terminal, c->child.pid);
    int by = WIFSIGNALED(c->status) ? WTERMSIG(c->status) : 0;
    if (by) {
        terminal_reset(&c->child.terminal);
    }
    child_hear_exec(&c->child);
    child_end(&c->child);
    (void)zkr_client_guard_group(c->h->env->client, 0);
    c->interrupted = had && (by == SIGINT || by == SIGQUIT);
}

/* --- stop and continue --- */

static void go_on(struct command *c)
{
    c->stopped_by = 0;
    send_signal(c, SIGCONT);
}

/* Continues the group, in the foreground if zkr is in the foreground. */
static void resume(struct command *c)
{
    struct terminal *t = &c->child.terminal;
    if (terminal_wanted(t) || (t->lent && terminal_is_ours(t))) {
        terminal_lend(t, c->child.pid);
    }
    go_on(c);
}

/*
 * Handles a stop of the command. If the command only lacked the terminal, continues it. Returns true if zkr must stop,
 * too.
 */
static bool handle_stop(struct command *c)
{
    struct terminal *t = &c->child.terminal;
    int by = c->stopped_by;
    bool asks = by == SIGTTIN || by == SIGTTOU;
    if (asks && !c->stop && terminal_is_ours(t)) {
        terminal_lend(t, c->child.pid);
        go_on(c);
        return false;
    }
    bool had = terminal_take(t, c->child.pid);
    return had || c->stop || (t->fd >= 0 && (asks || by == SIGTSTP));
}

/*
 * Stops the process group of zkr as the terminal would, so that the shell notices that the job has stopped. Returns
 * when the group is continued, or at once if there is no shell that could continue it.
 */
static void stop_ourselves(struct command *c)
{
    (void)lease_arm(&c->h->lease);
    (void)kill(0, SIGTSTP);
    if (!c->h->env->signals.stop_ignored) {
        signals_mask_stop(SIG_UNBLOCK);
        signals_mask_stop(SIG_BLOCK);
    }
    c->stop = false;
    c->resume = true;
}

static void check_group(struct command *c)
{
    child_hear_exec(&c->child);
    hear_keeper(c);
    bool sure = c->h->lease.phase == LEASE_SURE;
    if (c->resume && sure) {
        resume(c);
    }
    c->resume = false;
    if (c->stopped_by && !c->ended && sure && handle_stop(c)) {
        stop_ourselves(c);
    }
}

/* --- running the command --- */

static void forward_signals(struct command *c)
{
    int signo;
    while ((signo = signals_next(&c->h->env->signals)) != 0) {
        if (signals_is_forwarded(signo)) {
            bool ends = signo != SIGUSR1 && signo != SIGUSR2;
            keeper_signal(&c->child.keeper, signo, ends);
            c->ending = c->ending || ends;
        } else if (signo == SIGNALS_TIMER) {
            lease_doubt(&c->h->lease); /* zkr was stopped for too long */
        } else if (signo == SIGCONT) {
            c->resume = true;
        } else if (signo == SIGTSTP) {
            c->stop = true;
            send_signal(c, SIGTSTP);
        } else if (signo == SIGCHLD) {
            children_reap();
        }
    }
}

/* Gives the current bound to the keeper, and then sleeps for at most half of the time until that bound. */
static void wait_for_event(const struct command *c)
{
    enum { LEAST_MS = 20 };
    int64_t rest = lease_arm(&c->h->lease);
    atomic_store(&c->child.keeper.bound->until, c->h->lease.bound);
    if (c->h->lease.bound != 0) {
        rest = lesser(rest, clock_left_ms(c->h->lease.bound) / 2 + 1);
    }
    if (c->end_at != 0) {
        int64_t left = clock_left_ms(c->end_at);
        rest = lesser(rest, left > LEAST_MS ? left : LEAST_MS);
    }
    (void)held_sleep(c->h, c->child.keeper.link[0], rest);
}

/* Runs the command. Returns 0, or the errno of a failed start. */
static int run(struct command *c)
{
    struct held *h = c->h;
    signals_take_stop(&h->env->signals);
    /* This is set before the fork, because from then on zkr may be stopped. */
    (void)lease_arm(&h->lease);
    if (!child_start(&c->child, h->lease.bound)) {
        h->lost = errno == ECANCELED;
        return h->lost ? 0 : errno;
    }
    for (;;) {
        check_lease(c);
        check_revocation(c);
        check_group(c);
        if (c->gone) {
            break;
        }
        if (!c->resume) {
            wait_for_event(c);
        }
        forward_signals(c);
    }
    /* If the lease is sure now, it has been sure all the time. */
    h->lost = held_step(h) == LEASE_OVER || c->killed;
    end(c);
    return c->child.exec_errno;
}

int command_run(struct held *h)
{
    struct command c = {.h = h,
                        .child = {.env = h->env,
                                  .news = &h->news,
                                  .envp = environment_make(&h->grant, h->path)}};
    h->failed = true;
    if (!c.child.envp) {
        return cli_fail_memory();
    }
    int fault = run(&c);
    environment_free(c.child.envp);
    /* A leader that was unhealthy, or has yielded, joins the queue again. */
    h->ended = c.ending || c.interrupted || (c.end_at != 0 && !h->grant.latch);
    h->failed = fault != 0;
    if (h->failed) {
        return cli_fail(CLI_COMMAND,
                        "cannot start '%.1000s': %s; check the command and $PATH",
                        h->env->globals.command[0], strerrordesc_np(fault));
    }
    if (h->lost) {
        return held_say_lost(
            h, "the command was killed; check what it left undone, and run it again");
    }
    if (!WIFSIGNALED(c.status)) {
        return WEXITSTATUS(c.status);
    }
    /* Only the command has received ^C. zkr dies of the same signal, so that a script that runs zkr ends, too. */
    if (c.interrupted && getpid() != getpgrp()) {
        h->env->die_of = WTERMSIG(c.status);
    }
    return cli_exit_signal(WTERMSIG(c.status));
}

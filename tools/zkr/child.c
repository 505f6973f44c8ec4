/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command is a child of the keeper, see keeper.h. When zkr is killed, the keeper kills the command and all its
 * descendants. The kernel also kills the process group of the command, even if the keeper was killed with zkr. It does so by
 * a pair of connected sockets, here called the bond: each is set to send SIGKILL to the group as its I/O signal. When zkr dies,
 * the kernel closes one of them first, which is an event on the other. While zkr lives, a byte has the same effect: the socket
 * refers to the group itself, whose number may be that of another group by then. The command must not start before the
 * guardian knows the pipe of the keeper, so the child waits for a byte from zkr.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "children.h"
#include "cli.h"
#include "client.h"
#include "clock.h"
#include "fds.h"
#include "held.h"
#include "keeper.h"
#include "signals.h"

/* --- the terminal --- */

/* The controlling terminal, which the command gets as from a shell. */
struct terminal {
    int fd; /* -1: there is none */
    bool lent;
    bool has_modes;
    struct termios modes; /* as they were at our start */
};

static void terminal_begin(struct terminal *t)
{
    *t = (struct terminal){.fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)};
    if (t->fd >= 0) {
        t->has_modes = tcgetattr(t->fd, &t->modes) == 0;
    }
}

/* Is zkr in the foreground? */
static bool terminal_is_ours(const struct terminal *t)
{
    return t->fd >= 0 && tcgetpgrp(t->fd) == getpgrp();
}

static bool is_pipe(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

/*
 * Does the command get the terminal at once? Not in a pipeline: only one group can have the terminal, and another process
 * of the pipeline may need it. There the command gets the terminal when it first reads from it.
 */
static bool terminal_wanted(const struct terminal *t)
{
    return terminal_is_ours(t) && !is_pipe(STDIN_FILENO) && !is_pipe(STDOUT_FILENO);
}

/* Hands the terminal to @group. SIGTTOU is blocked. */
static void terminal_lend(struct terminal *t, pid_t group)
{
    if (tcsetpgrp(t->fd, group) == 0) {
        t->lent = true;
    }
}

/* Takes the terminal back from @group. False: @group did not have it. */
static bool terminal_take(struct terminal *t, pid_t group)
{
    if (t->fd < 0 || tcgetpgrp(t->fd) != group) {
        return false;
    }
    return tcsetpgrp(t->fd, getpgrp()) == 0;
}

/* After the command was killed: restores the modes of our start. */
static void terminal_reset(const struct terminal *t)
{
    if (t->lent && t->has_modes && terminal_is_ours(t)) {
        (void)tcsetattr(t->fd, TCSADRAIN, &t->modes);
    }
}

/* --- the environment --- */

enum { OURS = 4 }; /* our variables, which come first */

/* Does one of ours replace this variable of an outer zkr? */
static bool is_ours(const char *var, char *const *ours)
{
    for (int i = 0; i < OURS; i++) {
        if (strncmp(var, ours[i], strcspn(ours[i], "=") + 1) == 0) {
            return true;
        }
    }
    return false;
}

static void free_environment(char **vars)
{
    for (int i = 0; vars && i < OURS; i++) {
        free(vars[i]);
    }
    free(vars);
}

/* NULL: out of memory. */
static char **make_environment(const struct held *h)
{
    size_t count = 0, n = OURS;
    while (environ[count]) {
        count++;
    }
    char **vars = calloc(OURS + count + 1, sizeof(*vars));
    if (!vars || asprintf(&vars[0], "ZKR_LOCK_PATH=%s", h->path) < 0 ||
        asprintf(&vars[1], "ZKR_LOCK_NODE=%s", h->node) < 0 ||
        asprintf(&vars[2], "ZKR_FENCING_TOKEN=%" PRId64, h->token) < 0 ||
        asprintf(&vars[3], "ZKR_SESSION_ID=0x%" PRIx64, (uint64_t)h->session_id) < 0) {
        free_environment(vars);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_ours(environ[i], vars)) {
            vars[n++] = environ[i];
        }
    }
    return vars;
}

/* --- the start --- */

struct child {
    struct held *h;
    char **envp;
    struct keeper keeper;
    pid_t pid; /* also the number of the group */
    /* Sockets of parent and child: a byte lets the child go on; it answers with why exec failed, or with the end. */
    int talk[2];
    int exec_errno;
    int bond[2]; /* see above */
    struct terminal terminal;
    bool ended;       /* the command itself */
    bool gone;        /* and all its descendants */
    int status;       /* of waitpid(), once ended */
    int stopped_by;   /* a signal, 0 = not stopped */
    bool killed;      /* the kill signal has been sent, because of the lease */
    bool stopping;    /* INT, TERM, HUP or QUIT was forwarded */
    bool interrupted; /* by ^C or ^\ of the terminal, which only its group got */
    bool resume;      /* zkr got SIGCONT */
    bool stop;        /* zkr got SIGTSTP */
    int64_t end_at;   /* after a revocation: when SIGKILL is due; 0 = none */
    int64_t
        late_at; /* when to report that SIGKILL has not ended all; 0 = not sent, NEVER = reported */
};

static void bind_to_group(const int bond[2])
{
    for (int i = 0; i < 2; i++) {
        int flags = fcntl(bond[i], F_GETFL);
        (void)fcntl(bond[i], F_SETOWN, -getpid());
        (void)fcntl(bond[i], F_SETSIG, SIGKILL);
        (void)fcntl(bond[i], F_SETFL, flags | O_ASYNC);
    }
}

/* The end without a byte: zkr has died, or the guardian cannot be told. */
static void await_word(const int talk[2])
{
    char byte;
    ssize_t n;
    (void)close(talk[0]);
    do {
        n = read(talk[1], &byte, 1);
    } while (n < 0 && errno == EINTR);
    if (n != 1) {
        _exit(CLI_COMMAND);
    }
}

/* In the child: only calls that are safe after a fork among threads. @lend: the command takes the terminal over. */
static _Noreturn void become(const struct child *c, bool lend)
{
    char **command = c->h->env->globals.command;
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != c->keeper.self) {
        _exit(CLI_COMMAND); /* the keeper died before prctl() */
    }
    bind_to_group(c->bond);
    await_word(c->talk);
    char byte;
    if (recv(c->bond[1], &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1) {
        _exit(CLI_COMMAND); /* the lock was lost before the bond could kill */
    }
    if (lend) {
        (void)tcsetpgrp(c->terminal.fd, getpid());
    }
    signals_restore(&c->h->env->signals);
    fds_hide();
    (void)execvpe(command[0], command, c->envp);
    int error = errno;
    while (write(c->talk[1], &error, sizeof(error)) < 0 && errno == EINTR) {
    }
    _exit(CLI_COMMAND);
}

/* Forks keeper and command, unless the lock is lost. -1: errno says why; ECANCELED: the lock is lost. */
static pid_t fork_unless_lost(struct child *c)
{
    struct held *h = c->h;
    (void)pthread_mutex_lock(&h->mu);
    errno = ECANCELED;
    pid_t pid = h->loss.reason != 0 || h->unfit ? -1 : keeper_fork(&c->keeper);
    if (pid == 0) {
        return 0; /* the mutex is of no use to the child */
    }
    int error = errno;
    h->bond = pid > 0 ? c->bond[0] : -1;
    (void)pthread_mutex_unlock(&h->mu);
    errno = error;
    return pid;
}

static void close_all(struct child *c)
{
    for (int i = 0; i < 2; i++) {
        fds_close(&c->talk[i]);
        fds_close(&c->bond[i]);
    }
    fds_close(&c->terminal.fd);
    keeper_end(&c->keeper);
}

/* The command does not exist, or has ended. */
static void forget(struct child *c)
{
    (void)pthread_mutex_lock(&c->h->mu);
    c->h->bond = -1;
    (void)pthread_mutex_unlock(&c->h->mu);
    close_all(c);
}

/* Lets the child start the command when the guardian, if there is one, knows the pipe of its keeper. 0 or errno. */
static int let_go(struct child *c)
{
    int rc = zkr_client_guard_pipe(c->h->env->client, c->keeper.over[0]);
    int error = rc == ZKR_OK || rc == ZKR_ESTATE ? 0 : zkr_last_error()->sys_errno;
    atomic_store(&c->keeper.bound->until, c->h->bound);
    /* Wakes the keeper, which then sees the bound. */
    keeper_signal(&c->keeper, 0, false);
    if (error == 0 && write(c->talk[0], "", 1) != 1) {
        error = errno;
    }
    return error;
}

/* False: errno says why, ECANCELED: the lock is lost. */
static bool start(struct child *c)
{
    terminal_begin(&c->terminal);
    bool made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->talk) == 0 &&
                socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->bond) == 0 &&
                keeper_begin(&c->keeper);
    bool lend = terminal_wanted(&c->terminal);
    c->pid = made ? fork_unless_lost(c) : -1;
    if (c->pid == 0) {
        become(c, lend);
    }
    int error = c->pid < 0 ? errno : let_go(c);
    if (error != 0) {
        forget(c); /* ends the keeper and the child, which has not become the command */
        errno = error;
        return false;
    }
    fds_close(&c->talk[1]);
    if (lend) {
        terminal_lend(&c->terminal, c->pid);
    }
    return true;
}

/* Reads the outcome of exec, if it is not known yet. */
static void read_exec(struct child *c)
{
    int error = 0;
    ssize_t n = c->talk[0] >= 0 ? read(c->talk[0], &error, sizeof(error)) : 0;
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
        return;
    }
    if (n == (ssize_t)sizeof(error)) {
        c->exec_errno = error;
    }
    fds_close(&c->talk[0]);
}

/* --- its end --- */

/* Without the keeper the other descendants are not known: the session stays until it times out. */
static _Noreturn void die_with_keeper(const struct child *c)
{
    (void)!write(c->bond[0], "", 1);
    cli_note(
        "zkr-keeper was killed: the command is killed, but perhaps not all that it "
        "has started; the %s %.1000s is free when the session times out",
        c->h->what, c->h->path);
    client_exit(CLI_LOST);
}

static void say_denied(const struct child *c, int pid)
{
    const struct held *h = c->h;
    cli_note(
        "not allowed to signal process %d of the command; %s the %s %.1000s%s; run "
        "zkr itself with its privileges",
        pid, c->killed ? "it goes on without" : "so", h->what, h->path,
        c->killed ? "" : " is kept until it ends");
}

static void hear_keeper(struct child *c)
{
    struct keeper_word word;
    while (!c->gone && keeper_hear(&c->keeper, &word)) {
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

static void send_signal(const struct child *c, int signo)
{
    keeper_signal(&c->keeper, signo, false);
}

/* Descendants that outlive the group get it, too. */
static void send_ending(const struct child *c, int signo)
{
    keeper_signal(&c->keeper, signo, true);
}

static void send_kill_signal(const struct child *c)
{
    send_ending(c, c->h->kill_signal);
    send_signal(c, SIGCONT);
}

/* Sends SIGKILL, once: the keeper repeats it. Reports later that processes are left. */
static void send_kill(struct child *c)
{
    enum { LATE_MS = 2000 };
    if (c->late_at == 0) {
        c->late_at = clock_now_ms() + LATE_MS;
        send_signal(c, SIGKILL);
    } else if (c->late_at != NEVER && clock_left_ms(c->late_at) == 0) {
        c->late_at = NEVER;
        cli_note("the command, or a process that it has started, has not ended 2 s "
                 "after SIGKILL; %s the %s %.1000s%s",
                 c->killed ? "it may go on without" : "so", c->h->what, c->h->path,
                 c->killed ? "" : " is kept until it ends");
    }
}

/* The lease is looked at before anything else, above all after zkr was stopped. */
static void check_lease(struct child *c)
{
    enum lease_phase phase = held_step(c->h);
    if (atomic_load(&c->keeper.bound->passed)) {
        held_doubt(c->h); /* all are killed already */
        phase = held_step(c->h);
    }
    bool first = phase != LEASE_SURE && !c->killed;
    c->killed = c->killed || first;
    if (phase == LEASE_OVER) {
        send_kill(c);
    } else if (first) {
        send_kill_signal(c);
    }
}

/* The lock is released when all are gone, also when revoked again. */
static void check_revocation(struct child *c)
{
    if (held_is_revoked(c->h) && c->end_at == 0) {
        if (!c->h->latch) {
            cli_note("asked to release %.1000s: ending the command", c->h->path);
        }
        c->end_at = clock_now_ms() + held_patience(c->h);
        send_kill_signal(c);
    }
    if (c->end_at != 0 && clock_left_ms(c->end_at) == 0) {
        send_kill(c);
    }
}

/* All are gone. Notes whether ^C or ^\ of the terminal, which only the group got, ended the command. */
static void end(struct child *c)
{
    bool had = terminal_take(&c->terminal, c->pid);
    int by = WIFSIGNALED(c->status) ? WTERMSIG(c->status) : 0;
    if (by) {
        terminal_reset(&c->terminal);
    }
    read_exec(c);
    forget(c);
    (void)zkr_client_guard_group(c->h->env->client, 0);
    c->interrupted = had && (by == SIGINT || by == SIGQUIT);
}

/* --- stop and continue --- */

static void go_on(struct child *c)
{
    c->stopped_by = 0;
    send_signal(c, SIGCONT);
}

/* Continues the group, in the foreground if zkr is there. */
static void resume(struct child *c)
{
    struct terminal *t = &c->terminal;
    if (terminal_wanted(t) || (t->lent && terminal_is_ours(t))) {
        terminal_lend(t, c->pid);
    }
    go_on(c);
}

/* The command has stopped. Does zkr have to stop as well? */
static bool stops_us(struct child *c)
{
    struct terminal *t = &c->terminal;
    int by = c->stopped_by;
    bool asks = by == SIGTTIN || by == SIGTTOU;
    if (asks && !c->stop && terminal_is_ours(t)) {
        terminal_lend(t, c->pid);
        go_on(c);
        return false;
    }
    bool had = terminal_take(t, c->pid);
    return had || c->stop || (t->fd >= 0 && (asks || by == SIGTSTP));
}

/*
 * Stops the group of zkr as the terminal would, so that the shell sees the job stop. Returns
 * when continued, or at once when there is no shell to do that.
 */
static void stop_ourselves(struct child *c)
{
    (void)held_rest(c->h);
    (void)kill(0, SIGTSTP);
    if (!c->h->env->signals.stop_ignored) {
        signals_mask_stop(SIG_UNBLOCK);
        signals_mask_stop(SIG_BLOCK);
    }
    c->stop = false;
    c->resume = true;
}

static void check_group(struct child *c)
{
    read_exec(c);
    hear_keeper(c);
    bool sure = c->h->phase == LEASE_SURE;
    if (c->resume && sure) {
        resume(c);
    }
    c->resume = false;
    if (c->stopped_by && !c->ended && sure && stops_us(c)) {
        stop_ourselves(c);
    }
}

/* --- running it --- */

static void forward_signals(struct child *c)
{
    int signo;
    while ((signo = signals_next(&c->h->env->signals)) != 0) {
        if (signals_is_forwarded(signo)) {
            bool ends = signo != SIGUSR1 && signo != SIGUSR2;
            keeper_signal(&c->keeper, signo, ends);
            c->stopping = c->stopping || ends;
        } else if (signo == SIGNALS_TIMER) {
            held_doubt(c->h); /* zkr was stopped for too long */
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

/* Gives the keeper the present bound, and sleeps for at most half of the time until it passes. */
static void wait_for_event(const struct child *c)
{
    enum { LEAST_MS = 20 };
    int64_t rest = held_rest(c->h);
    atomic_store(&c->keeper.bound->until, c->h->bound);
    if (c->h->bound != 0) {
        rest = lesser(rest, clock_left_ms(c->h->bound) / 2 + 1);
    }
    if (c->end_at != 0) {
        int64_t left = clock_left_ms(c->end_at);
        rest = lesser(rest, left > LEAST_MS ? left : LEAST_MS);
    }
    (void)held_sleep(c->h, c->keeper.link[0], rest);
}

/* Returns 0, or the errno of a failed start. */
static int run(struct child *c)
{
    struct held *h = c->h;
    signals_take_stop(&h->env->signals);
    /* Sets the timer: zkr may be stopped as soon as there is a child. */
    (void)held_rest(h);
    if (!start(c)) {
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
    /* A lease that is sure now was sure all the time. */
    h->lost = held_step(h) == LEASE_OVER || c->killed;
    end(c);
    return c->exec_errno;
}

int child_run(struct held *h)
{
    struct child c = {
        .h = h, .envp = make_environment(h), .talk = {-1, -1}, .bond = {-1, -1}};
    h->failed = true;
    if (!c.envp) {
        return cli_fail_memory();
    }
    int fault = run(&c);
    free_environment(c.envp);
    /* A leader that was not healthy leads again when it is. */
    h->ended = c.stopping || c.interrupted || (c.end_at != 0 && !h->latch);
    h->failed = fault != 0;
    if (h->failed) {
        return cli_fail(CLI_COMMAND,
                        "cannot start '%.1000s': %s; check the command and $PATH",
                        h->env->globals.command[0], strerrordesc_np(fault));
    }
    if (h->lost) {
        return held_say_lost(h, "the command was killed; check what it left undone, "
                                "then run it again");
    }
    if (!WIFSIGNALED(c.status)) {
        return WEXITSTATUS(c.status);
    }
    /* ^C reached the command alone: a script that runs zkr has to learn of it. */
    if (c.interrupted && getpid() != getpgrp()) {
        h->env->die_of = WTERMSIG(c.status);
    }
    return cli_exit_signal(WTERMSIG(c.status));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * If zkr is killed by SIGKILL, the kernel has to end the command; there is no second process to do that. PR_SET_PDEATHSIG
 * covers the child itself. Its descendants are covered by a pair of connected sockets, here called the bond. Each socket is
 * set to send SIGKILL to the group as its I/O signal. zkr holds both and never uses them: when zkr dies, the kernel closes
 * one of them first, which is an event on the other.
 */
#include "child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

/* --- descriptors --- */

enum { FIRST = STDERR_FILENO + 1, WITHOUT_PROC = 1024, WITHOUT_CLOSE_RANGE = 65536 };

static void fill_closed_stdio(void)
{
    for (int fd = 0; fd < FIRST; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            (void)open("/dev/null",
                       O_RDWR | O_CLOEXEC); /* the lowest free number: fd */
        }
    }
}

static bool add_fd(struct fds *f, int fd)
{
    int *grown = reallocarray(f->inherited, f->count + 1, sizeof(*grown));
    if (!grown) {
        return false;
    }
    f->inherited = grown;
    f->inherited[f->count++] = fd;
    return true;
}

static bool add_from_proc(struct fds *f, DIR *dir)
{
    const struct dirent *entry;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
    while ((entry = readdir(dir))) {
        int64_t fd;
        if (cli_parse_int(entry->d_name, FIRST, INT_MAX, &fd) && fd != dirfd(dir) &&
            !add_fd(f, (int)fd)) {
            return false;
        }
    }
    return true;
}

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

bool fds_begin(struct fds *f)
{
    *f = (struct fds){NULL, 0};
    fill_closed_stdio();
    bool ok = true;
    DIR *dir = opendir("/proc/self/fd");
    if (dir) {
        ok = add_from_proc(f, dir);
        (void)closedir(dir);
    } else {
        for (int fd = FIRST; fd < WITHOUT_PROC && ok; fd++) {
            ok = fcntl(fd, F_GETFD) < 0 || add_fd(f, fd);
        }
    }
    if (f->count > 1) {
        qsort(f->inherited, f->count, sizeof(f->inherited[0]), ascending);
    }
    return ok;
}

/* Only calls that are safe after a fork among threads. */
static void hide_range(unsigned first, unsigned last)
{
    if (first > last || close_range(first, last, CLOSE_RANGE_CLOEXEC) == 0) {
        return;
    }
    for (unsigned fd = first; fd <= last && fd < WITHOUT_CLOSE_RANGE; fd++) {
        int flags = fcntl((int)fd, F_GETFD);
        if (flags >= 0) {
            (void)fcntl((int)fd, F_SETFD, flags | FD_CLOEXEC);
        }
    }
}

static void hide_fds(const struct fds *f)
{
    unsigned first = FIRST;
    for (size_t i = 0; i < f->count; i++) {
        unsigned fd = (unsigned)f->inherited[i];
        if (fd > first) {
            hide_range(first, fd - 1);
        }
        first = fd + 1;
    }
    hide_range(first, UINT_MAX);
}

void fds_end(struct fds *f)
{
    free(f->inherited);
    *f = (struct fds){NULL, 0};
}

/* --- the terminal --- */

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

static void terminal_end(struct terminal *t)
{
    if (t->fd >= 0) {
        (void)close(t->fd);
        t->fd = -1;
    }
}

/* --- in the child: only calls that are safe after a fork among threads --- */

static void bind_to_group(const int bond[2])
{
    for (int i = 0; i < 2; i++) {
        int flags = fcntl(bond[i], F_GETFL);
        (void)fcntl(bond[i], F_SETOWN, -getpid());
        (void)fcntl(bond[i], F_SETSIG, SIGKILL);
        (void)fcntl(bond[i], F_SETFL, flags | O_ASYNC);
    }
}

struct child_setup {
    const int *bond;
    int report;   /* where to write why exec failed */
    pid_t parent; /* has to be alive still */
    int terminal; /* to take over; -1: none */
};

static _Noreturn void become(const struct child_spec *spec, const struct child_setup *s)
{
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != s->parent) {
        _exit(CLI_COMMAND); /* the parent died before prctl() */
    }
    bind_to_group(s->bond);
    if (s->terminal >= 0) {
        (void)tcsetpgrp(s->terminal, getpid());
    }
    signals_restore(spec->signals);
    hide_fds(spec->fds);
    (void)execvpe(spec->argv[0], spec->argv, spec->envp);
    int error = errno;
    while (write(s->report, &error, sizeof(error)) < 0 && errno == EINTR) {
    }
    _exit(CLI_COMMAND);
}

/* --- the permit --- */

void child_deny(struct child_permit *p)
{
    (void)pthread_mutex_lock(&p->mu);
    if (p->group > 0) {
        (void)kill(-p->group, SIGKILL); /* the main thread reports a failure */
    }
    p->denied = true;
    (void)pthread_mutex_unlock(&p->mu);
}

void child_allow(struct child_permit *p)
{
    (void)pthread_mutex_lock(&p->mu);
    p->denied = false;
    (void)pthread_mutex_unlock(&p->mu);
}

/* fork() into a new process group; -1 with errno ECANCELED: denied. */
static pid_t fork_if_allowed(struct child_permit *p)
{
    (void)pthread_mutex_lock(&p->mu);
    errno = ECANCELED;
    pid_t pid = p->denied ? -1 : fork();
    if (pid == 0) {
        return 0; /* the mutex is of no use to the child */
    }
    if (pid > 0) {
        (void)setpgid(pid,
                      pid); /* parent and child both do this: either may be first */
        p->group = pid;
    }
    int error = errno;
    (void)pthread_mutex_unlock(&p->mu);
    errno = error;
    return pid;
}

/* --- in the parent --- */

static void close_pair(const int fd[2])
{
    (void)close(fd[0]);
    (void)close(fd[1]);
}

static bool start(struct child *c, const struct child_spec *spec)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) {
        return false;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->bond) != 0) {
        close_pair(report);
        return false;
    }
    bool lend = terminal_wanted(&c->terminal);
    const struct child_setup setup = {.bond = c->bond,
                                      .report = report[1],
                                      .parent = getpid(),
                                      .terminal = lend ? c->terminal.fd : -1};
    c->pid = fork_if_allowed(c->permit);
    if (c->pid == 0) {
        become(spec, &setup);
    }
    int error = errno;
    (void)close(report[1]);
    if (c->pid < 0) {
        (void)close(report[0]);
        close_pair(c->bond);
        errno = error;
        return false;
    }
    if (lend) {
        terminal_lend(&c->terminal, c->pid);
    }
    c->exec_fd = report[0];
    return true;
}

bool child_start(struct child *c, const struct child_spec *spec)
{
    *c = (struct child){.exec_fd = -1, .bond = {-1, -1}, .permit = spec->permit};
    terminal_begin(&c->terminal);
    /* Orphans of the group become children of zkr, which then learns of their end. */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    bool started = start(c, spec);
    int error = errno;
    if (!started) {
        terminal_end(&c->terminal);
    }
    errno = error;
    return started;
}

void child_read_exec(struct child *c)
{
    int error;
    if (c->exec_fd < 0) {
        return;
    }
    ssize_t n = read(c->exec_fd, &error, sizeof(error));
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
        return;
    }
    if (n == (ssize_t)sizeof(error)) {
        c->exec_errno = error;
    }
    (void)close(c->exec_fd);
    c->exec_fd = -1;
}

/* Under the mutex: child_deny() must not kill a group whose number is in use again. */
void child_reap(struct child *c)
{
    int status;
    pid_t pid;
    (void)pthread_mutex_lock(&c->permit->mu);
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
        if (pid != c->pid) {
            continue;
        }
        if (WIFSTOPPED(status)) {
            c->stopped_by = WSTOPSIG(status);
            continue;
        }
        c->stopped_by = 0;
        if (!WIFCONTINUED(status)) {
            c->reaped = true;
            c->status = status;
        }
    }
    c->gone = c->reaped && kill(-c->pid, 0) != 0 && errno == ESRCH;
    if (c->gone) {
        c->permit->group = 0;
    }
    (void)pthread_mutex_unlock(&c->permit->mu);
}

bool child_kill(const struct child *c, int signo)
{
    return kill(-c->pid, signo) == 0 || errno != EPERM;
}

static void go_on(struct child *c)
{
    c->stopped_by = 0;
    (void)child_kill(c, SIGCONT);
}

void child_resume(struct child *c)
{
    struct terminal *t = &c->terminal;
    if (terminal_wanted(t) || (t->lent && terminal_is_ours(t))) {
        terminal_lend(t, c->pid);
    }
    go_on(c);
}

bool child_stop(struct child *c, bool requested)
{
    struct terminal *t = &c->terminal;
    int by = c->stopped_by;
    bool asks = by == SIGTTIN || by == SIGTTOU;
    if (asks && !requested && terminal_is_ours(t)) {
        terminal_lend(t, c->pid);
        go_on(c);
        return false;
    }
    bool had = terminal_take(t, c->pid);
    return had || requested || (t->fd >= 0 && (asks || by == SIGTSTP));
}

int child_exit(const struct child *c)
{
    return WIFSIGNALED(c->status) ? cli_exit_signal(WTERMSIG(c->status))
                                  : WEXITSTATUS(c->status);
}

bool child_end(struct child *c)
{
    bool had = terminal_take(&c->terminal, c->pid);
    int by = WIFSIGNALED(c->status) ? WTERMSIG(c->status) : 0;
    if (by) {
        terminal_reset(&c->terminal);
    }
    terminal_end(&c->terminal);
    if (c->exec_fd >= 0) {
        (void)close(c->exec_fd);
        c->exec_fd = -1;
    }
    close_pair(c->bond);
    return had && (by == SIGINT || by == SIGQUIT);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When we are killed with SIGKILL the kernel must end the command for us, and no second process
 * shall have to watch for that. PR_SET_PDEATHSIG does it for the child alone. Its children
 * are covered by the bond: a pair of connected sockets, each set to send SIGKILL to the group
 * as its "something happened" signal. We hold both and never use them; when we die the kernel
 * closes one first, which is an event on the other.
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
            (void)open("/dev/null", O_RDWR | O_CLOEXEC); /* takes the lowest: fd */
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

/* Are we the job in the foreground? */
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
 * Whether the command gets the terminal at once. In a pipeline it does not: the terminal goes to one group, and others of the
 * pipeline may need it; there it gets it when it asks.
 */
static bool terminal_wanted(const struct terminal *t)
{
    return terminal_is_ours(t) && !is_pipe(STDIN_FILENO) && !is_pipe(STDOUT_FILENO);
}

/* Hands it to a group. SIGTTOU is blocked. */
static void terminal_lend(struct terminal *t, pid_t group)
{
    if (tcsetpgrp(t->fd, group) == 0) {
        t->lent = true;
    }
}

/* Takes it back if @group has it. True: it had. */
static bool terminal_take(struct terminal *t, pid_t group)
{
    if (t->fd < 0 || tcgetpgrp(t->fd) != group) {
        return false;
    }
    return tcsetpgrp(t->fd, getpgrp()) == 0;
}

/* After the command was killed: the modes of our start. */
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

struct birth {
    const int *bond;
    int tell;     /* where to write why exec failed */
    pid_t parent; /* must still be there */
    int terminal; /* to take; -1: none */
};

static _Noreturn void become(const struct child_spec *spec, const struct birth *b)
{
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != b->parent) {
        _exit(CLI_COMMAND); /* it died before prctl() */
    }
    bind_to_group(b->bond);
    if (b->terminal >= 0) {
        (void)tcsetpgrp(b->terminal, getpid());
    }
    signals_restore(spec->signals);
    hide_fds(spec->fds);
    (void)execvpe(spec->argv[0], spec->argv, spec->envp);
    int why = errno;
    while (write(b->tell, &why, sizeof(why)) < 0 && errno == EINTR) {
    }
    _exit(CLI_COMMAND);
}

/* --- the permit --- */

void child_deny(struct child_permit *p)
{
    (void)pthread_mutex_lock(&p->mu);
    if (p->group > 0) {
        (void)kill(-p->group, SIGKILL); /* not allowed: who minds it will say so */
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

/* fork() into a process group of its own; -1 with errno ECANCELED: it is denied. */
static pid_t fork_if_allowed(struct child_permit *p)
{
    (void)pthread_mutex_lock(&p->mu);
    errno = ECANCELED;
    pid_t pid = p->denied ? -1 : fork();
    if (pid == 0) {
        return 0; /* the lock stays behind */
    }
    if (pid > 0) {
        (void)setpgid(pid, pid); /* both sides do this, as either may come first */
        p->group = pid;
    }
    int why = errno;
    (void)pthread_mutex_unlock(&p->mu);
    errno = why;
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
    int tell[2];
    if (pipe2(tell, O_CLOEXEC) != 0) {
        return false;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->bond) != 0) {
        close_pair(tell);
        return false;
    }
    bool lend = terminal_wanted(&c->terminal);
    const struct birth birth = {.bond = c->bond,
                                .tell = tell[1],
                                .parent = getpid(),
                                .terminal = lend ? c->terminal.fd : -1};
    c->pid = fork_if_allowed(c->permit);
    if (c->pid == 0) {
        become(spec, &birth);
    }
    int why = errno;
    (void)close(tell[1]);
    if (c->pid < 0) {
        (void)close(tell[0]);
        close_pair(c->bond);
        errno = why;
        return false;
    }
    if (lend) {
        terminal_lend(&c->terminal, c->pid);
    }
    c->exec_fd = tell[0];
    return true;
}

bool child_start(struct child *c, const struct child_spec *spec)
{
    *c = (struct child){.exec_fd = -1, .bond = {-1, -1}, .permit = spec->permit};
    terminal_begin(&c->terminal);
    /* Orphans of the group become our children, so that we learn of their end. */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    bool started = start(c, spec);
    int why = errno;
    if (!started) {
        terminal_end(&c->terminal);
    }
    errno = why;
    return started;
}

void child_read_exec(struct child *c)
{
    int why;
    if (c->exec_fd < 0) {
        return;
    }
    ssize_t n = read(c->exec_fd, &why, sizeof(why));
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
        return;
    }
    if (n == (ssize_t)sizeof(why)) {
        c->exec_errno = why;
    }
    (void)close(c->exec_fd);
    c->exec_fd = -1;
}

/* No group is killed meanwhile whose number may be in use again. */
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

bool child_stop(struct child *c, bool told)
{
    struct terminal *t = &c->terminal;
    int by = c->stopped_by;
    bool asks = by == SIGTTIN || by == SIGTTOU;
    if (asks && !told && terminal_is_ours(t)) {
        terminal_lend(t, c->pid);
        go_on(c);
        return false;
    }
    bool had = terminal_take(t, c->pid);
    return had || told || (t->fd >= 0 && (asks || by == SIGTSTP));
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

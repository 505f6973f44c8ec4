/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When we are killed with SIGKILL the kernel must end the command for us, and no second process
 * shall have to watch for that. PR_SET_PDEATHSIG does it for the child alone. Its children
 * are covered by the bond: a pair of connected sockets, each set to send SIGKILL to the group
 * as its "something happened" signal. We hold both and never use them; when we die the kernel
 * closes one first, which is an event on the other.
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

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
    bool lend;    /* take the terminal */
};

static _Noreturn void become(const struct child_spec *spec, const struct birth *b)
{
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != b->parent) {
        _exit(CLI_COMMAND); /* it died before prctl() */
    }
    bind_to_group(b->bond);
    if (b->lend) {
        (void)tcsetpgrp(spec->terminal->fd, getpid());
    }
    signals_restore(spec->signals);
    fds_hide(spec->fds);
    (void)execvpe(spec->argv[0], spec->argv, spec->envp);
    int why = errno;
    while (write(b->tell, &why, sizeof(why)) < 0 && errno == EINTR) {
    }
    _exit(CLI_COMMAND);
}

/* --- in the parent --- */

static void close_pair(const int fd[2])
{
    (void)close(fd[0]);
    (void)close(fd[1]);
}

bool child_start(struct child *c, const struct child_spec *spec)
{
    int tell[2];
    *c = (struct child){.exec_fd = -1, .bond = {-1, -1}, .loss = spec->loss};
    /* Orphans of the group become our children, so that we learn of their end. */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (pipe2(tell, O_CLOEXEC) != 0) {
        return false;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->bond) != 0) {
        close_pair(tell);
        return false;
    }
    const struct birth birth = {.bond = c->bond,
                                .tell = tell[1],
                                .parent = getpid(),
                                .lend = terminal_wanted(spec->terminal)};
    c->pid = loss_fork(c->loss);
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
    if (birth.lend) {
        terminal_lend(spec->terminal, c->pid);
    }
    c->exec_fd = tell[0];
    return true;
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

void child_reap(struct child *c)
{
    int status;
    pid_t pid;
    loss_lock(c->loss);
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
    loss_unlock(c->loss, c->gone);
}

bool child_kill(const struct child *c, int signo)
{
    return kill(-c->pid, signo) == 0 || errno != EPERM;
}

int child_exit(const struct child *c)
{
    return WIFSIGNALED(c->status) ? cli_exit_signal(WTERMSIG(c->status))
                                  : WEXITSTATUS(c->status);
}

void child_end(struct child *c)
{
    if (c->exec_fd >= 0) {
        (void)close(c->exec_fd);
        c->exec_fd = -1;
    }
    close_pair(c->bond);
}

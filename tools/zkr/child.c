/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli.h"
#include "fds.h"
#include "keeper.h"
#include "news.h"
#include "signals.h"
#include "terminal.h"

static void bind_to_group(const int bond[2])
{
    for (int i = 0; i < 2; i++) {
        int flags = fcntl(bond[i], F_GETFL);
        (void)fcntl(bond[i], F_SETOWN, -getpid());
        (void)fcntl(bond[i], F_SETSIG, SIGKILL);
        (void)fcntl(bond[i], F_SETFL, flags | O_ASYNC);
    }
}

/*
 * Waits for the byte from zkr. If none arrives, zkr has died or could not notify the guardian, and this process exits.
 */
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

/*
 * Becomes the command. Makes only calls that are safe after fork() in a threaded process. With @lend, takes over the
 * terminal.
 */
static _Noreturn void become(const struct child *c, bool lend)
{
    char **command = c->env->globals.command;
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != c->keeper.self) {
        _exit(CLI_COMMAND); /* the keeper died before prctl() */
    }
    bind_to_group(c->bond);
    await_word(c->talk);
    char byte;
    if (recv(c->bond[1], &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1) {
        _exit(CLI_COMMAND); /* the lock was lost before bind_to_group() */
    }
    if (lend) {
        (void)tcsetpgrp(c->terminal.fd, getpid());
    }
    signals_restore(&c->env->signals);
    fds_hide();
    (void)execvpe(command[0], command, c->envp);
    int error = errno;
    while (write(c->talk[1], &error, sizeof(error)) < 0 && errno == EINTR) {
    }
    _exit(CLI_COMMAND);
}

static pid_t fork_both(void *keeper)
{
    return keeper_fork(keeper);
}

void child_end(struct child *c)
{
    news_forget_bond(c->news);
    for (int i = 0; i < 2; i++) {
        fds_close(&c->talk[i]);
        fds_close(&c->bond[i]);
    }
    terminal_end(&c->terminal);
    keeper_end(&c->keeper);
}

void child_kill_group(const struct child *c)
{
    (void)!write(c->bond[0], "", 1);
}

/* Lets the child start the command, once the guardian (if there is one) knows the keeper's pipe. Returns 0 or errno. */
static int let_go(struct child *c, int64_t bound)
{
    int rc = zkr_client_guard_pipe(c->env->client, c->keeper.over[0]);
    int error = rc == ZKR_OK || rc == ZKR_ESTATE ? 0 : zkr_last_error()->sys_errno;
    atomic_store(&c->keeper.bound->until, bound);
    /* This wakes the keeper, which then reads the bound. */
    keeper_signal(&c->keeper, 0, false);
    if (error == 0 && write(c->talk[0], "", 1) != 1) {
        error = errno;
    }
    return error;
}

bool child_start(struct child *c, int64_t bound)
{
    c->talk[0] = c->talk[1] = c->bond[0] = c->bond[1] = -1;
    terminal_begin(&c->terminal);
    bool made = keeper_begin(&c->keeper) &&
                socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->talk) == 0 &&
                socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->bond) == 0;
    bool lend = terminal_wanted(&c->terminal);
    c->pid = made ? news_fork(c->news, c->bond[0], fork_both, &c->keeper) : -1;
    if (c->pid == 0) {
        become(c, lend);
    }
    int error = c->pid < 0 ? errno : let_go(c, bound);
    if (error != 0) {
        child_end(c); /* this also ends the keeper and the child */
        errno = error;
        return false;
    }
    fds_close(&c->talk[1]);
    if (lend) {
        terminal_lend(&c->terminal, c->pid);
    }
    return true;
}

void child_hear_exec(struct child *c)
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

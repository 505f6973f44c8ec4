/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "descendants.h"
#include "fds.h"
#include "signals.h"

/* --- in the keeper: only calls that are safe after fork() in a threaded process --- */

/* The descriptors of the keeper. All others are closed. */
enum { LINK_FD, OVER_FD, SIGNALS_FD, FDS };

struct keeping {
    const struct keeper *k;
    pid_t command;
    bool reaped; /* the command has exited, and was reaped */
    int status;  /* from waitpid(), once `reaped` is set */
    /* The command's process group is gone, too. This stays true, because another group may reuse the number. */
    bool group_gone;
    int ending; /* a signal for processes that outlive the group; 0 = none */
    bool killing;
    int64_t calm_at; /* from then on, SIGKILL is repeated less often */
    pid_t denied;    /* the last process reported as KEEPER_DENIED */
};

/* Sends a message to zkr. Never blocks, because the keeper must enforce the bound even while zkr is stopped. */
static void tell(int kind, int value)
{
    const struct keeper_word word = {kind, value};
    (void)send(LINK_FD, &word, sizeof(word), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/*
 * Notifies the guardian and zkr that all processes have exited, and ends the keeper. Blocks until zkr has room for the
 * message.
 */
static _Noreturn void tell_gone(const struct keeping *w)
{
    const struct keeper_word word = {KEEPER_GONE, w->status};
    (void)!write(OVER_FD, "", 1);
    (void)send(LINK_FD, &word, sizeof(word), MSG_NOSIGNAL);
    _exit(0);
}

static void tell_denied(struct keeping *w, pid_t pid)
{
    if (pid != 0 && pid != w->denied) {
        w->denied = pid;
        tell(KEEPER_DENIED, pid);
    }
}

static void signal_all(struct keeping *w, int signo)
{
    tell_denied(w, descendants_signal(getpid(), signo).denied);
}

/*
 * Returns whether a process is left in the group. No other group can reuse its number before the keeper has reaped the
 * command.
 */
static bool group_is_left(struct keeping *w)
{
    if (w->reaped && !w->group_gone && kill(-w->command, 0) != 0 && errno == ESRCH) {
        w->group_gone = true;
        if (w->ending != 0) {
            signal_all(w, w->ending);
            signal_all(w, SIGCONT);
        }
    }
    return !w->group_gone;
}

/* Sends a signal to the group, or to all descendants if the group is gone. */
static void pass_on(struct keeping *w, int signo, bool ending)
{
    if (!group_is_left(w)) {
        signal_all(w, signo);
    } else if (kill(-w->command, signo) != 0 && errno == EPERM) {
        tell_denied(w, w->command);
    }
    w->ending = ending ? signo : w->ending;
}

static void begin_killing(struct keeping *w)
{
    enum { BUSY_MS = 1000 };
    if (!w->killing) {
        w->killing = true;
        w->calm_at = clock_now_ms() + BUSY_MS;
    }
}

static void kill_all(struct keeping *w)
{
    if (group_is_left(w)) {
        (void)kill(-w->command, SIGKILL);
    }
    signal_all(w, SIGKILL);
}

/* Reaps all children that have exited. If none is left, does not return. */
static void collect(struct keeping *w)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
        if (pid == w->command && !w->reaped) {
            w->reaped = !WIFSTOPPED(status) && !WIFCONTINUED(status);
            w->status = status;
            tell(KEEPER_STATUS, status);
        }
    }
    if (pid < 0 && errno == ECHILD) {
        tell_gone(w);
    }
    (void)group_is_left(w);
}

/* Forwards signals to zkr, because the command may send signals to its parent. */
static void hear_signals(const struct keeping *w)
{
    struct signalfd_siginfo info;
    while (read(SIGNALS_FD, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (signals_is_forwarded((int)info.ssi_signo) && getppid() == w->k->zkr) {
            (void)kill(w->k->zkr, (int)info.ssi_signo);
        }
    }
}

/* Takes the messages from zkr. The end of the link means that zkr is dead. */
static void hear_zkr(struct keeping *w)
{
    struct keeper_word word;
    ssize_t n;
    while ((n = recv(LINK_FD, &word, sizeof(word), MSG_DONTWAIT)) ==
           (ssize_t)sizeof(word)) {
        if (word.kind == SIGKILL) {
            begin_killing(w);
        } else {
            pass_on(w, word.kind, word.value != 0);
        }
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        begin_killing(w);
    }
}

/* Returns how many milliseconds to sleep, or -1 for no limit. */
static int rest(struct keeping *w)
{
    enum { BUSY_MS = 5, CALM_MS = 200 };
    int64_t until = atomic_load(&w->k->bound->until);
    if (w->killing) {
        return clock_left_ms(w->calm_at) > 0 ? BUSY_MS : CALM_MS;
    }
    return until == 0 ? -1 : clock_left_ms(until);
}

static void check_bound(struct keeping *w)
{
    int64_t until = atomic_load(&w->k->bound->until);
    if (until != 0 && clock_left_ms(until) == 0 && !w->killing) {
        atomic_store(&w->k->bound->passed, true);
        begin_killing(w);
    }
}

/* Closes all descriptors except those of the keeper. @signals is the signalfd. */
static void hide(const struct keeper *k, int signals)
{
    enum { WITHOUT_CLOSE_RANGE = 65536 };
    (void)dup2(k->link[1], LINK_FD);
    (void)dup2(k->over[1], OVER_FD);
    (void)dup2(signals, SIGNALS_FD);
    if (close_range(FDS, UINT_MAX, 0) != 0) {
        for (int fd = FDS; fd < WITHOUT_CLOSE_RANGE; fd++) {
            (void)close(fd);
        }
    }
}

static _Noreturn void keep(const struct keeper *k, pid_t command, int signals)
{
    struct keeping w = {.k = k, .command = command};
    hide(k, signals);
    tell(KEEPER_STARTED, command);
    for (;;) {
        struct pollfd fds[] = {{.fd = w.killing ? -1 : LINK_FD, .events = POLLIN},
                               {.fd = SIGNALS_FD, .events = POLLIN}};
        collect(&w);
        (void)poll(fds, sizeof(fds) / sizeof(fds[0]), rest(&w));
        hear_signals(&w);
        if (!w.killing) {
            hear_zkr(&w);
        }
        check_bound(&w);
        if (w.killing) {
            kill_all(&w);
        }
    }
}

/* Makes this process the keeper. Returns only in its child, the command. */
static void become_keeper(struct keeper *k)
{
    sigset_t all;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, NULL);
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_NAME, "zkr-keeper");
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    k->self = getpid();
    int signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0) {
        _exit(errno);
    }
    /* _Fork() runs no fork handlers. Such handlers take locks that another thread of zkr may have held. */
    pid_t command = _Fork();
    if (command == 0) {
        return;
    }
    if (command < 0) {
        _exit(errno);
    }
    (void)setpgid(command, command); /* the command does the same */
    keep(k, command, signals);
}

/* --- in zkr --- */

bool keeper_begin(struct keeper *k)
{
    *k = (struct keeper){.zkr = getpid(), .link = {-1, -1}, .over = {-1, -1}};
    void *at = mmap(NULL, sizeof(*k->bound), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    k->bound = at == MAP_FAILED ? NULL : at;
    return k->bound &&
           socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, k->link) == 0 &&
           pipe2(k->over, O_CLOEXEC) == 0;
}

pid_t keeper_fork(struct keeper *k)
{
    struct keeper_word word = {0};
    pid_t pid = fork();
    if (pid == 0) {
        become_keeper(k);
        return 0;
    }
    int error = errno;
    fds_close(&k->link[1]);
    fds_close(&k->over[1]);
    if (pid < 0) {
        errno = error;
        return -1;
    }
    k->self = pid;
    ssize_t n;
    do {
        n = recv(k->link[0], &word, sizeof(word), 0);
    } while (n < 0 && errno == EINTR);
    errno = EAGAIN;
    return n == (ssize_t)sizeof(word) ? word.value : -1;
}

void keeper_signal(const struct keeper *k, int signo, bool ending)
{
    const struct keeper_word word = {signo, ending};
    (void)send(k->link[0], &word, sizeof(word), MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool keeper_hear(const struct keeper *k, struct keeper_word *word)
{
    ssize_t n;
    /*
     * If the keeper exits before it has read all messages, recv() fails once with ECONNRESET, and then returns the
     * queued messages.
     */
    do {
        n = recv(k->link[0], word, sizeof(*word), MSG_DONTWAIT);
    } while (n < 0 && (errno == EINTR || errno == ECONNRESET));
    if (n == 0) {
        *word = (struct keeper_word){KEEPER_DEAD, 0};
    }
    return n >= 0;
}

void keeper_end(struct keeper *k)
{
    for (int i = 0; i < 2; i++) {
        fds_close(&k->link[i]);
        fds_close(&k->over[i]);
    }
    if (k->bound) {
        (void)munmap(k->bound, sizeof(*k->bound));
        k->bound = NULL;
    }
}

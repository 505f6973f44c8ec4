/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zkr-guardian: started by the library, see zkr/guardian.h. Waits for the end of its parent, and then ends the
 * sessions that the parent has told it of and has not closed.
 *
 * What it must never do is end a session whose process may still act. So it acts on one thing alone, the end of the
 * parent's pidfd, and reads all that was told before it acts.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guardian.h"

/* --- a process that is in nobody's way --- */

static void ignore_signals(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL,
                                 SIGTRAP, SIGSYS, SIGABRT, SIGCHLD};
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int signo = 1; signo < NSIG; signo++) {
        (void)sigaction(signo, &ignore, NULL); /* some refuse */
    }
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        (void)sigaction(faults[i], &usual, NULL);
    }
    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
}

/* All but the socket, which may be descriptors of the parent. */
static void close_others(void)
{
    enum { WITHOUT_CLOSE_RANGE = 65536 };
    if (syscall(SYS_close_range, ZKR__GUARDIAN_FD + 1, UINT_MAX, 0) != 0) {
        for (int fd = ZKR__GUARDIAN_FD + 1; fd < WITHOUT_CLOSE_RANGE; fd++) {
            (void)close(fd);
        }
    }
    int null = open("/dev/null", O_RDWR);
    (void)!dup(null);
}

/* The password of a session shall not be in a core file, nor be read by a debugger. */
static void hide(void)
{
    const struct rlimit none = {0, 0};
    (void)setsid();
    (void)!chdir("/");
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_NAME, "zkr-guardian");
    (void)prctl(PR_SET_DUMPABLE, 0);
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* --- the parent --- */

static void answer(enum zkr__guardian_kind kind, int64_t value)
{
    const struct zkr__guardian_record record = {
        .version = ZKR__GUARDIAN_VERSION, .kind = kind, .value = value};
    (void)send(ZKR__GUARDIAN_FD, &record, sizeof(record), MSG_NOSIGNAL);
}

enum sight { SIGHT_NONE, SIGHT_ALIVE, SIGHT_DEAD };

static bool has_ended(int process)
{
    struct pollfd p = {.fd = process, .events = POLLIN};
    return poll(&p, 1, 0) > 0 && (p.revents & POLLIN) != 0;
}

/* Its number is another process's by now, or it is not our parent. */
static enum sight look_away(int error)
{
    answer(ZKR__GUARDIAN_REFUSES, error);
    return SIGHT_NONE;
}

/*
 * The kernel says who has made the socket pair. If that process is still our parent when its pidfd is open, the pidfd
 * is its, and of no other process that has got its number. It may have died before we looked: then its number is
 * nobody's, or that of a process that has ended. A living process that is not our parent is not watched.
 */
static enum sight watch_parent(int *parent)
{
    struct ucred maker;
    socklen_t size = sizeof(maker);
    if (getsockopt(ZKR__GUARDIAN_FD, SOL_SOCKET, SO_PEERCRED, &maker, &size) != 0 ||
        maker.pid <= 0) {
        return look_away(ZKR__GUARDIAN_NO_PARENT);
    }
    *parent = (int)syscall(SYS_pidfd_open, maker.pid, 0);
    if (*parent < 0) {
        return errno == ESRCH ? SIGHT_DEAD : look_away(errno);
    }
    return getppid() == maker.pid ? SIGHT_ALIVE
           : has_ended(*parent)   ? SIGHT_DEAD
                                  : look_away(ZKR__GUARDIAN_NO_PARENT);
}

/* --- what it tells --- */

enum heard { HEARD_NOTHING, HEARD_RECORD, HEARD_BYE, HEARD_END };

static void take_fds(const struct msghdr *message, int fds[ZKR__GROUP_FDS])
{
    struct msghdr copy = *message;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&copy);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(ZKR__GROUP_FDS * sizeof(int))) {
        memcpy(fds, CMSG_DATA(c), ZKR__GROUP_FDS * sizeof(int));
    }
}

/* Take one record in. */
static enum heard hear(struct wards *w)
{
    static struct {
        struct zkr__guardian_record head;
        char text[ZKR__GUARDIAN_TEXT_MAX + 2];
    } record;
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(ZKR__GROUP_FDS * sizeof(int))];
    } control;
    int fds[ZKR__GROUP_FDS] = {-1, -1};
    struct iovec part = {.iov_base = &record,
                         .iov_len = sizeof(record.head) + ZKR__GUARDIAN_TEXT_MAX};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof(control.room)};
    memset(&record, 0, sizeof(record));
    ssize_t n = recvmsg(ZKR__GUARDIAN_FD, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EAGAIN) {
        return HEARD_NOTHING;
    }
    /* A parent that dies with our answer unread is an error once, before what it has told. */
    if (n < 0 && (errno == EINTR || errno == ECONNRESET)) {
        return HEARD_RECORD;
    }
    take_fds(&message, fds);
    bool whole = n >= (ssize_t)sizeof(record.head) &&
                 (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
    if (whole && record.head.kind == ZKR__GUARDIAN_BYE) {
        return HEARD_BYE;
    }
    bool fine = whole && wards_take(w, &record.head, record.text, fds);
    explicit_bzero(&record, sizeof(record));
    if (!fine && n > 0) {
        _exit(1); /* what was meant is not known: end nothing */
    }
    return fine ? HEARD_RECORD : HEARD_END;
}

/*
 * The parent is done with us, and waits for our end. What it has closed without a connection may still have to be ended:
 * by a process that is not its child.
 */
static void take_leave(const struct wards *w, bool ends_any)
{
    if (ends_any && fork() == 0) {
        wards_forget_handles(w);
        (void)close(ZKR__GUARDIAN_FD);
    } else {
        _exit(0);
    }
}

static int rest_until(int64_t until, int rest)
{
    int64_t left = until - now_ms();
    return rest > 0 ? rest : until == INT64_MAX ? -1 : left > 0 ? (int)left : 0;
}

/*
 * Until the parent is dead or has said goodbye, and no session is left to be ended. The end of the socket alone says
 * nothing: the parent may have closed its socket, or called exec(). Then nothing more can be told, and the guardian goes
 * after the time in which the session ends if nobody keeps it alive.
 */
static void watch(int parent, struct wards *w)
{
    int64_t until = INT64_MAX;
    bool deaf = false, over = false;
    int rest = 0;
    while (!over || rest > 0) {
        struct pollfd p[] = {{.fd = over ? -1 : parent, .events = POLLIN},
                             {.fd = deaf ? -1 : ZKR__GUARDIAN_FD, .events = POLLIN},
                             {.fd = wards_news(), .events = POLLIN}};
        if (poll(p, sizeof(p) / sizeof(p[0]), rest_until(until, rest)) < 0 &&
            errno != EINTR) {
            _exit(1);
        }
        bool dead = !over && (parent < 0 || has_ended(parent));
        enum heard heard = HEARD_RECORD;
        while (!deaf && heard == HEARD_RECORD) {
            heard = hear(w);
        }
        rest = wards_step(w);
        if (heard == HEARD_BYE) {
            take_leave(w, rest > 0);
            deaf = over = true;
        } else if (heard == HEARD_END) {
            deaf = true;
            until = now_ms() + wards_longest_ms(w);
        }
        if (dead && !over) {
            over = true;
            wards_begin_end(w);
            rest = wards_step(w);
        }
        if (!over && now_ms() >= until) {
            return;
        }
    }
}

int main(void)
{
    struct wards w = {NULL, NULL};
    int type = 0, parent = -1;
    socklen_t size = sizeof(type);
    if (getsockopt(ZKR__GUARDIAN_FD, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
        type != SOCK_SEQPACKET) {
        (void)fputs("zkr-guardian: the library starts it, see zkrecipes-guide(7)\n",
                    stderr);
        return 64;
    }
    ignore_signals();
    close_others();
    hide();
    enum sight sight = watch_parent(&parent);
    if (sight == SIGHT_NONE) {
        return 1;
    }
    if (sight == SIGHT_ALIVE) {
        answer(ZKR__GUARDIAN_READY, 0);
    }
    watch(parent, &w);
    _exit(0);
}

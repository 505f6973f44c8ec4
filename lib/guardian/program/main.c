/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zkr-guardian, the program that the library starts (zkr/guardian.h). It waits for the end of its parent, and then ends
 * the sessions that the parent has reported but not closed.
 *
 * The guardian must never end a session whose process may still act. So it acts only when the pidfd reports the
 * parent's end, and it reads all records first.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "end.h"
#include "wards.h"

/* --- isolation from other processes --- */

static void ignore_signals(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL,
                                 SIGTRAP, SIGSYS, SIGABRT};
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int signo = 1; signo < NSIG; signo++) {
        (void)sigaction(signo, &ignore, NULL); /* some signals cannot be ignored */
    }
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        (void)sigaction(faults[i], &usual, NULL);
    }
    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
}

/* Close all descriptors except the socket, because they may be the parent's. */
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

/* Hide the password of a session from core files and debuggers. */
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

/* Refuse to watch. The parent may be alive, so no session is ended. */
static _Noreturn void refuse(int error)
{
    answer(ZKR__GUARDIAN_REFUSES, error);
    _exit(1);
}

/*
 * Returns the pidfd of the parent, or -1 if the parent is dead. The kernel reports which process created the socket
 * pair. If a later process has its number, the parent is dead already, so the end of that process proves the parent's
 * death too. getppid() proves nothing: a dying process loses its children before its pidfd reports the end. If the
 * number has become that of a thread, or of a process group whose leader is gone, pidfd_open() fails with EINVAL or, on
 * newer kernels, ENOENT.
 */
static int watch_parent(void)
{
    struct ucred maker;
    socklen_t size = sizeof(maker);
    if (getsockopt(ZKR__GUARDIAN_FD, SOL_SOCKET, SO_PEERCRED, &maker, &size) != 0 ||
        maker.pid <= 0) {
        refuse(ZKR__GUARDIAN_NO_PARENT);
    }
    int parent = (int)syscall(SYS_pidfd_open, maker.pid, 0);
    if (parent < 0 && errno != ESRCH && errno != EINVAL && errno != ENOENT) {
        refuse(errno);
    }
    return parent;
}

/* --- the parent's records --- */

enum heard { HEARD_NOTHING, HEARD_RECORD, HEARD_END };

static void take_fds(const struct msghdr *message, int fds[ZKR__GROUP_FDS])
{
    struct msghdr copy = *message;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&copy);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len <= CMSG_LEN(ZKR__GROUP_FDS * sizeof(int))) {
        memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
    }
}

/*
 * End a session that the parent has closed, if it is possible that no server knows of the close. This may take as long
 * as the servers are unreachable, and a parent that closes its last client waits for the end of this process. So a
 * child process ends the session. fork() is safe because this process has no threads yet.
 */
static void end_apart(const struct wards *w, int64_t session)
{
    const struct ward *ward = wards_find(w, session);
    if (ward && fork() == 0) {
        struct ward alone = *ward;
        const struct wards one = {.wards = &alone, .directories = w->directories};
        alone.next = NULL;
        (void)close(ZKR__GUARDIAN_FD);
        close_others();
        end_sessions(&one, now_ms() + alone.timeout_ms);
        _exit(0);
    }
}

/*
 * Process one record. Returns HEARD_END at the end of the socket. Ends this process on BYE, or on an unknown or
 * malformed record.
 */
static enum heard hear(struct wards *w)
{
    static struct {
        struct zkr__guardian_record head;
        char text[ZKR__GUARDIAN_TEXT_MAX];
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
    /*
     * If the parent dies before it reads the guardian's answer, recvmsg() fails once, and only then returns the
     * parent's records.
     */
    if (n < 0 && (errno == EINTR || errno == ECONNRESET)) {
        return HEARD_RECORD;
    }
    take_fds(&message, fds);
    bool whole = n >= (ssize_t)sizeof(record.head) &&
                 (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
    if (whole && record.head.kind == ZKR__GUARDIAN_BYE) {
        _exit(0);
    }
    if (whole && record.head.kind == ZKR__GUARDIAN_CLOSED) {
        end_apart(w, record.head.session);
    }
    bool fine = whole && wards_take(w, &record.head, record.text,
                                    (size_t)n - sizeof(record.head), fds);
    explicit_bzero(&record, sizeof(record));
    if (!fine && n > 0) {
        _exit(1); /* the record may be of another version, so no session is ended */
    }
    return fine ? HEARD_RECORD : HEARD_END;
}

/*
 * Wait until the parent is dead. The end of the socket alone does not prove that, because the parent may have closed
 * its socket or called exec(). Then no more records can arrive. The guardian exits after the longest session timeout,
 * when all sessions that no client keeps alive have ended.
 */
static void await_end(int parent, struct wards *w)
{
    int64_t until = INT64_MAX;
    bool heard_end = false, dead = false;
    while (!dead) {
        struct pollfd p[] = {
            {.fd = parent, .events = POLLIN},
            {.fd = heard_end ? -1 : ZKR__GUARDIAN_FD, .events = POLLIN}};
        int64_t left = until == INT64_MAX ? -1 : until - now_ms();
        if (until != INT64_MAX && left <= 0) {
            _exit(0);
        }
        if (poll(p, 2, (int)left) < 0 && errno != EINTR) {
            _exit(1);
        }
        dead = (p[0].revents & POLLIN) != 0;
        enum heard heard = HEARD_RECORD;
        while (!heard_end && heard == HEARD_RECORD) {
            heard = hear(w);
        }
        if (heard == HEARD_END) {
            heard_end = true;
            until = now_ms() + wards_longest_ms(w);
        }
    }
}

int main(void)
{
    struct wards w = {NULL, NULL, NULL};
    int type = 0;
    socklen_t size = sizeof(type);
    if (getsockopt(ZKR__GUARDIAN_FD, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
        type != SOCK_SEQPACKET) {
        (void)fputs(
            "zkr-guardian: the library starts this program; see zkrecipes-guide(7)\n",
            stderr);
        return 64;
    }
    ignore_signals();
    close_others();
    hide();
    const int parent = watch_parent();
    if (parent >= 0) {
        answer(ZKR__GUARDIAN_READY, 0);
        await_end(parent, &w);
    } else {
        while (hear(&w) == HEARD_RECORD) {
        }
    }
    end_sessions(&w, now_ms() + wards_longest_ms(&w));
    _exit(0);
}

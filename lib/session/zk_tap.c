/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* for syscall() */

#include "session/zk_tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include "base/clock.h"

/* --- descriptors --- */

enum { LINK_ROOM = 64 };

/*
 * Call @fn for each descriptor of the process. Returns how often @fn returned true, or -1 if the descriptors are
 * unknown.
 */
static int count_descriptors(bool (*fn)(int fd, void *ctx), void *ctx)
{
    DIR *dir = opendir("/proc/self/fd");
    if (!dir) {
        return -1;
    }
    const struct dirent *entry;
    int count = 0;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread reads this directory stream */
    while ((entry = readdir(dir))) {
        char *end;
        long fd = strtol(entry->d_name, &end, 10);
        bool is_number = end != entry->d_name && *end == '\0';
        count += is_number && fd != dirfd(dir) && fn((int)fd, ctx);
    }
    (void)closedir(dir);
    return count;
}

/*
 * The descriptors belong to the whole process, and other threads may close them meanwhile. That is no race here, but
 * ThreadSanitizer, which intercepts libc functions, would report one. So the code reads links, and makes system calls
 * directly.
 */
static bool read_link(int fd, char target[LINK_ROOM])
{
    char name[LINK_ROOM];
    (void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(name, target, LINK_ROOM - 1);
    target[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static bool is_socket(int fd)
{
    static const char begin[] = "socket:";
    char target[LINK_ROOM];
    return read_link(fd, target) && strncmp(target, begin, sizeof(begin) - 1) == 0;
}

struct search {
    struct sockaddr_storage peer;
    socklen_t len;
    int fd; /* the last matching descriptor */
};

static bool is_connected_to_peer(int fd, void *search)
{
    struct search *s = search;
    struct sockaddr_storage peer;
    socklen_t len = sizeof(peer);
    memset(&peer, 0, sizeof(peer));
    bool found = is_socket(fd) && syscall(SYS_getpeername, fd, &peer, &len) == 0 &&
                 len == s->len && memcmp(&peer, &s->peer, len) == 0;
    s->fd = found ? fd : s->fd;
    return found;
}

static int duplicate(int fd)
{
#ifdef SYS_fcntl64
    enum { CALL = SYS_fcntl64 };
#else
    enum { CALL = SYS_fcntl };
#endif
    return (int)syscall(CALL, fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

int zkr__zk_tap(void *zh)
{
    struct search s = {.len = sizeof(s.peer), .fd = -1};
    memset(&s.peer, 0, sizeof(s.peer));
    bool connected =
        zoo_state(zh) == ZOO_CONNECTED_STATE &&
        zookeeper_get_connected_host(zh, (struct sockaddr *)&s.peer, &s.len);
    return connected && count_descriptors(is_connected_to_peer, &s) == 1
               ? duplicate(s.fd)
               : -1;
}

struct file {
    int fd;
    char target[LINK_ROOM];
};

static bool is_same(int fd, void *file)
{
    const struct file *f = file;
    char target[LINK_ROOM];
    return fd != f->fd && read_link(fd, target) && strcmp(target, f->target) == 0;
}

/*
 * Returns whether the tap is the only descriptor of its socket. That is so if the socket was the closed handle's. If
 * the handle lost its connection while the tap was being made, the tap may have found an unrelated socket.
 */
static bool is_left_alone(int tap)
{
    struct file f = {.fd = tap};
    return read_link(tap, f.target) && count_descriptors(is_same, &f) == 0;
}

/* --- answers --- */

/* An answer begins with its length, the number of the request, a zxid, and an error code. */
enum { LENGTH = 4, NUMBER_AT = 4, ERROR_AT = 16, HEAD = 20, LONGEST = 1 << 24 };

static int32_t number_at(const unsigned char *at)
{
    return (int32_t)((uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
                     (uint32_t)at[2] << 8 | at[3]);
}

/* Read @size bytes, or discard them if @to is NULL. */
static bool take(int tap, unsigned char *to, size_t size, int64_t deadline)
{
    unsigned char dropped[1024];
    while (size > 0) {
        size_t room = to || size < sizeof(dropped) ? size : sizeof(dropped);
        ssize_t n = recv(tap, to ? to : dropped, room, MSG_DONTWAIT);
        int64_t left = (deadline - zkr__clock_now()) / ZKR__MS;
        struct pollfd p = {.fd = tap, .events = POLLIN};
        if (n > 0) {
            size -= (size_t)n;
            to = to ? to + n : NULL;
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR) || left <= 0) {
            return false;
        } else {
            (void)poll(&p, 1, (int)left);
        }
    }
    return true;
}

/* Events, pings and credentials have reserved numbers. */
static bool is_request(int32_t number)
{
    enum { EVENT = -1, PING = -2, AUTH = -4, WATCHES = -8 };
    return number != EVENT && number != PING && number != AUTH && number != WATCHES;
}

/*
 * Read the answers. Returns true if the last one confirms the end of the session. If part of an answer was lost when
 * the handle was closed, the bytes that follow are not the beginning of an answer, and are unlikely to look like one.
 */
static bool read_end(int tap, size_t answers)
{
    enum { WAIT_MS = 1000 };
    int64_t deadline = zkr__clock_deadline(zkr__clock_now(), WAIT_MS);
    unsigned char head[HEAD];
    while (take(tap, head, HEAD, deadline)) {
        int32_t length = number_at(head);
        if (length < HEAD - LENGTH || length > LONGEST) {
            return false;
        }
        size_t rest = (size_t)length - (HEAD - LENGTH);
        answers -= is_request(number_at(head + NUMBER_AT));
        if (answers == 0) {
            return rest == 0 && number_at(head + ERROR_AT) == 0;
        }
        if (!take(tap, NULL, rest, deadline)) {
            return false;
        }
    }
    return false;
}

bool zkr__zk_tap_end(int tap, size_t answers)
{
    bool ended = is_left_alone(tap) && read_end(tap, answers);
    (void)close(tap);
    return ended;
}

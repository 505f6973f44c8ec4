/* SPDX-License-Identifier: Apache-2.0 */
#include "testing/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <zkr/error.h>

enum { HOST_MAX = 256 };

int zkr__test_fail(int code, int sys_errno, const char *format, ...)
{
    char text[sizeof((zkr_error *)0)->message];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return zkr_error_set(code, sys_errno, NULL, text);
}

int64_t zkr__test_now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void zkr__test_sleep_ms(int64_t ms)
{
    if (ms <= 0) {
        return;
    }
    struct timespec t = {.tv_sec = (time_t)(ms / 1000),
                         .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR) {
    }
}

bool zkr__test_ready(int fd, short events, int64_t deadline)
{
    for (;;) {
        int64_t left = deadline - zkr__test_now_ms();
        struct pollfd p = {.fd = fd, .events = events};
        int n = poll(&p, 1, left > 0 ? (int)left : 0);
        if (n > 0) {
            return true;
        }
        if (n == 0 || errno != EINTR) {
            return false;
        }
    }
}

bool zkr__test_host_at(const char *hosts, int index, char *out, size_t size)
{
    const char *at = hosts;
    for (; index > 0; index--) {
        at += strcspn(at, ",/");
        if (*at != ',') {
            return false;
        }
        at++;
    }
    size_t length = strcspn(at, ",/");
    if (length == 0 || length >= size) {
        return false;
    }
    memcpy(out, at, length);
    out[length] = '\0';
    return true;
}

const char *zkr__test_chroot(const char *hosts)
{
    const char *slash = strchr(hosts, '/');
    return slash != NULL && slash[1] != '\0' ? slash : "";
}

bool zkr__test_resolve(const char *host, struct sockaddr_in *out)
{
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char name[HOST_MAX];
    const char *colon = strrchr(host, ':');

    if (colon == NULL || (size_t)(colon - host) >= sizeof name) {
        return false;
    }
    (void)snprintf(name, sizeof name, "%.*s", (int)(colon - host), host);
    if (getaddrinfo(name, colon + 1, &hints, &found) != 0) {
        return false;
    }
    memcpy(out, found->ai_addr, sizeof *out);
    freeaddrinfo(found);
    return true;
}

static int connect_one(const char *host, int64_t deadline)
{
    struct sockaddr_in address;
    int error = 0;
    socklen_t length = sizeof error;

    if (!zkr__test_resolve(host, &address)) {
        return -1;
    }
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        error = errno;
        if (error == EINPROGRESS && zkr__test_ready(fd, POLLOUT, deadline)) {
            (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
        }
    }
    if (fd >= 0 && error != 0) {
        (void)close(fd);
        return -1;
    }
    if (fd >= 0) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    }
    return fd;
}

int zkr__test_connect(const char *hosts, int64_t deadline)
{
    char host[HOST_MAX];
    for (int i = 0; zkr__test_host_at(hosts, i, host, sizeof host); i++) {
        int fd = connect_one(host, deadline);
        if (fd >= 0) {
            return fd;
        }
    }
    return -1;
}

bool zkr__test_write_all(int fd, const void *data, size_t size, int64_t deadline)
{
    const char *at = data;
    while (size > 0) {
        ssize_t n = send(fd, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            at += n;
            size -= (size_t)n;
        } else if ((errno != EAGAIN && errno != EINTR) ||
                   !zkr__test_ready(fd, POLLOUT, deadline)) {
            return false;
        }
    }
    return true;
}

ssize_t zkr__test_read_some(int fd, void *data, size_t size, int64_t deadline)
{
    for (;;) {
        ssize_t n = recv(fd, data, size, MSG_DONTWAIT);
        if (n >= 0 || (errno != EAGAIN && errno != EINTR) ||
            !zkr__test_ready(fd, POLLIN, deadline)) {
            return n;
        }
    }
}

bool zkr__test_read_all(int fd, void *data, size_t size, int64_t deadline)
{
    char *at = data;
    while (size > 0) {
        ssize_t n = zkr__test_read_some(fd, at, size, deadline);
        if (n <= 0) {
            return false;
        }
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* Returns the first port of the range for outgoing connections. */
static int ephemeral_start(void)
{
    int low = 32768;
    FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
    if (f != NULL) {
        char line[64];
        if (fgets(line, sizeof line, f) != NULL) {
            low = (int)strtol(line, NULL, 10);
        }
        (void)fclose(f);
    }
    return low;
}

static int random_port(int attempt)
{
    const int first = 12000;
    const int count = ephemeral_start() - first;
    struct timespec t;

    if (count < 1000 || attempt > 100) {
        return 0;
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t x = (uint64_t)t.tv_nsec + ((uint64_t)getpid() << 32) + (uint64_t)attempt;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    x ^= x >> 31;
    return first + (int)(x % (uint64_t)count);
}

static int listen_at(struct sockaddr_in *address)
{
    socklen_t length = sizeof *address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 &&
        (bind(fd, (struct sockaddr *)address, length) != 0 || listen(fd, 128) != 0 ||
         getsockname(fd, (struct sockaddr *)address, &length) != 0)) {
        const int error = errno;
        (void)close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

int zkr__test_listen(const char *address, int *port)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    const int tries = *port == 0 ? 200 : 1;
    int fd = -1;

    if (inet_pton(AF_INET, address, &a.sin_addr) != 1 || *port < 0 || *port > 65535) {
        return zkr__test_fail(ZKR_EINVAL, 0, "%.200s:%d is not an address to listen at",
                              address, *port);
    }
    for (int i = 0; i < tries && fd < 0; i++) {
        a.sin_port = htons((uint16_t)(*port != 0 ? *port : random_port(i)));
        fd = listen_at(&a);
    }
    if (fd < 0) {
        return zkr__test_fail(ZKR_ESYS, errno, "cannot listen at %.200s:%d", address,
                              *port);
    }
    *port = ntohs(a.sin_port);
    return fd;
}

char *zkr__test_ask(const char *hosts, const char *word, int64_t timeout_ms)
{
    const int64_t deadline = zkr__test_now_ms() + timeout_ms;
    char first[HOST_MAX];
    size_t size = 0;
    size_t room = 4096;
    ssize_t n = -1;

    if (!zkr__test_host_at(hosts, 0, first, sizeof first)) {
        return NULL;
    }
    int fd = zkr__test_connect(first, deadline);
    if (fd < 0) {
        return NULL;
    }
    char *text = malloc(room);
    if (text != NULL && zkr__test_write_all(fd, word, strlen(word), deadline)) {
        while ((n = zkr__test_read_some(fd, text + size, room - size - 1, deadline)) >
               0) {
            size += (size_t)n;
            if (room - size < 1024) {
                char *grown = realloc(text, room * 2);
                if (grown == NULL) {
                    break;
                }
                text = grown;
                room *= 2;
            }
        }
    }
    (void)close(fd);
    /* A reset after the answer counts as its end. */
    if (text == NULL || (n != 0 && size == 0)) {
        free(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}

enum zkr__test_mode zkr__test_mode(const char *hosts, int64_t timeout_ms)
{
    static const char *const names[] = {"", "standalone", "leader", "follower",
                                        "observer"};
    enum zkr__test_mode mode = ZKR__TEST_NONE;
    char *text = zkr__test_ask(hosts, "srvr", timeout_ms);
    const char *at = text != NULL ? strstr(text, "Mode: ") : NULL;

    if (at != NULL) {
        for (int i = 1; i <= ZKR__TEST_OBSERVER; i++) {
            if (strncmp(at + 6, names[i], strlen(names[i])) == 0) {
                mode = (enum zkr__test_mode)i;
            }
        }
    }
    free(text);
    return mode;
}

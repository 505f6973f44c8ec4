/* SPDX-License-Identifier: Apache-2.0 */
#include "util.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ZKT_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define ZKT_TSAN 1
#endif

#ifdef ZKT_TSAN
/*
 * Forked test processes start threads of their own, which TSan refuses by default; and one that dies
 * prints its stack from the signal's handler.
 */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0:report_signal_unsafe=0";
}
#endif

int64_t zkt_now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void zkt_sleep_ms(int64_t ms)
{
    if (ms <= 0) {
        return;
    }
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR) {
    }
}

bool zkt_wait_until(bool (*cond)(void *ctx), void *ctx, int64_t timeout_ms)
{
    const int64_t end = zkt_now_ms() + timeout_ms;
    while (!cond(ctx)) {
        if (zkt_now_ms() >= end) {
            return false;
        }
        zkt_sleep_ms(2);
    }
    return true;
}

void zkt_fail_at(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprint_error(format, args);
    va_end(args);
    print_error("\n");
    _fail(file, line);
    abort();
}

static _Noreturn void run_child(pid_t parent, int (*fn)(void *arg), void *arg)
{
    static const int caught[] = {SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGSYS};

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(126);
    }
    /* A failure here must not jump back into the parent's test runner. */
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        (void)signal(caught[i], SIG_DFL);
    }
    (void)setenv("CMOCKA_TEST_ABORT", "1", 1);
    int status = fn(arg);
    (void)fflush(NULL);
    _exit(status);
}

pid_t zkt_fork(int (*fn)(void *arg), void *arg)
{
    const pid_t parent = getpid();

    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        run_child(parent, fn, arg);
    }
    if (pid < 0) {
        zkt_fail("fork: %s", strerror(errno));
    }
    return pid;
}

int zkt_join(pid_t pid, int64_t timeout_ms)
{
    const int64_t end = zkt_now_ms() + timeout_ms;
    int status = 0;

    for (;;) {
        pid_t done = waitpid(pid, &status, WNOHANG);
        if (done == pid) {
            return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        }
        if (done < 0 && errno != EINTR) {
            zkt_fail("waitpid(%d): %s", (int)pid, strerror(errno));
        }
        if (zkt_now_ms() >= end) {
            (void)kill(pid, SIGKILL);
            while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
            }
            return -1;
        }
        zkt_sleep_ms(2);
    }
}

void *zkt_shared(size_t size)
{
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        zkt_fail("mmap: %s", strerror(errno));
    }
    return memory;
}

void zkt_shared_free(void *memory, size_t size)
{
    (void)munmap(memory, size);
}

void zkt_pipe(int fd[2])
{
    if (pipe2(fd, O_CLOEXEC) != 0) {
        zkt_fail("pipe2: %s", strerror(errno));
    }
}

void zkt_pipe_close(int fd[2])
{
    for (int i = 0; i < 2; i++) {
        if (fd[i] >= 0) {
            (void)close(fd[i]);
            fd[i] = -1;
        }
    }
}

/* Wait for @events on @fd until @deadline. */
static bool ready(int fd, short events, int64_t deadline)
{
    for (;;) {
        int64_t left = deadline - zkt_now_ms();
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

void zkt_put_byte(int fd, unsigned char byte)
{
    while (write(fd, &byte, 1) < 0) {
        if (errno != EINTR) {
            zkt_fail("write: %s", strerror(errno));
        }
    }
}

int zkt_get_byte(int fd, int64_t timeout_ms)
{
    unsigned char byte = 0;

    if (!ready(fd, POLLIN, zkt_now_ms() + timeout_ms)) {
        return -1;
    }
    ssize_t n = read(fd, &byte, 1);
    return n == 1 ? byte : n == 0 ? -2 : -1;
}

bool zkt_host_at(const char *hosts, int index, char *out, size_t size)
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

const char *zkt_chroot(const char *hosts)
{
    const char *slash = strchr(hosts, '/');
    return slash != NULL && slash[1] != '\0' ? slash : "";
}

static int connect_one(char *host, int64_t deadline)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char *colon = strrchr(host, ':');

    if (colon == NULL) {
        return -1;
    }
    *colon = '\0';
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0) {
        return -1;
    }
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error = 0;
    socklen_t length = sizeof error;
    if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
        error = errno;
        if (error == EINPROGRESS && ready(fd, POLLOUT, deadline)) {
            (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
        }
        if (error != 0) {
            (void)close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    if (fd >= 0) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    }
    return fd;
}

int zkt_connect(const char *hosts, int64_t deadline)
{
    char host[256];
    for (int i = 0; zkt_host_at(hosts, i, host, sizeof host); i++) {
        int fd = connect_one(host, deadline);
        if (fd >= 0) {
            return fd;
        }
    }
    return -1;
}

bool zkt_write_all(int fd, const void *data, size_t size, int64_t deadline)
{
    const char *at = data;
    while (size > 0) {
        ssize_t n = send(fd, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            at += n;
            size -= (size_t)n;
        } else if ((errno != EAGAIN && errno != EINTR) ||
                   !ready(fd, POLLOUT, deadline)) {
            return false;
        }
    }
    return true;
}

ssize_t zkt_read_some(int fd, void *data, size_t size, int64_t deadline)
{
    for (;;) {
        ssize_t n = recv(fd, data, size, MSG_DONTWAIT);
        if (n >= 0 || (errno != EAGAIN && errno != EINTR) ||
            !ready(fd, POLLIN, deadline)) {
            return n;
        }
    }
}

bool zkt_read_all(int fd, void *data, size_t size, int64_t deadline)
{
    char *at = data;
    while (size > 0) {
        ssize_t n = zkt_read_some(fd, at, size, deadline);
        if (n <= 0) {
            return false;
        }
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* The first port of the range for outgoing connections. */
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

int zkt_listen_at(const char *address, int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || inet_pton(AF_INET, address, &a.sin_addr) != 1 ||
        bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, 128) != 0) {
        zkt_fail("cannot listen at %s:%d: %s", address, port, strerror(errno));
    }
    return fd;
}

int zkt_listen(int *port)
{
    for (int attempt = 0; attempt < 200; attempt++) {
        struct sockaddr_in a = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)random_port(attempt)),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t length = sizeof a;
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof a) == 0 &&
            listen(fd, 128) == 0 &&
            getsockname(fd, (struct sockaddr *)&a, &length) == 0) {
            *port = ntohs(a.sin_port);
            return fd;
        }
        if (fd >= 0) {
            (void)close(fd);
        }
    }
    zkt_fail("no free loopback port");
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "keep.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ZKT_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define ZKT_TSAN 1
#endif

#ifdef ZKT_TSAN
/* Forked test processes start threads, which TSan refuses by default, and print their stacks in a signal handler. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0:report_signal_unsafe=0";
}
#endif

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

void zkt_pause(int64_t begin)
{
    int64_t tenth = (zkt_now_ms() - begin) / 10;
    zkt_sleep_ms(tenth < 2 ? 2 : tenth < 100 ? tenth : 100);
}

/* The size of the memory is stored in front of it. */
enum { SHARED_HEAD = 64 };

static void free_shared(void *memory)
{
    size_t *head = (size_t *)(void *)((char *)memory - SHARED_HEAD);
    (void)munmap(head, *head);
}

void *zkt_shared(size_t size)
{
    const size_t whole = size + SHARED_HEAD;
    size_t *head =
        mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (head == MAP_FAILED) {
        zkt_fail("mmap: %s", strerror(errno));
    }
    *head = whole;
    void *memory = (char *)head + SHARED_HEAD;
    zkt_keep(memory, free_shared);
    return memory;
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

    if (!zkr__test_ready(fd, POLLIN, zkt_now_ms() + timeout_ms)) {
        return -1;
    }
    ssize_t n = read(fd, &byte, 1);
    return n == 1 ? byte : n == 0 ? -2 : -1;
}

int zkt_listen(int *port)
{
    *port = 0;
    int fd = zkr__test_listen("127.0.0.1", port);
    if (fd < 0) {
        zkt_fail("no free loopback port");
    }
    return fd;
}

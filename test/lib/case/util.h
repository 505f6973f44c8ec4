/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_UTIL_H
#define ZKT_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "testing/net.h"

/* A sanitizer slows everything down: bounds of time are wider then. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ZKT_SLOWED_DOWN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ZKT_SLOWED_DOWN 1
#endif
#endif

/*
 * Time, waiting for a condition, forked processes, shared memory, sockets. "hosts" is a connection string,
 * "host:port[,host:port...][/chroot]".
 */

/** Milliseconds of CLOCK_MONOTONIC. */
#define zkt_now_ms zkr__test_now_ms
/** Sleep, in a poll loop or to let measured time pass; for nothing else. */
#define zkt_sleep_ms zkr__test_sleep_ms

/** Between two looks: 2 ms, later a tenth of the time since @begin, at most 100 ms. */
void zkt_pause(int64_t begin);

/** Poll @expr until it is true; after @ms fail the test with its text. expect.h has more. */
#define ZKT_EVENTUALLY(expr, ms)                                                       \
    do {                                                                               \
        const int64_t zkt_begin_ = zkt_now_ms();                                       \
        while (!(expr)) {                                                              \
            if (zkt_now_ms() - zkt_begin_ >= (ms)) {                                   \
                zkt_not_in_time(#expr, (ms), __FILE__, __LINE__);                      \
            }                                                                          \
            zkt_pause(zkt_begin_);                                                     \
        }                                                                              \
    } while (0)

_Noreturn void
zkt_not_in_time(const char *expr, int64_t ms, const char *file, int line);

/** Fail the running test with a text; outside of a test, end the program. */
#define zkt_fail(...) zkt_fail_at(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void zkt_fail_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/**
 * Run @fn(@arg) in a forked process, whose exit status is the value returned. A failed check there aborts the process
 * (status 128 + SIGABRT). The process dies when the calling *thread* ends.
 */
pid_t zkt_fork(int (*fn)(void *arg), void *arg);

/** Reap @pid. Returns its exit status, or 128 + N for signal N. -1: @timeout_ms have passed, and it was killed. */
int zkt_join(pid_t pid, int64_t timeout_ms);

/** Zeroed memory shared with processes forked later; use C11 atomics in it. Kept. */
void *zkt_shared(size_t size);

/** A close-on-exec pipe to hand single bytes from one process to another. */
void zkt_pipe(int fd[2]);
void zkt_pipe_close(int fd[2]);
void zkt_put_byte(int fd, unsigned char byte);

/** Returns the byte; -1: @timeout_ms have passed; -2: the end of the stream. */
int zkt_get_byte(int fd, int64_t timeout_ms);

/* Of sockets: lib/testing/net.h says what they do. */
#define zkt_host_at zkr__test_host_at
#define zkt_chroot zkr__test_chroot
#define zkt_connect zkr__test_connect
#define zkt_write_all zkr__test_write_all
#define zkt_read_all zkr__test_read_all

/** A listening socket on a free loopback port, stored in *@port. */
int zkt_listen(int *port);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_UTIL_H
#define ZKT_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "testing/net.h"

/* A sanitizer slows everything down, so time limits are longer with a sanitizer. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ZKT_SLOWED_DOWN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ZKT_SLOWED_DOWN 1
#endif
#endif

/*
 * Time, waiting for a condition, forked processes, shared memory, and sockets. "hosts" is a connection string,
 * "host:port[,host:port...][/chroot]".
 */

/** Returns the milliseconds of CLOCK_MONOTONIC. */
#define zkt_now_ms zkr__test_now_ms
/** Sleep in a poll loop, or to let measured time pass. Not for other purposes. */
#define zkt_sleep_ms zkr__test_sleep_ms

/** Pause between two polls: 2 ms at first, later a tenth of the time since @begin, at most 100 ms. */
void zkt_pause(int64_t begin);

/** Poll @expr until it is true. After @ms, fail the test with the text of @expr. expect.h has more checks. */
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

/** Fail the running test with a text. Outside of a test, end the program. */
#define zkt_fail(...) zkt_fail_at(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void zkt_fail_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/**
 * Run @fn(@arg) in a forked process, whose exit status is the returned value. A failed check there aborts that process
 * (status 128 + SIGABRT). The process dies when the calling *thread* ends.
 */
pid_t zkt_fork(int (*fn)(void *arg), void *arg);

/** Reap @pid. Returns its exit status, or 128 + N for signal N. If @timeout_ms pass, kills it and returns -1. */
int zkt_join(pid_t pid, int64_t timeout_ms);

/** Returns zeroed memory that is shared with processes forked later. They must use C11 atomics in it. Kept. */
void *zkt_shared(size_t size);

/** Make a close-on-exec pipe that passes single bytes from one process to another. */
void zkt_pipe(int fd[2]);
void zkt_pipe_close(int fd[2]);
void zkt_put_byte(int fd, unsigned char byte);

/** Returns the byte, -1 if @timeout_ms have passed, or -2 at the end of the stream. */
int zkt_get_byte(int fd, int64_t timeout_ms);

/* Functions for sockets (lib/testing/net.h). */
#define zkt_host_at zkr__test_host_at
#define zkt_chroot zkr__test_chroot
#define zkt_connect zkr__test_connect
#define zkt_write_all zkr__test_write_all
#define zkt_read_all zkr__test_read_all

/** Returns a listening socket on a free loopback port, and stores the port in *@port. */
int zkt_listen(int *port);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The module of bad_host.h: functions that the server finds before those of the C library. */
#include "bad_host.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static struct zkt_bad_host *host; /* NULL: the host behaves well */

__attribute__((constructor)) static void find_host(void)
{
    const char *path = getenv("ZKT_BAD_HOST");
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *memory = mmap(NULL, sizeof *host, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    host = memory != MAP_FAILED ? memory : NULL;
    if (fd >= 0) {
        (void)close(fd);
    }
}

#define NEXT(result, name, ...)                                                        \
    static _Atomic(void *) found;                                                      \
    result (*next)(__VA_ARGS__);                                                       \
    void *known = found;                                                               \
    if (known == NULL) {                                                               \
        found = known = dlsym(RTLD_NEXT, #name);                                       \
    }                                                                                  \
    *(void **)&next = known;

/* ---- a slow disk ------------------------------------------------------------------- */

static void wait_for_disk(void)
{
    const int ms = host != NULL ? atomic_load(&host->sync_ms) : 0;
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    if (ms > 0) {
        atomic_fetch_add(&host->synced, 1);
        while (nanosleep(&left, &left) != 0) {
        }
    }
}

int fsync(int fd)
{
    NEXT(int, fsync, int)
    wait_for_disk();
    return next(fd);
}

int fdatasync(int fd)
{
    NEXT(int, fdatasync, int)
    wait_for_disk();
    return next(fd);
}

/* ---- a full disk ------------------------------------------------------------------- */

static bool is_full(int fd)
{
    char name[32];
    char path[512];
    if (host == NULL || atomic_load(&host->full) == 0) {
        return false;
    }
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(name, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    if (strstr(path, "/data/") == NULL) {
        return false;
    }
    atomic_fetch_add(&host->refused, 1);
    errno = ENOSPC;
    return true;
}

ssize_t write(int fd, const void *data, size_t size)
{
    NEXT(ssize_t, write, int, const void *, size_t)
    return is_full(fd) ? -1 : next(fd, data, size);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    NEXT(ssize_t, writev, int, const struct iovec *, int)
    return is_full(fd) ? -1 : next(fd, parts, count);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
    NEXT(ssize_t, pwrite64, int, const void *, size_t, off64_t)
    return is_full(fd) ? -1 : next(fd, data, size, at);
}

/* ---- a wall clock that is wrong ------------------------------------------------------ */

static long long ahead_s(void)
{
    const long long s = host != NULL ? atomic_load(&host->wall_s) : 0;
    if (s != 0) {
        atomic_fetch_add(&host->told, 1);
    }
    return s;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    NEXT(int, clock_gettime, clockid_t, struct timespec *)
    const int rc = next(clock, out);
    if (rc == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        out->tv_sec += (time_t)ahead_s();
    }
    return rc;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    NEXT(int, gettimeofday, struct timeval *, void *)
    const int rc = next(out, zone);
    if (rc == 0) {
        out->tv_sec += (time_t)ahead_s();
    }
    return rc;
}

time_t time(time_t *out)
{
    NEXT(time_t, time, time_t *)
    const time_t now = next(NULL) + (time_t)ahead_s();
    if (out != NULL) {
        *out = now;
    }
    return now;
}

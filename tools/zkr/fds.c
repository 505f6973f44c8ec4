/* SPDX-License-Identifier: Apache-2.0 */
#include "fds.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"

enum { FIRST = STDERR_FILENO + 1, WITHOUT_PROC = 1024, WITHOUT_CLOSE_RANGE = 65536 };

static void fill_closed_stdio(void)
{
    for (int fd = 0; fd < FIRST; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            (void)open("/dev/null", O_RDWR | O_CLOEXEC); /* takes the lowest: fd */
        }
    }
}

static bool add(struct fds *f, int fd)
{
    if ((f->count & (f->count - 1)) == 0) { /* full at 0, 1, 2, 4, ... */
        size_t room = f->count ? f->count * 2 : 1;
        int *grown = realloc(f->inherited, room * sizeof(*grown));
        if (!grown) {
            return false;
        }
        f->inherited = grown;
    }
    f->inherited[f->count++] = fd;
    return true;
}

static bool add_from_proc(struct fds *f, DIR *dir)
{
    const struct dirent *entry;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
    while ((entry = readdir(dir))) {
        int64_t fd;
        if (cli_parse_int(entry->d_name, FIRST, INT_MAX, &fd) && fd != dirfd(dir) &&
            !add(f, (int)fd)) {
            return false;
        }
    }
    return true;
}

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

bool fds_begin(struct fds *f)
{
    *f = (struct fds){NULL, 0};
    fill_closed_stdio();
    bool ok = true;
    DIR *dir = opendir("/proc/self/fd");
    if (dir) {
        ok = add_from_proc(f, dir);
        (void)closedir(dir);
    } else {
        for (int fd = FIRST; fd < WITHOUT_PROC && ok; fd++) {
            ok = fcntl(fd, F_GETFD) < 0 || add(f, fd);
        }
    }
    if (f->count > 1) {
        qsort(f->inherited, f->count, sizeof(f->inherited[0]), ascending);
    }
    return ok;
}

/* Only calls that are safe after a fork among threads. */
static void hide_range(unsigned first, unsigned last)
{
    if (first > last || close_range(first, last, CLOSE_RANGE_CLOEXEC) == 0) {
        return;
    }
    for (unsigned fd = first; fd <= last && fd < WITHOUT_CLOSE_RANGE; fd++) {
        int flags = fcntl((int)fd, F_GETFD);
        if (flags >= 0) {
            (void)fcntl((int)fd, F_SETFD, flags | FD_CLOEXEC);
        }
    }
}

void fds_hide(const struct fds *f)
{
    unsigned first = FIRST;
    for (size_t i = 0; i < f->count; i++) {
        unsigned fd = (unsigned)f->inherited[i];
        if (fd > first) {
            hide_range(first, fd - 1);
        }
        first = fd + 1;
    }
    hide_range(first, UINT_MAX);
}

void fds_end(struct fds *f)
{
    free(f->inherited);
    *f = (struct fds){NULL, 0};
}

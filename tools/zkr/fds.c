/* SPDX-License-Identifier: Apache-2.0 */
#include "fds.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <unistd.h>

#include "parse.h"

enum { FIRST = STDERR_FILENO + 1, MOST = 65536, WITHOUT_PROC = 1024 };

static bool inherited[MOST];

static void fill_closed_stdio(void)
{
    for (int fd = 0; fd < FIRST; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            /* open() returns the lowest free number, which is fd. */
            (void)open("/dev/null", O_RDWR | O_CLOEXEC);
        }
    }
}

void fds_begin(void)
{
    fill_closed_stdio();
    DIR *dir = opendir("/proc/self/fd");
    const struct dirent *entry;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread exists yet */
    while (dir && (entry = readdir(dir))) {
        int64_t fd;
        if (parse_int(entry->d_name, FIRST, MOST - 1, &fd)) {
            inherited[fd] = fd != dirfd(dir);
        }
    }
    for (int fd = FIRST; !dir && fd < WITHOUT_PROC; fd++) {
        inherited[fd] = fcntl(fd, F_GETFD) >= 0;
    }
    if (dir) {
        (void)closedir(dir);
    }
}

void fds_hide(void)
{
    bool hidden = close_range(FIRST, UINT_MAX, CLOSE_RANGE_CLOEXEC) == 0;
    for (int fd = FIRST; fd < MOST; fd++) {
        if (inherited[fd] || !hidden) {
            (void)fcntl(fd, F_SETFD, inherited[fd] ? 0 : FD_CLOEXEC);
        }
    }
}

void fds_close(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
    *fd = -1;
}

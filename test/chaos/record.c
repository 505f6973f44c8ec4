/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int64_t zkc_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int zkc_history_open(const char *file)
{
    return open(file, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

void zkc_put(int fd, const zkc_record *r)
{
    ssize_t n;
    do {
        n = write(fd, r, sizeof *r);
    } while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof *r) {
        (void)fprintf(stderr, "chaos: the history cannot be written: %s\n",
                      strerror(errno));
        _exit(3);
    }
}

size_t zkc_history_read(int fd, size_t *from, zkc_record *out, size_t room)
{
    const off_t offset = (off_t)(*from * sizeof *out);
    ssize_t n = pread(fd, out, room * sizeof *out, offset);
    size_t got = n > 0 ? (size_t)n / sizeof *out : 0;

    *from += got;
    return got;
}

zkc_record *zkc_history_load(const char *file, size_t *count)
{
    struct stat st;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    zkc_record *all = NULL;

    *count = 0;
    if (fd >= 0 && fstat(fd, &st) == 0) {
        const size_t room = (size_t)st.st_size / sizeof *all;
        size_t got;
        all = malloc((room + 1) * sizeof *all);
        while (all != NULL && *count < room &&
               (got = zkc_history_read(fd, count, all + *count, room - *count)) > 0) {
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return all;
}

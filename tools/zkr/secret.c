/* SPDX-License-Identifier: Apache-2.0 */
#include "secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void secret_free(char *text, size_t size)
{
    if (text) {
        explicit_bzero(text, size);
    }
    free(text);
}

/* Reads to the end of the file. Returns false with the reason in errno. */
static bool read_all(int fd, char *text)
{
    size_t used = 0;
    ssize_t n = 1;
    while (n > 0 && used < SECRET_MOST) {
        n = read(fd, text + used, SECRET_MOST - used);
        used += n > 0 ? (size_t)n : 0;
    }
    errno = n < 0 ? errno : EFBIG;
    return n == 0;
}

char *secret_read(const char *file, mode_t *mode)
{
    struct stat st = {.st_mode = 0};
    /* O_NONBLOCK, because a pipe without a writer must not block. */
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = fd >= 0 && fstat(fd, &st) == 0 ? calloc(1, SECRET_MOST + 1) : NULL;
    bool whole = text && read_all(fd, text);
    int error = errno;
    if (!whole) {
        secret_free(text, SECRET_MOST);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    *mode = st.st_mode;
    errno = error;
    return whole ? text : NULL;
}

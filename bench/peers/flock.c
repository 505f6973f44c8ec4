/* SPDX-License-Identifier: Apache-2.0 */
/* flock(2) on a file, for scale: one host and one kernel. The path is the name of the file. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "die.h"
#include "driver.h"

static void *nothing(void)
{
    return NULL;
}

static void *open_file(void *session, const char *path, int number)
{
    (void)session, (void)number;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        bench_die("%s: %s", path, strerror(errno));
    }
    return (void *)(intptr_t)fd;
}

static bool lock_file(void *file, bool wait)
{
    int rc;
    do {
        rc = flock((int)(intptr_t)file, LOCK_EX | (wait ? 0 : LOCK_NB));
    } while (rc != 0 && errno == EINTR);
    if (rc != 0 && errno != EWOULDBLOCK) {
        bench_die("flock: %s", strerror(errno));
    }
    return rc == 0;
}

static void unlock_file(void *file)
{
    (void)flock((int)(intptr_t)file, LOCK_UN);
}

int main(int argc, char **argv)
{
    static const struct driver_peer peer = {
        .open = nothing, .make = open_file, .lock = lock_file, .unlock = unlock_file};
    return driver_main(argc, argv, &peer);
}

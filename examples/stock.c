/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stock SERVERS PATH FILE with|without N: takes 1 from the number in FILE, N times, with or without holding the lock at
 * PATH. It reads the number, waits a little and writes the new number, so without the lock, processes that run at the
 * same time undo each other's work.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <zkr/zkr.h>

static int say(const char *what, int rc)
{
    fprintf(stderr, "stock: %s: %s: %s\n", what, zkr_err_name(rc),
            zkr_last_error()->message);
    return 1;
}

/* Writes in place with a fixed width, so that a reader sees either the old number or the new one. */
static int take_one(int fd, zkr_mutex *m)
{
    char text[16] = "";
    const struct timespec thinking = {.tv_nsec = 30 * 1000 * 1000};
    if (pread(fd, text, sizeof(text) - 1, 0) <= 0) {
        perror("stock: read");
        return 1;
    }
    long left = strtol(text, NULL, 10);
    nanosleep(&thinking, NULL);
    if (m && zkr_mutex_valid_for_ms(m) == 0) {
        fputs("stock: not sure of the lock any more; nothing written\n", stderr);
        return 1;
    }
    int length = snprintf(text, sizeof(text), "%10ld\n", left - 1);
    if (pwrite(fd, text, (size_t)length, 0) != length) {
        perror("stock: write");
        return 1;
    }
    return 0;
}

static int take_with(zkr_client *c, const char *path, int fd, long times)
{
    zkr_mutex *m = NULL;
    int rc = zkr_mutex_create(&m, c, path, NULL);
    if (rc != ZKR_OK) {
        return say("create", rc);
    }
    int failed = 0;
    while (!failed && times-- > 0) {
        rc = zkr_mutex_acquire(m, 30000);
        if (rc != ZKR_OK) {
            failed = say("acquire", rc);
            break;
        }
        failed = take_one(fd, m);
        rc = zkr_mutex_release(m);
        if (rc != ZKR_OK) {
            failed = say("release", rc);
        }
    }
    zkr_mutex_destroy(m);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc != 6 ||
        (strcmp(argv[4], "with") != 0 && strcmp(argv[4], "without") != 0)) {
        fputs("usage: stock SERVERS PATH FILE with|without N\n", stderr);
        return 64;
    }
    int fd = open(argv[3], O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        perror(argv[3]);
        return 1;
    }
    long times = strtol(argv[5], NULL, 10);
    int failed = 0;
    if (strcmp(argv[4], "without") == 0) {
        while (!failed && times-- > 0) {
            failed = take_one(fd, NULL);
        }
    } else {
        zkr_client *c = NULL;
        int rc = zkr_client_open(&c, argv[1], NULL);
        failed = rc == ZKR_OK ? take_with(c, argv[2], fd, times) : say("open", rc);
        zkr_client_close(c);
    }
    close(fd);
    return failed;
}

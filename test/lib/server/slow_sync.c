/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slow disk for a server. If this library is preloaded, each fsync() and fdatasync() takes longer by the number of
 * milliseconds in the file $ZKT_SLOW_SYNC at that time.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void wait_for_disk(void)
{
    const char *path = getenv("ZKT_SLOW_SYNC");
    FILE *file = path ? fopen(path, "re") : NULL;
    char text[16] = "";
    if (file) {
        (void)fgets(text, sizeof(text), file);
        (void)fclose(file);
    }
    long ms = strtol(text, NULL, 10);
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0) {
    }
}

int fsync(int fd)
{
    int (*real)(int);
    *(void **)&real = dlsym(RTLD_NEXT, "fsync");
    wait_for_disk();
    return real(fd);
}

int fdatasync(int fd)
{
    int (*real)(int);
    *(void **)&real = dlsym(RTLD_NEXT, "fdatasync");
    wait_for_disk();
    return real(fd);
}

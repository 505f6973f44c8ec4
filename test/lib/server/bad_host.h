/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_BAD_HOST_H
#define ZKT_BAD_HOST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Hosts of servers whose disks and clocks misbehave. The module bad_host is preloaded into each server, and obeys a file
 * in the directory of the server at any time. The rate of a clock is libfaketime's business, from the next start on.
 */
struct zkt_bad_host {
    atomic_int sync_ms; /* each fsync() and fdatasync() takes this much longer */
    atomic_int
        full; /* not 0: writes to files below a directory "data" fail with ENOSPC */
    atomic_llong wall_s; /* CLOCK_REALTIME is this much ahead */
    /* How often each took effect. */
    atomic_int synced;
    atomic_int refused;
    atomic_int told;
};

/** All servers that start from now on have such hosts. @script: a file to make, which starts Java. */
void zkt_bad_hosts(const char *script);

/** Map the host of a running server with directory @dir, until the program ends. Never returns NULL. */
struct zkt_bad_host *zkt_bad_host(const char *dir);

/**
 * From its next start on the clocks of the server with directory @dir run at this rate, such as "1.05"; NULL: at the
 * real one. Returns false if libfaketime is missing.
 */
bool zkt_bad_clock(const char *dir, const char *rate);

/**
 * From its next start on the server with directory @dir is of the release whose jars $ZKR_TEST_OTHER_CLASSPATH names, or
 * of its own again. Returns false if that is not set.
 */
bool zkt_other_release(const char *dir, bool other);

/** Remove what libfaketime leaves of a process that was killed. */
void zkt_bad_clock_killed(pid_t pid);

#endif

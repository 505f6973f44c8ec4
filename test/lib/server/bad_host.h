/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_BAD_HOST_H
#define ZKT_BAD_HOST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * A host of a server, whose disk and clock can misbehave. The struct is mapped from a file in the server's directory.
 * The module bad_host, which is preloaded into the server, obeys it at any time. Only the rate of the clock is not
 * here: libfaketime sets it when the server starts.
 */
struct zkt_bad_host {
    atomic_int sync_ms; /* additional time of each fsync() and fdatasync() */
    atomic_int
        full; /* not 0: writes to files below a directory "data" fail with ENOSPC */
    atomic_llong wall_s; /* how far CLOCK_REALTIME is ahead */
    /* How often each setting has taken effect. */
    atomic_int synced;
    atomic_int refused;
    atomic_int told;
};

/** Give such a host to each server that starts from now on. Creates the file @script, which starts Java. */
void zkt_bad_hosts(const char *script);

/** Map the host of the running server with the directory @dir, until the program ends. Never returns NULL. */
struct zkt_bad_host *zkt_bad_host(const char *dir);

/**
 * Set the rate, such as "1.05", at which the clocks of the server with the directory @dir run from its next start on.
 * NULL = the real rate. Returns false if libfaketime is missing.
 */
bool zkt_bad_clock(const char *dir, const char *rate);

/**
 * From its next start on, run the server with the directory @dir from the jars in $ZKR_TEST_OTHER_CLASSPATH, which are
 * of another release, or from its own jars again. Returns false if the variable is not set.
 */
bool zkt_other_release(const char *dir, bool other);

/** Remove what libfaketime leaves behind for a process that was killed. */
void zkt_bad_clock_killed(pid_t pid);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_CONTROL_H
#define ZKC_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

/* What coordinator and clients agree on. */

enum zkc_phase {
    ZKC_RUNNING, /* contend, kill yourself, start again */
    ZKC_CALMING  /* every thread gets every lock once more, then the process ends */
};

/* How a client ends in order: after the calm, or to be started again. */
enum { ZKC_STATUS_CALM = 0, ZKC_STATUS_AGAIN = 10 };

/* Shared memory, a file in the directory of the run. */
struct zkc_control {
    atomic_int phase;
    atomic_int stay; /* not 0: whoever sits on a lock goes on while it is sure */
    atomic_int
        moved; /* bit n: server n is at its other address, for who knows its name */
    atomic_llong wall_s; /* the wall clocks of the clients are ahead */
    atomic_int told;     /* how often that was asked for */
};

/* In the directory of the run. */
#define ZKC_HISTORY_FILE "records"
#define ZKC_TOLD_FILE "history" /* the same, told to the judge */
#define ZKC_CONTROL_FILE "control"
#define ZKC_STORE_FILE "store"
#define ZKC_OUTPUT_FILE "output"
#define ZKC_JAVA_FILE "java" /* starts servers */

#define ZKC_LOCKS "/chaos"
#define ZKC_COUNTERS "/counters"

/* What a client is told on its command line. */
struct zkc_client_args {
    const char *dir;
    const char *servers;
    int index;
    int life;
    uint64_t seed;
};

/* The process; returns its exit status. */
int zkc_client_run(const struct zkc_client_args *args);

#endif

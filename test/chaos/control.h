/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_CONTROL_H
#define ZKC_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

/* The data that the coordinator and the clients share. */

enum zkc_phase {
    ZKC_RUNNING, /* clients contend, kill themselves, and start again */
    ZKC_CALMING  /* every thread gets every lock once more, then the process ends */
};

/* Exit status of a client that ends in order: after the calm, or to be restarted. */
enum { ZKC_STATUS_CALM = 0, ZKC_STATUS_AGAIN = 10 };

/* Shared memory, backed by a file in the directory of the run. */
struct zkc_control {
    atomic_int phase;
    atomic_int stay;  /* not 0: a holder that sits on a lock stays while it is sure */
    atomic_int moved; /* bit n: the name of server n leads to its other address */
    atomic_llong wall_s; /* how far the wall clocks of the clients are ahead, in s */
    atomic_int told;     /* how often a client read such a clock */
};

/* File names in the directory of the run. */
#define ZKC_HISTORY_FILE "records"
#define ZKC_TOLD_FILE "history" /* the records in the judge's format */
#define ZKC_CONTROL_FILE "control"
#define ZKC_STORE_FILE "store"
#define ZKC_OUTPUT_FILE "output"
#define ZKC_JAVA_FILE "java" /* the command that starts servers */

#define ZKC_LOCKS "/chaos"
#define ZKC_COUNTERS "/counters"

/* The command line of a client. */
struct zkc_client_args {
    const char *dir;
    const char *servers;
    int index;
    int life;
    uint64_t seed;
};

/* Run a client process. Returns its exit status. */
int zkc_client_run(const struct zkc_client_args *args);

#endif

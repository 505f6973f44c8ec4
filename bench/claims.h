/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many claims that wait in one client. The client is in its own process, so that its CPU time can be measured. Another
 * process gives it commands, and holds the locks.
 */
#ifndef ZKR_BENCH_CLAIMS_H
#define ZKR_BENCH_CLAIMS_H

#include "bench.h"

enum { CLAIMS_BATCH = 8, CLAIMS_PROBE_MS = 100 };

/* Commands to the worker, one byte each. The worker exits at the end of the pipe. */
enum claims_command {
    CLAIMS_JOIN = 'j',   /* make all claims */
    CLAIMS_EVENTS = 'e', /* do one batch of hand-overs */
    CLAIMS_AGAIN = 'a',  /* queue again with the claims that were granted */
    CLAIMS_REST = 'r'    /* do nothing for a while */
};

struct claims_answer {
    int path;       /* release the lock on this path, and report when; < 0: read on */
    double cpu;     /* us, median for the events, or for a second at rest */
    double time;    /* us, median for the hand-overs */
    double heap;    /* bytes that a claim uses */
    double watches; /* bytes of these that libzookeeper uses for its watches */
    double threads; /* how many threads were added */
};

struct claims_worker {
    char dir[BENCH_PATH - 16];
    int count;
    /*
     * True: each claim has its own path below dir, and another process holds the locks. False: all claims are on dir.
     */
    bool apart;
    int commands[2], answers[2]; /* pipes to the worker and from it */
};

void claims_path(const struct claims_worker *w, int i, char path[BENCH_PATH]);

/* The main function of the worker's process. */
void claims_work(const struct bench *b, const struct claims_worker *w);

#endif

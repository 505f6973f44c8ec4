/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many claims that wait in one client: a process of its own, so that its CPU time can be told, and
 * the one that gives it work and holds the locks.
 */
#ifndef ZKR_BENCH_CLAIMS_H
#define ZKR_BENCH_CLAIMS_H

#include "bench.h"

enum { CLAIMS_BATCH = 8, CLAIMS_PROBE_MS = 100 };

/* Commands to the worker, one byte each. It ends at the end of the pipe. */
enum claims_command {
    CLAIMS_JOIN = 'j',   /* make all claims */
    CLAIMS_EVENTS = 'e', /* as many hand-overs as a batch has */
    CLAIMS_AGAIN = 'a',  /* queue again with those that were granted */
    CLAIMS_REST = 'r'    /* do nothing for a while */
};

struct claims_answer {
    int path;       /* not negative: release this one, and say when; else: */
    double cpu;     /* us, median of the events, or of a second at rest */
    double time;    /* us, median of the hand-overs */
    double heap;    /* bytes that a claim takes, */
    double watches; /* and of these what libzookeeper takes for its watches */
    double threads; /* more than before */
};

struct claims_worker {
    char dir[BENCH_PATH - 16];
    int count;
    /* Each on a path of its own below dir, held by somebody else; else all on dir. */
    bool apart;
    int commands[2], answers[2]; /* pipes: to the worker, and from it */
};

void claims_path(const struct claims_worker *w, int i, char path[BENCH_PATH]);

/* The process of the worker. */
void claims_work(const struct bench *b, const struct claims_worker *w);

#endif

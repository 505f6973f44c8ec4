/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elect --yield: the leader is asked to step down, and the others to let one pass.
 *
 * Nothing is written to anybody's node. The request is a candidate that does not mean to lead: its id has a field with the
 * token of the leader that is asked, or with the id of the one that all others let pass. Who leads looks for such candidates,
 * before the start and at each change. For Curator's LeaderLatch it is a candidate as any other, and the order is the queue's.
 */
#ifndef ZKR_CLI_YIELD_H
#define ZKR_CLI_YIELD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct held;

/** Looks for requests while this zkr leads. Zeroed at first. */
struct yield {
    struct held *held;
    pthread_t thread;
    bool started;
    int wake;   /* eventfd: of the thread */
    int looked; /* eventfd: the thread has looked */

    pthread_mutex_t mu; /* of the next ones */
    int64_t term;       /* token of the term; 0 = there is none */
    int64_t seen;       /* the term for which the thread has looked */
    bool over;
};

/** Returns 0 or an exit code, reported. */
int yield_begin(struct yield *y);
/**
 * At the start of a term: looks, and goes on to do so. A request that is found later ends the command as a revocation.
 * Returns HELD_START; HELD_AGAIN: it is lost, or was asked, and is now at the end of the queue; or an exit code, reported.
 */
int yield_look(struct yield *y);
/** The term is over. */
void yield_rest(struct yield *y);
void yield_end(struct yield *y);

/**
 * Asks the leader at held.path to step down, and waits until held.until for another to lead. @to: the one that is to lead;
 * NULL: any. Returns an exit code, reported. Makes held.latch.
 */
int yield_ask(struct held *h, const char *to);

#endif

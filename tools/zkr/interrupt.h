/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a wait of the main thread in the library, at a signal or at a time. */
#ifndef ZKR_CLI_INTERRUPT_H
#define ZKR_CLI_INTERRUPT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "signals.h"

/** A thread handles signals while the main thread waits in the library. */
struct interrupt {
    const struct signals *signals;
    pthread_t thread;
    int64_t late;
    int done; /* eventfd */
    void (*cancel)(void *ctx);
    void *ctx;
    atomic_int caught;
};

/**
 * A signal, also one that is pending already, calls @cancel, and so does the time @late, or NEVER. @cancel makes the wait
 * of the main thread return, or ends the process. It may come before the wait, and comes repeatedly.
 *
 * False: no thread, or no descriptor for it, could be made; errno says why.
 */
bool interrupt_begin(struct interrupt *i,
                     const struct signals *s,
                     int64_t late,
                     void (*cancel)(void *ctx),
                     void *ctx);
/** Returns the signal that told zkr to end, or 0. */
int interrupt_end(struct interrupt *i);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* At a signal or a deadline, ends a wait of the main thread in the library. */
#ifndef ZKR_CLI_INTERRUPT_H
#define ZKR_CLI_INTERRUPT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "signals.h"

/** A thread that handles signals while the main thread waits in the library. */
struct interrupt {
    const struct signals *signals;
    pthread_t thread;
    int64_t late;
    int done; /* an eventfd that ends the thread */
    void (*cancel)(void *ctx);
    void *ctx;
    atomic_int caught;
};

/**
 * Starts the thread. It calls @cancel at a signal, even one that is already pending, and at the time @late (or NEVER).
 * @cancel must make the wait of the main thread return, or end the process. The thread may call @cancel before the wait
 * begins, and calls it repeatedly.
 *
 * Returns false if the thread, or a descriptor for it, could not be created, with the reason in errno.
 */
bool interrupt_begin(struct interrupt *i,
                     const struct signals *s,
                     int64_t late,
                     void (*cancel)(void *ctx),
                     void *ctx);
/** Ends the thread. Returns the signal that ended the wait, or 0. */
int interrupt_end(struct interrupt *i);

#endif

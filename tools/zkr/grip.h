/* SPDX-License-Identifier: Apache-2.0 */
/* What "zkr lock" takes: one of the locks of the library, always by a ticket. */
#ifndef ZKR_CLI_GRIP_H
#define ZKR_CLI_GRIP_H

#include <zkr/multi_lock.h>
#include <zkr/rwlock.h>
#include <zkr/semaphore.h>

#include "lock_options.h"
#include "loss.h"
#include "wish.h"

struct grip {
    enum lock_kind kind;
    zkr_mutex
        *mutex; /* asked, whatever its kind; borrowed from rwlock when there is one */
    zkr_rwlock *rwlock;
    zkr_semaphore *semaphore;
    zkr_multi_lock *multi;
    int permits;
    zkr_ticket *ticket; /* NULL: none is asked for */
    struct loss *loss;  /* is told when a hold is lost */
    struct wish *wish; /* is told when the holder is asked to let go; NULL: nobody is */
};

/** Zeroed but for loss and wish. Nothing is sent. Returns a code of the library. */
int grip_begin(struct grip *g, zkr_client *c, const struct lock_options *o);

/** Queue, and return at once. Returns a code of the library. */
int grip_ask(struct grip *g, int64_t timeout_ms);

/** Wait until it is held. Returns ZKR_OK, or why it is not. */
int grip_wait(struct grip *g);

/** From any thread, any number of times, once it is asked for: the wait ends. @grip: struct grip. */
void grip_cancel(void *grip);

/** Of the hold; 0 when there is none. @grip: struct grip. */
int64_t grip_valid_for_ms(void *grip);

/** Out of the queue; nothing is told of it any more. */
void grip_give_back(struct grip *g);

void grip_end(struct grip *g);

#endif

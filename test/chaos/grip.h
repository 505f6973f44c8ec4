/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_GRIP_H
#define ZKC_GRIP_H

#include <stdbool.h>
#include <stdint.h>

#include <zkr/guard.h>

#include "record.h"
#include "worker.h"

/* A hold, by a thread or by a ticket, and what the history is told of it. */

/* What is asked for, as the records say it. */
struct zkc_want {
    enum zkc_as as;
    int path;
    int also;
    int permits;
};

struct zkc_grip {
    struct zkc_worker *w;
    struct zkc_want want;
    zkr_mutex *mutex;   /* NULL: permits or a multi-lock, which only tickets hold */
    zkr_ticket *ticket; /* NULL: the calling thread holds */
    enum zkc_by by;
    int64_t token;
    /* A guarded write may still happen: make no other in this hold. */
    bool guard_unsure;
};

/** One that holds nothing yet. */
struct zkc_grip
zkc_grip_begin(struct zkc_worker *w, const struct zkc_want *want, enum zkc_by by);

/** A record of it with the time and nothing else filled in. */
zkc_record zkc_grip_record(const struct zkc_grip *g, enum zkc_kind kind);
void zkc_grip_put(const struct zkc_grip *g, const zkc_record *r);

/** The token of it, as a history has it. Returns ZKR_OK or why there is none. */
int zkc_grip_token(const struct zkc_grip *g, int64_t *out);

/** It was asked for at @asked and is held since @granted: find out its token, and tell. */
void zkc_grip_granted(struct zkc_grip *g,
                      int64_t asked,
                      int64_t granted,
                      int64_t limit_ms);

/** Whether it is surely held, which is told; a promise of 0 ms is none. */
bool zkc_grip_sure(const struct zkc_grip *g);

/** The calling thread holds write: from here on it holds read instead, which is told. */
void zkc_grip_downgrade(struct zkc_grip *g);

/** Fill the check of a guarded write. */
int zkc_grip_guard(const struct zkc_grip *g, zoo_op_t *op);

/** Tell, and give it back; a ticket stays to be destroyed. */
void zkc_grip_release(const struct zkc_grip *g);

#endif

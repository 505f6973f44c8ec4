/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_GRIP_H
#define ZKC_GRIP_H

#include <stdbool.h>
#include <stdint.h>

#include <zkr/guard.h>

#include "record.h"
#include "worker.h"

/* A hold, by a thread or by a ticket. Its operations write to the history. */

/* The wanted lock, in the terms of the records. */
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
    /* A guarded write may still take effect: make no other in this hold. */
    bool guard_unsure;
};

/** Returns a grip that holds nothing yet. */
struct zkc_grip
zkc_grip_begin(struct zkc_worker *w, const struct zkc_want *want, enum zkc_by by);

/** Returns a record of the grip with only the time and the fields of the grip filled in. */
zkc_record zkc_grip_record(const struct zkc_grip *g, enum zkc_kind kind);
void zkc_grip_put(const struct zkc_grip *g, const zkc_record *r);

/** Get the token in the form that the history uses. Returns ZKR_OK, or why there is none. */
int zkc_grip_token(const struct zkc_grip *g, int64_t *out);

/** The hold was requested at @asked and granted at @granted: get its token and record the grant. */
void zkc_grip_granted(struct zkc_grip *g,
                      int64_t asked,
                      int64_t granted,
                      int64_t limit_ms);

/** Returns whether the hold is surely valid, and if it is, records that. A promise of 0 ms does not count. */
bool zkc_grip_sure(const struct zkc_grip *g);

/** Downgrade the calling thread's write hold to a read hold, and record that. */
void zkc_grip_downgrade(struct zkc_grip *g);

/** Fill in the check of a guarded write. */
int zkc_grip_guard(const struct zkc_grip *g, zoo_op_t *op);

/** Record the release, and release. The caller must still destroy a ticket. */
void zkc_grip_release(const struct zkc_grip *g);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data of a node.
 *
 * The data are the owner text, or the application's data, followed by fields. A field is a line with a key, '=' and a
 * value. *Holder metadata* are the fields with the time at which the hold began and the session timeout. For a hold
 * that lasts, a lease probe (probe.c) writes the metadata instead of checking the node, unless that would harm a
 * foreign node behind it (claim_run.c). A write over a revocation request, and the node of a downgraded hold, also have
 * the metadata.
 */
#ifndef ZKR_QUEUE_NODE_DATA_H
#define ZKR_QUEUE_NODE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/request.h"

/* Fields that the library writes and reads. */
#define ZKR__FIELD_MAX "max"
#define ZKR__FIELD_HELD_SINCE "held_since_ms"
#define ZKR__FIELD_TIMEOUT "session_timeout_ms"

/* Data by which another client asks the holder of the node to release (Curator: Revoker). */
#define ZKR__REVOKE_DATA "__REVOKE__"
/* Returns whether the data are ZKR__REVOKE_DATA, plain or compressed. */
bool zkr__is_revocation(const void *data, size_t len);

/* Returns whether the data are gzip, which Curator 5.8 and later may write. */
bool zkr__is_compressed(const void *data, size_t len);

/* The result of a successful get. */
struct zkr__seen {
    int64_t owner, created_ms, czxid;
    bool holds; /* the data have holder metadata */
    unsigned data_len;
    char data[];
};

/*
 * Copy the facts of @answer, the answer to a get. Data longer than ZKR__SEEN_MAX bytes are left out. The caller frees
 * the result. Returns NULL if the get failed or memory runs out.
 */
enum { ZKR__SEEN_MAX = 512 };
struct zkr__seen *zkr__seen_of(const struct zkr__answer *answer);

/* Returns whether the data have holder metadata. */
bool zkr__has_metadata(const void *data, size_t len);

#endif

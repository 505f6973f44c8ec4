/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in a node.
 *
 * The data are the owner text, or what the application gave, with fields behind it: lines of a key, '=', a value. *Holder
 * metadata* are the fields that say since when a lock is held, and with which session timeout. A hold that lasts gets them
 * by a lease probe (probe.c), in place of the check there, unless a stranger stands behind it (claim_run.c). A write over a
 * revocation request, and a new node of a hold, have them, too.
 */
#ifndef ZKR_QUEUE_NODE_DATA_H
#define ZKR_QUEUE_NODE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/request.h"

/* Fields that the library itself writes, and reads. */
#define ZKR__FIELD_MAX "max"
#define ZKR__FIELD_HELD_SINCE "held_since_ms"
#define ZKR__FIELD_TIMEOUT "session_timeout_ms"

/* The data of a node whose holder is requested to release (Curator: Revoker). */
#define ZKR__REVOKE_DATA "__REVOKE__"
/* These data say ZKR__REVOKE_DATA, and no more; compressed they say it, too. */
bool zkr__is_revocation(const void *data, size_t len);

/* The data are gzip, as Curator from 5.8 on may write them. */
bool zkr__is_compressed(const void *data, size_t len);

/* The result of a successful GET. */
struct zkr__seen {
    int64_t owner, created_ms, czxid;
    bool holds; /* it has holder metadata */
    unsigned data_len;
    char data[];
};

/* Keep what @answer tells, without data of more than ZKR__SEEN_MAX bytes. NULL: it failed, or no memory. Free it. */
enum { ZKR__SEEN_MAX = 512 };
struct zkr__seen *zkr__seen_of(const struct zkr__answer *answer);

/* These data have holder metadata. */
bool zkr__has_metadata(const void *data, size_t len);

#endif

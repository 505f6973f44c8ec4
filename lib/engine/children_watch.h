/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Learn that contenders of a queue came or went, whosever they are. It lists the directory and
 * leaves one watch there, only while somebody wants to know.
 *
 * When the directory is missing the watch is one on its appearance, by exists(): the one place
 * where we do that. Such a watch stays at the server until the directory appears or the session
 * ends, also when nobody wants to know any more; there is at most one for each path and session.
 */
#ifndef ZKR_ENGINE_CHILDREN_WATCH_H
#define ZKR_ENGINE_CHILDREN_WATCH_H

#include "session/client.h"

struct zkr__children_watch;

/*
 * Make one. @on_change, which may be NULL, makes it look from now on, and is called with the lock
 * held when contenders came or went since they were last known; it must neither block nor end
 * the watch. Returns ZKR_OK, ZKR_ENOMEM or ZKR_ESYS.
 */
int zkr__children_watch_create(struct zkr__children_watch **out,
                               zkr_client *c,
                               const char *dir,
                               void (*on_change)(void *ctx),
                               void *ctx) ZKR__LOCKED;
/* NULL is a no-op. Nobody may wait. */
void zkr__children_watch_end(struct zkr__children_watch *w) ZKR__LOCKED;

/* A number for a name. Its sum over a list stands for the list, whatever its order. */
uint64_t zkr__fingerprint(const char *name);

/* The owner has read a list with that sum: from here on only what differs from it is a change. */
void zkr__children_watch_know(struct zkr__children_watch *w,
                              uint64_t fingerprint) ZKR__LOCKED;

/*
 * Sleep until something changed. Returns ZKR_OK, ZKR_ETIMEDOUT, or why we cannot look (ZKR_EAUTH and
 * the like). One round trip, unless the watch is still there; one more after each event.
 */
int zkr__children_watch_wait(struct zkr__children_watch *w,
                             int64_t deadline) ZKR__LOCKED;
bool zkr__children_watch_busy(
    const struct zkr__children_watch *w); /* someone waits; NULL: no */

#endif

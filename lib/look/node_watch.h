/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows a node or its children, and represents the state by one number. The node is read with a watch. It is read
 * again after each event, after an error, after the end of a session, and when the watch has not fired for long
 * (zkr__engine_doubts_at()).
 *
 * While the node is missing, exists() sets a watch on its creation. Nothing else in the library does so, because such a
 * watch stays at the server until the node appears or the session ends, even if no object follows the node any more.
 * There is at most one such watch for each path and session.
 */
#ifndef ZKR_LOOK_NODE_WATCH_H
#define ZKR_LOOK_NODE_WATCH_H

#include "session/client.h"

struct zkr__node_watch;

enum zkr__node_watch_kind {
    /*
     * The contenders among the children: the sum of zkr__fingerprint(), 0 for a missing node. The first list does not
     * count as a change. The children are listed only while on_change is set or a thread waits. Without room for the
     * watch, waits fail with ZKR_ELIMIT.
     */
    ZKR__FOLLOW_CONTENDERS,
    /*
     * The number in the node: 4 bytes, big-endian, as Curator's SharedCount writes it, or ZKR__COUNT_…. When the number
     * changes or the session ends, the number is unknown until it is read again. The watch may exceed the limit of
     * watches: without it no permit would be granted, and no call would return the reason. Each semaphore has at most
     * one.
     */
    ZKR__FOLLOW_COUNT
};

/* Values in place of a number. */
enum {
    ZKR__COUNT_UNKNOWN = -1, /* not read yet, or changed since then */
    ZKR__COUNT_MISSING = -2, /* the node does not exist */
    ZKR__COUNT_BAD = -3,     /* not a number, or not readable; the log has the reason */
};

/*
 * Follow @path. @on_change is called with the lock held at each change, and must neither block nor end the watch. If it
 * is NULL, changes only end waits. Returns ZKR_OK or ZKR_ENOMEM.
 */
int zkr__node_watch_create(struct zkr__node_watch **out,
                           zkr_client *c,
                           const char *path,
                           enum zkr__node_watch_kind kind,
                           void (*on_change)(void *ctx, int64_t number),
                           void *ctx) ZKR__LOCKED;
/* Stop following and free @w. No thread may wait. NULL is a no-op. */
void zkr__node_watch_end(struct zkr__node_watch *w) ZKR__LOCKED;

/*
 * Sleep until the number has changed since the last wait, or since zkr__node_watch_know(). Returns ZKR_OK,
 * ZKR_ETIMEDOUT, or why the node cannot be read (for example ZKR_EAUTH, or ZKR_ENONODE if the chroot is missing). Costs
 * one round trip, unless the watch is still set, and one more after each event.
 */
int zkr__node_watch_wait(struct zkr__node_watch *w, int64_t deadline) ZKR__LOCKED;
/*
 * Note that the caller has read @number itself. From now on only another number is a change. If the watch had another
 * number, on_change is called, and the node is read again.
 */
void zkr__node_watch_know(struct zkr__node_watch *w, int64_t number) ZKR__LOCKED;
/* Returns the number read last, or a ZKR__COUNT_…. */
int64_t zkr__node_watch_number(const struct zkr__node_watch *w) ZKR__LOCKED;
/* Does a thread wait? @w may be NULL. */
bool zkr__node_watch_busy(const struct zkr__node_watch *w);

/*
 * zkr__fingerprint() adds a number for the name of a child to @sum. The sum identifies a set of names. It begins with
 * zkr__fingerprint_begin(), because a path that is itself an @ephemeral node is a held lock of another kind.
 */
int64_t zkr__fingerprint_begin(bool ephemeral);
int64_t zkr__fingerprint(int64_t sum, const char *name);

#endif

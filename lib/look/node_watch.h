/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follow a node, or its children, as one number. The node is read with a watch, and read again at each event, after an
 * error, after a session has ended, and when the watch has been silent for long (zkr__engine_doubts_at()).
 *
 * While the node is missing, exists() leaves a watch on its appearance. Nothing else in the library does so, as such a
 * watch stays at the server until the node appears or the session ends, even if nobody follows the node any more. There
 * is at most one such watch for each path and session.
 */
#ifndef ZKR_LOOK_NODE_WATCH_H
#define ZKR_LOOK_NODE_WATCH_H

#include "session/client.h"

struct zkr__node_watch;

enum zkr__node_watch_kind {
    /*
     * The contenders among the children: the sum of zkr__fingerprint(), 0 for a missing node. The first list is no
     * change. The children are listed only while on_change is set or a thread waits. Without room for the watch they
     * cannot be read (ZKR_ELIMIT).
     */
    ZKR__FOLLOW_CONTENDERS,
    /*
     * The number in the node: 4 bytes, big-endian, as Curator's SharedCount writes it, or ZKR__COUNT_…. A number that has
     * changed, or whose session has ended, is unknown at once, until the new one is read. Its watch may
     * exceed the bound: without the watch no permit would be granted, and no call would return the reason. There is one
     * such watch for each semaphore.
     */
    ZKR__FOLLOW_COUNT
};

/* Instead of a number. */
enum {
    ZKR__COUNT_UNKNOWN = -1, /* not read yet, or changed since */
    ZKR__COUNT_MISSING = -2, /* there is no such node */
    ZKR__COUNT_BAD = -3,     /* no such number, or not readable; the log says so */
};

/*
 * Follow @path. @on_change is called with the lock held at each change, and must neither block nor end the watch. NULL:
 * changes are only waited for. Returns ZKR_OK or ZKR_ENOMEM.
 */
int zkr__node_watch_create(struct zkr__node_watch **out,
                           zkr_client *c,
                           const char *path,
                           enum zkr__node_watch_kind kind,
                           void (*on_change)(void *ctx, int64_t number),
                           void *ctx) ZKR__LOCKED;
/* No thread may wait. NULL is a no-op. */
void zkr__node_watch_end(struct zkr__node_watch *w) ZKR__LOCKED;

/*
 * Sleep until the number has changed since the last wait, or since zkr__node_watch_know(). Returns ZKR_OK, ZKR_ETIMEDOUT,
 * or why the node cannot be read (ZKR_EAUTH and the like; ZKR_ENONODE: there is no chroot). One round trip, unless the watch is still there; one more
 * after each event.
 */
int zkr__node_watch_wait(struct zkr__node_watch *w, int64_t deadline) ZKR__LOCKED;
/*
 * The caller has read @number by itself: from here on only another number is a change. If the watch knew another one,
 * on_change is called, and the node is read again.
 */
void zkr__node_watch_know(struct zkr__node_watch *w, int64_t number) ZKR__LOCKED;
/* The number that was read last, or ZKR__COUNT_…. */
int64_t zkr__node_watch_number(const struct zkr__node_watch *w) ZKR__LOCKED;
/* A thread waits. NULL: none does. */
bool zkr__node_watch_busy(const struct zkr__node_watch *w);

/*
 * A number for the name of a child. The sum over a list stands for the list, in whatever order. It begins with the number of
 * the path: one that is an @ephemeral node itself is a lock of another kind, and held.
 */
int64_t zkr__fingerprint_begin(bool ephemeral);
int64_t zkr__fingerprint(int64_t sum, const char *name);

#endif

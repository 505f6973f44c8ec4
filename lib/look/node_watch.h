/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows a node or its children, and represents the state as one number. The client reads the node with a watch. It
 * reads the node again after each event, after an error, after the end of a session, and when the watch has not fired
 * for a long time (zkr__engine_doubts_at()).
 *
 * While the node is missing, exists() sets a watch on its creation. No other part of the library sets such watches,
 * because the server keeps them until the node is created or the session ends, even if no object follows the node any
 * more. Each path has at most one such watch in each session.
 */
#ifndef ZKR_LOOK_NODE_WATCH_H
#define ZKR_LOOK_NODE_WATCH_H

#include "session/client.h"

struct zkr__node_watch;

enum zkr__node_watch_kind {
    /*
     * The contenders among the children, as the sum of zkr__fingerprint(), or 0 if the node is missing. The first list
     * does not count as a change. The client lists the children only while on_change is set or a thread waits. If there
     * is no room for the watch, waits fail with ZKR_ELIMIT.
     */
    ZKR__FOLLOW_CONTENDERS,
    /*
     * The number in the node (4 bytes, big-endian, as Curator's SharedCount writes it), or ZKR__COUNT_…. When the
     * number changes or the session ends, the number is unknown until the next read. This watch may exceed the limit of
     * watches, because without it the semaphore would grant no permit, and no call would return the reason. Each
     * semaphore has at most one such watch.
     */
    ZKR__FOLLOW_COUNT
};

/* Values that replace the number. */
enum {
    ZKR__COUNT_UNKNOWN = -1, /* not read yet, or changed since the last read */
    ZKR__COUNT_MISSING = -2, /* the node does not exist */
    ZKR__COUNT_BAD = -3,     /* not a number, or unreadable; the log has the reason */
};

/*
 * Follow @path. At each change, @on_change is called with the lock held. It must not block or end the watch. If it is
 * NULL, changes only end waits. Returns ZKR_OK or ZKR_ENOMEM.
 */
int zkr__node_watch_create(struct zkr__node_watch **out,
                           zkr_client *c,
                           const char *path,
                           enum zkr__node_watch_kind kind,
                           void (*on_change)(void *ctx, int64_t number),
                           void *ctx) ZKR__LOCKED;
/* Stop following the node, and free @w. No thread may be waiting. NULL is a no-op. */
void zkr__node_watch_end(struct zkr__node_watch *w) ZKR__LOCKED;

/*
 * Sleep until the number differs from the number at the last wait or zkr__node_watch_know(). Returns ZKR_OK,
 * ZKR_ETIMEDOUT, or the reason why the node cannot be read (for example ZKR_EAUTH, or ZKR_ENONODE if the chroot is
 * missing). Costs one round trip unless the watch is still set, and one more after each event.
 */
int zkr__node_watch_wait(struct zkr__node_watch *w, int64_t deadline) ZKR__LOCKED;
/*
 * Record that the caller itself has read @number. From now on, only a different number is a change. If the watch had a
 * different number, on_change is called, and the client reads the node again.
 */
void zkr__node_watch_know(struct zkr__node_watch *w, int64_t number) ZKR__LOCKED;
/* Returns the number read last, or one of ZKR__COUNT_…. */
int64_t zkr__node_watch_number(const struct zkr__node_watch *w) ZKR__LOCKED;
/* Returns whether a thread waits. @w may be NULL. */
bool zkr__node_watch_busy(const struct zkr__node_watch *w);

/*
 * zkr__fingerprint() adds a number for the name of a child to @sum. The sum identifies a set of names. It starts as
 * zkr__fingerprint_begin(), because a path that is itself an @ephemeral node is a held lock of another kind.
 */
int64_t zkr__fingerprint_begin(bool ephemeral);
int64_t zkr__fingerprint(int64_t sum, const char *name);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rwlock.h
 * A fair, re-entrant read-write lock across threads, processes and hosts.
 *
 * Mirrors Curator's InterProcessReadWriteLock and shares its lock paths: a reader is a node
 * `_c_<uuid>-__READ__NNNNNNNNNN` under the path, a writer `_c_<uuid>-__WRIT__NNNNNNNNNN`. A reader
 * holds when no writer has a lower number, a writer when nobody has. So readers hold together, a
 * writer holds alone, and a waiting writer is not overtaken by readers that come later.
 *
 * **Two sides.** zkr_rwlock_reader() and zkr_rwlock_writer() return two zkr_mutex objects. Everything in
 * zkr/mutex.h, zkr/guard.h and zkr/ticket.h works on both; where these say "held by another",
 * read "blocked by another". A side is borrowed from the lock: zkr_mutex_destroy() refuses it with
 * ZKR_ESTATE.
 *
 * **Both at once.** Each side is re-entrant by itself: a reader may acquire read again while a
 * writer waits. A thread that holds write may also acquire read, at once and at no cost. While it
 * holds both, they are one hold: node, fencing token and revocation are those of the writer, and a loss is
 * reported to each side. A thread that holds read but not write gets ZKR_EDEADLK when it
 * acquires write, whatever the timeout: it would wait for itself. Tickets belong to no thread, so this check
 * does not cover them: a ticket may wait for another one of the same thread.
 *
 * **Downgrade.** A thread that holds both and makes its last release of write stays a reader, and nobody gets
 * in between. One transaction checks its node, makes the READ node with the same number and deletes
 * the WRIT node. The release does not wait for it, not even with options.wait_on_release. It is begun only
 * while the hold is sure; if the connection breaks meanwhile, it is repeated within the session. From then
 * on zkr_mutex_node() returns the READ node. The fencing token stays that of the writer, which is lower than that of
 * any writer in the queue. (Its entry in zkr_mutex_contenders() has the czxid of the READ node.) If the servers
 * refuse the transaction (because of a quota, for instance), the WRIT node stays, the log says so, and others
 * wait for it as for a writer. zkr_mutex_release_multi() returns ZKR_ESTATE while the thread holds both.
 *
 * **Tries.** A writer's try (a timeout of 0) first looks whether the path is empty, for one round trip more, unless it
 * was when this client saw it last. If it is not, no node is made: a writer that tries in vain is in no reader's way.
 *
 * **Fencing tokens** grow from writer to writer. The token of a reader lies between those of the writers
 * before and after it. The tokens of readers that hold together have no order.
 *
 * **Others on the path.** Everybody counts by number. To these readers and writers, a zkr_mutex, a leader selector
 * or Curator's InterProcessMutex on the path is a writer, and our mutex respects them. Curator's two recipes
 * do not see each other's nodes. Nor does its InterProcessMutex see our readers and writers, or its
 * InterProcessReadWriteLock our mutex. Names do not tell who made a node, so a mutex that meets a reader or a
 * writer says in the log, once, that they may not respect it. If Curator's read-write locks use the path, take
 * exclusive locks only as writer of a zkr_rwlock. Curator before 5.5 downgrades with a READ node that has a new number:
 * a writer that was already waiting comes before it, and holds together with that reader (CURATOR-621).
 */
#ifndef ZKR_RWLOCK_H
#define ZKR_RWLOCK_H

#include <stddef.h>
#include <stdint.h>

#include <zkr/client.h>
#include <zkr/export.h>
#include <zkr/mutex.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zkr_rwlock zkr_rwlock;

/** Options of zkr_rwlock_create(), for both sides; like those of zkr_mutex_create(). Zero in a field
 * means its default; contents are copied. */
typedef struct zkr_rwlock_options {
    size_t size;       /**< sizeof(zkr_rwlock_options) */
    const char *owner; /**< owner text of the nodes; default the client's */
    const void *data;  /**< node data instead of an owner text; NULL = owner text */
    size_t data_len;   /**< bytes at data, at most 65536 */
    zkr_mutex_lost_fn on_lost; /**< gets the side that was lost; NULL = none */
    void *on_lost_ctx;
    /** Not 0: release returns when the node is confirmed gone. */
    int64_t wait_on_release;
    /** Not 0: missing parents become persistent, not container, nodes. */
    int64_t persistent_parent;
    /**
     * Not 0: notice from the grant on if somebody deletes the node; 0: from the first lease probe
     * on. Costs one or two requests more.
     */
    int64_t watch_node;
    /** Called with the side that is to release; NULL = none; implies watch_node. */
    zkr_mutex_revoke_fn on_revoke;
    void *on_revoke_ctx;
    int64_t
        tell_queued; /**< not 0: ZKR_TICKET_QUEUED and zkr_ticket_ahead(), see zkr_mutex_options */
    int64_t
        warn_ms; /**< warn of each hold before its lease ends, see zkr_mutex_options */
    /** Gets the side that holds, or the writer of a thread that holds both; NULL = none; needs warn_ms. */
    zkr_mutex_warn_fn on_warn;
    void *on_warn_ctx;
} zkr_rwlock_options;

#define ZKR_RWLOCK_OPTIONS_INIT                                                        \
    {                                                                                  \
        sizeof(zkr_rwlock_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0           \
    }

/**
 * Make a read-write lock object for a path. Nothing is sent.
 *
 * @out      the lock on success; end it with zkr_rwlock_destroy().
 * @c        borrowed until then.
 * @path     absolute, without trailing slash, not "/"; created when first needed.
 * @options  NULL = defaults; borrowed during the call.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ENOMEM, ZKR_ECLOSED (the client is being
 * closed), ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.   Threads:  any.
 * Session:  the object outlives sessions.
 * Cost:     no request; under 2 KiB of memory. To acquire either side: 1 round trip when it is
 *           granted at once, 2 until parked, like a mutex. A parked reader wakes
 *           once, however many writers are ahead. The event alone grants it if there was only one, as it grants
 *           a writer behind one reader. A writer behind a writer lists again, because that may have become a
 *           reader. A release by a thread of this client grants its readers, or the next writer, at once.
 * Curator:  new InterProcessReadWriteLock(client, path).   Since: 0.1.
 */
ZKR_API int zkr_rwlock_create(zkr_rwlock **out,
                              zkr_client *c,
                              const char *path,
                              const zkr_rwlock_options *options);

/**
 * The side that holds together with other readers.
 *
 * @l  borrowed.
 *
 * Returns a mutex that is borrowed until zkr_rwlock_destroy(), always the same; NULL for NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  InterProcessReadWriteLock.readLock.   Since: 0.1.
 */
ZKR_API zkr_mutex *zkr_rwlock_reader(zkr_rwlock *l);

/**
 * The side that holds alone.
 *
 * @l  borrowed.
 *
 * Returns as zkr_rwlock_reader().
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  InterProcessReadWriteLock.writeLock.   Since: 0.1.
 */
ZKR_API zkr_mutex *zkr_rwlock_writer(zkr_rwlock *l);

/**
 * Free a read-write lock and its two sides.
 *
 * @l  taken on success; NULL is a no-op. Pending callbacks of either side are dropped. A running one is waited
 *     for, unless this is called from it.
 *
 * Returns ZKR_OK, ZKR_EBUSY (a thread holds or waits for a side, or a side has tickets that are not
 * destroyed yet; nothing happened), ZKR_ESTATE (in a forked child).
 *
 * Blocks:   only for a running lost callback.
 * Threads:  any; no other call on @l or its sides may run or follow.
 * Session:  released nodes that are not yet confirmed gone stay with the client.
 * Cost:     no request.
 * Curator:  none (garbage collection).   Since: 0.1.
 */
ZKR_API int zkr_rwlock_destroy(zkr_rwlock *l);

#ifdef __cplusplus
}
#endif

#endif

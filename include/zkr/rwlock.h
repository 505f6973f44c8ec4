/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rwlock.h
 * A fair, re-entrant read-write lock across threads, processes and hosts.
 *
 * A read-write lock mirrors Curator's InterProcessReadWriteLock and can share its lock paths. A reader is a node
 * `_c_<uuid>-__READ__NNNNNNNNNN` under the path, and a writer is a node `_c_<uuid>-__WRIT__NNNNNNNNNN`. A reader holds
 * the lock when no writer has a lower number; a writer holds it when no other node has a lower number. Readers
 * therefore hold the lock together, a writer holds it alone, and later readers do not overtake a waiting writer.
 *
 * **Two sides.** zkr_rwlock_reader() and zkr_rwlock_writer() return two zkr_mutex objects. All functions of
 * zkr/mutex.h, zkr/guard.h and zkr/ticket.h work on both sides. Where these headers say that another contender holds
 * the lock, it means here that another contender blocks the side. A side belongs to its lock: zkr_mutex_destroy() on a
 * side fails with ZKR_ESTATE.
 *
 * **Both at once.** Each side is re-entrant: a reader may acquire the read lock again while a writer waits. A thread
 * that holds the write lock may also acquire the read lock, at once and at no cost. While it holds both sides, they are
 * one hold with the node, fencing token and revocation of the writer; a loss is reported to each side.
 *
 * A thread that holds the read lock but not the write lock gets ZKR_EDEADLK when it acquires the write lock, whatever
 * the timeout, because it would wait for itself. This check does not cover tickets, which belong to no thread: a ticket
 * may wait for another ticket that the same thread has requested.
 *
 * **Downgrade.** When a thread that holds both sides releases the write lock for the last time, it remains a reader,
 * and no writer can hold in between. One transaction checks the WRIT node, creates the READ node with the same number,
 * and deletes the WRIT node. The release does not wait for this transaction, not even with options.wait_on_release. The
 * client sends the transaction only while the hold is certain, and repeats it within the session if the connection
 * breaks. From then on, zkr_mutex_node() returns the READ node. The fencing token remains that of the writer, which is
 * lower than the token of any writer in the queue. (The entry in zkr_mutex_contenders() has the czxid of the READ
 * node.)
 *
 * If the servers refuse the transaction, for example because of a quota, the client logs this, the WRIT node remains,
 * and others wait for it as for a writer. zkr_mutex_release_multi() returns ZKR_ESTATE while the thread holds both
 * sides.
 *
 * **Tries.** A writer's try (a timeout of 0) first checks that the path is empty, for one more round trip, unless this
 * client last saw the path empty. If the path is not empty, the try creates no node, so it blocks no reader.
 *
 * **Fencing tokens** increase with each new writer. The token of a reader lies between those of the writers before and
 * after it. The tokens of readers that hold the lock at the same time have no order.
 *
 * **Other locks on the path.** All recipes of this library order the nodes by number. Readers and writers treat a
 * zkr_mutex, a leader selector or Curator's InterProcessMutex on the path as a writer, and a zkr_mutex waits for
 * readers and writers. Curator's InterProcessMutex ignores all nodes of readers and writers, and Curator's
 * InterProcessReadWriteLock ignores the nodes of mutexes. Names do not show which program created a node. Therefore, a
 * mutex that finds a reader or a writer logs once that they may ignore it. If Curator's read-write locks use the path,
 * take exclusive locks only with the writer of a zkr_rwlock. Curator before 5.5 downgrades with a READ node that has a
 * new number. A writer that was already waiting is ahead of that node, and holds the lock together with the reader
 * (CURATOR-621).
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
    zkr_mutex_lost_fn on_lost; /**< called with the lost side; NULL = none */
    void *on_lost_ctx;
    /** Not 0: release returns when the deletion of the node is confirmed. */
    int64_t wait_on_release;
    /** Not 0: missing parents become persistent nodes instead of container nodes. */
    int64_t persistent_parent;
    /**
     * Not 0: from the grant on, notice if somebody deletes the node; 0: only from the first lease probe on. Costs one
     * or two more requests.
     */
    int64_t watch_node;
    /** Called with the side that was asked to release; NULL = none; implies watch_node. */
    zkr_mutex_revoke_fn on_revoke;
    void *on_revoke_ctx;
    int64_t
        tell_queued; /**< not 0: ZKR_TICKET_QUEUED and zkr_ticket_ahead(), see zkr_mutex_options */
    int64_t warn_ms; /**< warn before the lease of a hold ends, see zkr_mutex_options */
    /** Called with the side that holds, or with the writer if a thread holds both; NULL = none; needs warn_ms. */
    zkr_mutex_warn_fn on_warn;
    void *on_warn_ctx;
} zkr_rwlock_options;

#define ZKR_RWLOCK_OPTIONS_INIT                                                        \
    {                                                                                  \
        sizeof(zkr_rwlock_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0           \
    }

/**
 * Create a read-write lock object for a path. This sends no request.
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
 * Cost:     no request; under 2 KiB of memory. To acquire either side: 1 round trip if it is granted at once, 2 until
 *           it waits, like a mutex. A waiting reader wakes once, whatever the number of writers ahead. The event alone
 *           grants a reader behind one writer, and a writer behind one reader. A writer behind a writer lists again,
 *           because the writer ahead may have become a reader. A release by a thread of this client grants the client's
 *           next readers, or its next writer, at once.
 * Curator:  new InterProcessReadWriteLock(client, path).   Since: 0.1.
 */
ZKR_API int zkr_rwlock_create(zkr_rwlock **out,
                              zkr_client *c,
                              const char *path,
                              const zkr_rwlock_options *options);

/**
 * The reader side, which can hold the lock together with other readers.
 *
 * @l  borrowed.
 *
 * Returns a mutex that is borrowed until zkr_rwlock_destroy(), always the same mutex; NULL for NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  InterProcessReadWriteLock.readLock.   Since: 0.1.
 */
ZKR_API zkr_mutex *zkr_rwlock_reader(zkr_rwlock *l);

/**
 * The writer side, which holds alone.
 *
 * @l  borrowed.
 *
 * Returns a mutex that is borrowed until zkr_rwlock_destroy(), always the same mutex; NULL for NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  InterProcessReadWriteLock.writeLock.   Since: 0.1.
 */
ZKR_API zkr_mutex *zkr_rwlock_writer(zkr_rwlock *l);

/**
 * Free a read-write lock and its two sides.
 *
 * @l  taken on success; NULL is a no-op. Pending callbacks of either side are dropped. This waits for a running
 *     callback, unless that callback makes the call.
 *
 * Returns ZKR_OK, ZKR_EBUSY (a thread holds or waits for a side, or a side has tickets that are not
 * destroyed yet; nothing happened), ZKR_ESTATE (in a forked child).
 *
 * Blocks:   only for a running lost callback.
 * Threads:  any; no other call on @l or its sides may run or follow.
 * Session:  the client continues to delete released nodes until their deletion is confirmed.
 * Cost:     no request.
 * Curator:  none (garbage collection).   Since: 0.1.
 */
ZKR_API int zkr_rwlock_destroy(zkr_rwlock *l);

#ifdef __cplusplus
}
#endif

#endif

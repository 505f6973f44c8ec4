/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mutex.h
 * A fair, re-entrant mutex across threads, processes and hosts.
 *
 * A mutex mirrors Curator's InterProcessMutex and can share its lock paths. Each attempt is one protected
 * ephemeral-sequential node `_c_<uuid>-lock-NNNNNNNNNN` under the path, and the contender with the lowest number holds
 * the lock. The thread that acquires the mutex is its owner: it may acquire the mutex again, and must release it as
 * often. zkr/ticket.h provides holds that no thread owns. Different mutex objects exclude each other, even within one
 * thread.
 *
 * **Loss.** You can lose a hold before you release it: the session ended, the lease ended because no server confirmed
 * it, or somebody deleted the node. is_held is then false and valid_for is 0 at once, and the lost callback is called
 * once. A re-entrant acquire and the owner's next release return ZKR_ESESSION. After this release, the mutex can be
 * acquired again. Therefore, check zkr_mutex_valid_for_ms() before each step that cannot be undone, pass the fencing
 * token to the resource that the lock protects, and use zkr_mutex_multi() for data in ZooKeeper.
 *
 * No client can foresee two events. First, a third party may close the session with its id and password, as Curator's
 * test tool KillSession does. The hold then ends at the servers at once, whatever valid_for returned a moment before.
 * Second, the ensemble may return to older data, because data directories were wiped or an old snapshot was restored.
 * New fencing tokens are then lower than earlier tokens, so also reset the resources that remember tokens.
 * zkr_client_valid_for_ms() in lease.h lists all assumptions of the library.
 *
 * **Revocation.** Every client that has permission to write to the nodes can ask the holder to release the lock, with
 * zkr_mutex_revoke() or Curator's Revoker. options.on_revoke notifies the holder, which decides whether to do so.
 *
 * **Keeping.** With options.keep_ms, a lock that nobody else wants stays with its client. If no other contender is
 * known at the last release, the client keeps the node for up to keep_ms. The next acquire of the same client at the
 * same path, by any thread, a ticket, or another mutex with the option, checks the lease and holds the lock at once.
 * Threads and tickets of the client that wait during this time create no nodes. They hold the lock in turn, all through
 * the kept node, in the order in which they began to wait.
 *
 * When the client notices a contender of another client, it deletes the kept node: at once if nobody holds the lock
 * through it, otherwise at the next release. The waiting threads and tickets of this client then join the queue behind
 * that contender. The client also deletes the node after a revocation, and keep_ms after the first release, even if its
 * threads are busy; the first waiter then creates a new node. zkr_mutex_release_multi() always deletes the node. A
 * mutex that other clients wanted within the last second is not kept. A try without a connection fails, even with the
 * option.
 *
 * Keeping has these drawbacks:
 * - The fencing token is that of the node, so it no longer differs between holds of one client. The pair (token,
 *   zkr_mutex_pass()) increases with each new holder.
 * - A check of the node (guard.h) succeeds during all holds of the client with that node, not just during one.
 * - An idle client that is cut off or stopped blocks other clients until its session ends, like a holder.
 *   zkr_contenders and `zkr status` show the idle client as the holder. The owner text and the time of the grant in the
 *   node are those of the first hold.
 * - Threads of this client can overtake a contender of another client until this client notices the contender, a moment
 *   after the contender's node was created. The contender gets the lock only after this client has noticed the
 *   contender and has deleted the kept node.
 *
 * In zkr_stats, pending_deletes includes a kept node through which nobody holds the lock, but held does not.
 * zkr_client_flush(), zkr_client_shutdown() and zkr_mutex_destroy() of the mutex that held the lock last delete the
 * kept node. The loss of a kept node is neither reported nor counted.
 *
 * **Robust.** With options.robust, a holder learns that the previous holder ended without a release: its process died,
 * its thread ended, its session was lost, or its node was deleted. zkr_mutex_acquire() then acquires the lock and
 * returns ZKR_EOWNERDEAD once, to the first holder after the dead holder. Repair the data that the lock protects, as
 * with pthread_mutexattr_setrobust(); releasing the mutex declares the data repaired.
 *
 * Servers do not report whether a node was deleted by its holder or with its session. Therefore the holders keep a
 * record: the data of the path contains the token of the holder, from before acquire returns until the transaction that
 * releases the mutex. This has the following consequences:
 * - Only the end of a holder with the option is noticed, so all users of the path should set the option.
 * - The data of the path belongs to the mutex. Other data there is refused (ZKR_EEXIST) and never replaced.
 * - Missing parents become persistent nodes, as with persistent_parent, because servers remove an empty container with
 *   its data. Servers do not report whether a node is a container, so use a path that no client without the option has
 *   created.
 * - A release with an unknown outcome, and an acquire that failed after the grant, may count as an end without a
 *   release.
 *
 * **The end of a thread.** When a thread ends or is canceled while it holds the lock, the client releases the hold and
 * logs this. pthread_cancel() does not end a wait: it takes effect at the thread's next cancellation point after the
 * call, which may have acquired the lock by then. zkr_mutex_cancel() ends a wait.
 */
#ifndef ZKR_MUTEX_H
#define ZKR_MUTEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zkr/client.h>
#include <zkr/contenders.h>
#include <zkr/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zkr_mutex zkr_mutex;

/**
 * Called once for each lost hold, on the client's dispatch thread. The mutex may already have been acquired again, so
 * compare the fencing tokens.
 */
typedef void (*zkr_mutex_lost_fn)(zkr_mutex *m, const zkr_lost *lost, void *ctx);

/**
 * Called on the client's dispatch thread when zkr_mutex_revoke() or Curator's Revoker asks a holder of @m, a thread or
 * a ticket, to release. Called once for each request, and not at all if the hold ends first. The holder decides whether
 * and when to release. A callback cannot release the hold of a thread, so notify that thread; it can release a ticket.
 */
typedef void (*zkr_mutex_revoke_fn)(zkr_mutex *m, void *ctx);

/**
 * Called on the client's dispatch thread, at most once for each hold of a thread, when less than options.warn_ms of its
 * lease is left. Save the data that the lock protects. lease.h explains the rules. @fencing_token identifies the hold;
 * @left_ms is its remaining lease. The lost callback of the hold, if any, is called later. A callback cannot release
 * the hold of a thread, so notify that thread, which may already be releasing.
 */
typedef void (*zkr_mutex_warn_fn)(zkr_mutex *m,
                                  int64_t fencing_token,
                                  int64_t left_ms,
                                  void *ctx);

/** Options of zkr_mutex_create(). Zero in a field means its default; contents are copied. */
typedef struct zkr_mutex_options {
    size_t size;       /**< sizeof(zkr_mutex_options) */
    const char *owner; /**< owner text of the node; default the client's */
    const void *data;  /**< node data instead of an owner text; NULL = owner text */
    size_t data_len;   /**< bytes at data, at most 65536 */
    zkr_mutex_lost_fn on_lost; /**< NULL = none */
    void *on_lost_ctx;
    /** Not 0: release returns when the deletion of the node is confirmed. */
    int64_t wait_on_release;
    /** Not 0: missing parents become persistent nodes instead of container nodes. */
    int64_t persistent_parent;
    /**
     * Not 0: from the grant on, notice if somebody deletes the node; 0: only from the first lease probe on, about a
     * tenth of the session timeout later. Costs one or two more requests.
     */
    int64_t watch_node;
    zkr_mutex_revoke_fn on_revoke; /**< NULL = none; implies watch_node */
    void *on_revoke_ctx;
    /**
     * Milliseconds for which the client may keep the node after a release while no other client wants the lock, but at
     * most four to eight session timeouts; 0 = the release deletes the node. See Keeping, above. Not together with
     * wait_on_release.
     */
    int64_t keep_ms;
    /**
     * An acquire fails at once with ZKR_EBUSY if this many contenders, of any client, are already waiting; 0 = no
     * bound. Costs one list in each acquire. Not together with keep_ms.
     */
    int64_t max_waiters;
    /**
     * Not 0: if a ticket must wait, its callback is called with ZKR_TICKET_QUEUED first, and zkr_ticket_ahead() returns
     * the contender ahead. Costs at most 600 bytes of memory for each waiting ticket.
     */
    int64_t tell_queued;
    /**
     * Not 0: an acquire reports if the last holder ended without a release. See Robust, above. Costs two more round
     * trips in each acquire except re-entries, and one in each release. Not for tickets, and not together with keep_ms.
     */
    int64_t robust;
    /**
     * Warn once in each hold, when less than this many milliseconds of its lease are left: a thread through on_warn, a
     * ticket with ZKR_TICKET_WARNED. At most a third of the session timeout; 0 = no warning. Needs lease probes. See
     * lease.h.
     */
    int64_t warn_ms;
    zkr_mutex_warn_fn on_warn; /**< NULL = none; needs warn_ms */
    void *on_warn_ctx;
} zkr_mutex_options;

#define ZKR_MUTEX_OPTIONS_INIT                                                         \
    {                                                                                  \
        sizeof(zkr_mutex_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0   \
    }

/**
 * Create a mutex object for a path. This sends no request.
 *
 * @out      the mutex on success; end it with zkr_mutex_destroy().
 * @c        borrowed until then.
 * @path     absolute, without trailing slash, not "/"; created when first needed.
 * @options  NULL = defaults; borrowed during the call.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ENOMEM, ZKR_ECLOSED (the client is being
 * closed), ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.   Threads:  any.
 * Session:  the object outlives sessions.
 * Cost:     no request; under 1 KiB of memory.
 * Curator:  new InterProcessMutex(client, path).   Since: 0.1.
 */
ZKR_API int zkr_mutex_create(zkr_mutex **out,
                             zkr_client *c,
                             const char *path,
                             const zkr_mutex_options *options);

/**
 * Acquire, waiting at most @timeout_ms. First come, first served, across all hosts.
 *
 * @m           borrowed.
 * @timeout_ms  milliseconds for the whole call, including reconnections; ZKR_FOREVER = no limit; 0 = one try, which
 *              needs a connection and waits for one round trip (the writer of a zkr_rwlock sometimes for two), at most
 *              options.connect_timeout_ms or a third of the session timeout, whichever is less.
 *
 * Returns ZKR_OK, ZKR_EOWNERDEAD (options.robust: acquired, but the last holder ended without a release), ZKR_ETIMEDOUT
 * (another contender holds it), ZKR_ENOANSWER (no server has reported the holder by the deadline; for a try, also if
 * there is no connection), ZKR_ECANCELED (zkr_mutex_cancel()), ZKR_ECONNLOSS (retry_attempts used up), ZKR_ESESSION
 * (the calling thread's earlier hold was lost: release it first), ZKR_EDEADLK (@m is the writer of a zkr_rwlock, and
 * the calling thread holds only its reader; with ZKR_FOREVER, also if the calling thread would wait for itself because
 * it holds the path through another object of this client, unless both are readers), ZKR_EBUSY (options.max_waiters
 * contenders are already waiting), ZKR_ECLOSED (the client is shut down), ZKR_EAUTH, ZKR_ESEQUENCE (use another path),
 * ZKR_EEXIST (options.robust: the path has other data), ZKR_ENONODE (the chroot is missing), ZKR_ELIMIT (the client has
 * too many nodes or watches: ticket.h; use a second client), ZKR_EFOREIGN (another program uses the path, and a lock
 * node would break it: docs/clients.md), ZKR_EINVAL, ZKR_ENOMEM, ZKR_ESTATE (in a callback, or in a forked child).
 * After any error, this call holds nothing, and its node is deleted at once or as soon as a server can be reached.
 *
 * The mutex is re-entrant: a call by the owner adds one to its depth, and needs its own release.
 *
 * Blocks:   yes, with no internal lock held.
 * Threads:  any; the calling thread becomes the owner.
 * Session:  if the session ends during the wait, the place in the queue is lost, and the wait continues at the
 *           tail, within the deadline. A reconnect within the session keeps the place.
 * Cost:     1 round trip if free; 2 until it waits behind others, then 0 or 1 after the event; none if re-entered or
 *           kept (see Keeping). docs/costs.md of the source lists the requests.
 * Curator:  InterProcessMutex.acquire.   Since: 0.1.
 */
ZKR_API int zkr_mutex_acquire(zkr_mutex *m, int64_t timeout_ms);

/**
 * Release once. The last release of the owner frees the lock for the next contender in the queue.
 *
 * @m  borrowed.
 *
 * Returns ZKR_OK, ZKR_ENOTOWNER, ZKR_ESESSION (the hold was lost before; the calling thread no longer owns @m, whatever
 * its depth was), ZKR_EINVAL, ZKR_ESTATE (in a forked child). With options.robust, also the codes of
 * zkr_mutex_release_multi(); the mutex is released nevertheless, but the next holder may get ZKR_EOWNERDEAD.
 *
 * Blocks:   no; with options.robust until the release is recorded, at most options.connect_timeout_ms; with
 *           options.wait_on_release until the deletion of the node or the end of the session is confirmed, or the
 *           servers refuse the delete, which the client then retries (zkr_client_flush()).
 * Threads:  the owner.
 * Session:  the client repeats the delete in the background until it is confirmed. On servers that give a client a new
 *           session at each reconnection, the node of a lost hold remains until the lease that valid_for has promised
 *           ends. The last release (the first, if the hold was not re-entered) declares that nothing acts under the
 *           hold any more, and deletes the node earlier.
 * Cost:     0 round trips waited for; 1 request. With options.keep_ms, the first release of a node sends a list and a
 *           read instead, each with a watch, and later releases send nothing.
 * Curator:  InterProcessMutex.release.   Since: 0.1.
 */
ZKR_API int zkr_mutex_release(zkr_mutex *m);

/**
 * Make every thread that is now waiting in zkr_mutex_acquire() return ZKR_ECANCELED.
 *
 * @m  borrowed. Holders, later acquires and tickets are not affected. With options.robust, a thread also counts as
 *     waiting while it has the lock and reads the record of the previous holder. It then releases the lock within a
 *     third of the session timeout.
 *
 * Returns ZKR_OK (also if nobody waits), ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no round trip waited for; one delete for each waiter.
 * Curator:  Thread.interrupt on the waiting threads.   Since: 0.1.
 */
ZKR_API int zkr_mutex_cancel(zkr_mutex *m);

/**
 * Is the calling thread certain to hold @m now?
 *
 * @m  borrowed.
 *
 * Returns true if it is; false also if the hold is lost or in doubt, for NULL, and in a forked child.
 *
 * Blocks:   no.   Threads:  any.
 * Session:  checks the remaining lease, not a cached state.
 * Cost:     no request.
 * Curator:  InterProcessMutex.isOwnedByCurrentThread, which returns a cached state.   Since: 0.1.
 */
ZKR_API bool zkr_mutex_is_held(zkr_mutex *m);

/**
 * Is any thread of this process certain to hold this object now? Tickets do not count.
 *
 * @m  borrowed.
 *
 * Returns true if one is; false also if the hold is lost or in doubt, for NULL, and in a forked child.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  InterProcessMutex.isAcquiredInThisProcess.   Since: 0.1.
 */
ZKR_API bool zkr_mutex_is_held_in_process(zkr_mutex *m);

/**
 * The number of releases that the calling thread must still make, including those of lost holds.
 *
 * @m  borrowed.
 *
 * Returns the number; 0 if the thread does not own @m, for NULL, and in a forked child.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  InterProcessMutex.LockData.lockCount (private).   Since: 0.1.
 */
ZKR_API int zkr_mutex_depth(zkr_mutex *m);

/**
 * The remaining lease: the time for which the calling thread is guaranteed to hold @m. See zkr_client_valid_for_ms().
 *
 * @m  borrowed.
 *
 * Returns milliseconds; 0 = the calling thread is not certain to hold @m; ZKR_UNKNOWN = held, but the client's probes
 * are turned off.
 *
 * Blocks:   no.   Threads:  any.
 * Session:  reaches 0 before any server can have given the lock away.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int64_t zkr_mutex_valid_for_ms(zkr_mutex *m);

/**
 * The fencing token of the calling thread's hold: the czxid of its node.
 *
 * Tokens increase with each new holder, even if the path is deleted and created again, but not if the data of the
 * ensemble is lost. A resource that refuses tokens lower than the highest it has seen is safe from holders that do not
 * know yet that they have lost the lock. Re-entry keeps the token. With options.keep_ms, holds of one client may share
 * a token; see zkr_mutex_pass().
 *
 * @m      borrowed.
 * @token  filled on success.
 *
 * Returns ZKR_OK, ZKR_ENOTOWNER, ZKR_ESESSION (lost), ZKR_EINVAL, ZKR_ESTATE (forked child).
 *
 * Blocks:   no.   Threads:  the owner.
 * Cost:     no request; the answer to the create contains the token.
 * Curator:  none (CURATOR-537, CURATOR-637 ask for it).   Since: 0.1.
 */
ZKR_API int zkr_mutex_fencing_token(zkr_mutex *m, int64_t *token);

/**
 * The number of the calling thread's hold among the holds with the same node: 1 for the first, more than 1 only with
 * options.keep_ms.
 *
 * The pair (token, pass) increases with each new holder; compare the token first. A resource that must also refuse
 * earlier holders of the same client must compare both. Re-entry keeps the pass. Pass numbers may have gaps.
 *
 * @m     borrowed.
 * @pass  filled on success.
 *
 * Returns the same codes as zkr_mutex_fencing_token().
 *
 * Blocks:   no.   Threads:  the owner.
 * Cost:     no request.
 * Curator:  none.   Since: 0.2.
 */
ZKR_API int zkr_mutex_pass(zkr_mutex *m, int64_t *pass);

/**
 * The full path of the node with which the calling thread holds @m.
 *
 * @m     borrowed.
 * @buf   filled on success, always terminated.
 * @size  bytes at @buf.
 *
 * Returns ZKR_OK, ZKR_ENOTOWNER, ZKR_ESESSION (lost), ZKR_EINVAL (also if @buf is too small),
 * ZKR_ESTATE (forked child).
 *
 * Blocks:   no.   Threads:  the owner.
 * Cost:     no request.
 * Curator:  InterProcessMutex.getLockPath (protected).   Since: 0.1.
 */
ZKR_API int zkr_mutex_node(zkr_mutex *m, char *buf, size_t size);

/**
 * List the contenders of all processes and languages in queue order: the holder, then the waiters.
 *
 * @m    borrowed; need not be held.
 * @out  the list on success, empty if the path does not exist; free it with
 *       zkr_contenders_free().
 *
 * Returns ZKR_OK, ZKR_ENONODE (the chroot is missing), ZKR_ETIMEDOUT (options.connect_timeout_ms),
 * ZKR_ECONNLOSS, ZKR_ECLOSED (the client is shut down), ZKR_EAUTH,
 * ZKR_ESESSION, ZKR_EINVAL, ZKR_ENOMEM, ZKR_ESTATE (in a callback, or in a forked child).
 *
 * Blocks:   yes, at most options.connect_timeout_ms.
 * Threads:  any.
 * Cost:     2 round trips for any number of contenders. Nodes deleted in between are left out.
 * Curator:  InterProcessMutex.getParticipantNodes + getData.   Since: 0.1.
 */
ZKR_API int zkr_mutex_contenders(zkr_mutex *m, zkr_contenders **out);

/**
 * Wait until a contender has joined or left. The wait covers changes since the last return of this function or of
 * zkr_mutex_contenders() on this object. If neither has returned yet, it covers changes since this call began.
 *
 * @m           borrowed; need not be held.
 * @timeout_ms  milliseconds; 0 = only check for known changes, ZKR_FOREVER = no limit.
 *
 * Returns ZKR_OK, ZKR_ETIMEDOUT, ZKR_ENONODE (the chroot is missing), ZKR_ECLOSED (the client is shut down), ZKR_EAUTH,
 * ZKR_ELIMIT (the client has too many watches: client.h), ZKR_EINVAL, ZKR_ENOMEM, ZKR_ESYS, ZKR_ESTATE (in a callback,
 * or in a forked child).
 *
 * Blocks:   yes, with no internal lock held.
 * Threads:  any number at once.
 * Session:  waits across sessions; changes between two sessions count.
 * Cost:     1 round trip to set the watch, 1 after each event.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_mutex_watch(zkr_mutex *m, int64_t timeout_ms);

/**
 * Wait until nobody holds @m or waits for it, without acquiring it. Others may take the lock before this call returns.
 * If the path itself is an ephemeral node, the lock counts as held while the node exists.
 *
 * @m           borrowed; must not be held by the calling thread, which would wait for itself.
 * @timeout_ms  milliseconds; 0 = only check once, ZKR_FOREVER = no limit.
 *
 * Returns ZKR_OK (the lock was free at some moment), ZKR_ETIMEDOUT (it was never free), ZKR_ENOANSWER (no server has
 * answered), and as zkr_mutex_watch().
 *
 * Blocks:   yes, with no internal lock held. A single check blocks at most options.connect_timeout_ms.
 * Threads:  any number at once.
 * Session:  waits across sessions.
 * Cost:     1 round trip, and 1 each time that a contender joins or leaves.
 * Curator:  none.   Since: 0.2.
 */
ZKR_API int zkr_mutex_await_free(zkr_mutex *m, int64_t timeout_ms);

/**
 * Ask the current holder to release the lock, whatever process and programming language it runs in.
 *
 * @m  borrowed; need not be held, and may be held by the caller.
 *
 * The function sets the data of the first node in the queue to `__REVOKE__`. If the first node is a reader, the
 * function sets the data of all readers that hold the lock. The holder decides what to do. This library calls
 * options.on_revoke, Curator calls the listener of makeRevocable(), and other clients do not notice the request.
 * Waiting contenders are not notified, but a contender that is granted the lock during the request is notified when it
 * holds the lock. A holder that uses this library restores its owner text when it notices the request, with or without
 * on_revoke. Use zkr_mutex_watch() to find out when the holder has left.
 *
 * Leader latches get no request, because a write to the leader's node would make Curator's candidates behind it miss
 * their turn. Holders of other recipes are not asked, because they would not understand the request. Holders whose
 * nodes are not ephemeral are not asked either.
 *
 * Returns ZKR_OK (the request was sent, or the holder has left in the meantime), ZKR_ENONODE (nobody holds the lock, or
 * the chroot is missing), ZKR_EINVAL (also if a holder is of a kind that gets no request), ZKR_EAUTH (the credentials
 * are refused, or the node's ACL forbids it), ZKR_ETIMEDOUT (options.connect_timeout_ms), ZKR_ECONNLOSS, ZKR_ESESSION
 * (after these three, the request may have been sent), ZKR_ECLOSED (the client is shut down), ZKR_ENOMEM, ZKR_ESYS,
 * ZKR_ESTATE (in a callback, or in a forked child).
 *
 * Blocks:   yes, at most options.connect_timeout_ms.
 * Threads:  any.
 * Cost:     3 round trips: a list, a read, a write.
 * Curator:  Revoker.attemptRevoke, which needs the node: zkr_mutex_revoke_node().   Since: 0.1.
 */
ZKR_API int zkr_mutex_revoke(zkr_mutex *m);

/**
 * Ask one contender to release the lock, as zkr_mutex_revoke() asks the current holder.
 *
 * @m     borrowed; need not be held.
 * @node  the name of the contender's node, as zkr_mutex_contenders() returns it.
 *
 * If that contender has left in the meantime, no other contender gets the request. A waiter gets the request when it
 * holds the lock.
 *
 * Returns ZKR_OK (asked, or the contender had left), ZKR_ENONODE (the chroot is missing), ZKR_EINVAL (also: not a node
 * of a contender, or of a kind that is not asked), and the other codes of zkr_mutex_revoke().
 *
 * Blocks:   yes, at most options.connect_timeout_ms.
 * Threads:  any.
 * Cost:     2 round trips: a read, a write.
 * Curator:  Revoker.attemptRevoke.   Since: 0.2.
 */
ZKR_API int zkr_mutex_revoke_node(zkr_mutex *m, const char *node);

/**
 * Delete the node of a contender that does not release the lock. First ask the contender with zkr_mutex_revoke(). Only
 * ephemeral nodes are deleted.
 *
 * @m     borrowed; need not be held.
 * @node  the name of the contender's node, as zkr_mutex_contenders() returns it.
 *
 * If the contender holds the lock, the next contender in the queue gets it at once, and two contenders may hold the
 * lock until the evicted holder notices the deletion:
 * - A holder that uses this library and watches its node notices the deletion within milliseconds (ZKR_LOST_NODE). It
 *   watches the node from the grant on with options.watch_node, otherwise from its first lease probe on, a twelfth of
 *   the session timeout after the grant. This probe also reveals an earlier deletion.
 * - A holder that is cut off notices the deletion when its lease ends or it reconnects, whichever is first, even if a
 *   node of the same name exists by then.
 * - A holder without permission to read its node notices the deletion within four session timeouts. However, if another
 *   client has created a node of that name, servers since 3.8.4 and 3.9.2 report the deletion only to holders that have
 *   permission to read the new node.
 *
 * If the contender waits, it queues again at the tail. If it has no permission to read its node at that moment, those
 * servers send it no event. It then notices the deletion when it becomes first, at the latest with its first lease
 * probe.
 *
 * Returns ZKR_OK (deleted, or the node no longer existed), ZKR_ENONODE (the chroot is missing), ZKR_EINVAL (also: not a
 * node of a contender, or not ephemeral), ZKR_EAUTH (the credentials are refused, or the path's ACL forbids it), and
 * the other codes of zkr_mutex_revoke().
 *
 * Blocks:   yes, at most options.connect_timeout_ms.
 * Threads:  any.
 * Cost:     2 round trips: a read, the delete.
 * Curator:  none (CURATOR-171 asks for it).   Since: 0.1.
 */
ZKR_API int zkr_mutex_evict(zkr_mutex *m, const char *node);

/**
 * Free a mutex.
 *
 * @m  taken on success; NULL is a no-op. Pending callbacks of @m are dropped. This waits for a running callback, unless
 *     that callback makes the call.
 *
 * Returns ZKR_OK, ZKR_EBUSY (a thread holds it or waits for it, or it has tickets that are not destroyed yet;
 * nothing happened), ZKR_ESTATE (a side of a zkr_rwlock, or in a forked child).
 *
 * Blocks:   only for a running callback of @m.
 * Threads:  any; no other call on @m may run or follow.
 * Session:  the client continues to delete released nodes until their deletion is confirmed.
 * Cost:     no request.
 * Curator:  none (garbage collection).   Since: 0.1.
 */
ZKR_API int zkr_mutex_destroy(zkr_mutex *m);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file leader_selector.h
 * Leader election with a function that runs while this process leads. The function returns to give up the leadership.
 *
 * A selector mirrors Curator's LeaderSelector and can share its paths. In ZooKeeper, a selector looks like a mutex,
 * with nodes named `_c_<uuid>-lock-NNNNNNNNNN` and the id as their data. Selectors and mutexes on the same path
 * therefore exclude each other.
 *
 * **Rounds.** A started selector joins the queue. When it leads, it runs take_leadership() on a separate thread, never
 * twice at the same time. When this function returns, the selector leaves the queue. With auto_requeue, it then joins
 * again at the tail; otherwise it joins again after zkr_leader_selector_requeue(). The selector retries transient
 * errors for ever. A permanent error (not authorised, no chroot, sequence numbers used up) ends the candidacy:
 * zkr_leader_selector_state() returns its code, and on_failed is called. zkr_leader_selector_requeue() tries again.
 *
 * **Loss.** Nothing can stop your function from outside. Therefore, sleep only in zkr_leadership_wait(), which returns
 * at once when the leadership is lost, interrupted or stopped. Check zkr_leadership_valid_for_ms() before each step
 * that cannot be undone, and pass the fencing token to the resources that you write to.
 *
 * **Revocation.** A selector cannot be revoked: after zkr_mutex_revoke() on its path, it restores the id in its node
 * and continues to lead.
 */
#ifndef ZKR_LEADER_SELECTOR_H
#define ZKR_LEADER_SELECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zkr/client.h>
#include <zkr/contenders.h>
#include <zkr/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zkr_leader_selector zkr_leader_selector;

/** One round of leadership. Valid on any thread while take_leadership() runs. */
typedef struct zkr_leadership zkr_leadership;

/**
 * Runs on the selector's own thread, with no lock held, while the selector leads. It may call every function of this
 * library, including functions that block. To give up the leadership, return, or end the thread (client.h). The thread
 * blocks all signals (client.h), so unblock them before you start a program there.
 */
typedef void (*zkr_take_leadership)(zkr_leadership *lead, void *ctx);

/** Called once when a candidacy ends permanently, on the dispatch thread; @code is a ZKR_E… code. */
typedef void (*zkr_leader_selector_failed_fn)(zkr_leader_selector *s,
                                              int code,
                                              void *ctx);

/** Results of zkr_leader_selector_state(), besides error codes. */
enum zkr_leader_selector_states {
    ZKR_SELECTOR_STOPPED = 1, /**< not started, or stopped */
    /** Started, but not queued: the last round is over, and no further round was requested. */
    ZKR_SELECTOR_IDLE,
    ZKR_SELECTOR_QUEUED,  /**< a candidate, about to join, or within requeue_delay_ms */
    ZKR_SELECTOR_LEADING, /**< take_leadership() runs, even if leadership was lost */
    ZKR_SELECTOR_STOPPING /**< stopping, but take_leadership() has not returned yet */
};

/** Options of zkr_leader_selector_create(). Zero in a field means its default. */
typedef struct zkr_leader_selector_options {
    size_t size;              /**< sizeof(zkr_leader_selector_options) */
    int64_t auto_requeue;     /**< not 0: queue again after each round */
    int64_t requeue_delay_ms; /**< pause before queueing again, to let others lead */
    /** NULL = none. Its ctx is that of take_leadership(). */
    zkr_leader_selector_failed_fn on_failed;
    /**
     * Not 0: a disconnection ends the round, as with Curator's LeaderSelectorListenerAdapter; 0: only the end of the
     * lease ends it.
     */
    int64_t step_down_when_suspended;
    /** Not 0: missing parents become persistent nodes instead of container nodes. */
    int64_t persistent_parent;
} zkr_leader_selector_options;

#define ZKR_LEADER_SELECTOR_OPTIONS_INIT                                               \
    {                                                                                  \
        sizeof(zkr_leader_selector_options), 0, 0, 0, 0, 0                             \
    }

/**
 * Create a selector. This sends no request.
 *
 * @out              the selector on success; end it with zkr_leader_selector_destroy().
 * @c                borrowed until then.
 * @path             absolute, without trailing slash, not "/"; created by the first candidate.
 * @id               UTF-8 text for others to see, copied; "" or NULL = the client's owner text.
 * @take_leadership  runs in each round.
 * @ctx              passed to take_leadership().
 * @options          NULL = defaults; borrowed during the call.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ENOMEM, ZKR_ESYS, ZKR_ECLOSED (the client is being
 * closed), ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.   Threads:  any; starts none.
 * Session:  the object outlives sessions.
 * Cost:     no request.
 * Curator:  new LeaderSelector(client, path, listener) + setId, autoRequeue.   Since: 0.1.
 */
ZKR_API int zkr_leader_selector_create(zkr_leader_selector **out,
                                       zkr_client *c,
                                       const char *path,
                                       const char *id,
                                       zkr_take_leadership take_leadership,
                                       void *ctx,
                                       const zkr_leader_selector_options *options);

/**
 * Start the selector's thread and join the queue. Possible again after each stop.
 *
 * @s  borrowed.
 *
 * Returns ZKR_OK, ZKR_ESTATE (already started; a stop that timed out has not ended; in a forked child), ZKR_ESYS or
 * ZKR_ENOMEM (no thread), ZKR_EINVAL. zkr_leader_selector_state() and on_failed report server errors later.
 *
 * Blocks:   no; needs no connection.
 * Threads:  any; starts one thread, which runs until stopped.
 * Session:  joins the queue again in each new session.
 * Cost:     1 round trip from here to leading on a free path (create and list are sent together).
 * Curator:  LeaderSelector.start, once only.   Since: 0.1.
 */
ZKR_API int zkr_leader_selector_start(zkr_leader_selector *s);

/**
 * Request one more round, at the tail of the queue.
 *
 * @s  borrowed; started.
 *
 * Returns ZKR_OK, ZKR_EBUSY (a round is already requested, by this call or by auto_requeue), ZKR_ESTATE (not started;
 * in a forked child), ZKR_EINVAL.
 *
 * Blocks:   no.
 * Threads:  any. In take_leadership(), the new round follows the running one.
 * Cost:     no request by the calling thread.
 * Curator:  LeaderSelector.requeue.   Since: 0.1.
 */
ZKR_API int zkr_leader_selector_requeue(zkr_leader_selector *s);

/**
 * Ask the running take_leadership() to return: its zkr_leadership_wait() returns ZKR_ECANCELED.
 *
 * @s  borrowed.
 *
 * Returns ZKR_OK, ZKR_ENOTOWNER (take_leadership() is not running), ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  LeaderSelector.interruptLeadership.   Since: 0.1.
 */
ZKR_API int zkr_leader_selector_interrupt(zkr_leader_selector *s);

/**
 * Leave the queue. If take_leadership() runs, interrupt it and wait until it has returned.
 *
 * The node remains until the function has returned, so that nobody else leads while the function is still running.
 *
 * @s           borrowed.
 * @timeout_ms  milliseconds to wait for take_leadership(); 0 = not at all, ZKR_FOREVER = no limit.
 *
 * Returns ZKR_OK (also if already stopped), ZKR_ETIMEDOUT (take_leadership() has not returned; the stop continues, call
 * again to wait longer), ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   yes: at most @timeout_ms while take_leadership() runs; otherwise only until the selector's thread has
 *           ended, which does not depend on other threads. In take_leadership(), in callbacks, and in thread-specific
 *           destructors of their threads, @timeout_ms counts as 0.
 * Threads:  any; ends the selector's thread.
 * Session:  the client repeats the delete of the node in the background until it is confirmed.
 * Cost:     0 round trips waited for; 1 request.
 * Curator:  LeaderSelector.close, which does not wait.   Since: 0.1.
 */
ZKR_API int zkr_leader_selector_stop(zkr_leader_selector *s, int64_t timeout_ms);

/**
 * The state of the selector.
 *
 * @s  borrowed.
 *
 * Returns one of ZKR_SELECTOR_…; or a negative code: the error that ended the candidacy, as on_failed gets
 * it; ZKR_EINVAL for NULL, ZKR_ESTATE in a forked child.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_leader_selector_state(zkr_leader_selector *s);

/**
 * Is the selector certain to lead now, in any round? For work of one round, use zkr_leadership_valid_for_ms().
 *
 * @s  borrowed.
 *
 * Returns true if it is; false also for NULL and in a forked child.
 *
 * Blocks:   no.   Threads:  any.
 * Session:  checks the remaining lease, not a cached state.
 * Cost:     no request.
 * Curator:  LeaderSelector.hasLeadership, which returns a cached state.   Since: 0.1.
 */
ZKR_API bool zkr_leader_selector_has_leadership(zkr_leader_selector *s);

/**
 * The id of the current leader, of any process, as the servers report it.
 *
 * @s     borrowed; need not be started.
 * @buf   filled on success, always terminated; unprintable bytes as '?'.
 * @size  bytes at @buf.
 *
 * Returns ZKR_OK, ZKR_ENONODE (there is no candidate), ZKR_EINVAL (also if @buf is too small), and
 * as zkr_leader_selector_participants().
 *
 * Blocks:   yes, at most options.connect_timeout_ms of the client.
 * Threads:  any.
 * Cost:     2 round trips for any number of candidates.
 * Curator:  LeaderSelector.getLeader.   Since: 0.1.
 */
ZKR_API int zkr_leader_selector_leader(zkr_leader_selector *s, char *buf, size_t size);

/**
 * List the candidates of all processes and languages in queue order. The first one leads.
 *
 * @s    borrowed; need not be started.
 * @out  the list on success, empty if the path does not exist; free it with
 *       zkr_contenders_free().
 *
 * Returns ZKR_OK, ZKR_ENONODE (the chroot is missing), ZKR_ETIMEDOUT (options.connect_timeout_ms of the client),
 * ZKR_ECONNLOSS, ZKR_ECLOSED (the client is shut down), ZKR_EAUTH, ZKR_ESESSION, ZKR_EINVAL, ZKR_ENOMEM, ZKR_ESTATE
 * (in a callback, or a forked child).
 *
 * Blocks:   yes, at most options.connect_timeout_ms of the client.
 * Threads:  any.
 * Cost:     2 round trips for any number of candidates. Nodes deleted in between are left out.
 * Curator:  LeaderSelector.getParticipants.   Since: 0.1.
 */
ZKR_API int zkr_leader_selector_participants(zkr_leader_selector *s,
                                             zkr_contenders **out);

/**
 * Free a selector.
 *
 * @s  taken on success; NULL is a no-op. The call drops a pending on_failed. It waits for a running on_failed, unless
 *     on_failed makes the call.
 *
 * Returns ZKR_OK, ZKR_EBUSY (not stopped, or take_leadership() has not returned yet; nothing
 * happened), ZKR_ESTATE (in a forked child).
 *
 * Blocks:   only for a running on_failed of @s.
 * Threads:  any; no other call on @s may run or follow.
 * Session:  the client continues to delete nodes whose deletion is not yet confirmed.
 * Cost:     no request.
 * Curator:  none (garbage collection).   Since: 0.1.
 */
ZKR_API int zkr_leader_selector_destroy(zkr_leader_selector *s);

/**
 * Sleep while the leadership lasts, at most @timeout_ms.
 *
 * @lead        borrowed.
 * @timeout_ms  milliseconds; 0 = only check, ZKR_FOREVER = until leadership ends.
 *
 * Returns ZKR_ETIMEDOUT (still certain to be the leader), or the reason why take_leadership() must return: ZKR_ESESSION
 * (lost), ZKR_ECANCELED (interrupt or stop), ZKR_ECLOSED (the client is shut down); ZKR_EINVAL, ZKR_ESTATE (on the
 * dispatch thread, or in a forked child).
 *
 * Blocks:   yes, with no internal lock held.
 * Threads:  any except the dispatch thread.
 * Session:  a loss ends the wait at once, at the latest at the end of the lease.
 * Cost:     no request.
 * Curator:  Thread.sleep in takeLeadership, and its InterruptedException.   Since: 0.1.
 */
ZKR_API int zkr_leadership_wait(zkr_leadership *lead, int64_t timeout_ms);

/**
 * The remaining lease: the time for which the selector is certain to lead in this round. See zkr_client_valid_for_ms().
 *
 * @lead  borrowed.
 *
 * Returns milliseconds; 0 = lost or in doubt; ZKR_UNKNOWN = leads, but the client's probes are
 * turned off. An interrupt does not change it.
 *
 * Blocks:   no.   Threads:  any.
 * Session:  reaches 0 before another candidate can lead.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int64_t zkr_leadership_valid_for_ms(zkr_leadership *lead);

/**
 * The fencing token of this round: the czxid of its node. See zkr_mutex_fencing_token().
 *
 * @lead  borrowed.
 *
 * Returns the token, even if the leadership has been lost since; 0 for NULL and in a forked child.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request; the answer to the create contains the token.
 * Curator:  none (CURATOR-637 asks for it).   Since: 0.1.
 */
ZKR_API int64_t zkr_leadership_fencing_token(zkr_leadership *lead);

/**
 * The full path of this round's node.
 *
 * @lead  borrowed.
 * @buf   filled on success, always terminated.
 * @size  bytes at @buf.
 *
 * Returns ZKR_OK, ZKR_EINVAL (also if @buf is too small), ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_leadership_node(zkr_leadership *lead, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif

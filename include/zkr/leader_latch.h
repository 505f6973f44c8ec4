/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file leader_latch.h
 * Leader election: one of the started latches on a path leads, until it stops or loses its leadership.
 *
 * A latch mirrors Curator's LeaderLatch and can share its paths. Each candidate is one protected ephemeral-sequential
 * node `_c_<uuid>-latch-NNNNNNNNNN` with the id as its data, and the lowest number leads. The order depends only on the
 * numbers, not on the prefixes, so latches, leader selectors and mutexes on the same path exclude each other. Give each
 * election a separate path.
 *
 * **Candidacy.** A started latch joins the queue as soon as a server can be reached. It keeps its place across
 * reconnections in the same session. If its node was deleted, the latch joins again at the tail. The latch retries
 * transient errors for ever. A permanent error (not authorised, no chroot, sequence numbers used up) ends the
 * candidacy: zkr_leader_latch_await() and zkr_leader_latch_state() return its code, and on_failed is called.
 * zkr_leader_latch_start() tries again.
 *
 * **Loss.** The latch leads until its lease ends (zkr_client_valid_for_ms()), even if no server can be reached. Then
 * leadership is lost, but the node remains. If the session turns out to be alive, the latch leads again with its old
 * place and its old token, because nobody can have led in between. Check zkr_leader_latch_term_valid_for_ms() before
 * each step that cannot be undone. Pass the fencing token, which identifies the term, to the resources that the leader
 * writes to.
 *
 * **Terms.** Another latch may lead between two terms of a latch, so work of the first term must not rely on a check of
 * the second. When the work begins, keep the token from on_gain or zkr_leader_latch_fencing_token(), and check only the
 * term of that token. From the end of a term until its on_loss has returned, zkr_leader_latch_state(),
 * zkr_leader_latch_has_leadership() and zkr_leader_latch_valid_for_ms() report no leadership, even if the next term has
 * begun. Therefore, end the work of a term in its on_loss.
 *
 * **Callbacks** run on the client's dispatch thread, one at a time, with no lock held. They may call every function
 * that does not say "Blocks: yes". on_gain and on_loss alternate, on_gain first. on_gain is called only while the latch
 * leads: a term that ends before its on_gain could run causes no callback at all. With step_down_when_suspended, a
 * disconnection that ends before its on_loss could run causes no callback either. If the lease ended, on_loss is called
 * even if the lease has been renewed by then.
 *
 * **Revocation.** A latch cannot be revoked: zkr_mutex_revoke() on its path fails, and the latch ignores data that
 * others write into its node. The latch itself never writes to its node.
 *
 * A latch needs no separate thread, and less than 4 KiB of memory.
 */
#ifndef ZKR_LEADER_LATCH_H
#define ZKR_LEADER_LATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zkr/client.h>
#include <zkr/contenders.h>
#include <zkr/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zkr_leader_latch zkr_leader_latch;

/** Results of zkr_leader_latch_state(), besides error codes. */
enum zkr_leader_latch_states {
    ZKR_LATCH_STOPPED = 1, /**< not started, or stopped: not a candidate */
    ZKR_LATCH_WAITING, /**< a candidate, or about to join, or on_loss has not returned yet */
    ZKR_LATCH_LEADING /**< certain to be the leader now */
};

/** How to stop. */
enum zkr_leader_latch_mode {
    ZKR_LATCH_SILENT = 0, /**< on_loss is not called */
    ZKR_LATCH_NOTIFY = 1  /**< a leader's on_loss is called, with ZKR_LOST_STOPPED */
};

/** Called when the latch has become the leader. @fencing_token identifies the term. */
typedef void (*zkr_leader_latch_gain_fn)(zkr_leader_latch *l,
                                         int64_t fencing_token,
                                         void *ctx);

/** Called when the term that the last on_gain began is over. */
typedef void (*zkr_leader_latch_loss_fn)(zkr_leader_latch *l,
                                         const zkr_lost *lost,
                                         void *ctx);

/**
 * Called at most once for each term, between its on_gain and its on_loss, when less than options.warn_ms of the lease
 * is left. Save the work of the term. lease.h explains the rules. @fencing_token identifies the term; @left_ms is the
 * remaining lease.
 */
typedef void (*zkr_leader_latch_warn_fn)(zkr_leader_latch *l,
                                         int64_t fencing_token,
                                         int64_t left_ms,
                                         void *ctx);

/** Called once when a candidacy ends permanently; @code is a ZKR_E… code. */
typedef void (*zkr_leader_latch_failed_fn)(zkr_leader_latch *l, int code, void *ctx);

/** Called after a candidate of any process has joined or left. One call may report several changes. */
typedef void (*zkr_leader_latch_contenders_fn)(zkr_leader_latch *l, void *ctx);

/** Options of zkr_leader_latch_create(). Zero in a field means its default. */
typedef struct zkr_leader_latch_options {
    size_t size;                      /**< sizeof(zkr_leader_latch_options) */
    zkr_leader_latch_gain_fn on_gain; /**< NULL = none, for all callbacks */
    zkr_leader_latch_loss_fn on_loss;
    zkr_leader_latch_failed_fn on_failed;
    zkr_leader_latch_contenders_fn on_contenders; /**< called even if not started */
    void *ctx;                                    /**< for all of them */
    /**
     * Not 0: the latch leads only while it is connected, as with Curator's standard policy; 0: until its lease ends.
     */
    int64_t step_down_when_suspended;
    /** Not 0: missing parents become persistent nodes instead of container nodes. */
    int64_t persistent_parent;
    /**
     * Call on_warn once in each term, when less than this many milliseconds of the lease are left; at most a third of
     * the session timeout; 0 = no warning. Set both or neither of warn_ms and on_warn. Needs lease probes. See lease.h.
     */
    int64_t warn_ms;
    zkr_leader_latch_warn_fn on_warn;
} zkr_leader_latch_options;

#define ZKR_LEADER_LATCH_OPTIONS_INIT                                                  \
    {                                                                                  \
        sizeof(zkr_leader_latch_options), 0, 0, 0, 0, 0, 0, 0, 0, 0                    \
    }

/**
 * Create a latch. It can observe the election at once, and takes part after its start.
 *
 * @out      the latch on success; end it with zkr_leader_latch_destroy().
 * @c        borrowed until then.
 * @path     absolute, without trailing slash, not "/"; created by the first candidate.
 * @id       UTF-8 text for others to see, copied; "" = none, NULL = the client's owner text.
 * @options  NULL = defaults; borrowed during the call.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ENOMEM, ZKR_ESYS, ZKR_ECLOSED (the client is being
 * closed), ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.   Threads:  any; starts none.
 * Session:  the object outlives sessions.
 * Cost:     no request; with on_contenders one, and a watch for the life of the latch. If the client has no room for
 *           the watch (client.h), on_contenders is called up to eight session timeouts late.
 * Curator:  new LeaderLatch(client, path, id).   Since: 0.1.
 */
ZKR_API int zkr_leader_latch_create(zkr_leader_latch **out,
                                    zkr_client *c,
                                    const char *path,
                                    const char *id,
                                    const zkr_leader_latch_options *options);

/**
 * Become a candidate. Possible again after each stop, and after a failure.
 *
 * @l  borrowed.
 *
 * Returns ZKR_OK, ZKR_ESTATE (already a candidate; in a forked child), ZKR_EINVAL, ZKR_ENOMEM, ZKR_ESYS, ZKR_ELIMIT
 * (the client has too many nodes or watches; see ticket.h). zkr_leader_latch_state(), zkr_leader_latch_await() and
 * on_failed report server errors later.
 *
 * Blocks:   no; needs no connection.
 * Threads:  any.
 * Session:  joins again in each new session.
 * Cost:     1 round trip from here to leading on a free path (create and list are sent together).
 * Curator:  LeaderLatch.start, once only.   Since: 0.1.
 */
ZKR_API int zkr_leader_latch_start(zkr_leader_latch *l);

/**
 * Set whether the latch may lead. A new latch is fit. An unfit latch is not a candidate, even if it is started. An
 * unfit leader steps down, and the next candidate leads. A started latch that becomes fit again joins at the tail.
 *
 * A health check can use this to take a process out of the election for a while. Meanwhile, threads in
 * zkr_leader_latch_await() keep waiting, and zkr_leader_latch_state() returns ZKR_LATCH_WAITING. End the work of the
 * leader before you make the latch unfit, because another candidate may lead as soon as this call returns.
 *
 * @l    borrowed.
 * @fit  0 = not fit; any other value = fit.
 *
 * Returns ZKR_OK, also if this changes nothing; ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no. A leader's on_loss follows, with ZKR_LOST_STOPPED.
 * Threads:  any.
 * Session:  applies to all sessions; needs no connection.
 * Cost:     0 round trips waited for; 1 request to step down, and as zkr_leader_latch_start() to join.
 * Curator:  none (LeaderLatch.close, and a new latch).   Since: 0.2.
 */
ZKR_API int zkr_leader_latch_set_fit(zkr_leader_latch *l, int fit);

/**
 * Leave the election, and give up the leadership. May be called before a server was reached, and more than once.
 *
 * When this returns, no on_gain, on_loss or on_failed of this candidacy runs, and none follows. There is one exception:
 * if a callback makes this call with ZKR_LATCH_NOTIFY, on_loss follows after that callback has returned.
 *
 * @l     borrowed.
 * @mode  ZKR_LATCH_SILENT, or ZKR_LATCH_NOTIFY: on_loss is called if on_gain was called.
 *
 * Returns ZKR_OK (also if already stopped), ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   only for running callbacks of @l, and not when called from a callback.
 * Threads:  any.
 * Session:  the client repeats the delete of the node in the background until it is confirmed.
 * Cost:     0 round trips waited for; 1 request.
 * Curator:  LeaderLatch.close(CloseMode).   Since: 0.1.
 */
ZKR_API int zkr_leader_latch_stop(zkr_leader_latch *l, int mode);

/**
 * Wait until the latch leads.
 *
 * @l           borrowed; started.
 * @timeout_ms  milliseconds; 0 = only check, ZKR_FOREVER = no limit.
 *
 * Returns ZKR_OK (the latch was certain to lead a moment ago), ZKR_ETIMEDOUT, ZKR_ECANCELED (stopped meanwhile),
 * ZKR_ESTATE (not started; in a callback, or in a forked child), ZKR_EINVAL; or the error that ended the candidacy:
 * ZKR_EAUTH, ZKR_ESEQUENCE (use another path), ZKR_ENONODE (the chroot is missing), ZKR_ECLOSED (the client is shut
 * down), ZKR_ELIMIT (the client has too many nodes or watches), ZKR_EFOREIGN (mutex.h), ZKR_ENOMEM or another permanent
 * error.
 *
 * Blocks:   yes, with no internal lock held.
 * Threads:  any number at once.
 * Session:  waits across sessions.
 * Cost:     no request.
 * Curator:  LeaderLatch.await(long, TimeUnit).   Since: 0.1.
 */
ZKR_API int zkr_leader_latch_await(zkr_leader_latch *l, int64_t timeout_ms);

/**
 * Is the latch certain to lead now? For work that began earlier, use zkr_leader_latch_term_valid_for_ms().
 *
 * @l  borrowed.
 *
 * Returns true if it is. The result is false from the end of the lease on, when the leader's work must have stopped.
 * It is also false before on_loss of an earlier term has returned, for NULL, and in a forked child. The result may turn
 * true again in the same term: if a late answer renews the lease before on_loss is called, and with
 * step_down_when_suspended after a reconnect in the same session. Without that option, a term is over for good once
 * on_loss has been called.
 *
 * Blocks:   no.   Threads:  any.
 * Session:  checks the remaining lease, not a cached state.
 * Cost:     no request.
 * Curator:  LeaderLatch.hasLeadership, which returns a cached state.   Since: 0.1.
 */
ZKR_API bool zkr_leader_latch_has_leadership(zkr_leader_latch *l);

/**
 * The state of the candidacy.
 *
 * @l  borrowed.
 *
 * Returns ZKR_LATCH_STOPPED, ZKR_LATCH_WAITING or ZKR_LATCH_LEADING; or a negative code: the error that ended
 * the candidacy, as on_failed gets it; ZKR_EINVAL for NULL, ZKR_ESTATE in a forked child.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  LeaderLatch.getState, which has no state for failures.   Since: 0.1.
 */
ZKR_API int zkr_leader_latch_state(zkr_leader_latch *l);

/**
 * The fencing token of the current term: the czxid of the node. See zkr_mutex_fencing_token(). Call this function when
 * the work of a term begins, and keep the token, because a later call may return the token of a later term.
 *
 * @l      borrowed.
 * @token  filled on success.
 *
 * Returns ZKR_OK, ZKR_ENOTOWNER (does not lead), ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request; the answer to the create contains the token.
 * Curator:  none (LeaderLatch.getLastPathIsLeader).   Since: 0.1.
 */
ZKR_API int zkr_leader_latch_fencing_token(zkr_leader_latch *l, int64_t *token);

/**
 * The time for which the latch is guaranteed to lead in the term with this fencing token. See
 * zkr_client_valid_for_ms().
 *
 * @l              borrowed.
 * @fencing_token  of the term: from on_gain or zkr_leader_latch_fencing_token().
 *
 * Returns milliseconds; 0 = not certain to lead, or leads in another term, or on_loss of this term has not returned
 * yet; ZKR_UNKNOWN = leads in this term, but the client's probes are turned off; 0 also for NULL and in a forked child.
 * A latch that leads again with its old token, because nobody can have led in between, leads in the same term.
 *
 * Blocks:   no.   Threads:  any.
 * Session:  reaches 0 before another candidate can lead.
 * Cost:     no request.
 * Curator:  none.   Since: 0.2.
 */
ZKR_API int64_t zkr_leader_latch_term_valid_for_ms(zkr_leader_latch *l,
                                                   int64_t fencing_token);

/**
 * The time for which the latch is guaranteed to lead, in any term. For work that began earlier, use
 * zkr_leader_latch_term_valid_for_ms().
 *
 * @l  borrowed.
 *
 * Returns milliseconds; 0 = not certain to lead, or on_loss of an earlier term has not returned yet; ZKR_UNKNOWN =
 * leads, but the client's probes are turned off.
 *
 * Blocks:   no.   Threads:  any.
 * Session:  reaches 0 before another candidate can lead.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int64_t zkr_leader_latch_valid_for_ms(zkr_leader_latch *l);

/**
 * The full path of the latch's node while it leads.
 *
 * @l     borrowed.
 * @buf   filled on success, always terminated.
 * @size  bytes at @buf.
 *
 * Returns ZKR_OK, ZKR_ENOTOWNER (does not lead), ZKR_EINVAL (also if @buf is too small),
 * ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  LeaderLatch.getOurPath.   Since: 0.1.
 */
ZKR_API int zkr_leader_latch_node(zkr_leader_latch *l, char *buf, size_t size);

/**
 * The id of the current leader, of any process, as the servers report it.
 *
 * @l     borrowed; need not be started.
 * @buf   filled on success, always terminated; unprintable bytes as '?'.
 * @size  bytes at @buf.
 *
 * Returns ZKR_OK, ZKR_ENONODE (there is no candidate), ZKR_EINVAL (also if @buf is too small), and
 * as zkr_leader_latch_participants().
 *
 * Blocks:   yes, at most options.connect_timeout_ms of the client.
 * Threads:  any.
 * Cost:     2 round trips for any number of candidates.
 * Curator:  LeaderLatch.getLeader.   Since: 0.1.
 */
ZKR_API int zkr_leader_latch_leader(zkr_leader_latch *l, char *buf, size_t size);

/**
 * List the candidates of all processes and languages in queue order. The first one leads.
 *
 * @l    borrowed; need not be started.
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
 * Curator:  LeaderLatch.getParticipants.   Since: 0.1.
 */
ZKR_API int zkr_leader_latch_participants(zkr_leader_latch *l, zkr_contenders **out);

/**
 * Wait until a candidate has joined or left. The wait covers changes since the last return of this function, of
 * participants or of leader on this object. If none of them has returned yet, it covers changes since this call began.
 *
 * @l           borrowed; need not be started.
 * @timeout_ms  milliseconds; 0 = only check for known changes, ZKR_FOREVER = no limit.
 *
 * Returns ZKR_OK, ZKR_ETIMEDOUT, ZKR_ENONODE (the chroot is missing), ZKR_ECLOSED (the client is shut down), ZKR_EAUTH,
 * ZKR_EINVAL, ZKR_ENOMEM, ZKR_ESYS, ZKR_ESTATE (in a callback, or in a forked child).
 *
 * Blocks:   yes, with no internal lock held.
 * Threads:  any number at once.
 * Session:  waits across sessions; changes between two sessions count.
 * Cost:     1 round trip to set the watch, 1 after each event.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_leader_latch_watch(zkr_leader_latch *l, int64_t timeout_ms);

/**
 * Free a latch.
 *
 * @l  taken on success; NULL is a no-op. The call drops pending callbacks. It waits for a running callback, unless that
 *     callback makes the call.
 *
 * Returns ZKR_OK, ZKR_EBUSY (started, or a thread waits in it; nothing happened), ZKR_ESTATE (in a
 * forked child).
 *
 * Blocks:   only for a running callback of @l.
 * Threads:  any; no other call on @l may run or follow.
 * Session:  the client continues to delete nodes whose deletion is not yet confirmed.
 * Cost:     no request.
 * Curator:  none (garbage collection).   Since: 0.1.
 */
ZKR_API int zkr_leader_latch_destroy(zkr_leader_latch *l);

#ifdef __cplusplus
}
#endif

#endif

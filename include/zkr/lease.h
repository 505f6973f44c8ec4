/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file lease.h
 * The session of a client and its lease: the time for which no server can have ended the session.
 *
 * All holds of a client live in its session. zkr_mutex_valid_for_ms() and similar functions return the remaining lease
 * of one hold.
 *
 * **Warning.** With the option warn_ms, the holders of a lock or latch are warned before the lease ends, so that they
 * can save the work that the lock protects. Threads and leaders get on_warn, tickets get ZKR_TICKET_WARNED. The rules:
 * - A hold is warned when less than warn_ms of its lease is left. A lease that is renewed in time has at least 0.55 of
 *   the session timeout left (options.lease_probe_ms gives the values for other pauses). A warning therefore means that
 *   answers of the servers are overdue.
 * - A hold is warned once. If the lease is renewed after the warning, the hold continues without a further warning. The
 *   next hold, or the next term of a latch, is warned again.
 * - warn_ms is at most a third of options.session_timeout_ms. If the servers grant a shorter session timeout, the limit
 *   is a third of the granted timeout, and a longer warn_ms is reduced to the limit.
 * - A hold can begin with less than warn_ms left, but not with less than a sixth of the session timeout. Such a hold is
 *   not warned at once, because the next answer renews the lease. Without this answer, the hold is warned when a sixth
 *   is left.
 * - A hold is never warned after its loss or its release. If this process was stopped until the lease had ended, or the
 *   dispatch thread was busy, only the loss is reported.
 * - Only the end of a lease can be foreseen. If somebody deletes the node or ends the session, the hold is lost without
 *   a warning.
 */
#ifndef ZKR_LEASE_H
#define ZKR_LEASE_H

#include <stdint.h>

#include <zkr/client_options.h>
#include <zkr/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Returned by the valid_for functions when the lease is not measured (lease_probe_ms < 0). */
#define ZKR_UNKNOWN ((int64_t)-2)

/**
 * ZooKeeper's id of the current session.
 *
 * @c  borrowed.
 *
 * Returns the id, or 0 if there is no session now.
 *
 * Blocks:   no.   Threads:  any.
 * Session:  changes with each epoch.
 * Cost:     no request.
 * Curator:  ZooKeeper.getSessionId.   Since: 0.1.
 */
ZKR_API int64_t zkr_client_session_id(zkr_client *c);

/**
 * The effective session timeout: the shortest that servers have granted to the current session so far.
 *
 * Each connection negotiates the timeout again. If servers have different limits, or were restarted with other limits,
 * the effective timeout may become shorter within a session. It never becomes longer, because the next leader will know
 * only the timeout that was granted at the creation of the session. The lease, and all other values that the library
 * derives from the session timeout, use the effective timeout. While the negotiated timeout is longer, libzookeeper
 * notices a dead connection only after the end of the lease, and an idle client sends a small read every third of the
 * effective timeout.
 *
 * @c  borrowed.
 *
 * Returns milliseconds; the requested value before the first connection; 0 for NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Session:  each session begins with the timeout that its first server grants.
 * Cost:     no request.
 * Curator:  ZooKeeper.getSessionTimeout.   Since: 0.1.
 */
ZKR_API int64_t zkr_client_session_timeout_ms(zkr_client *c);

/**
 * The remaining lease: the time for which no server can have ended the current session.
 *
 * The lease is computed only from the times, on CLOCK_BOOTTIME, at which answered quorum writes were sent. It is
 * therefore correct after any stop of this process, behind a follower that is cut off, and with a stale leader. The
 * client renews the lease only while it holds something.
 *
 * The lease makes only the following assumptions:
 *
 * - The clocks of client and servers run at the same rate within options.lease_margin_ppm, 0.1 %
 *   unless set. A clock daemon may slew by more (chrony: by 8 % unless maxslewrate is set).
 * - The machine is not frozen together with its clock, for example by a hypervisor.
 * - Every session timeout that a server grants is at least two ticks. Only a changed minSessionTimeout can break this.
 *   With options.server_tick_ms, the library checks the timeout; below two ticks, the lease is 0.
 * - All servers of the ensemble have the same tickTime. Their limits of the session timeout may differ, and may change
 *   at a restart, because the lease is derived from zkr_client_session_timeout_ms().
 * - The client's server is not an observer that another observer or a follower serves (observerMasterPort).
 * - The leader's thread that pings the servers is never late by 3 % of a tick while the leader's other threads run.
 *   Unless options.server_tick_ms is set, a longer delay is harmless, up to 0.265 of the session timeout minus half a
 *   tick: 1.6 seconds for a session timeout of 10 seconds and a tick of 2 seconds.
 * - Nobody ends the session from outside (Curator's KillSession, an administrator).
 * - The servers do not time sessions by the wall clock, as ClickHouse Keeper and RaftKeeper do.
 * - The ensemble never returns to older data: no data directory is emptied or replaced by an older copy, and no
 *   snapshot is restored, neither from a copy nor by the AdminServer of 3.9. Otherwise, fencing tokens also become
 *   lower, and only the guard (guard.h) protects your data, because the node that it checks is missing. A client that
 *   gets a lower token than before logs the warning token_lower.
 * - If a server grants a shorter session timeout at a reconnection than any server before, the client reads this
 *   answer: at that moment, the process does not stop, and the connection does not break. From then on, the lease is
 *   shorter. If it ends earlier than valid_for has promised, the client abandons the session with all its holds, and
 *   keeps the nodes until the promised time. The nodes remain that long only if the session is never disconnected for
 *   as long as the new timeout.
 * - The lease normally rests on three answered writes, of which the last was sent at least a quarter of the session
 *   timeout after the first. Before that, a single answered write gives a lease of 0.4 of the session timeout, as a
 *   stopgap. The stopgap also assumes that neither this process nor its
 *   connection was stalled right before, and that the servers' pings were not delayed. options.lease_no_stopgap turns
 *   the stopgap off.
 *
 * If any other of these assumptions fails, the fencing token protects your data.
 *
 * The lease is renewed before it ends if each write is answered within an eighth of the session timeout and
 * options.lease_probe_ms is at most a twelfth of it. If servers are slower, for example because of a slow disk, holds
 * are lost or not granted at all. In this case, use a longer session timeout. If answers take more than a twelfth of
 * the session timeout, a hold may be granted later, when its lease can be renewed in time.
 *
 * The lease covers the session, not individual nodes. If servers refuse to show or to change a node that is held (an
 * ACL, a quota, a busy server), no hold ends. The client then proves the session without that node, and regularly
 * checks the existence and the owner of the node. Servers since 3.8.4 and 3.9.2 report the owner only to clients that
 * may read the node.
 *
 * If a third party closes the session with its id and password, as Curator's test tool KillSession does, the servers
 * grant the locks to others at once. The lease is then wrong until the client is notified.
 *
 * @c  borrowed.
 *
 * Returns milliseconds; 0 = not certain now; ZKR_UNKNOWN = probes are turned off.
 *
 * Blocks:   no.   Threads:  any.
 * Session:  0 from the end of the session on.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int64_t zkr_client_valid_for_ms(zkr_client *c);

#ifdef __cplusplus
}
#endif

#endif

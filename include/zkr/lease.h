/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file lease.h
 * The session of a client, and its lease: for how long no server can have ended it.
 *
 * All holds of a client live in its session. zkr_mutex_valid_for_ms() and its like tell the lease of one hold.
 *
 * **Warning.** With the option warn_ms of a lock or a latch, its holders are warned before the lease ends: save the work that
 * the lock protects. Threads and leaders get on_warn, tickets get ZKR_TICKET_WARNED. The rules:
 * - A hold is warned when less than warn_ms of its lease is left. A lease that is renewed in time has 0.55 of the session
 *   timeout left at the least (options.lease_probe_ms has the numbers of other pauses). So a warning says that answers of
 *   the servers are overdue.
 * - A hold is warned once. The lease may be renewed after the warning: the hold goes on, and has no second warning. The next
 *   hold, and the next term of a latch, has one of its own.
 * - warn_ms is at most a third of options.session_timeout_ms. If the servers grant a shorter session timeout, a longer
 *   warn_ms counts as a third of that one.
 * - A hold can begin with less than warn_ms left, but not with less than a sixth of the session timeout. It is not warned
 *   at once, because the next answer renews the lease. Without that answer it is warned when a sixth is left.
 * - The warning comes before the loss. After the loss or the release there is none. If this process was stopped until the
 *   lease had ended, or the dispatch thread was busy, only the loss is reported.
 * - Only the end of a lease can be foreseen. A hold whose node is deleted, or whose session somebody ends, is lost without a
 *   warning.
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
 * Returns the id, or 0 when there is no session now.
 *
 * Blocks:   no.   Threads:  any.
 * Session:  changes with each epoch.
 * Cost:     no request.
 * Curator:  ZooKeeper.getSessionId.   Since: 0.1.
 */
ZKR_API int64_t zkr_client_session_id(zkr_client *c);

/**
 * The session timeout that counts: the shortest that servers have granted to the current session so far.
 *
 * Each connection negotiates it anew. Where servers differ in their limits, or were restarted with others, this value
 * becomes shorter within a session, and never longer: the next leader will know only what was granted at the creation
 * of the session. All that the library measures by the session timeout, the lease first of all, goes by this value.
 * While a longer one is in force, libzookeeper notices a dead connection later than the lease ends, and an idle
 * client sends a small read every third of this value.
 *
 * @c  borrowed.
 *
 * Returns milliseconds; before the first connection the requested value; 0 for NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Session:  each begins with what the server that creates it grants.
 * Cost:     no request.
 * Curator:  ZooKeeper.getSessionTimeout.   Since: 0.1.
 */
ZKR_API int64_t zkr_client_session_timeout_ms(zkr_client *c);

/**
 * The remaining lease: for how long from now no server can have ended the current session.
 *
 * It is computed only from the times at which answered quorum writes were sent, on CLOCK_BOOTTIME. So it is
 * correct however long this process was stopped, behind a follower that is cut off, and with a stale leader.
 * It is renewed only while something is held.
 *
 * It assumes the following, and nothing else:
 *
 * - The clocks of client and servers run at the same rate within options.lease_margin_ppm, 0.1 %
 *   unless set. A clock daemon may slew by more (chrony: by 8 % unless maxslewrate is set).
 * - The machine is not frozen with its clock standing still, as a hypervisor can do.
 * - Every session timeout that a server grants is at least two ticks. It is, unless somebody has set
 *   minSessionTimeout. With options.server_tick_ms the library checks this; below two ticks the lease is 0.
 * - All servers of the ensemble have the same tickTime. Their limits of the session timeout may differ,
 *   and may change at a restart: the lease counts with zkr_client_session_timeout_ms(), whatever is in force.
 * - The server is not an observer that is served by another observer or follower (observerMasterPort).
 * - The thread of the leader that pings the servers is never late by 3 % of a tick while its other threads go on. The
 *   room is 0.265 of the session timeout less half a tick, unless options.server_tick_ms is set: 1.6 seconds for a
 *   session timeout of 10 seconds and a tick of 2.
 * - Nobody ends the session from outside (Curator's KillSession, an administrator).
 * - The servers do not time sessions by the wall clock, as ClickHouse Keeper and RaftKeeper do.
 * - The data of the ensemble never go back: no data directory is emptied or put back, and no snapshot is restored, neither
 *   from a copy nor by the AdminServer of 3.9. Otherwise fencing tokens go back, too, and only the guard (guard.h) protects
 *   you, because its node is missing. A client that gets a lower token than before logs a warning, token_lower.
 * - When a server grants a shorter session timeout at a re-connect than any before, the client reads that answer: the
 *   process does not stop, and the connection does not break, at that very moment. From then on the lease is shorter. If
 *   it ends before what it told earlier is over, the session is given up with all its holds, and its nodes stay until
 *   then. The nodes stay only if that session is never without a connection for the new timeout meanwhile.
 * - Until three writes have been answered, the last a quarter of the session timeout after the first,
 *   one write alone counts as a stopgap: 0.4 of the timeout. This also assumes that neither this process
 *   nor its connection was stalled right before, and that the servers' pings were not held up.
 *   options.lease_no_stopgap turns it off.
 *
 * If any other of these assumptions fails, the fencing token protects you.
 *
 * While each write is answered within an eighth of the session timeout, and options.lease_probe_ms is not set to more than a
 * twelfth, the lease is renewed before it ends. If servers are slower, for instance because the disk under their log is
 * slow, holds are lost, or not granted at all, and a longer session timeout helps. If answers take more than a twelfth of
 * the session timeout, a hold may be granted later, when its lease can be renewed in time.
 *
 * The lease covers the session, not individual nodes. If servers refuse to show or to change a node that is held (an
 * ACL, a quota, a busy server), no hold ends: the client proves the session without that node, and checks from time to
 * time that the node exists and who owns it. Servers from 3.8.4 and 3.9.2 on report the owner only to clients that may
 * read the node.
 *
 * If a third party closes the session in our name, with its id and password, as Curator's test tool
 * KillSession does, the servers give the locks away at once. The lease is then wrong until the client
 * is notified.
 *
 * @c  borrowed.
 *
 * Returns milliseconds; 0 = not sure now; ZKR_UNKNOWN = probes are turned off.
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

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file client.h
 * A connection to a ZooKeeper ensemble that outlives its sessions.
 *
 * Open one client for all recipes of a process. The client connects and reconnects in the background. When its session
 * ends, the client opens a new session, in a new *epoch*. In addition to the two threads of libzookeeper, the client
 * runs a service thread (timers, lease, new sessions) and a dispatch thread. All callbacks of the application run on
 * the dispatch thread, one at a time, in order, with no lock held. In a callback, functions that say "Blocks: yes"
 * return ZKR_ESTATE; all other functions may be called.
 *
 * **Without a dispatch thread.** With options.dispatch_by_application, there is no dispatch thread. Callbacks then run
 * inside zkr_client_dispatch(), on a thread of the application. All statements in these headers about the dispatch
 * thread then apply to that thread. Call zkr_client_dispatch() whenever the descriptor of zkr_client_event_fd() is
 * readable. poll(), epoll, libuv, libevent, sd-event and GLib can wait for this descriptor.
 *
 * **Threads and signals.** The threads of a client are named `zkr-service` (the service thread and libzookeeper's two),
 * `zkr-dispatch`, `zkr-selector` for a started leader selector, and `zkr-resolve` while the servers' names are
 * resolved. These threads block all signals, whatever signal mask the program sets and whenever it sets the mask.
 * sigwait(), signalfd() and handlers therefore work as if these threads did not exist. The exceptions are SIGSEGV,
 * SIGBUS, SIGFPE, SIGILL, SIGTRAP and SIGSYS, which a fault raises in the thread that caused it, and SIGPROF, which
 * profilers use. Callbacks and take_leadership() run with this signal mask, and a program that you start there inherits
 * the mask. Set another mask in the child before exec().
 *
 * All functions may be called from any thread, but not concurrently with zkr_client_close(). In a child made by fork(),
 * they return ZKR_ESTATE, or the neutral value that each function names. Open another client in the child.
 *
 * **Watches.** The needed watches of one client, which ticket.h lists, may take 850,000 bytes. Each watch takes the
 * length of its path, including the chroot, plus 4. A request without room for its watch fails with ZKR_ELIMIT; use a
 * second client. A watch counts until its event arrives or the session ends, even if the request that set it has timed
 * out. All other watches may take another 150,000 bytes. A path of more than 32,000 bytes cannot be watched. The limits
 * exist because libzookeeper lists all watches of a session in one request when it reconnects, and servers drop a
 * connection that sends a request above jute.maxbuffer (1,048,575 bytes by default).
 *
 * A session may connect but get no answers, for example if the servers have a lower jute.maxbuffer. After 8 such
 * connections in a row, and a session timeout without any answer, the client abandons the session and opens a new one.
 * The servers delete the nodes of the old session when it times out. If the client kept reconnecting instead, it would
 * keep the old session alive for ever.
 *
 * **Permissions.** Servers since 3.8.4 and 3.9.2, and those of Debian 12, send no event about a node that the client
 * has no permission to read at that moment, and no event about children whose parent it has no permission to read. The
 * watch is removed nevertheless (CVE-2024-23944). Therefore the client does not rely on watches alone. If no event
 * arrives for four to eight session timeouts, it reads the watched nodes again: the node ahead of each waiter, lists of
 * permits or contenders that a call is waiting on, the node that stores a semaphore's maximum, and, with
 * options.watch_node or on_revoke, the held node. A waiter continues to wait for a node ahead while it has no
 * permission to read that node. If the servers refuse to list the path, an acquire fails with ZKR_EAUTH.
 *
 * Do not withdraw READ on the path of a lock from clients that use the lock. If the path is then deleted and created
 * again, these clients continue with the sequence numbers of the old path for up to eight session timeouts, and two
 * contenders may hold the lock once the new numbers reach the old ones.
 *
 * In all functions of all headers, timeouts are in milliseconds. ZKR_FOREVER (-1) means no limit; lower values fail
 * with ZKR_EINVAL.
 *
 * **Cancellation** (pthread_cancel) is deferred in all functions of all headers. A running call completes as if the
 * thread had not been canceled, and the thread ends at its next cancellation point after the call. To end a wait from
 * another thread, use zkr_mutex_cancel(), the stop function of a latch or selector, or zkr_client_shutdown(). Signals
 * do not end a wait.
 *
 * **Threads that end early.** A callback or a take_leadership() that ends its thread, by pthread_exit() or by
 * cancellation, is treated as if it had returned. An open_handle that calls pthread_exit() is treated as if it had
 * returned NULL; it cannot be canceled. The client replaces each of its threads that has ended. In a destructor of
 * thread-specific data that runs in a thread of the client or of a selector, all functions act as in the callbacks of
 * that thread.
 *
 * **Faults of the library.** A client checks its own state while it runs. If a check fails, the client logs
 * `event=fault`, loses its holds as at the end of a session, opens no further session, and behaves as after
 * zkr_client_shutdown(). The process continues.
 */
#ifndef ZKR_CLIENT_H
#define ZKR_CLIENT_H

#include <stdint.h>

#include <zkr/client_options.h>
#include <zkr/dispatch.h>
#include <zkr/error.h>
#include <zkr/export.h>
#include <zkr/guardian.h>
#include <zkr/lease.h>
#include <zkr/loss.h>
#include <zkr/metrics.h>

#ifdef __cplusplus
extern "C" {
#endif

/** States of a client. zkr_client_state_name() gives their names. */
enum zkr_client_states {
    ZKR_STATE_CONNECTING = 1, /**< no session yet, or none since the last one ended */
    /** A server has accepted the session, and the credentials if there are any. */
    ZKR_STATE_CONNECTED,
    ZKR_STATE_SUSPENDED, /**< disconnected; the session may still live */
    ZKR_STATE_LOST,      /**< the session is over; the client opens a new one */
    /** The servers refuse the credentials, or demand others. Correct them, and open a new client. */
    ZKR_STATE_AUTH_FAILED,
    ZKR_STATE_CLOSED /**< zkr_client_close() has begun */
};

/**
 * Start a client. It connects in the background.
 *
 * @out      the client on success; end it with zkr_client_close().
 * @servers  "host:port,host:port" with an optional "/chroot", which must exist. A missing port means 2181;
 *           an IPv6 address has the form "[::1]:2181". The client resolves names for each session, and about every
 *           second while there is no connection, so it follows a server to a new address within the session.
 * @options  NULL = defaults; borrowed during the call.
 *
 * Returns ZKR_OK, ZKR_EINVAL (server list, chroot, an option out of range or unknown, a file of options.tls_cert that
 * cannot be read, no TLS in libzookeeper, ZKR_GUARDIAN_REQUIRED with open_handle), ZKR_ENOMEM, ZKR_ESYS (no thread
 * could be started, or the required guardian could not).
 *
 * Blocks:   no; the client resolves names and connects in the background. With ZKR_GUARDIAN_REQUIRED, the first call
 *           waits at most 10 s for the guardian to start.
 * Threads:  any. Starts two threads, or one with options.dispatch_by_application; libzookeeper starts two. If @servers
 *           contains host names, one more thread runs while they are resolved. libzookeeper starts its two threads
 *           again for each session, and aborts the program if it cannot. Therefore the client first starts and ends
 *           two test threads. If this fails, it opens the session later. Other processes of the same user may still
 *           take the last threads in between, so do not run close to the thread limit (RLIMIT_NPROC, pids.max).
 * Session:  requests options.session_timeout_ms.
 * Cost:     no round trip before it returns.
 * Curator:  CuratorFrameworkFactory.newClient + start.   Since: 0.1.
 */
ZKR_API int zkr_client_open(zkr_client **out,
                            const char *servers,
                            const zkr_client_options *options);

/**
 * Wait until a session is established and the credentials, if any, are accepted.
 *
 * @c           borrowed.
 * @timeout_ms  milliseconds; 0 = only check, ZKR_FOREVER = no limit.
 *
 * Returns ZKR_OK, ZKR_ETIMEDOUT, ZKR_EAUTH, ZKR_ECLOSED (the client is shut down), ZKR_EINVAL, ZKR_ESTATE (in a
 * callback, or in a forked child). After ZKR_ETIMEDOUT, zkr_last_error() describes the last problem with the servers.
 *
 * Blocks:   yes, until connected or @timeout_ms.
 * Threads:  any.
 * Cost:     no request of its own; with credentials, one round trip at each connection.
 * Curator:  CuratorFramework.blockUntilConnected.   Since: 0.1.
 */
ZKR_API int zkr_client_wait_connected(zkr_client *c, int64_t timeout_ms);

/**
 * The current state.
 *
 * @c  borrowed.
 *
 * Returns one of ZKR_STATE_…; ZKR_STATE_CLOSED for NULL and in a forked child.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  CuratorZookeeperClient.isConnected, ConnectionState.   Since: 0.1.
 */
ZKR_API int zkr_client_state(zkr_client *c);

/**
 * The name of a state, such as "CONNECTED".
 *
 * @state  any int.
 *
 * Returns a constant, "?" for unknown values; never NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  ConnectionState.name.   Since: 0.1.
 */
ZKR_API const char *zkr_client_state_name(int state);

/**
 * Wait until the servers have confirmed the deletion of every released or abandoned node.
 *
 * @c           borrowed.
 * @timeout_ms  milliseconds; 0 = only check, ZKR_FOREVER = no limit.
 *
 * If the servers refuse a delete for lack of permission, the client retries it with growing pauses until the delete
 * succeeds or the session ends. The client retries a refused search in the same way: it searches for the node of each
 * create that got no answer.
 *
 * Returns ZKR_OK, ZKR_ETIMEDOUT (the retries go on; if a delete or a search was refused, zk_rc of zkr_last_error()
 * is ZNOAUTH), ZKR_ECLOSED (the client is shut down; the deletes go on), ZKR_EINVAL, ZKR_ESTATE (in a callback, or in
 * a forked child).
 *
 * Blocks:   yes, until confirmed or @timeout_ms.
 * Threads:  any.
 * Session:  the end of the session also counts, because it deletes all nodes of the session.
 * Cost:     no request of its own; usually the rest of one round trip.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_client_flush(zkr_client *c, int64_t timeout_ms);

/**
 * End the session, and wait until the servers have confirmed that every node of the client is deleted.
 *
 * This function does the work of zkr_client_flush() and zkr_client_close() in one round trip, because the client ends
 * the session without waiting for the answers to its deletes. Use it in a program that must know before it exits that
 * others can acquire the locks that it held.
 *
 * @c           borrowed; close it afterwards. After this call, no recipe can be created on it (ZKR_ECLOSED).
 * @timeout_ms  milliseconds; 0 = only check, ZKR_FOREVER = no limit.
 *
 * If the connection breaks before a server has confirmed the end of the session, the client reconnects and ends the
 * session if the session still exists. One and a half session timeouts after the last connection, the session counts as
 * over in any case. In the following cases, the client waits for the answers to its deletes before it ends the session:
 * with TLS, with open_handle, on ClickHouse Keeper, if several sockets of the process are connected to its server, and
 * if a sequence number of its locks was 2^30 or higher.
 *
 * Returns ZKR_OK (all nodes are deleted), ZKR_EBUSY (recipes on it exist; nothing happened), ZKR_ETIMEDOUT (the client
 * continues: call again to wait longer; if a delete or a search was refused, zk_rc of zkr_last_error() is ZNOAUTH),
 * ZKR_EINVAL, ZKR_ESTATE (in a callback, or in a forked child).
 *
 * Blocks:   yes, until confirmed or @timeout_ms.
 * Threads:  any.
 * Session:  ends, and no new one begins.
 * Cost:     1 round trip, and none for a zkr_client_close() that follows; 2 in the cases above.
 * Curator:  none.   Since: 0.2.
 */
ZKR_API int zkr_client_finish(zkr_client *c, int64_t timeout_ms);

/**
 * Give the client another list of servers, for example after a SIGHUP.
 *
 * If a server of the new list knows the session, the session and its holds continue there. Otherwise the session is
 * over, and a new one begins. If the client is connected to a server of the new list, nothing changes until that
 * connection breaks. Otherwise the client leaves its server as soon as no request is in flight, or after a second. The
 * outcome of requests in flight is then unknown, and the recipes determine it.
 *
 * @c        borrowed.
 * @servers  as in zkr_client_open(), with the same chroot; borrowed during the call.
 *
 * Returns ZKR_OK, ZKR_EINVAL (as zkr_client_open(), or another chroot; the old list stays), ZKR_ENOMEM,
 * ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no; the client resolves names and connects in the background.
 * Threads:  any, including callbacks.
 * Session:  moves to the new servers, if they know it.
 * Cost:     a connection, if the client moves.
 * Curator:  EnsembleProvider.setConnectionString, ZooKeeper.updateServerList.   Since: 0.1.
 */
ZKR_API int zkr_client_set_servers(zkr_client *c, const char *servers);

/**
 * Move the session, with all holds, to another server of the list, which is chosen at random. Use this function, for
 * example, after a rolling restart, when all servers are running again but only some of them have clients.
 *
 * The client first waits for a random time of at most 10 s, so that many clients do not move at the same moment. It
 * then leaves its server when no request is in flight and, if it holds a lock, at least three eighths of the session
 * timeout are left on the lease. It tries the other servers one by one, each for an eighth of the session timeout, and
 * returns to its old server after each one that does not answer. If no other server answers, or no suitable moment
 * comes within two session timeouts, the client stays on its old server, and logs event=not_rebalanced with the reason.
 * A client with a single server, or without a connection after the random time, does nothing. A call has no effect
 * during an earlier move.
 *
 * Two addresses of one server, for example for IPv4 and IPv6, count as two servers. During the move, a lease can become
 * so short that holders are warned (lease.h).
 *
 * @c  borrowed.
 *
 * Returns ZKR_OK (the move is planned), ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no. options.on_state is called with ZKR_STATE_SUSPENDED, and with ZKR_STATE_CONNECTED at the
 *           other server.
 * Threads:  any, including callbacks.
 * Session:  continues. Holds, leaders and places in queues remain, but leaders with options.step_down_when_suspended
 *           step down. Calls wait until the new connection is established; a try (timeout 0) during this time fails
 *           with ZKR_ENOANSWER.
 * Cost:     a connection, with the watches of the session.
 * Curator:  none.   Since: 0.2.
 */
ZKR_API int zkr_client_rebalance(zkr_client *c);

/**
 * End all waits on the client, so that the threads of the application can finish.
 *
 * Every call that waits on the client, or on an object that was created on it, returns ZKR_ECLOSED: acquires, awaits,
 * lists of contenders, watches, zkr_client_wait_connected(), and zkr_client_flush() with nodes left. Later calls also
 * return ZKR_ECLOSED, and no new object can be created on the client. Holds stay held, and the client renews their
 * lease, until they are released. Releases, stops and destroys work as before. Afterwards, call zkr_client_close(),
 * which ends the session and deletes its remaining nodes.
 *
 * @c  borrowed. It stays shut down; another call is not an error.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.
 * Threads:  any, including callbacks.
 * Session:  continues.
 * Cost:     the deletes of waiting nodes.
 * Curator:  none; CuratorFramework.close() also ends waits.   Since: 0.1.
 */
ZKR_API int zkr_client_shutdown(zkr_client *c);

/**
 * End the session and free the client.
 *
 * @c  taken on success; NULL is a no-op.
 *
 * Returns ZKR_OK, ZKR_EBUSY (recipes on it exist; nothing happened), ZKR_ESTATE (in a callback,
 * or in a forked child).
 *
 * Blocks:   yes, until the answers to requests in flight and to the end of the session have arrived: one round trip, or
 *           at most 2.5 s with a silent server. The call also waits for the running callback and for pending callbacks;
 *           with options.dispatch_by_application, it runs the pending callbacks itself. It does not wait for a name
 *           lookup that hangs: when the lookup returns, its thread frees the memory of the client.
 * Threads:  any except the dispatch thread. No other call on @c may run or follow, except those of callbacks, which can
 *           create no new recipe on it (ZKR_ECLOSED).
 * Session:  closed on the server, which deletes all its nodes at once. If the server cannot be reached, or does not
 *           answer in time, the nodes are deleted when the session expires; with a guardian, as soon as a server can be
 *           reached again (guardian.h). After the release of thousands of holds or tickets, call zkr_client_flush()
 *           first.
 * Cost:     1 round trip; 2 right after a release in the cases that zkr_client_finish() lists.
 * Curator:  CuratorFramework.close.   Since: 0.1.
 */
ZKR_API int zkr_client_close(zkr_client *c);

#ifdef __cplusplus
}
#endif

#endif

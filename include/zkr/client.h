/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file client.h
 * A connection to a ZooKeeper ensemble that outlives its sessions.
 *
 * Open one client for all recipes of a process. It connects in the background, and re-connects. After the
 * end of a session it opens the next one (a new *epoch*) by itself. Besides the two threads of libzookeeper
 * it runs a service thread (timers, lease, new sessions) and a dispatch thread. All callbacks of the
 * application run on the dispatch thread, one at a time, in order, with no lock held. A callback may call
 * every function that does not say "Blocks: yes"; those return ZKR_ESTATE there.
 *
 * **Without a dispatch thread.** With options.dispatch_by_application there is no dispatch thread. Callbacks
 * then run inside zkr_client_dispatch(), on a thread of the application; whatever these headers say about the
 * dispatch thread applies to that thread. The descriptor of zkr_client_event_fd() tells poll(), epoll, libuv,
 * libevent, sd-event or GLib when to call it.
 *
 * **Threads and signals.** The threads of a client are named `zkr-service` (the service thread and
 * libzookeeper's two), `zkr-dispatch`, `zkr-selector` for a started leader selector, and
 * `zkr-resolve` while the servers' names are resolved. They block all signals, whatever mask the program
 * sets and whenever it does so. So sigwait(), signalfd() and handlers work as if these threads did not
 * exist. Only SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP and SIGSYS, which a fault raises in its own thread,
 * and SIGPROF, for profilers, are not blocked. Callbacks and take_leadership() run with that mask, and a
 * program that you start there inherits it: let the child set its mask before exec().
 *
 * All functions may be called from any thread, but not concurrently with zkr_client_close().
 * In a child made by fork() they return ZKR_ESTATE (or the neutral value that each one names). Open
 * another client there.
 *
 * **Watches.** The needed watches of one client may take 850,000 bytes: for each watch the length of its path, with the
 * chroot, and 4. ticket.h lists the needed watches. A request whose watch finds no room fails with ZKR_ELIMIT: use a
 * second client. A watch counts until its event comes or the session ends, even if the request that set it has timed
 * out. Other watches may take 150,000 bytes more. A path of more than 32,000 bytes has no room for a watch. The reason is
 * that libzookeeper names all watches of a session in one request when it re-connects, and servers drop a connection for
 * a request above jute.maxbuffer (1,048,575 bytes if not set).
 *
 * A session may connect but get no answer, for instance where servers set a lower jute.maxbuffer. After 8 such
 * connections in a row, and a session timeout without any answer, the client gives the session up and opens the next
 * one. The nodes of the old session are deleted when it times out. Otherwise the session would never end,
 * because each connection renews it.
 *
 * **Permissions.** Servers from 3.8.4 and 3.9.2 on, and Debian 12's, do not tell a client what happens to a node while
 * it may not read that node, nor of new and deleted children while it may not read their parent; and the watch is spent
 * (CVE-2024-23944). So nobody relies on watches alone: after four to eight session timeouts without news, and again and
 * again, one read looks at the node ahead of a waiter, at the permits or the contenders that somebody waits for, at a
 * maximum, and, with options.watch_node or on_revoke, at a node that is held. A node ahead that may not be read for a
 * while is still waited for. If the servers refuse to list the path, an acquire fails with ZKR_EAUTH.
 * Do not take READ of a lock's path from clients that use it: if the path is deleted meanwhile, and made again, they
 * count on for up to eight session timeouts with numbers of the old one, and if others have come as often, two hold.
 *
 * In all functions of all headers, timeouts are milliseconds. ZKR_FOREVER (-1) is no limit, and anything
 * below that is ZKR_EINVAL.
 *
 * **Cancellation** (pthread_cancel) is held off in all functions of all headers. A call that has
 * begun ends as if the thread had not been canceled, and the thread ends at its next cancellation
 * point after that. To end a wait from outside, use zkr_mutex_cancel(), a stop, zkr_client_shutdown()
 * or a timeout. Signals do not end a wait.
 *
 * **Threads that end early.** A callback or a take_leadership() that ends its thread, by pthread_exit() or because the
 * thread is canceled, counts as one that returns. An open_handle that calls pthread_exit() counts as one that returns
 * NULL; it cannot be canceled. Another thread takes the place of a thread of the client. In destructors of
 * thread-specific data that run in a thread of the client or of a selector, all functions act as in its callbacks.
 *
 * **Faults of the library.** A client checks its own state while it runs. If a check fails, the client logs
 * `event=fault`, loses its holds as at the end of a session, opens no further session, and behaves as after
 * zkr_client_shutdown(). The process goes on.
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
    /** A server has accepted the session, and credentials if there are any. */
    ZKR_STATE_CONNECTED,
    ZKR_STATE_SUSPENDED, /**< disconnected; the session may still live */
    ZKR_STATE_LOST,      /**< the session is over; the client opens a new one */
    /** The servers refuse the credentials, or demand others: fix them, and open a new client. */
    ZKR_STATE_AUTH_FAILED,
    ZKR_STATE_CLOSED /**< zkr_client_close() has begun */
};

/**
 * Start a client. The connection is made in the background.
 *
 * @out      the client on success; end it with zkr_client_close().
 * @servers  "host:port,host:port" with an optional "/chroot", which must exist. A missing port means 2181;
 *           IPv6 as "[::1]:2181". Names are resolved again for each session, and about every second while
 *           there is no connection, so the client follows a server to a new address within the session.
 * @options  NULL = defaults; borrowed during the call.
 *
 * Returns ZKR_OK, ZKR_EINVAL (server list, chroot, an option out of range or unknown, a file of
 * options.tls_cert that cannot be read, no TLS in libzookeeper, ZKR_GUARDIAN_REQUIRED with open_handle),
 * ZKR_ENOMEM, ZKR_ESYS (no thread could be started, or no guardian that is required).
 *
 * Blocks:   no; names are resolved and servers reached in the background. With ZKR_GUARDIAN_REQUIRED
 *           the first waits for the start of a process, at most 10 s.
 * Threads:  any. Starts two threads, or one with options.dispatch_by_application; libzookeeper starts two.
 *           If @servers has names, one more runs while they are resolved. libzookeeper aborts the program
 *           when it cannot start its two, for each session anew. So the client starts and ends two of its own
 *           before that, and if it cannot, tries again later. The risk that is left: others of the same user
 *           take that room in the same moment. Do not run close to the limit of threads (RLIMIT_NPROC,
 *           pids.max).
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
 * Returns ZKR_OK, ZKR_ETIMEDOUT, ZKR_EAUTH, ZKR_ECLOSED (it is shut down), ZKR_EINVAL, ZKR_ESTATE
 * (in a callback, or in a forked child). On ZKR_ETIMEDOUT zkr_last_error() has the last problem met.
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
 * Wait until every node that was released or given up is confirmed gone.
 *
 * @c           borrowed.
 * @timeout_ms  milliseconds; 0 = only check, ZKR_FOREVER = no limit.
 *
 * The client retries a delete that the servers refuse, for want of permission, with growing pauses until the delete
 * succeeds or the session ends; until then the node is not gone. It retries a refused search in the same way: the
 * search looks for the node of a create that got no answer.
 *
 * Returns ZKR_OK, ZKR_ETIMEDOUT (the retries go on; if a delete or a search was refused, zk_rc of zkr_last_error()
 * is ZNOAUTH), ZKR_ECLOSED (the client is shut down; the deletes go on), ZKR_EINVAL, ZKR_ESTATE (in a callback, or in
 * a forked child).
 *
 * Blocks:   yes, until confirmed or @timeout_ms.
 * Threads:  any.
 * Session:  the end of the session also confirms: all its nodes go with it.
 * Cost:     no request of its own; usually the rest of one round trip.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_client_flush(zkr_client *c, int64_t timeout_ms);

/**
 * End the session, and wait until every node of the client is confirmed gone.
 *
 * As zkr_client_flush() and zkr_client_close() in one round trip: the end of the session follows the deletes without a
 * wait for their answers. For a program that is about to exit, and wants to know that others can acquire what it held.
 *
 * @c           borrowed; close it afterwards. From the call on no recipe can be made on it (ZKR_ECLOSED).
 * @timeout_ms  milliseconds; 0 = only check, ZKR_FOREVER = no limit.
 *
 * If the connection breaks before a server has confirmed the end of the session, the client connects again, to learn
 * whether the session is over, and else to end it. At the latest it counts as over one and a half session timeouts after
 * the last connection. The client first waits for the answers to its deletes with TLS, with open_handle, on ClickHouse
 * Keeper, if several sockets of the process are connected to its server, or if a sequence number of its locks was 2^30
 * or higher.
 *
 * Returns ZKR_OK (the nodes are gone), ZKR_EBUSY (recipes on it exist; nothing happened), ZKR_ETIMEDOUT (it goes on: call
 * again to wait on; if a delete or a search was refused, zk_rc of zkr_last_error() is ZNOAUTH), ZKR_EINVAL, ZKR_ESTATE
 * (in a callback, or in a forked child).
 *
 * Blocks:   yes, until confirmed or @timeout_ms.
 * Threads:  any.
 * Session:  ends, and no other begins.
 * Cost:     1 round trip, and none for a zkr_client_close() that follows; 2 in the cases above.
 * Curator:  none.   Since: 0.2.
 */
ZKR_API int zkr_client_finish(zkr_client *c, int64_t timeout_ms);

/**
 * Give the client another list of servers, for instance after a SIGHUP.
 *
 * If a server of the new list knows the session, session and holds continue there. If none does, the session is over,
 * and a new one begins. If the client is connected to a server of the new list, nothing changes until that connection
 * breaks. Otherwise it leaves its server as soon as no request is in flight, or after a second. Requests in flight then
 * have an unknown outcome, which the recipes handle by themselves.
 *
 * @c        borrowed.
 * @servers  as in zkr_client_open(), with the same chroot; borrowed during the call.
 *
 * Returns ZKR_OK, ZKR_EINVAL (as zkr_client_open(), or another chroot; the old list stays), ZKR_ENOMEM,
 * ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no; names are resolved and servers reached in the background.
 * Threads:  any, callbacks too.
 * Session:  moves to the new servers, if they know it.
 * Cost:     a connection, when the client moves.
 * Curator:  EnsembleProvider.setConnectionString, ZooKeeper.updateServerList.   Since: 0.1.
 */
ZKR_API int zkr_client_set_servers(zkr_client *c, const char *servers);

/**
 * Move the session to another server of the list, chosen at random, with all that is held: for instance when all
 * servers run again after a restart that has left every client on some of them.
 *
 * The client waits for a random time of at most 10 s, so that many clients that are called at once do not move
 * at once. Then it leaves its server at a moment without a request in flight, and, if it holds anything, with
 * at least three eighths of the session timeout left on the lease. It tries one other server after the other, each for
 * an eighth of the session timeout, and returns to its old server after each that does not answer. If no other server
 * answers, the client stays where it was, and logs event=not_rebalanced with the reason. The same happens if two
 * session timeouts bring no suitable moment. A client with one server, or without a connection when the time has
 * passed, does nothing. A call while an earlier move is not over does nothing either.
 *
 * Two addresses of one server, for instance of IPv4 and IPv6, count as two servers. A lease can become so short
 * during the move that holds are warned (lease.h).
 *
 * @c  borrowed.
 *
 * Returns ZKR_OK (the move is planned), ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no. options.on_state is called with ZKR_STATE_SUSPENDED, and with ZKR_STATE_CONNECTED at the
 *           other server.
 * Threads:  any, callbacks too.
 * Session:  goes on. Holds, leaders and places in queues stay; only leaders with options.step_down_when_suspended step
 *           down. Calls wait until the new connection is up, but a try (timeout 0) meanwhile fails with
 *           ZKR_ENOANSWER.
 * Cost:     a connection, with the watches of the session.
 * Curator:  none.   Since: 0.2.
 */
ZKR_API int zkr_client_rebalance(zkr_client *c);

/**
 * End all waits on the client, so that the threads of the application can finish.
 *
 * Every call that waits on the client, or on an object that was made on it, returns ZKR_ECLOSED: acquires,
 * awaits, lists of contenders, watches, zkr_client_wait_connected(), and zkr_client_flush() with nodes left.
 * Later calls return ZKR_ECLOSED, too, and no new object can be made on the client. Holds stay held, and the client
 * renews their lease, until they are released. Releases, stops and destroys work as before. Then call
 * zkr_client_close(), which ends the session and deletes the nodes that are left in it.
 *
 * @c  borrowed. It stays shut down; to call this again is no error.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.
 * Threads:  any, callbacks too.
 * Session:  goes on.
 * Cost:     the deletes of waiting nodes.
 * Curator:  none; CuratorFramework.close() ends waits by itself.   Since: 0.1.
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
 * Blocks:   yes: one round trip, for the answers to requests in flight and to the end of the session (at
 *           most 2.5 s with a silent server), plus the running callback and the pending ones. With options.dispatch_by_application it runs those itself. It does not wait for a
 *           resolver that hangs: the thread and the client's memory are freed when the resolver answers.
 * Threads:  any but the dispatch thread. No other call on @c may run or follow, except those of
 *           callbacks, which can make no new recipe on it (ZKR_ECLOSED).
 * Session:  closed on the server, which deletes all its nodes at once. If the server cannot be reached, or
 *           does not answer in these times, the nodes go when the session expires there; with a guardian, when
 *           a server can be reached again (guardian.h). After
 *           the release of thousands of holds or tickets, call zkr_client_flush() first.
 * Cost:     1 round trip; 2 right behind a release in the cases that zkr_client_finish() lists.
 * Curator:  CuratorFramework.close.   Since: 0.1.
 */
ZKR_API int zkr_client_close(zkr_client *c);

#ifdef __cplusplus
}
#endif

#endif

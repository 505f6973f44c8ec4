/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file client.h
 * A connection to a ZooKeeper ensemble that outlives its sessions.
 *
 * One client serves all recipes of a process. It opens in the background, re-connects, and
 * after the end of a session opens the next one (a new *epoch*) by itself. Besides the two
 * threads of libzookeeper it runs a service thread (timers, lease, new sessions) and a
 * dispatch thread, on which all callbacks of the application are called, one at a time, in
 * order, with no lock held. A callback may call every function that does not say "Blocks:
 * yes"; those return ZKR_ESTATE there.
 *
 * **Without a dispatch thread.** With options.dispatch_by_application there is none, and callbacks run
 * in zkr_client_dispatch(), in a thread of the application. What is said of the dispatch thread holds
 * for a thread that is inside that function. zkr_client_event_fd() tells poll(), epoll, libuv,
 * libevent, sd-event or GLib when to call it.
 *
 * **Threads and signals.** The threads of a client are named `zkr-service` (the service thread and
 * libzookeeper's two), `zkr-dispatch`, `zkr-selector` for a started leader selector, and
 * `zkr-resolve` while a resolver is asked for the servers' addresses. They
 * block all signals, whenever the program sets its own mask, so that sigwait(), signalfd() and
 * handlers work as if they were not there. Not blocked are only SIGSEGV, SIGBUS, SIGFPE, SIGILL,
 * SIGTRAP and SIGSYS, which a fault raises in its own thread, and SIGPROF, for profilers.
 * Callbacks and take_leadership() run with that mask: a program started from there inherits it, so
 * let the child set its mask before exec().
 *
 * All functions may be called from any thread, but not concurrently with zkr_client_close().
 * In a child made by fork() they return ZKR_ESTATE (or the neutral value each one names): open a
 * client of its own there.
 *
 * Time-outs are milliseconds; ZKR_FOREVER (-1) is no limit, and less than that is ZKR_EINVAL, in
 * all functions of all headers.
 *
 * **Cancellation** (pthread_cancel) is held off in all functions of all headers: a call that has
 * begun ends as if nothing had been asked, and the thread is canceled at its next cancellation
 * point after it. To end a wait from outside, use zkr_mutex_cancel(), a stop or a time-out. Signals
 * do not end a wait.
 */
#ifndef ZKR_CLIENT_H
#define ZKR_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include <zkr/error.h>
#include <zkr/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Wait without limit. */
#define ZKR_FOREVER ((int64_t)-1)
/** Returned by the valid_for functions when the lease is not measured (lease_probe_ms < 0). */
#define ZKR_UNKNOWN ((int64_t)-2)

typedef struct zkr_client zkr_client;

/** States of a client. zkr_client_state_name() gives their names. */
enum zkr_client_states {
    ZKR_STATE_CONNECTING = 1, /**< no session yet, or none since the last one ended */
    ZKR_STATE_CONNECTED,      /**< a server has accepted the session */
    ZKR_STATE_SUSPENDED,      /**< disconnected; the session may still live */
    ZKR_STATE_LOST,           /**< the session is over; a new one follows by itself */
    ZKR_STATE_AUTH_FAILED, /**< refused for good: fix the credentials, open a new client */
    ZKR_STATE_CLOSED       /**< zkr_client_close() has begun */
};

/** Levels for zkr_client_options.log_level. */
enum zkr_log_level {
    ZKR_LOG_ERROR = 1,
    ZKR_LOG_WARN = 2,
    ZKR_LOG_INFO = 3,
    ZKR_LOG_DEBUG = 4
};

/** Why a hold was lost. */
enum zkr_lost_reason {
    ZKR_LOST_SESSION = 1, /**< the session ended */
    ZKR_LOST_LEASE,       /**< the lease bound passed without an answer from a quorum */
    ZKR_LOST_NODE, /**< the lock node was deleted: by somebody, or by the server as it
                               ends the session, if that is heard of first */
    ZKR_LOST_STOPPED = 101, /**< of a leader latch: stopped with ZKR_LATCH_NOTIFY */
    ZKR_LOST_SUSPENDED /**< of a leader latch: disconnected, and step_down_when_suspended */
};

/**
 * What the lost callback is told: which hold it was, why it is over, and what the client had observed by then. Times are
 * milliseconds. Pointers are valid during the callback. Fields are only appended.
 */
typedef struct zkr_lost {
    int64_t reason;        /**< ZKR_LOST_… */
    int64_t fencing_token; /**< of the hold that was lost */
    const char *node;      /**< its node */
    int64_t session_id;    /**< of the session that had it */
    int64_t held_ms;       /**< from the grant to the loss */
    int64_t
        last_write_ms; /**< before the loss, the last write that a quorum has answered was sent; -1 = none was in
                                this session */
    int64_t
        silent_ms; /**< before the loss, the oldest request without an answer was sent; 0 = none was waiting.
                            Far beyond the usual round trip while there is a connection: the quorum is lost, or the
                            server hangs */
    int64_t
        disconnected_ms; /**< before the loss, the connection was lost; 0 = there was one */
    int64_t
        stopped_ms; /**< for so long this process did not run, though its service thread was due: stopped by a
                             signal or a debugger, or the machine was asleep or overloaded; 0 = it ran. Told when it is a
                             fourth of the session timeout or more, and over for no longer than one timeout */
    const char *
        text; /**< all of it in one line for people, such as "lease bound passed: this process did not run
                             for 12.3 s" */
} zkr_lost;

/**
 * The name of a reason, such as "session expired".
 *
 * @reason  any int.
 *
 * Returns a constant, "?" for unknown values; never NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API const char *zkr_lost_reason_name(int reason);

/** Called at each change of state, on the dispatch thread. */
typedef void (*zkr_state_fn)(zkr_client *c, int state, void *ctx);

/**
 * Called for each line of log, on the dispatch thread; @line has no newline.
 *
 * Our lines are one for each event, of `key=value` separated by spaces: `event`, then `path` and `node` where it is about
 * one, `session` and `epoch`, what belongs to the event, `reason`. A value that is no plain word stands in double quotes,
 * with `\\`, `\"` and `\n` as in C. They carry no time: whoever prints them knows it. Lines of libzookeeper come as it
 * made them: those about this client's connections, but with more than 16 clients the first gets those of the rest.
 */
typedef void (*zkr_log_fn)(int level, const char *line, void *ctx);

struct _zhandle;   /* zhandle_t of <zookeeper/zookeeper.h> */
struct ACL_vector; /* of <zookeeper/zookeeper.jute.h> */

/** ZooKeeper's watcher_fn. */
typedef void (*zkr_watcher_fn)(struct _zhandle *zh,
                               int type,
                               int state,
                               const char *path,
                               void *watcher_ctx);

/**
 * Opens a ZooKeeper handle, for TLS, SASL or other initialisation that only the application
 * knows. Called on the service thread at each new session, with numeric addresses.
 *
 * It must call a zookeeper_init variant with exactly these arguments and no client id, and
 * return the handle, which then belongs to the client, or NULL with errno set. It may wait for the
 * handle to connect, and end one that it does not return with zookeeper_close(); timers and new
 * sessions wait for it meanwhile. The client hands other addresses to the handle by
 * zoo_set_servers() when the servers have moved.
 */
typedef struct _zhandle *(*zkr_open_handle_fn)(const char *servers,
                                               zkr_watcher_fn watcher,
                                               int session_timeout_ms,
                                               void *watcher_ctx,
                                               void *ctx);

/** Credentials for zkr_client_options.more_auth. */
typedef struct zkr_auth {
    const char *scheme; /**< such as "digest" */
    const void *cert;   /**< such as "user:password" */
    size_t cert_len;    /**< bytes at cert */
} zkr_auth;

/**
 * Options of zkr_client_open(). Start from ZKR_CLIENT_OPTIONS_INIT; zero in a field means its
 * default. Everything pointed to is copied, except the contexts.
 */
typedef struct zkr_client_options {
    size_t size; /**< sizeof(zkr_client_options) */
    int64_t
        session_timeout_ms; /**< asked for, at least 100; servers clamp it; default 10000 */
    int64_t
        connect_timeout_ms; /**< bounds calls that wait for a server and have no time-out of
                                     their own (try, contenders); default 15000 */
    int64_t retry_base_ms;  /**< first pause of the exponential back-off; default 50 */
    int64_t retry_max_ms;   /**< longest pause; default 5000 */
    int64_t retry_attempts; /**< failures in a row after which an acquire gives up with
                                     ZKR_ECONNLOSS; 0 = only its deadline ends it (default) */
    int64_t lease_probe_ms; /**< pause between the lease probes while anything is held,
                                     about; 0 = session timeout / 12 (default), at most
                                     a fourth of it, negative = no probes, and valid_for
                                     then says ZKR_UNKNOWN. A shorter pause costs writes and
                                     leaves more of the lease at its worst moment: of the
                                     session timeout 0.2 with a fourth, 0.55 with a twelfth,
                                     0.6 with a fifteenth */
    const char *
        owner; /**< owner text of our nodes; default "host/pid/thread". Lines behind the first are
                                  fields, `key=value`: see zkr_contender_field() */
    const char *auth_scheme; /**< such as "digest"; NULL = none */
    const void *auth_cert;   /**< such as "user:password" */
    size_t auth_cert_len;    /**< bytes at auth_cert */
    const struct ACL_vector *
        acl; /**< of all nodes we make, parents that are missing too; NULL = open to everyone,
                                     also with credentials */
    int64_t
        log_level; /**< default ZKR_LOG_WARN; also of the lines that libzookeeper makes about this
                            client's connections, which come to the same callback */
    zkr_log_fn log; /**< NULL = no log at all */
    void *log_ctx;
    zkr_state_fn on_state; /**< NULL = none */
    void *on_state_ctx;
    zkr_open_handle_fn open_handle; /**< NULL = zookeeper_init() */
    void *open_handle_ctx;
    int64_t server_tick_ms; /**< tickTime of the servers, if you know it: the lease then
                                     lasts longer for fewer probes; default: taken for half the
                                     session timeout, the most that minSessionTimeout allows
                                     unless somebody has set it. session_timeout_ms must be
                                     two ticks or more */
    int64_t lease_margin_ppm; /**< by how many parts of a million the clocks of this
                                     machine and of a server may differ in rate, at most
                                     500000; default 1000 */
    int64_t
        lease_no_stopgap; /**< not 0: what one write alone proves does not count for the
                                     lease (see zkr_client_valid_for_ms()); an acquire after an
                                     idle time then takes about a fourth of the session timeout
                                     longer */
    int64_t dispatch_by_application; /**< not 0: no dispatch thread; callbacks run in
                                     zkr_client_dispatch() */
    const zkr_auth
        *more_auth; /**< credentials besides auth_scheme and auth_cert, in this order:
                                     a session may have several; NULL = none */
    int64_t more_auth_count; /**< entries of more_auth */
    const char *
        tls_cert; /**< connect by TLS, with these files in PEM: "CA,CERTIFICATE,KEY", and
                                     ",PASSWORD" of the key if it has one; NULL = no TLS. The port
                                     must be one for TLS (secureClientPort). The files are read
                                     again at each connection. Only where libzookeeper was built
                                     with OpenSSL, which Debian's is not: else ZKR_EINVAL; then
                                     go through stunnel. libzookeeper 3.8 accepts any server whose
                                     certificate is signed by that CA or by one that this machine
                                     trusts; it does not compare names */
} zkr_client_options;

#define ZKR_CLIENT_OPTIONS_INIT                                                        \
    {                                                                                  \
        sizeof(zkr_client_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, 0, 0, 0, 0, 0, 0, 0                                                     \
    }

/** Counters of a client since it was opened, for monitoring. Fields are only appended. */
typedef struct zkr_stats {
    int64_t sessions;   /**< sessions established */
    int64_t reconnects; /**< connections made again within a session */
    int64_t requests;   /**< requests sent to ZooKeeper, pings excepted */
    int64_t probes;     /**< of these, lease probes */
    int64_t grants;     /**< locks granted (leaderships too), re-entries excepted */
    int64_t losses;     /**< holds lost before they were released */
    int64_t held;       /**< held now */
    int64_t waiting;    /**< in a queue now */
    int64_t pending_deletes; /**< released or given up, node not yet confirmed gone */
    int64_t dropped_log;     /**< log lines dropped because the callback was too slow */
    int64_t contended; /**< of the grants, those that another contender was ahead of */
    int64_t expirations; /**< sessions that ended, but for the close */
    int64_t
        last_answer_ms; /**< so long ago the last write that a quorum has answered was sent; -1 = none in this
                                 session */
} zkr_stats;

/**
 * Start a client. The connection is made in the background.
 *
 * @out      the client on success; end it with zkr_client_close().
 * @servers  "host:port,host:port" with an optional "/chroot", which must exist; names are
 *           resolved again for each session, and every second or so while there is no
 *           connection, so that a server is followed to another address within the session; a
 *           missing port means 2181; IPv6 as "[::1]:2181".
 * @options  NULL = defaults; borrowed during the call.
 *
 * Returns ZKR_OK, ZKR_EINVAL (server list, chroot, an option out of range or unknown, a file of
 * options.tls_cert that cannot be read, no TLS in libzookeeper), ZKR_ENOMEM, ZKR_ESYS (no thread could be started).
 *
 * Blocks:   no; names are resolved and servers reached in the background.
 * Threads:  any. Starts two threads, one with options.dispatch_by_application, and libzookeeper two;
 *           with names, one more that asks the
 *           resolver, now and then.
 * Session:  asks for options.session_timeout_ms.
 * Cost:     no round trip before it returns.
 * Curator:  CuratorFrameworkFactory.newClient + start.   Since: 0.1.
 */
ZKR_API int zkr_client_open(zkr_client **out,
                            const char *servers,
                            const zkr_client_options *options);

/**
 * Wait until a session is established, and options.auth_scheme's credentials have not been refused.
 *
 * @c           borrowed.
 * @timeout_ms  milliseconds; 0 = only look, ZKR_FOREVER = no limit.
 *
 * Returns ZKR_OK, ZKR_ETIMEDOUT, ZKR_EAUTH, ZKR_ECLOSED (it is shut down), ZKR_EINVAL, ZKR_ESTATE
 * (in a callback, or in a forked child). On ZKR_ETIMEDOUT zkr_last_error() tells the last obstacle met.
 *
 * Blocks:   yes, until connected or @timeout_ms.
 * Threads:  any.
 * Cost:     no request of its own; with credentials, one round trip in each session.
 * Curator:  CuratorFramework.blockUntilConnected.   Since: 0.1.
 */
ZKR_API int zkr_client_wait_connected(zkr_client *c, int64_t timeout_ms);

/**
 * The present state.
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
 * ZooKeeper's id of the present session.
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
 * The session timeout in force, as negotiated with the servers.
 *
 * @c  borrowed.
 *
 * Returns milliseconds; before the first connection the value asked for; 0 for NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Session:  negotiated at each connection: servers started again with other limits, or another
 *           tickTime, shorten or lengthen it within the session.
 * Cost:     no request.
 * Curator:  ZooKeeper.getSessionTimeout.   Since: 0.1.
 */
ZKR_API int64_t zkr_client_session_timeout_ms(zkr_client *c);

/**
 * For how long from now no server can have ended the present session.
 *
 * The lease bound: computed from the send times of answered quorum writes alone, on
 * CLOCK_BOOTTIME, so it holds however long this process is stopped, and behind a follower that
 * is cut off or a leader that is stale. It is kept up only while something is held.
 *
 * What it assumes, all of it:
 *
 * - The clocks of client and servers run at the same rate within options.lease_margin_ppm, 0.1 %
 *   unless set. A clock daemon may slew by more (chrony: by 8 % unless maxslewrate is set).
 * - The machine is not frozen with its clock standing still, as a hypervisor can do.
 * - The session timeout is at least two ticks of the servers. It is, unless somebody has set
 *   minSessionTimeout. With options.server_tick_ms this is checked, and nothing is sure below it.
 * - All servers of the ensemble have the same tickTime. They may differ in their limits of the
 *   session timeout, also after a restart.
 * - A server whose session timeout for us was shorter has told the leader its last about us one such
 *   timeout after we left it.
 * - The server is no observer that is served by another observer or follower (observerMasterPort).
 * - Nobody ends the session from outside (Curator's KillSession, an administrator).
 * - A server's word, at a re-connect, that the session timeout is shorter from now on gets through: the
 *   process does not stop right then, and the connection does not break before it has been read.
 * - Until three writes have been answered, the last a fourth of the session timeout after the first,
 *   one write alone counts as a stopgap: 0.4 of the timeout. That assumes as well that neither this
 *   process nor its line stood still right before, and that the servers' pings were not held up.
 *   options.lease_no_stopgap refuses it.
 *
 * Against what breaks these there is the fencing token.
 *
 * Nor can it foresee that a third party closes the session in our name, with its id and
 * password, as Curator's test tool KillSession does: then the servers give away at once what the
 * bound still promises, until the client hears of it.
 *
 * @c  borrowed.
 *
 * Returns milliseconds, 0 = not sure now, ZKR_UNKNOWN = probes are turned off.
 *
 * Blocks:   no.   Threads:  any.
 * Session:  0 from the end of the session on.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int64_t zkr_client_valid_for_ms(zkr_client *c);

/**
 * Wait until every node that was released or given up is confirmed gone.
 *
 * @c           borrowed.
 * @timeout_ms  milliseconds; 0 = only look, ZKR_FOREVER = no limit.
 *
 * Returns ZKR_OK, ZKR_ETIMEDOUT (the deletes go on), ZKR_ECLOSED (the same, of a client that is shut
 * down), ZKR_EINVAL, ZKR_ESTATE (in a callback, or
 * in a forked child).
 *
 * Blocks:   yes, until confirmed or @timeout_ms.
 * Threads:  any.
 * Session:  the end of the session confirms as well: it takes all its nodes along.
 * Cost:     no request of its own; usually the rest of one round trip.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_client_flush(zkr_client *c, int64_t timeout_ms);

/**
 * Run callbacks that wait, in the calling thread.
 *
 * For a client with options.dispatch_by_application. Call it whenever zkr_client_event_fd() is
 * readable. Callbacks that are posted while it runs are left for the next call, so it ends also when
 * callbacks cause others. While it is not called, everything else goes on: leases are kept, locks are
 * granted and lost. The application only does not hear of it. Waits do not need it, but one:
 * zkr_leader_latch_stop() tells the latch's loss before it returns, and so runs the callbacks of that
 * latch in its own thread.
 *
 * @c    borrowed.
 * @max  run no more than that many; 0 = all that wait now.
 *
 * Returns how many have run, or ZKR_EINVAL (@max below 0), ZKR_ESTATE (without the option, in a
 * callback of the same client, or in a forked child), ZKR_EBUSY (another thread is running callbacks
 * of the client; those left make the descriptor readable when it has done).
 *
 * Blocks:   for as long as the callbacks take.
 * Threads:  any, one at a time. Functions that say "Blocks: yes" return ZKR_ESTATE in its callbacks.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_client_dispatch(zkr_client *c, int max);

/**
 * A descriptor that is readable while callbacks wait for zkr_client_dispatch().
 *
 * Each callback that comes makes it readable anew, and so does what a call of zkr_client_dispatch() has
 * left. So it serves with EPOLLET as well.
 *
 * @c  borrowed. The descriptor belongs to the client, which closes it with itself: wait on it only,
 *     neither read from, write to nor close it. It does not block and is closed on exec.
 *
 * Returns the descriptor, or ZKR_EINVAL, ZKR_ESTATE (without options.dispatch_by_application, or in a
 * forked child).
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_client_event_fd(zkr_client *c);

/**
 * Read the counters.
 *
 * @c     borrowed.
 * @out   filled.
 * @size  sizeof(zkr_stats) of the caller; a smaller (older) one is filled as far as it goes, the
 *        rest of a larger one is zeroed.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  TracerDriver, in part.   Since: 0.1.
 */
ZKR_API int zkr_client_stats(zkr_client *c, zkr_stats *out, size_t size);

/**
 * Give the client another list of servers, as after a SIGHUP.
 *
 * The session goes on where a server of the new list knows it, with all that is held. Where none does
 * it is over, and a new one begins there. While the client is connected to a server of the new list
 * nothing changes; the list counts once that connection breaks. Else the client leaves its server, when
 * no request is in flight, or after a second: what is in flight then has an unknown outcome, which
 * recipes deal with by themselves.
 *
 * @c        borrowed.
 * @servers  as in zkr_client_open(), with the same chroot; borrowed during the call.
 *
 * Returns ZKR_OK, ZKR_EINVAL (as zkr_client_open(), or another chroot; the old list stays), ZKR_ENOMEM,
 * ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no; names are resolved and servers reached in the background.
 * Threads:  any, callbacks too.
 * Session:  moves along.
 * Cost:     a connection, when the client moves.
 * Curator:  EnsembleProvider.setConnectionString, ZooKeeper.updateServerList.   Since: 0.1.
 */
ZKR_API int zkr_client_set_servers(zkr_client *c, const char *servers);

/**
 * End all waits on the client, so that its threads can come to an end.
 *
 * Every call that waits on the client or on what was made on it returns ZKR_ECLOSED: acquires, awaits,
 * lists of contenders, watches, zkr_client_wait_connected(), zkr_client_flush() with nodes still to go.
 * Calls that come later are treated alike, and nothing new can be made on the client. What is held
 * stays held, and its lease is kept, until it is released. Releases, stops and destroys work as
 * before. Then comes zkr_client_close(), which ends the session and so what is left of it.
 *
 * @c  borrowed. Once it is shut down it stays so; again is no error.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.
 * Threads:  any, callbacks too.
 * Session:  goes on.
 * Cost:     the deletes of nodes that waited.
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
 * Blocks:   yes: until what was sent is answered (at most 1 s) and one round trip to close the
 *           session (at most 1.5 s with a silent server), plus the callback that is running and
 *           those that wait to be called. With options.dispatch_by_application it runs those itself. A resolver that hangs is not waited for: its thread, and
 *           the client's memory, go when it answers.
 * Threads:  any but the dispatch thread; no other call on @c may run or follow, but those of
 *           callbacks, which can make no new recipe on it (ZKR_ECLOSED).
 * Session:  closed on the server, which deletes all its nodes at once. If the server cannot be
 *           reached, or does not answer in these times, they go when the session expires there: after
 *           the release of thousands of holds or tickets call zkr_client_flush() first.
 * Cost:     1 round trip.
 * Curator:  CuratorFramework.close.   Since: 0.1.
 */
ZKR_API int zkr_client_close(zkr_client *c);

#ifdef __cplusplus
}
#endif

#endif

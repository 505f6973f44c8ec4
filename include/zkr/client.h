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
 * **Watches.** libzookeeper names all watches of a session in one request whenever it re-connects, and servers drop a
 * connection for a request above jute.maxbuffer (1,048,575 bytes if not set). So a client sets no more than 900,000
 * bytes of watches: the length of each watched path, with the chroot, and 4. A third of that is for what it could do
 * without: its own nodes, and paths that it uses again and again. What finds no room is looked at every second, or less
 * often if there is much of it (ticket.h says how many tickets that concerns). Where servers allow less than a MiB, or
 * for any other reason, a session may connect but get no answer. After 8 such connections in a row, and a session
 * timeout without any answer, the client gives it up and opens the next one: the old one would never end, as each
 * connection renews it. Now its nodes go at the end of its timeout.
 *
 * In all functions of all headers, timeouts are milliseconds. ZKR_FOREVER (-1) is no limit, and anything
 * below that is ZKR_EINVAL.
 *
 * **Cancellation** (pthread_cancel) is held off in all functions of all headers. A call that has
 * begun ends as if the thread had not been canceled, and the thread ends at its next cancellation
 * point after that. To end a wait from outside, use zkr_mutex_cancel(), a stop, zkr_client_shutdown()
 * or a timeout. Signals do not end a wait.
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
    ZKR_STATE_CONNECTED, /**< a server has accepted the session, and credentials if there are any */
    ZKR_STATE_SUSPENDED,   /**< disconnected; the session may still live */
    ZKR_STATE_LOST,        /**< the session is over; the client opens a new one */
    ZKR_STATE_AUTH_FAILED, /**< credentials refused: fix them, and open a new client */
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
    ZKR_LOST_LEASE,       /**< the lease ended without an answer from a quorum */
    ZKR_LOST_NODE, /**< the lock node was deleted: by a person or program, or by the server as it
                               ended the session, if the client noticed that first */
    ZKR_LOST_STOPPED = 101, /**< leader latches: stopped with ZKR_LATCH_NOTIFY */
    ZKR_LOST_SUSPENDED /**< leader latches: disconnected, with step_down_when_suspended */
};

/**
 * The argument of the lost callback: which hold was lost, why, and what the client had observed. Times are
 * milliseconds. Pointers are valid during the callback. New fields are only appended.
 */
typedef struct zkr_lost {
    int64_t reason;        /**< ZKR_LOST_… */
    int64_t fencing_token; /**< of the hold that was lost */
    const char *node;      /**< its node */
    int64_t session_id;    /**< of the session that had it */
    int64_t held_ms;       /**< from the grant to the loss */
    int64_t
        last_write_ms; /**< time from sending the last write that a quorum answered to the loss; -1 = there was none
                                in this session */
    int64_t
        silent_ms; /**< time from sending the oldest unanswered request to the loss; 0 = there was none. Much
                            longer than the usual round trip, while connected: the quorum is lost, or the server
                            hangs */
    int64_t
        disconnected_ms; /**< time from the loss of the connection to the loss; 0 = connected */
    int64_t
        stopped_ms; /**< for how long this process did not run although its service thread was due: stopped by a
                             signal or a debugger, or the machine was asleep or overloaded; 0 = it ran. Set if that
                             was a quarter of the session timeout or more, and ended no longer than one timeout ago */
    const char *
        text; /**< the above in one line for people, such as "lease bound passed: this process did not run
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
 * Called for each line of the log, on the dispatch thread; @line has no newline.
 *
 * The library logs one line for each event. A line consists of `key=value` pairs separated by spaces: `event`; `path`
 * and `node`, if it is about one; `session` and `epoch`; what belongs to the event; `reason`. A value that is not a
 * plain word is in double quotes, with `\\`, `\"` and `\n` as in C. Lines have no time: add it when you print them.
 * Lines of libzookeeper about this client's connections are passed on unchanged; of those that say the same again,
 * as all do while there is no server, one a minute until the next connection. With more than 16 clients, the first
 * client gets the lines of those beyond the 16th.
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
 * knows. Called on the service thread for each new session, with numeric addresses.
 *
 * It must call a variant of zookeeper_init with exactly these arguments and no client id. It returns the
 * handle, which then belongs to the client, or NULL with errno set. It may wait for the handle to connect;
 * timers and new sessions are delayed meanwhile. A handle that it does not return it must close with
 * zookeeper_close(). When the servers have moved, the client gives the handle the new addresses by
 * zoo_set_servers().
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
        session_timeout_ms; /**< to request, at least 100; servers clamp it; default 10000. A
                               server that grants less than 100, or more than a day, is not
                               believed: there is no session then */
    int64_t
        connect_timeout_ms; /**< limit for calls that wait for a server and have no timeout of
                                     their own (try, contenders); default 15000 */
    int64_t retry_base_ms;  /**< first pause of the exponential back-off; default 50 */
    int64_t retry_max_ms;   /**< longest pause; default 5000 */
    int64_t retry_attempts; /**< failures in a row after which an acquire gives up with
                                     ZKR_ECONNLOSS; 0 = only its deadline ends it (default) */
    int64_t
        lease_probe_ms; /**< approximate pause between the lease probes while anything
                                     is held; 0 = session timeout / 12 (default); more than
                                     a quarter of it counts as that; negative = no probes, and valid_for
                                     then returns ZKR_UNKNOWN. A shorter pause costs more
                                     writes and leaves a longer lease at the worst moment: of
                                     the session timeout, 0.2 with a quarter, 0.55 with a
                                     twelfth, 0.6 with a fifteenth */
    const char *
        owner; /**< owner text of our nodes; default "host/pid/thread". Lines after the first are
                                  fields, `key=value`: see zkr_contender_field() */
    const char *auth_scheme; /**< such as "digest"; NULL = none */
    const void *auth_cert;   /**< such as "user:password" */
    size_t auth_cert_len;    /**< bytes at auth_cert */
    const struct ACL_vector *
        acl; /**< ACL of all nodes that are created, missing parents included; NULL = open to
                                     everyone, even if credentials are given */
    int64_t
        log_level; /**< default ZKR_LOG_WARN; also applies to the lines of libzookeeper about this
                            client's connections, which go to the same callback: up to
                            ZKR_LOG_INFO, as its debug lines read freed memory (ZOOKEEPER-4809) */
    zkr_log_fn log; /**< NULL = no log at all */
    void *log_ctx;
    zkr_state_fn on_state; /**< NULL = none */
    void *on_state_ctx;
    zkr_open_handle_fn open_handle; /**< NULL = zookeeper_init() */
    void *open_handle_ctx;
    int64_t server_tick_ms; /**< tickTime of the servers, if you know it: the lease then
                                     lasts longer for fewer probes. Default: assumed to be half
                                     the session timeout, the most that minSessionTimeout allows
                                     unless somebody has set it. session_timeout_ms must be
                                     two ticks or more */
    int64_t lease_margin_ppm; /**< by how many parts per million the clocks of this
                                     machine and of a server may differ in rate, at most
                                     500000; default 1000 */
    int64_t
        lease_no_stopgap; /**< not 0: one answered write alone does not count for the lease
                                     (see zkr_client_valid_for_ms()); an acquire after an idle
                                     period then takes about a quarter of the session timeout
                                     longer */
    int64_t dispatch_by_application; /**< not 0: no dispatch thread; callbacks run in
                                     zkr_client_dispatch() */
    const zkr_auth
        *more_auth; /**< credentials besides auth_scheme and auth_cert, in this order:
                                     a session may have several; NULL = none */
    int64_t more_auth_count; /**< entries of more_auth */
    const char
        *tls_cert; /**< connect by TLS, with these PEM files: "CA,CERTIFICATE,KEY", and
                                     ",PASSWORD" if the key has one; NULL = no TLS. The port must
                                     be one for TLS (secureClientPort). The files are read again
                                     for each connection. Needs a libzookeeper that was built
                                     with OpenSSL; Debian's was not. Otherwise ZKR_EINVAL: use
                                     stunnel. libzookeeper accepts any server whose
                                     certificate is signed by that CA or by one that this machine
                                     trusts; it does not compare names */
} zkr_client_options;

#define ZKR_CLIENT_OPTIONS_INIT                                                        \
    {                                                                                  \
        sizeof(zkr_client_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, 0, 0, 0, 0, 0, 0, 0                                                     \
    }

/** Counters of a client since it was opened, for monitoring. New fields are only appended. */
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
    int64_t
        contended; /**< of the grants, those that had to wait for another contender */
    int64_t
        expirations; /**< sessions that ended otherwise than by zkr_client_close() */
    int64_t
        last_answer_ms; /**< how long ago the last write that a quorum answered was sent; -1 = none in this
                                 session */
} zkr_stats;

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
 * options.tls_cert that cannot be read, no TLS in libzookeeper), ZKR_ENOMEM, ZKR_ESYS (no thread could be started).
 *
 * Blocks:   no; names are resolved and servers reached in the background.
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
 * - Nobody ends the session from outside (Curator's KillSession, an administrator).
 * - When a server grants a shorter session timeout at a re-connect than any before, the client reads that answer: the
 *   process does not stop, and the connection does not break, at that very moment.
 * - Until three writes have been answered, the last a quarter of the session timeout after the first,
 *   one write alone counts as a stopgap: 0.4 of the timeout. This also assumes that neither this process
 *   nor its connection was stalled right before, and that the servers' pings were not held up.
 *   options.lease_no_stopgap turns it off.
 *
 * If one of these does not hold, the fencing token protects you.
 *
 * It is the lease of the session, and of no single node. That servers refuse to show or to change a node that is held (an
 * ACL, a quota, a server that is too busy) neither ends that hold nor any other: the session is proven without it, and
 * whether it is there, and whose it is, is asked now and then. Servers from 3.8.4 and 3.9.2 on do not tell the latter to
 * who may not read it.
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

/**
 * Wait until every node that was released or given up is confirmed gone.
 *
 * @c           borrowed.
 * @timeout_ms  milliseconds; 0 = only check, ZKR_FOREVER = no limit.
 *
 * A delete that the servers refuse, for want of permission, is repeated with growing pauses for as long as the
 * session lives; until then its node is not gone.
 *
 * Returns ZKR_OK, ZKR_ETIMEDOUT (the deletes go on; when one was refused, zk_rc of zkr_last_error() is ZNOAUTH), ZKR_ECLOSED (the client is shut down; the deletes go on),
 * ZKR_EINVAL, ZKR_ESTATE (in a callback, or in a forked child).
 *
 * Blocks:   yes, until confirmed or @timeout_ms.
 * Threads:  any.
 * Session:  the end of the session also confirms: all its nodes go with it.
 * Cost:     no request of its own; usually the rest of one round trip.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_client_flush(zkr_client *c, int64_t timeout_ms);

/**
 * Run the pending callbacks, in the calling thread.
 *
 * For a client with options.dispatch_by_application. Call it whenever zkr_client_event_fd() is
 * readable. Callbacks that are posted while it runs are left for the next call, so it ends even if
 * callbacks cause others. While it is not called, everything else goes on: leases are renewed, locks are
 * granted and lost. Only the application is not notified. No wait depends on it. One function runs
 * callbacks itself: zkr_leader_latch_stop() runs those of its latch in the calling thread, because the
 * loss is reported before it returns.
 *
 * @c    borrowed.
 * @max  run at most this many; 0 = all that are pending now.
 *
 * Returns how many have run, not counting those that had nothing to say any more, for instance of a ticket that was
 * released; or ZKR_EINVAL (@max below 0), ZKR_ESTATE (without the option, in a
 * callback of the same client, or in a forked child), ZKR_EBUSY (another thread is running callbacks
 * of the client; if some are left when it is done, the descriptor becomes readable).
 *
 * Blocks:   for as long as the callbacks take.
 * Threads:  any, one at a time. Functions that say "Blocks: yes" return ZKR_ESTATE in its callbacks.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_client_dispatch(zkr_client *c, int max);

/**
 * A descriptor that is readable while callbacks are pending for zkr_client_dispatch().
 *
 * Each new callback makes it readable again, and so do those that a call of zkr_client_dispatch() has
 * left. So it works with EPOLLET, too.
 *
 * @c  borrowed. The descriptor belongs to the client, and is closed with it. Only wait on it: do not read
 *     from it, write to it or close it. It does not block and is closed on exec.
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
 * Give the client another list of servers, for instance after a SIGHUP.
 *
 * If a server of the new list knows the session, it goes on there, with all that is held. If none does,
 * the session is over, and a new one begins. If the client is connected to a server of the new list,
 * nothing changes until that connection breaks. Otherwise it leaves its server as soon as no request is in
 * flight, or after a second. Requests in flight then have an unknown outcome, which the recipes handle by
 * themselves.
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
 * End all waits on the client, so that the threads of the application can finish.
 *
 * Every call that waits on the client, or on an object that was made on it, returns ZKR_ECLOSED: acquires,
 * awaits, lists of contenders, watches, zkr_client_wait_connected(), and zkr_client_flush() with nodes left.
 * Later calls do so, too, and no new object can be made on the client. What is held stays held, and its
 * lease is renewed, until it is released. Releases, stops and destroys work as before. Then call
 * zkr_client_close(), which ends the session and everything left in it.
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
 * Blocks:   yes: until requests in flight are answered (at most 1 s), and one round trip to close the
 *           session (at most 1.5 s with a silent server), plus the running callback and the pending
 *           ones. With options.dispatch_by_application it runs those itself. It does not wait for a
 *           resolver that hangs: the thread and the client's memory are freed when the resolver answers.
 * Threads:  any but the dispatch thread. No other call on @c may run or follow, except those of
 *           callbacks, which can make no new recipe on it (ZKR_ECLOSED).
 * Session:  closed on the server, which deletes all its nodes at once. If the server cannot be reached, or
 *           does not answer in these times, the nodes go when the session expires there. After
 *           the release of thousands of holds or tickets, call zkr_client_flush() first.
 * Cost:     1 round trip.
 * Curator:  CuratorFramework.close.   Since: 0.1.
 */
ZKR_API int zkr_client_close(zkr_client *c);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file client_options.h
 * The options of a client, and the types of its callbacks.
 */
#ifndef ZKR_CLIENT_OPTIONS_H
#define ZKR_CLIENT_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include <zkr/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zkr_client zkr_client;

/** Wait without limit. */
#define ZKR_FOREVER ((int64_t)-1)
/** Levels for zkr_client_options.log_level. */
enum zkr_log_level {
    ZKR_LOG_ERROR = 1,
    ZKR_LOG_WARN = 2,
    ZKR_LOG_INFO = 3,
    ZKR_LOG_DEBUG = 4
};

/** For zkr_client_options.guardian. */
enum zkr_guardian {
    ZKR_GUARDIAN_REQUIRED = 1, /**< zkr_client_open() fails without a guardian */
    ZKR_GUARDIAN_TRY =
        2 /**< a missing guardian is logged, perhaps when the client connects */
};

/** Called at each change of state, on the dispatch thread. */
typedef void (*zkr_state_fn)(zkr_client *c, int state, void *ctx);

/**
 * Called for each line of the log, on the dispatch thread; @line has no newline.
 *
 * The library logs one line for each event. A line consists of `key=value` pairs separated by spaces: `event`; `path`
 * and `node`, if the event concerns one; `session` and `epoch`; values of the event; `reason`. A value that is not a
 * plain word is in double quotes, with `\\`, `\"` and `\n` as in C. Lines contain no time; add the time when you print
 * them. Lines of libzookeeper about the connections of this client are passed on unchanged. Until the next connection,
 * repeated lines are limited to one per minute. If the process has more than 16 clients, the first client gets the
 * lines of all clients beyond the 16th.
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
 * Opens a ZooKeeper handle, for TLS, SASL or other initialisation that only the application knows. The client calls it
 * on the service thread for each new session, and again if a handle gets no session within two session timeouts (at
 * least 5 s). @servers is a list of numeric addresses. The number of addresses is always odd, and an address may be
 * listed twice, because libzookeeper does not try all addresses if their number is even.
 *
 * The function must call a variant of zookeeper_init with exactly these arguments and no client id. It returns the
 * handle, which then belongs to the client, or NULL with errno set. It may wait for the handle to connect, but this
 * delays timers and new sessions. If it opens a handle and does not return it, it must close that handle with
 * zookeeper_close(). When servers have moved, the client passes their new addresses to zoo_set_servers().
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
 * Options of zkr_client_open(). Start from ZKR_CLIENT_OPTIONS_INIT; zero in a field means its default. The client
 * copies all data that the options point to, except the contexts.
 */
typedef struct zkr_client_options {
    size_t size; /**< sizeof(zkr_client_options) */
    /**
     * Session timeout to request, at least 100; default 10000. Servers limit the value. The client refuses a session if
     * the granted timeout is below 100 ms or above a day. Holds are kept while the servers answer each write within an
     * eighth of the granted timeout; see zkr_client_valid_for_ms().
     */
    int64_t session_timeout_ms;
    /**
     * Limit for calls that wait for a server without a separate timeout (a try, lists of contenders); default
     * 15000.
     */
    int64_t connect_timeout_ms;
    int64_t retry_base_ms; /**< first pause of the exponential back-off; default 50 */
    int64_t retry_max_ms;  /**< longest pause; default 5000 */
    /**
     * An acquire fails with ZKR_ECONNLOSS after this many retries in a row; 0 = it retries until its deadline
     * (default).
     */
    int64_t retry_attempts;
    /**
     * Approximate pause between the lease probes while the client holds a lock; 0 = session timeout / 12 (default);
     * values above a quarter of the session timeout count as a quarter; negative = no probes, and valid_for then
     * returns ZKR_UNKNOWN. A shorter pause costs more writes, but leaves a longer lease at the worst moment: 0.2 of the
     * session timeout with a pause of a quarter, 0.55 with a twelfth, and 0.6 with a fifteenth.
     */
    int64_t lease_probe_ms;
    /**
     * Owner text of the client's nodes; default "host/pid/thread". Lines after the first are fields of the form
     * `key=value`; see zkr_contender_field().
     */
    const char *owner;
    const char *auth_scheme; /**< such as "digest"; NULL = none */
    const void *auth_cert;   /**< such as "user:password" */
    size_t auth_cert_len;    /**< bytes at auth_cert */
    /**
     * ACL of all nodes that the client creates, including missing parents; NULL = open to everyone, even if credentials
     * are given.
     */
    const struct ACL_vector *acl;
    /**
     * The highest level that is logged; default ZKR_LOG_WARN. Lines of libzookeeper about this client's connections go
     * to the same callback, but only up to ZKR_LOG_INFO, because libzookeeper reads freed memory when it writes debug
     * lines (ZOOKEEPER-4809).
     */
    int64_t log_level;
    zkr_log_fn log; /**< NULL = no log at all */
    void *log_ctx;
    zkr_state_fn on_state; /**< NULL = none */
    void *on_state_ctx;
    zkr_open_handle_fn open_handle; /**< NULL = zookeeper_init() */
    void *open_handle_ctx;
    /**
     * tickTime of the servers. If you set it, the lease lasts longer. With a short tick, the client sends more
     * probes. Default: half the session
     * timeout, the longest possible tick unless minSessionTimeout is set. session_timeout_ms must be at least two
     * ticks.
     */
    int64_t server_tick_ms;
    /**
     * The largest difference in rate between the clocks of this machine and of a server that the lease allows for, in
     * parts per million; at most 500000; default 1000.
     */
    int64_t lease_margin_ppm;
    /**
     * Not 0: a single answered write gives no lease; see zkr_client_valid_for_ms(). An acquire after an idle period is
     * then slower by about a quarter of the session timeout.
     */
    int64_t lease_no_stopgap;
    /** Not 0: no dispatch thread; callbacks run in zkr_client_dispatch(). */
    int64_t dispatch_by_application;
    /**
     * Further credentials of a session, sent in this order after auth_scheme and auth_cert; NULL = none.
     */
    const zkr_auth *more_auth;
    int64_t more_auth_count; /**< entries of more_auth */
    /**
     * Connect by TLS, with these PEM files: "CA,CERTIFICATE,KEY", and ",PASSWORD" if the key has a password; NULL = no
     * TLS. The server's port must be its secureClientPort. libzookeeper reads the files again for each connection. If
     * libzookeeper was built without OpenSSL, like Debian's, zkr_client_open() fails with ZKR_EINVAL; use stunnel
     * instead. libzookeeper accepts any server whose certificate is signed by that CA or by a CA that this machine
     * trusts. It does not verify host names.
     */
    const char *tls_cert;
    /**
     * Look ahead: the third and later waiters of a mutex also watch the node ahead of their predecessor, and fetch the
     * list and the lease that they need before their turn. Then a single event grants the mutex, at any depth of the
     * queue and after any wait. Each wait costs two more requests and four more packets from the server, and lease
     * probes while only the holder is ahead. 0 = only if a round trip takes a millisecond or longer (default); 1 =
     * always; -1 = never.
     */
    int64_t look_ahead;
    /**
     * A guardian: a process that ends the sessions of this client if its process has died without closing them. The
     * next contender then gets the locks within milliseconds, instead of after the session timeout. 0 = none (default);
     * or ZKR_GUARDIAN_REQUIRED, ZKR_GUARDIAN_TRY. See guardian.h.
     */
    int64_t guardian;
    /**
     * Not 0: hand a mutex over to a waiter on this host without waiting for the servers. 0 = off (default). At the
     * release, the holder's process notifies the next holder's process through a datagram socket, if both have the
     * option and run as the same user, in the same network namespace and the same process namespace. The servers still
     * define the queue, its order and the fencing tokens.
     *
     * The next holder starts some milliseconds before the servers have deleted the node of the previous holder. During
     * this time:
     *  - `zkr status` and zkr_mutex_contenders() show the previous holder;
     *  - a server might not have the previous holder's writes yet. The next zkr_client_get() of the new holder syncs
     *    first; reads on another handle need a sync;
     *  - a write that has no answer when you release may take effect after writes of the next holder. Wait for the
     *    answers to your own requests before you release. Writes by zkr_mutex_multi() and zkr_mutex_release_multi(),
     *    and holds for which zkr_mutex_guard() was called, need no such care, because the servers then hand the lock
     *    over;
     *  - if the previous holder dies, contenders without the option wait for the end of its session.
     *
     * The option does not change a mutex with robust, keep_ms or data, a multi-lock, a read-write lock, a semaphore or
     * an election. The client has one more thread and one more descriptor, and its node data have a field `nearby`.
     */
    int64_t nearby;
} zkr_client_options;

#define ZKR_CLIENT_OPTIONS_INIT                                                        \
    {                                                                                  \
        sizeof(zkr_client_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                            \
    }

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file test_proxy.h
 * Proxies that cause faults on connections, between a client and a server or between two servers. testing.h gives an
 * overview.
 */
#ifndef ZKR_TEST_PROXY_H
#define ZKR_TEST_PROXY_H

#include <stddef.h>
#include <stdint.h>

#include <zkr/error.h>
#include <zkr/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zkr_test_proxy zkr_test_proxy;

/** Directions through a proxy; may be combined. */
enum zkr_test_way {
    ZKR_TEST_TO_SERVER = 1, /**< from clients to the server */
    ZKR_TEST_TO_CLIENT = 2, /**< from the server to clients */
    ZKR_TEST_BOTH_WAYS = 3  /**< both */
};

/** Options of zkr_test_proxy_start(). Zero in a field means its default. */
typedef struct zkr_test_proxy_options {
    size_t size;         /**< sizeof(zkr_test_proxy_options) */
    const char *address; /**< IPv4 address to listen on; default "127.0.0.1" */
    int64_t port;        /**< port to listen on; default a free one */
    /**
     * Not 0: pass bytes on without recognising requests and replies, for links between servers.
     */
    int64_t raw;
} zkr_test_proxy_options;

#define ZKR_TEST_PROXY_OPTIONS_INIT                                                    \
    {                                                                                  \
        sizeof(zkr_test_proxy_options), 0, 0, 0                                        \
    }

/**
 * Habits of servers that support ZooKeeper's protocol but are another program or an old release. A proxy imitates a sum
 * of these habits.
 */
enum zkr_test_habit {
    /**
     * The server does not know create2 (which libzookeeper sends for a create that returns a Stat), createContainer and
     * createTTL, and closes the connection at such a request. The session continues. Earlier requests are executed, but
     * their outstanding answers are lost. Found in: ClickHouse Keeper before 26.2, RaftKeeper, zetcd.
     */
    ZKR_TEST_NO_CREATE2 = 1,
    /** As ZKR_TEST_NO_CREATE2, but only for createContainer and createTTL. Found in: ClickHouse Keeper 26.2 to 26.6. */
    ZKR_TEST_NO_CONTAINERS = 2,
    /**
     * With one of the two habits above: the server first answers the unknown request with -6 (unimplemented), ahead of
     * outstanding answers, and then closes the connection. Found in: ZooKeeper 3.4 (with ZKR_TEST_NO_CREATE2), and any
     * later release at an unknown operation.
     */
    ZKR_TEST_REFUSES = 4,
    /**
     * Each connection gets a new session, so a client that reconnects finds that its session has expired. At the
     * server, the old session remains with its ephemeral nodes until it times out. To end it earlier, call
     * zkr_test_expire_session() with the address of the server, not of the proxy. Found in: ClickHouse Keeper.
     */
    ZKR_TEST_NEW_SESSIONS = 8,
    /**
     * Each change of a child's data also raises the `cversion` of the parent, from which clients compute the next
     * sequence number. The proxy raises the `cversion` in Stats by the number of changes whose answers have passed the
     * proxy. Found in: ClickHouse Keeper.
     */
    ZKR_TEST_COUNTS_CHANGES = 16,
    /**
     * A new connection gets session 0, and is closed. Existing connections stay open until zkr_test_proxy_drop().
     * Found in: ClickHouse Keeper without a leader.
     */
    ZKR_TEST_NO_LEADER = 32
};

/** Counts of the messages that have passed a proxy. A request is any message with its own answer, except a ping. */
typedef struct zkr_test_counts {
    int64_t connections; /**< accepted so far */
    int64_t open;        /**< connections open now */
    int64_t requests;    /**< from clients */
    int64_t replies;     /**< to requests */
    int64_t events;      /**< of watches */
    int64_t pings;       /**< from clients */
    int64_t bytes[2];    /**< to the server, to clients */
} zkr_test_counts;

/**
 * Start a proxy. Clients that connect to the proxy reach a server through it, and the faults below affect these
 * clients.
 *
 * @out      the proxy on success; end it with zkr_test_proxy_stop().
 * @target   "host:port" of the server, IPv4; the proxy uses the first of several. The server need not run yet.
 * @options  NULL = defaults.
 *
 * Returns ZKR_OK, ZKR_EINVAL (also: no such host), ZKR_ENOMEM, ZKR_ESYS (the port is taken, no thread).
 *
 * Blocks:   for the lookup of the name.   Threads:  any.
 * Cost:     a thread, which blocks all signals.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_proxy_start(zkr_test_proxy **out,
                                 const char *target,
                                 const zkr_test_proxy_options *options);

/**
 * Close all connections, and end the proxy.
 *
 * @p  taken on success; NULL is a no-op.
 *
 * Returns ZKR_OK, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   until its thread has ended.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_proxy_stop(zkr_test_proxy *p);

/**
 * The address at which a proxy listens: "127.0.0.1:PORT". Open the client under test with this address.
 *
 * @p  borrowed.
 *
 * Returns the text, which is valid until the proxy is stopped; NULL for NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API const char *zkr_test_proxy_host(const zkr_test_proxy *p);

/**
 * Connect future clients to another server.
 *
 * @p       borrowed.
 * @target  as for zkr_test_proxy_start().
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   for the lookup of the name.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_proxy_target(zkr_test_proxy *p, const char *target);

/**
 * Cut the clients off: reset all connections, including new connections, until zkr_test_proxy_heal().
 *
 * @p  borrowed.
 *
 * Returns ZKR_OK when the proxy has done this; ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   for one iteration of the proxy's event loop, as do all functions below.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_proxy_cut(zkr_test_proxy *p);

/**
 * Reset all connections. New connections work.
 *
 * @p  borrowed.
 *
 * Returns the same codes as zkr_test_proxy_cut().
 *
 * Blocks:   as zkr_test_proxy_cut().   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_proxy_drop(zkr_test_proxy *p);

/**
 * Silence the connections: they stay open, but the proxy passes nothing on until zkr_test_proxy_heal(), which then
 * passes on the bytes that were held back.
 *
 * @p     borrowed.
 * @ways  ZKR_TEST_TO_SERVER, ZKR_TEST_TO_CLIENT or both. With TO_CLIENT alone, the servers execute requests that the
 *        client believes to be lost.
 *
 * Returns the same codes as zkr_test_proxy_cut().
 *
 * Blocks:   as zkr_test_proxy_cut().   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_proxy_silence(zkr_test_proxy *p, int ways);

/**
 * Delay all bytes that are sent from now on, without changing their order.
 *
 * @p     borrowed.
 * @ways  ZKR_TEST_TO_SERVER, ZKR_TEST_TO_CLIENT or both; with both, a round trip takes twice @ms longer.
 * @ms    milliseconds; 0 ends the delay.
 *
 * Returns the same codes as zkr_test_proxy_cut().
 *
 * Blocks:   as zkr_test_proxy_cut().   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_proxy_delay(zkr_test_proxy *p, int ways, int64_t ms);

/**
 * End all faults of this proxy, including faults that wait for a request. Habits remain until zkr_test_proxy_habits(p,
 * 0).
 *
 * @p  borrowed.
 *
 * Returns the same codes as zkr_test_proxy_cut().
 *
 * Blocks:   as zkr_test_proxy_cut().   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_proxy_heal(zkr_test_proxy *p);

/**
 * Break the connection right before a request reaches the server, which never executes it. This happens once; new
 * connections work.
 *
 * @p  borrowed.
 * @n  number of the request from now on, of all clients: 1 = the next; 0 = cancel the fault.
 *
 * Returns the same codes as zkr_test_proxy_cut().
 *
 * Blocks:   as zkr_test_proxy_cut().   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_proxy_lose_request(zkr_test_proxy *p, int n);

/**
 * Break the connection right after the proxy has passed a request on: the server executes it, and the client gets no
 * answer. This happens once; new connections work.
 *
 * @p  borrowed.
 * @n  number of the request from now on, of all clients: 1 = the next; 0 = cancel the fault.
 *
 * Returns the same codes as zkr_test_proxy_cut().
 *
 * Blocks:   as zkr_test_proxy_cut().   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_proxy_lose_reply(zkr_test_proxy *p, int n);

/**
 * Make the server behind the proxy behave like servers that are not ZooKeeper, from the next message on.
 *
 * @p       borrowed.
 * @habits  a sum of enum zkr_test_habit, which replaces the earlier habits; 0 = none. Habits remain until the next
 *          call, even across zkr_test_proxy_heal(). They have no effect with `raw`.
 *
 * Returns the codes of zkr_test_proxy_cut(); ZKR_EINVAL also if @habits is not such a sum, and for ZKR_TEST_REFUSES
 * without an operation to refuse.
 *
 * Blocks:   as zkr_test_proxy_cut().   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.2.
 */
ZKR_API int zkr_test_proxy_habits(zkr_test_proxy *p, int habits);

/**
 * Return the counts of the messages that have passed the proxy.
 *
 * @p     borrowed.
 * @out   receives the counts.
 * @size  sizeof(zkr_test_counts).
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_proxy_counts(zkr_test_proxy *p, zkr_test_counts *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif

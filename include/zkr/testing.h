/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file testing.h
 * Servers of your own and faults on demand, for tests of programs that use locks.
 *
 * A program must do the right thing when it loses a lock that it holds. With this library a test can make that
 * happen. It is not part of libzkrecipes: link with `pkg-config --libs zkrecipes-testing`, or with
 * `zkrecipes::testing` of CMake.
 *
 *     zkr_test_server_start(&server, NULL);
 *     zkr_client_open(&client, zkr_test_server_host(server), NULL);
 *     ... the program acquires a lock at /locks/backup, in this process or in another ...
 *     zkr_test_expire_holder(zkr_test_server_host(server), "/locks/backup");
 *     ... and must stop its work ...
 *
 * | fault | function | the holder is notified |
 * |---|---|---|
 * | its session ends | zkr_test_expire_holder() | when it re-connects: in less than a second |
 * | its node is deleted | zkr_test_delete_holder() | in milliseconds, once it has held for a tenth of its session timeout |
 * | its connection breaks, and works again | zkr_test_proxy_drop() | never: it keeps the lock |
 * | it is cut off | zkr_test_proxy_cut() | when its lease ends, before its session does |
 * | nothing gets through | zkr_test_proxy_silence() | when its lease ends |
 * | a request or its answer is lost | zkr_test_proxy_lose_request(), zkr_test_proxy_lose_reply() | never |
 * | servers freeze or die | zkr_test_server_freeze(), zkr_test_server_kill() | when its lease ends |
 *
 * The last column is about holders with this library, on servers started here. Only the faults that end the lease show
 * how zkr_mutex_valid_for_ms() counts down. When a session is ended from outside, or a node is deleted, the servers give
 * the lock to the next at once, and nothing can notify the holder before.
 *
 * **Servers** are child processes. Each listens on free ports of 127.0.0.1, and has a directory of its own below
 * $TMPDIR or /tmp, with its log. Both are removed by stop, and when your process exits. If your process is killed, its
 * servers die, too, and the first program that starts a server ten minutes later or more removes the directory. Any
 * number of programs can run servers at the same time. A server starts in about a second. It needs Java and ZooKeeper's jar: on Debian and
 * Ubuntu the packages default-jre-headless and zookeeper. Set $ZKR_TEST_JAVA to use another java, and
 * $ZKR_TEST_CLASSPATH to use other jars: "DIR/zookeeper.jar:DIR/lib/...", as for Java's -cp.
 *
 * On Linux, a server also dies when the **thread** that started it ends. Start servers from a thread that stays.
 *
 * **Fork.** A forked child cannot use its parent's servers and proxies: all functions that say so return
 * ZKR_ESTATE. It may connect to them, and start its own.
 *
 * Call no function here while another thread stops the same object. Otherwise all may be called from any thread.
 */
#ifndef ZKR_TESTING_H
#define ZKR_TESTING_H

#include <stddef.h>
#include <stdint.h>

#include <zkr/error.h>
#include <zkr/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- servers ------------------------------------------------------------------------------------------------- */

typedef struct zkr_test_server zkr_test_server;
typedef struct zkr_test_ensemble zkr_test_ensemble;

/** How to start servers. A field that is zero has its default. Everything is borrowed during the call. */
typedef struct zkr_test_server_options {
    size_t size; /**< sizeof(zkr_test_server_options) */
    /** milliseconds, 500: zoo.cfg's tickTime. A session lasts at least two. */
    int64_t tick_ms;
    int64_t min_session_ms;     /**< the shortest session timeout granted; 2 ticks */
    int64_t max_session_ms;     /**< the longest; 20 ticks */
    int64_t init_limit;         /**< in ticks, 20: initLimit */
    int64_t sync_limit;         /**< in ticks, 10: syncLimit */
    int64_t container_check_ms; /**< how often empty containers are deleted; 60000 */
    int64_t
        fsync; /**< not 0: wait for the disk at each write, as servers in production do */
    const char *config; /**< more lines for zoo.cfg; NULL = none */
    /** more arguments for Java, with spaces between, shorter than 256 together; NULL = none */
    const char *jvm_arguments;
    /**
     * For ensembles: called for each pair of servers. Returns the port through which server @from reaches the port
     * @port of server @to: that of a proxy with option `raw` between the two. May be called again with other ports.
     * Indexes count from 0. NULL = they connect directly.
     */
    int (*link_port)(void *ctx, int from, int to, int port);
    void *link_ctx; /**< for link_port */
} zkr_test_server_options;

#define ZKR_TEST_SERVER_OPTIONS_INIT                                                   \
    {                                                                                  \
        sizeof(zkr_test_server_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0               \
    }

/**
 * Start a server.
 *
 * @out      on success, a server that is ready; end it with zkr_test_server_stop().
 * @options  NULL = defaults.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ENOMEM, ZKR_ENOANSWER (it ended, as it does if $ZKR_TEST_CLASSPATH names a jar that
 * is not there, or was not ready within a minute; the message quotes its log), ZKR_ESYS (neither $ZKR_TEST_CLASSPATH nor
 * Debian's jar of ZooKeeper, no Java, no directory, no port, no process). After an error nothing is left.
 *
 * Blocks:   yes, about a second.
 * Threads:  one that lives as long as the server is needed.
 * Cost:     a process of about 100 MB.
 * Curator:  TestingServer.   Since: 0.1.
 */
ZKR_API int zkr_test_server_start(zkr_test_server **out,
                                  const zkr_test_server_options *options);

/**
 * Kill a server and remove its directory.
 *
 * @s  taken on success; NULL is a no-op.
 *
 * Returns ZKR_OK, ZKR_EINVAL (no server, or stopped before), ZKR_ESTATE (one of an ensemble, or in a forked child).
 *
 * Blocks:   until the process is gone.   Threads:  any.
 * Cost:     no request.
 * Curator:  TestingServer.close.   Since: 0.1.
 */
ZKR_API int zkr_test_server_stop(zkr_test_server *s);

/**
 * Where it listens: "127.0.0.1:PORT". It keeps that over a restart.
 *
 * @s  borrowed.
 *
 * Returns the text, which lives as long as the server; NULL for NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  TestingServer.getConnectString.   Since: 0.1.
 */
ZKR_API const char *zkr_test_server_host(const zkr_test_server *s);

/**
 * Its directory: `zoo.cfg`, `log`, `data`.
 *
 * @s  borrowed.
 *
 * Returns the text, which lives as long as the server; NULL for NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  TestingServer.getTempDirectory.   Since: 0.1.
 */
ZKR_API const char *zkr_test_server_dir(const zkr_test_server *s);

/**
 * Its process.
 *
 * @s  borrowed.
 *
 * Returns the process id, 0 while it does not run; ZKR_EINVAL for NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_server_pid(const zkr_test_server *s);

/**
 * Freeze a server, by SIGSTOP: connections stay open, and nothing is answered. No session ends in the
 * meantime. When the server goes on, it gives each session its full timeout again.
 *
 * @s  borrowed.
 *
 * Returns ZKR_OK, also when it was frozen; ZKR_EINVAL, ZKR_ESTATE (it does not run, or in a forked child).
 *
 * Blocks:   until it is frozen.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_server_freeze(zkr_test_server *s);

/**
 * Let a frozen server go on, by SIGCONT.
 *
 * @s  borrowed.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ESTATE (it does not run, or in a forked child).
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_server_thaw(zkr_test_server *s);

/**
 * Kill a server, by SIGKILL. zkr_test_server_restart() brings it back.
 *
 * @s  borrowed.
 *
 * Returns ZKR_OK, also when it did not run; ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   until the process is gone.   Threads:  any.
 * Cost:     no request.
 * Curator:  TestingServer.stop.   Since: 0.1.
 */
ZKR_API int zkr_test_server_kill(zkr_test_server *s);

/**
 * Kill a server if it runs, and start it again on the same port.
 *
 * @s     borrowed.
 * @wipe  not 0: without its data, and so without its sessions. Do not wipe a server of an ensemble if the others
 *        that run are not a majority.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ENOANSWER (it was not ready within a minute; in an ensemble it needs a majority),
 * ZKR_ESYS, ZKR_ESTATE (in a forked child). After an error it still has to be stopped.
 *
 * Blocks:   yes, about a second.
 * Threads:  one that lives as long as the server is needed.
 * Cost:     no request.
 * Curator:  TestingServer.restart.   Since: 0.1.
 */
ZKR_API int zkr_test_server_restart(zkr_test_server *s, int wipe);

/**
 * Start an ensemble.
 *
 * @out      on success, an ensemble of servers that are all ready; end it with zkr_test_ensemble_stop().
 * @n        number of servers, 1 to 9.
 * @options  for each of them; NULL = defaults.
 *
 * Returns as zkr_test_server_start().
 *
 * Blocks:   yes, about two seconds.
 * Threads:  one that lives as long as the ensemble is needed.
 * Cost:     @n processes.
 * Curator:  TestingCluster.   Since: 0.1.
 */
ZKR_API int zkr_test_ensemble_start(zkr_test_ensemble **out,
                                    int n,
                                    const zkr_test_server_options *options);

/**
 * Stop all servers of an ensemble.
 *
 * @e  taken on success; NULL is a no-op.
 *
 * Returns ZKR_OK, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   until the processes are gone.   Threads:  any.
 * Cost:     no request.
 * Curator:  TestingCluster.close.   Since: 0.1.
 */
ZKR_API int zkr_test_ensemble_stop(zkr_test_ensemble *e);

/**
 * Where its servers listen: "127.0.0.1:PORT,127.0.0.1:PORT,…".
 *
 * @e  borrowed.
 *
 * Returns the text, which lives as long as the ensemble; NULL for NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  TestingCluster.getConnectString.   Since: 0.1.
 */
ZKR_API const char *zkr_test_ensemble_hosts(const zkr_test_ensemble *e);

/**
 * One of its servers.
 *
 * @e      borrowed.
 * @index  from 0, in the order of zkr_test_ensemble_hosts().
 *
 * Returns the server, owned by the ensemble; NULL when there is none.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  TestingCluster.getServers.   Since: 0.1.
 */
ZKR_API zkr_test_server *zkr_test_ensemble_server(const zkr_test_ensemble *e,
                                                  int index);

/**
 * Wait until one server leads and a majority serves.
 *
 * @e           borrowed.
 * @timeout_ms  milliseconds; 0 = only check.
 *
 * Returns the index of the leader; ZKR_EINVAL, ZKR_ETIMEDOUT.
 *
 * Blocks:   yes.   Threads:  any.
 * Cost:     a four-letter word to each server, every 10 ms.
 * Curator:  TestingCluster.findConnectionInstance.   Since: 0.1.
 */
ZKR_API int zkr_test_ensemble_leader(const zkr_test_ensemble *e, int64_t timeout_ms);

/* ---- connections --------------------------------------------------------------------------------------------- */

typedef struct zkr_test_proxy zkr_test_proxy;

/** Directions through a proxy; may be combined. */
enum zkr_test_way {
    ZKR_TEST_TO_SERVER = 1, /**< from clients to the server */
    ZKR_TEST_TO_CLIENT = 2, /**< from the server to clients */
    ZKR_TEST_BOTH_WAYS = 3  /**< both */
};

/** How to start a proxy. A field that is zero has its default. */
typedef struct zkr_test_proxy_options {
    size_t size;         /**< sizeof(zkr_test_proxy_options) */
    const char *address; /**< IPv4 address to listen at; "127.0.0.1" */
    int64_t port;        /**< port to listen at; a free one */
    int64_t
        raw; /**< not 0: for links between servers. Bytes are passed on; requests and replies are not recognised. */
} zkr_test_proxy_options;

#define ZKR_TEST_PROXY_OPTIONS_INIT                                                    \
    {                                                                                  \
        sizeof(zkr_test_proxy_options), 0, 0, 0                                        \
    }

/** What has passed a proxy. A request is a message that has an answer of its own, pings excepted. */
typedef struct zkr_test_counts {
    int64_t connections; /**< accepted so far */
    int64_t open;        /**< of them, with a client now */
    int64_t requests;    /**< of clients */
    int64_t replies;     /**< to requests */
    int64_t events;      /**< of watches */
    int64_t pings;       /**< of clients */
    int64_t bytes[2];    /**< to the server, to clients */
} zkr_test_counts;

/**
 * Start a proxy: clients that connect to it reach a server, and each fault below affects them.
 *
 * @out      the proxy on success; end it with zkr_test_proxy_stop().
 * @target   "host:port" of the server, IPv4; the first if there are several. It need not run yet.
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
 * Where it listens: "127.0.0.1:PORT". Open the client under test with this.
 *
 * @p  borrowed.
 *
 * Returns the text, which lives as long as the proxy; NULL for NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API const char *zkr_test_proxy_host(const zkr_test_proxy *p);

/**
 * Lead future connections to another server.
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
 * Cut the clients off: reset all connections, and each new one, until zkr_test_proxy_heal().
 *
 * @p  borrowed.
 *
 * Returns ZKR_OK when that has happened; ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   for one turn of the proxy's thread, like all functions below.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_proxy_cut(zkr_test_proxy *p);

/**
 * Reset all connections. New ones work.
 *
 * @p  borrowed.
 *
 * Returns as zkr_test_proxy_cut().
 *
 * Blocks:   as zkr_test_proxy_cut().   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_proxy_drop(zkr_test_proxy *p);

/**
 * Pass nothing on: connections stay open but silent until zkr_test_proxy_heal(). What was held back is passed on
 * then.
 *
 * @p     borrowed.
 * @ways  ZKR_TEST_TO_SERVER, ZKR_TEST_TO_CLIENT or both. With TO_CLIENT alone, the servers execute requests that the
 *        client believes to be lost.
 *
 * Returns as zkr_test_proxy_cut().
 *
 * Blocks:   as zkr_test_proxy_cut().   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_proxy_silence(zkr_test_proxy *p, int ways);

/**
 * Delay everything that is sent from now on. The order is kept.
 *
 * @p     borrowed.
 * @ways  ZKR_TEST_TO_SERVER, ZKR_TEST_TO_CLIENT or both; with both, a round trip takes twice @ms longer.
 * @ms    milliseconds; 0 ends it.
 *
 * Returns as zkr_test_proxy_cut().
 *
 * Blocks:   as zkr_test_proxy_cut().   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_proxy_delay(zkr_test_proxy *p, int ways, int64_t ms);

/**
 * End every fault of this proxy, including those that wait for a request.
 *
 * @p  borrowed.
 *
 * Returns as zkr_test_proxy_cut().
 *
 * Blocks:   as zkr_test_proxy_cut().   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_proxy_heal(zkr_test_proxy *p);

/**
 * Break the connection right before a request reaches the server: it is never executed. Once; new connections work.
 *
 * @p  borrowed.
 * @n  which request from now on, of all clients: 1 = the next; 0 = none after all.
 *
 * Returns as zkr_test_proxy_cut().
 *
 * Blocks:   as zkr_test_proxy_cut().   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_proxy_lose_request(zkr_test_proxy *p, int n);

/**
 * Break the connection right after a request has been passed on: the server executes it, and the client gets no
 * answer. Once; new connections work.
 *
 * @p  borrowed.
 * @n  which request from now on, of all clients: 1 = the next; 0 = none after all.
 *
 * Returns as zkr_test_proxy_cut().
 *
 * Blocks:   as zkr_test_proxy_cut().   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_proxy_lose_reply(zkr_test_proxy *p, int n);

/**
 * What has passed.
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

/* ---- loss ---------------------------------------------------------------------------------------------------- */

/**
 * End a session from outside, by taking it over and closing it. This works for any session, of any client and
 * language: ZooKeeper's servers compute the password of a session from its id.
 *
 * @servers     connection string.
 * @session_id  as zkr_client_session_id() returns it.
 *
 * Its owner loses the connection, and is notified when it re-connects. Servers that were not started here may, one
 * time in fifty, leave that connection open and silent. The owner then notices after two thirds of its session timeout.
 *
 * Returns ZKR_OK when the server that was asked has ended the session and deleted its ephemeral nodes, so that
 * the next in the queue gets its locks; ZKR_EINVAL, ZKR_ESESSION (the servers do not know the session: it has ended
 * before), ZKR_ENOANSWER.
 *
 * Blocks:   yes, some milliseconds; 5 s when no server answers.   Threads:  any.
 * Session:  as if its timeout had passed.
 * Cost:     2 connections.
 * Curator:  KillSession.   Since: 0.1.
 */
ZKR_API int zkr_test_expire_session(const char *servers, int64_t session_id);

/**
 * End the session of whoever holds a lock: zkr_test_expire_session().
 *
 * @servers  connection string.
 * @path     of a mutex, of a side of a read-write lock, of an election; "PATH/leases" of a semaphore.
 *
 * Returns as zkr_test_expire_session(), ZKR_ENONODE if nobody holds, and the codes of zkr_mutex_contenders().
 *
 * Blocks:   yes, some milliseconds; 20 s when no server answers.   Threads:  any but callbacks of a client.
 * Cost:     a session, and 2 connections.
 * Curator:  KillSession.   Since: 0.1.
 */
ZKR_API int zkr_test_expire_holder(const char *servers, const char *path);

/**
 * Delete the node of whoever holds a lock, as an administrator might: zkr_mutex_evict().
 *
 * @servers  connection string.
 * @path     as for zkr_test_expire_holder().
 *
 * Returns ZKR_OK, ZKR_ENONODE if nobody holds, and the codes of zkr_mutex_contenders() and zkr_mutex_evict().
 *
 * Blocks:   yes, some milliseconds; 20 s when no server answers.   Threads:  any but callbacks of a client.
 * Session:  goes on; its owner is notified by its own watch.
 * Cost:     a session, and 2 requests.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_delete_holder(const char *servers, const char *path);

#ifdef __cplusplus
}
#endif

#endif

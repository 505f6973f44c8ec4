/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file test_server.h
 * Servers and ensembles of your own. testing.h has the overview.
 */
#ifndef ZKR_TEST_SERVER_H
#define ZKR_TEST_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include <zkr/error.h>
#include <zkr/export.h>

#ifdef __cplusplus
extern "C" {
#endif

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
    /** Not 0: wait for the disk at each write, as servers in production do. */
    int64_t fsync;
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
 * The server's address, "127.0.0.1:PORT"; a restart keeps it.
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
 * Returns the process id; 0 while it does not run, and in a forked child; ZKR_EINVAL for NULL.
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

#ifdef __cplusplus
}
#endif

#endif

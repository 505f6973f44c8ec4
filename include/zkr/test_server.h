/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file test_server.h
 * Starting and stopping private servers and ensembles. testing.h gives an overview.
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

/** Options of servers. Zero in a field means its default. All pointers are borrowed during the call. */
typedef struct zkr_test_server_options {
    size_t size; /**< sizeof(zkr_test_server_options) */
    /** tickTime in zoo.cfg, in milliseconds; default 500. Sessions last at least two ticks. */
    int64_t tick_ms;
    int64_t min_session_ms; /**< shortest timeout granted; default 2 ticks */
    int64_t max_session_ms; /**< longest timeout granted; default 20 ticks */
    int64_t init_limit;     /**< initLimit, in ticks; default 20 */
    int64_t sync_limit;     /**< syncLimit, in ticks; default 10 */
    int64_t
        container_check_ms; /**< interval of deletes of empty containers; default 60000 */
    /** Not 0: wait for the disk at each write, like servers in production. */
    int64_t fsync;
    const char *config; /**< additional lines for zoo.cfg; NULL = none */
    /** Additional arguments for Java, separated by spaces, together shorter than 256 bytes; NULL = none. */
    const char *jvm_arguments;
    /**
     * For ensembles: called for each pair of servers. Returns the port through which server @from reaches port @port of
     * server @to, which is the port of a proxy with the option `raw`. May be called again with other ports. Indexes
     * start at 0. NULL = the servers connect directly.
     */
    int (*link_port)(void *ctx, int from, int to, int port);
    void *link_ctx; /**< passed to link_port */
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
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ENOMEM, ZKR_ENOANSWER (the server ended, for example because a jar of
 * $ZKR_TEST_CLASSPATH is missing, or it was not ready within a minute; the message quotes its log), ZKR_ESYS (neither
 * $ZKR_TEST_CLASSPATH nor Debian's jar of ZooKeeper, no Java, no directory, no port, no process). After an error,
 * nothing remains.
 *
 * Blocks:   yes, about a second.
 * Threads:  starts one thread, which runs while the server is needed.
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
 * Returns ZKR_OK, ZKR_EINVAL (NULL, or stopped before), ZKR_ESTATE (one of an ensemble, or in a forked child).
 *
 * Blocks:   until the process has ended.   Threads:  any.
 * Cost:     no request.
 * Curator:  TestingServer.close.   Since: 0.1.
 */
ZKR_API int zkr_test_server_stop(zkr_test_server *s);

/**
 * The server's address, "127.0.0.1:PORT"; a restart keeps it.
 *
 * @s  borrowed.
 *
 * Returns the text, which is valid until the server is stopped; NULL for NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  TestingServer.getConnectString.   Since: 0.1.
 */
ZKR_API const char *zkr_test_server_host(const zkr_test_server *s);

/**
 * The directory of a server, which contains `zoo.cfg`, `log` and `data`.
 *
 * @s  borrowed.
 *
 * Returns the text, which is valid until the server is stopped; NULL for NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  TestingServer.getTempDirectory.   Since: 0.1.
 */
ZKR_API const char *zkr_test_server_dir(const zkr_test_server *s);

/**
 * The process of a server.
 *
 * @s  borrowed.
 *
 * Returns the process id; 0 while the server is not running, and in a forked child; ZKR_EINVAL for NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_server_pid(const zkr_test_server *s);

/**
 * Freeze a server with SIGSTOP: its connections stay open, but it does not answer. No session ends in the meantime.
 * When the server continues, it gives each session its full timeout again.
 *
 * @s  borrowed.
 *
 * Returns ZKR_OK, also if the server was already frozen; ZKR_EINVAL, ZKR_ESTATE (the server is not running, or in a
 * forked child).
 *
 * Blocks:   until it is frozen.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_server_freeze(zkr_test_server *s);

/**
 * Continue a frozen server with SIGCONT.
 *
 * @s  borrowed.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ESTATE (the server is not running, or in a forked child).
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_test_server_thaw(zkr_test_server *s);

/**
 * Kill a server with SIGKILL. zkr_test_server_restart() starts it again.
 *
 * @s  borrowed.
 *
 * Returns ZKR_OK, also if the server did not run; ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   until the process has ended.   Threads:  any.
 * Cost:     no request.
 * Curator:  TestingServer.stop.   Since: 0.1.
 */
ZKR_API int zkr_test_server_kill(zkr_test_server *s);

/**
 * Kill a server if it runs, and start it again on the same port.
 *
 * @s     borrowed.
 * @wipe  not 0: first delete its data, including its sessions. Wipe a server of an ensemble only if the other running
 *        servers are a majority.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ENOANSWER (the server was not ready within a minute; in an ensemble this needs a
 * majority), ZKR_ESYS, ZKR_ESTATE (in a forked child). After an error, the server must still be stopped.
 *
 * Blocks:   yes, about a second.
 * Threads:  starts one thread, which runs while the server is needed.
 * Cost:     no request.
 * Curator:  TestingServer.restart.   Since: 0.1.
 */
ZKR_API int zkr_test_server_restart(zkr_test_server *s, int wipe);

/**
 * Start an ensemble.
 *
 * @out      on success, an ensemble of servers that are all ready; end it with zkr_test_ensemble_stop().
 * @n        number of servers, 1 to 9.
 * @options  for each server; NULL = defaults.
 *
 * Returns the same codes as zkr_test_server_start().
 *
 * Blocks:   yes, about two seconds.
 * Threads:  starts one thread, which runs while the ensemble is needed.
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
 * Blocks:   until the processes have ended.   Threads:  any.
 * Cost:     no request.
 * Curator:  TestingCluster.close.   Since: 0.1.
 */
ZKR_API int zkr_test_ensemble_stop(zkr_test_ensemble *e);

/**
 * The addresses of an ensemble's servers: "127.0.0.1:PORT,127.0.0.1:PORT,…".
 *
 * @e  borrowed.
 *
 * Returns the text, which is valid until the ensemble is stopped; NULL for NULL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  TestingCluster.getConnectString.   Since: 0.1.
 */
ZKR_API const char *zkr_test_ensemble_hosts(const zkr_test_ensemble *e);

/**
 * One server of an ensemble.
 *
 * @e      borrowed.
 * @index  from 0, in the order of zkr_test_ensemble_hosts().
 *
 * Returns the server, owned by the ensemble; NULL if there is no such server.
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
 * Cost:     a four-letter command to each server, every 10 ms.
 * Curator:  TestingCluster.findConnectionInstance.   Since: 0.1.
 */
ZKR_API int zkr_test_ensemble_leader(const zkr_test_ensemble *e, int64_t timeout_ms);

#ifdef __cplusplus
}
#endif

#endif

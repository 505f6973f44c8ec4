/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_SERVER_H
#define ZKT_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Real ZooKeeper servers as child processes on free loopback ports, each with a directory
 * of its own under $TMPDIR or /tmp. Whatever still runs when the program exits is killed
 * and its directory removed; a program that dies takes its servers with it (directories
 * it left are removed by a later program).
 *
 * A server dies with the *thread* that launched it: launch from one that stays. Calls that
 * cannot do what they say fail the running test and show the end of the server's log.
 *
 * $ZKT_JAVA and $ZKT_CLASSPATH replace the java of $PATH and Debian's jars.
 */

typedef struct zkt_server zkt_server;
typedef struct zkt_ensemble zkt_ensemble;

/** Zero means the default; NULL options are all defaults. */
typedef struct zkt_server_options {
    int tick_ms;            /* 500 */
    int min_session_ms;     /* 2 ticks */
    int max_session_ms;     /* 20 ticks */
    int init_limit;         /* 20 ticks */
    int sync_limit;         /* 10 ticks */
    int container_check_ms; /* 60000: how often empty containers are swept */
    bool fsync;             /* wait for the disk at every write */
    const char *config;     /* more lines for zoo.cfg; outlives the server */
    const char *java;       /* one more argument for the JVM; outlives the server */

    /*
     * Ensembles only, or NULL: the port on which server @from finds the quorum port @port
     * of server @to (indexes from 0), for a proxy between the two. Called for every pair
     * of different servers, and again with other ports if the start has to be repeated.
     */
    int (*link_port)(void *ctx, int from, int to, int port);
    void *link_ctx;
} zkt_server_options;

/** A standalone server that serves. Never NULL. Ended with the case that starts it, as an ensemble is. */
zkt_server *zkt_server_start(const zkt_server_options *o);

/** Kill it, remove its directory, free it. NULL is fine. Not for members of an ensemble. */
void zkt_server_stop(zkt_server *s);

/** "127.0.0.1:port" */
const char *zkt_server_host(const zkt_server *s);
const char *zkt_server_dir(const zkt_server *s);

/** 0 while it does not run. */
pid_t zkt_server_pid(const zkt_server *s);

/** SIGSTOP, back when it stands still; SIGCONT. */
void zkt_server_freeze(zkt_server *s);
void zkt_server_thaw(zkt_server *s);

/** SIGKILL, back when it is gone. */
void zkt_server_kill(zkt_server *s);

/** Kill it if it runs, @wipe its data or keep it, start it on the same port and wait. */
void zkt_server_restart(zkt_server *s, bool wipe);

/** The two halves of a start: launch, and wait until it serves. */
void zkt_server_launch(zkt_server *s);
bool zkt_server_wait(zkt_server *s, int64_t timeout_ms);

/** Whether a line of what it has logged so far contains @words. */
bool zkt_server_log_says(const zkt_server *s, const char *words);

/** Session time-outs that it grants from its next start on; 0 = as before. */
void zkt_server_limits(const zkt_server *s, int min_session_ms, int max_session_ms);

/** Delete the data of a server that does not run. */
void zkt_server_wipe(zkt_server *s);

/** @n servers of which every one serves. Never NULL. */
zkt_ensemble *zkt_ensemble_start(int n, const zkt_server_options *o);
void zkt_ensemble_stop(zkt_ensemble *e);

/** "127.0.0.1:port,127.0.0.1:port,..." in the order of the indexes */
const char *zkt_ensemble_hosts(const zkt_ensemble *e);
int zkt_ensemble_size(const zkt_ensemble *e);
zkt_server *zkt_ensemble_server(const zkt_ensemble *e, int index);

/** Index of the server that says it leads and is not frozen, or -1; asks once. */
int zkt_ensemble_leader(const zkt_ensemble *e);

/** Wait until one leads and, with it, a majority serves. Returns the leader's index. */
int zkt_ensemble_wait(const zkt_ensemble *e, int64_t timeout_ms);

/** Whether @pid is a server started here. */
bool zkt_server_knows(pid_t pid);

/**
 * Connection string of the one server the tests of a program share: $ZKR_SERVERS when set,
 * else a standalone server started at the first call.
 */
const char *zkt_servers(void);

/** What zkt_servers() returned before, or NULL when it was not called yet. */
const char *zkt_servers_known(void);

/** Whether nobody else uses zkt_servers(): false with $ZKR_SERVERS. */
bool zkt_servers_private(void);

/** Restart it without data, where it is private and runs: after a case that has left sessions there. */
void zkt_servers_anew(void);

/** Group fixtures for cmocka: zkt_servers() and zkt_baseline(); stop it. */
int zkt_group_setup(void **state);
int zkt_group_teardown(void **state);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_SERVER_H
#define ZKT_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <zkr/testing.h>

#include "expect.h"
#include "testing/server.h"

/*
 * The functions of zkr/testing.h for tests of the library, and more functions. A call that cannot do its work fails the
 * running test. A server ends with its case.
 */

typedef zkr_test_server zkt_server;
typedef zkr_test_ensemble zkt_ensemble;
typedef zkr_test_server_options zkt_server_options;

/**
 * Start a server, which ends with the case, as does an ensemble. @o NULL = defaults. The size of @o is filled in. Never
 * returns NULL.
 */
zkt_server *zkt_server_start(const zkt_server_options *o);
void zkt_server_stop(zkt_server *s);
#define zkt_server_host zkr_test_server_host
#define zkt_server_dir zkr_test_server_dir
#define zkt_server_pid zkr_test_server_pid
void zkt_server_freeze(zkt_server *s);
void zkt_server_thaw(zkt_server *s);
void zkt_server_kill(zkt_server *s);
#define zkt_server_restart(s, wipe) ZKT_MUST(zkr_test_server_restart((s), (wipe)))

/** The two halves of a start: the first launches the server, and the second waits until it serves. */
#define zkt_server_launch(s) ZKT_MUST(zkr__test_server_launch(s))
#define zkt_server_wait zkr__test_server_wait

/** Returns whether a line of the server's log contains @words. */
#define zkt_server_log_says zkr__test_server_log_says

/** Set the session timeouts that the server grants after its next start. 0 = unchanged. */
#define zkt_server_limits(s, min_session_ms, max_session_ms)                           \
    ZKT_MUST(zkr__test_server_limits((s), (min_session_ms), (max_session_ms)))

/** Start an ensemble of @n servers, and wait until all of them serve. Never returns NULL. */
zkt_ensemble *zkt_ensemble_start(int n, const zkt_server_options *o);
void zkt_ensemble_stop(zkt_ensemble *e);
#define zkt_ensemble_hosts zkr_test_ensemble_hosts
#define zkt_ensemble_server zkr_test_ensemble_server
int zkt_ensemble_size(const zkt_ensemble *e);

/** Returns the index of the server that reports that it leads and is not frozen, or -1. Queries each server once. */
int zkt_ensemble_leader(const zkt_ensemble *e);

/** Wait until a leader and a majority serve. Returns the leader's index. */
int zkt_ensemble_wait(const zkt_ensemble *e, int64_t timeout_ms);

/** Returns whether this program has started the server @pid. */
#define zkt_server_knows zkr__test_server_knows

/**
 * Returns the connection string of the program's shared server: $ZKR_SERVERS, or else a server that the first call
 * starts.
 */
const char *zkt_servers(void);

/**
 * Returns @hosts, but if these are zkt_servers() behind a habit of with_server, returns the servers themselves. Used
 * for requests that a test makes directly. The text is valid until the next call in this thread.
 */
const char *zkt_direct(const char *hosts);

/** Returns what zkt_servers() has returned, or NULL if it was not called yet. */
const char *zkt_servers_known(void);

/** Returns whether nobody else uses zkt_servers(). Returns false with $ZKR_SERVERS. */
bool zkt_servers_private(void);

/**
 * If the shared server is private and runs, restart it without data. Used after a case that has left sessions there.
 */
void zkt_servers_anew(void);

/** Group fixtures for cmocka. The set-up calls zkt_servers() and zkt_baseline(), and the teardown stops the server. */
int zkt_group_setup(void **state);
int zkt_group_teardown(void **state);

#endif

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
 * zkr/testing.h, where a call that cannot do what it says fails the running test and a server ends with its case; and
 * more that tests of the library need.
 */

typedef zkr_test_server zkt_server;
typedef zkr_test_ensemble zkt_ensemble;
typedef zkr_test_server_options zkt_server_options;

/** @o NULL = defaults; its size is filled in. Never returns NULL. Ended with the case, as an ensemble is. */
zkt_server *zkt_server_start(const zkt_server_options *o);
void zkt_server_stop(zkt_server *s);
#define zkt_server_host zkr_test_server_host
#define zkt_server_dir zkr_test_server_dir
#define zkt_server_pid zkr_test_server_pid
void zkt_server_freeze(zkt_server *s);
void zkt_server_thaw(zkt_server *s);
void zkt_server_kill(zkt_server *s);
#define zkt_server_restart(s, wipe) ZKT_MUST(zkr_test_server_restart((s), (wipe)))

/** The two halves of a start: launch, and wait until the server serves. */
#define zkt_server_launch(s) ZKT_MUST(zkr__test_server_launch(s))
#define zkt_server_wait zkr__test_server_wait

/** Does a line of its log contain @words? */
#define zkt_server_log_says zkr__test_server_log_says

/** Session timeouts that the server grants from its next start on; 0 = as before. */
#define zkt_server_limits(s, min_session_ms, max_session_ms)                           \
    ZKT_MUST(zkr__test_server_limits((s), (min_session_ms), (max_session_ms)))

/** An ensemble whose @n servers all serve. Never NULL. */
zkt_ensemble *zkt_ensemble_start(int n, const zkt_server_options *o);
void zkt_ensemble_stop(zkt_ensemble *e);
#define zkt_ensemble_hosts zkr_test_ensemble_hosts
#define zkt_ensemble_server zkr_test_ensemble_server
int zkt_ensemble_size(const zkt_ensemble *e);

/** Index of the server that says that it leads and is not frozen, or -1. Asks once. */
int zkt_ensemble_leader(const zkt_ensemble *e);

/** Wait until a leader and a majority serve. Returns the leader's index. */
int zkt_ensemble_wait(const zkt_ensemble *e, int64_t timeout_ms);

/** Was the server @pid started here? */
#define zkt_server_knows zkr__test_server_knows

/** Connection string of the program's shared server: $ZKR_SERVERS, else a server that is started at the first call. */
const char *zkt_servers(void);

/**
 * @hosts, but the servers themselves where these are zkt_servers() behind a habit of with_server, for what a test does
 * itself. The text lasts until the next call in this thread.
 */
const char *zkt_direct(const char *hosts);

/** What zkt_servers() has returned; NULL: it was not called yet. */
const char *zkt_servers_known(void);

/** Does nobody else use zkt_servers()? False with $ZKR_SERVERS. */
bool zkt_servers_private(void);

/** Restart the shared server without data, if it is private and runs, after a case that has left sessions there. */
void zkt_servers_anew(void);

/** Group fixtures for cmocka: zkt_servers() and zkt_baseline(); and the stop of the server. */
int zkt_group_setup(void **state);
int zkt_group_teardown(void **state);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_SERVER_H
#define ZKT_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <zkr/testing.h>

#include "testing/server.h"

/*
 * zkr/testing.h, where a call that cannot do what it says fails the running test, and what a case starts is
 * ended with it; and what only tests of the library need.
 */

typedef zkr_test_server zkt_server;
typedef zkr_test_ensemble zkt_ensemble;
typedef zkr_test_server_options zkt_server_options;

/** @o NULL = defaults; its size is filled in. Never NULL. Ended with the case that starts it, as an ensemble is. */
zkt_server *zkt_server_start(const zkt_server_options *o);
void zkt_server_stop(zkt_server *s);
#define zkt_server_host zkr_test_server_host
#define zkt_server_dir zkr_test_server_dir
#define zkt_server_pid zkr_test_server_pid
void zkt_server_freeze(zkt_server *s);
void zkt_server_thaw(zkt_server *s);
void zkt_server_kill(zkt_server *s);
void zkt_server_restart(zkt_server *s, bool wipe);

/** The two halves of a start: launch, and wait until it serves. */
void zkt_server_launch(zkt_server *s);
#define zkt_server_wait zkr__test_server_wait

/** Whether a line of what it has logged so far contains @words. */
#define zkt_server_log_says zkr__test_server_log_says

/** Session time-outs that it grants from its next start on; 0 = as before. */
void zkt_server_limits(const zkt_server *s, int min_session_ms, int max_session_ms);

/** @n servers of which every one serves. Never NULL. */
zkt_ensemble *zkt_ensemble_start(int n, const zkt_server_options *o);
void zkt_ensemble_stop(zkt_ensemble *e);
#define zkt_ensemble_hosts zkr_test_ensemble_hosts
#define zkt_ensemble_server zkr_test_ensemble_server
int zkt_ensemble_size(const zkt_ensemble *e);

/** Index of the server that says it leads and is not frozen, or -1; asks once. */
int zkt_ensemble_leader(const zkt_ensemble *e);

/** Wait until one leads and, with it, a majority serves. Returns the leader's index. */
int zkt_ensemble_wait(const zkt_ensemble *e, int64_t timeout_ms);

/** Whether @pid is a server started here. */
#define zkt_server_knows zkr__test_server_knows

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

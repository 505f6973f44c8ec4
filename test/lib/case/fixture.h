/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_FIXTURE_H
#define ZKT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <zkr/zkr.h>

#include "clean.h"
#include "door.h"
#include "proxy.h"
#include "raw.h"
#include "server.h"
#include "util.h"

/*
 * One server a program, one path a test, and nothing left after each: no child, watch, thread,
 * descriptor or process.
 *
 *     int main(void)
 *     {
 *         const struct CMUnitTest tests[] = {ZKT_TEST(a_free_lock_is_granted)};
 *         return cmocka_run_group_tests(tests, zkt_group_setup, zkt_group_teardown);
 *     }
 */
#define ZKT_TEST(name) cmocka_unit_test_setup_teardown(name, zkt_enter, zkt_leave)

int zkt_enter(void **state);
int zkt_leave(void **state);

/** The path of the present test, which need not exist. */
const char *zkt_path(void);

/** Watches at that path and below it, at all of zkt_servers(). */
int64_t zkt_watches(void);

/** A connected client, through zkt_door, with this session time-out; fails the test if it cannot. */
zkr_client *zkt_client(const char *hosts, int64_t session_ms);
/** The same with more options. */
zkr_client *zkt_client_with(const char *hosts, const zkr_client_options *options);
/** Close and check. */
void zkt_close(zkr_client *c);

/** A mutex on the path of the test. */
zkr_mutex *zkt_mutex(zkr_client *c);
/** Destroy and check. */
void zkt_destroy(zkr_mutex *m);

/** A time-out, too short perhaps for a server to have answered meanwhile. */
#define ZKT_TIMED_OUT(rc) ((rc) == ZKR_ETIMEDOUT || (rc) == ZKR_ENOANSWER)

/** End the client's session at the server; returns when the client has noticed. */
void zkt_expire(zkr_client *c);
/** The same, without waiting. */
void zkt_expire_start(zkr_client *c);

/**
 * Ask again and again until the mutex of the calling thread is not sure any more: how far, in
 * zkt_now_ms(), it ever claimed to be.
 */
int64_t zkt_latest_claim(zkr_mutex *m);

/** assert_int_equal() with the thread's error text. */
#define ZKT_MUST(call) zkt_check((call), #call, __FILE__, __LINE__)
void zkt_check(int rc, const char *call, const char *file, int line);

#endif

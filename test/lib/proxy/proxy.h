/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_PROXY_H
#define ZKT_PROXY_H

#include <zkr/testing.h>

#include "expect.h"
#include "testing/proxy.h"

/*
 * The proxy of zkr/testing.h, with more functions that tests of the library need. A call that cannot do its work fails
 * the running test. Calls are allowed from any thread, and all except zkt_proxy_stop() also from the hook.
 *
 * Requests of a client have an xid above 0. Closing a session is a request. The connect request, pings, auth and
 * set-watches are passed on but do not count.
 */
typedef zkr_test_proxy zkt_proxy;
typedef zkr_test_counts zkt_proxy_counts;

enum { ZKT_TO_SERVER = ZKR__TO_SERVER, ZKT_TO_CLIENT = ZKR__TO_CLIENT };

/** Start a proxy on a free loopback port for connections to @target, "host:port". It ends with the case. */
zkt_proxy *zkt_proxy_start(const char *target);

/** Like zkt_proxy_start(), for a protocol other than the clients'. */
zkt_proxy *zkt_proxy_start_raw(const char *target);

/** Like zkt_proxy_start(), on a free loopback address and port. */
zkt_proxy *zkt_proxy_start_at(const char *address, int port, const char *target);

void zkt_proxy_stop(zkt_proxy *p);
#define zkt_proxy_host zkr_test_proxy_host
#define zkt_proxy_port zkr__test_proxy_port
#define zkt_proxy_habits(p, habits) ZKT_MUST(zkr_test_proxy_habits((p), (habits)))
/** Habits of servers that lack operations, but on which all recipes work. */
static const int zkt_lacking[] = {
    ZKR_TEST_NO_CREATE2,
    ZKR_TEST_NO_CREATE2 | ZKR_TEST_REFUSES,
    ZKR_TEST_NO_CONTAINERS,
    ZKR_TEST_NO_CONTAINERS | ZKR_TEST_REFUSES,
    ZKR_TEST_NO_CREATE2 | ZKR_TEST_NEW_SESSIONS,
    ZKR_TEST_NO_CONTAINERS | ZKR_TEST_NEW_SESSIONS,
};
enum { ZKT_LACKING = sizeof(zkt_lacking) / sizeof(zkt_lacking[0]) };
#define zkt_proxy_target(p, target) ZKT_MUST(zkr_test_proxy_target((p), (target)))

/* ---- faults ---- */

void zkt_proxy_cut(zkt_proxy *p);
void zkt_proxy_drop_connections(zkt_proxy *p);
void zkt_proxy_orphan(zkt_proxy *p);

/** Pass nothing in one direction or in both. Connections stay open and silent. */
void zkt_proxy_freeze(zkt_proxy *p, int direction);
void zkt_proxy_thaw(zkt_proxy *p, int direction);
void zkt_proxy_blackhole(zkt_proxy *p);
#define zkt_proxy_delay(p, direction, ms)                                              \
    ZKT_MUST(zkr_test_proxy_delay((p), 1 << (direction), (ms)))
void zkt_proxy_heal(zkt_proxy *p);

/* ---- triggers: act once; n = 1 is the next, 0 disarms; new connections work ---- */

void zkt_proxy_cut_before_request(zkt_proxy *p, int n);

/** Messages that were sent to the client before may be lost, too. */
void zkt_proxy_cut_after_request(zkt_proxy *p, int n);
void zkt_proxy_drop_reply(zkt_proxy *p, int n);
#define zkt_proxy_triggered zkr__test_proxy_triggered

zkt_proxy_counts zkt_proxy_counters(zkt_proxy *p);
#define zkt_proxy_on_request(p, hook, ctx)                                             \
    ZKT_MUST(zkr__test_proxy_on_request((p), (hook), (ctx)))

#endif

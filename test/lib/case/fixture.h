/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_FIXTURE_H
#define ZKT_FIXTURE_H

#include <zkr/zkr.h>

#include "case.h"
#include "clean.h"
#include "door.h"
#include "expect.h"
#include "proxy.h"
#include "raw.h"
#include "runner.h"
#include "server.h"
#include "util.h"

/*
 * One server a program, one path a case, and nothing left after each: no child, watch, thread,
 * descriptor or process. What a case opens by functions that say "kept" is ended with it, newest first.
 */

/** For a program with a main() of its own. */
#define ZKT_TEST(name) cmocka_unit_test_setup_teardown(name, zkt_enter, zkt_leave)

int zkt_enter(void **state);
int zkt_leave(void **state);

/** The path of the present test, which need not exist. */
const char *zkt_path(void);

/** Nodes at that path, as a server has them. */
int zkt_nodes(void);

/** Full path of the one node there; fails the test if there is none, or another. */
void zkt_lone_node(char *node, size_t size);

/** Watches below that path, at all of zkt_servers(). */
int64_t zkt_watches(void);

/** A connected client, through zkt_door, with this session time-out; fails the test if it cannot. Kept. */
zkr_client *zkt_client(const char *hosts, int64_t session_ms);
/** The same with more options. */
zkr_client *zkt_client_with(const char *hosts, const zkr_client_options *options);
/** One with default options, or NULL: there was no memory for it. */
zkr_client *zkt_client_if_memory(void);
/** Close now, and check. */
void zkt_close(zkr_client *c);

/** A mutex on the path of the test. Kept. */
zkr_mutex *zkt_mutex(zkr_client *c);
zkr_mutex *zkt_mutex_with(zkr_client *c, const zkr_mutex_options *options);
/** The same on another path. */
zkr_mutex *
zkt_mutex_at(zkr_client *c, const char *where, const zkr_mutex_options *options);
/** Destroy now, and check. */
void zkt_destroy(zkr_mutex *m);

/** A time-out, too short perhaps for a server to have answered meanwhile. */
#define ZKT_TIMED_OUT(rc) ((rc) == ZKR_ETIMEDOUT || (rc) == ZKR_ENOANSWER)

/** No request of the client waits for its answer. Watches that a server has may still be unknown to their client. */
bool zkt_all_answered(zkr_client *c);

/** End the client's session at the server; returns when the client has noticed. */
void zkt_expire(zkr_client *c);
/** The same, without waiting. */
void zkt_expire_start(zkr_client *c);

/** Note the session of @c for zkt_expire_noted(), which ends it and may be called by the door. */
void zkt_note_session(zkr_client *c);
void zkt_expire_noted(void *unused);
/** Wait until @c has left that session behind. */
void zkt_await_next_session(zkr_client *c);

/**
 * A search over the number of the request at which a fault strikes. Each turn of
 *
 *     for (struct zkt_strikes s = {.least = 3}; zkt_next_strike(&s);) { ... s.struck = ...; }
 *
 * arms it for request s.n, from the first one on, and says whether it struck; the first turn in which it did not is the
 * last. Fails the test when it struck less than .least times: then there was no fault to survive.
 */
struct zkt_strikes {
    int least;
    int n;
    bool struck;
};
bool zkt_next_strike(struct zkt_strikes *s);

/** The @n-th allocation of the library from now on fails, 1 = the next; and ends that, saying whether it failed. */
void zkt_deny_allocation(int n);
bool zkt_was_denied(void);
/** Each allocation of @life fails once, and one life has none that fails; there are @least of them. */
void zkt_each_allocation_fails(int least, void (*life)(void));

/**
 * Ask again and again until the mutex of the calling thread is not sure any more: how far, in
 * zkt_now_ms(), it ever claimed to be.
 */
int64_t zkt_latest_claim(zkr_mutex *m);

#endif

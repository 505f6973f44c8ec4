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
 * One server for a program, one path for a case, and nothing left after a case: no child, watch, thread, descriptor or
 * process. The functions marked "Kept" end what they open at the end of the case, newest first.
 */

int zkt_enter(void **state);
int zkt_leave(void **state);

/** Returns the path of the current test, which need not exist. */
const char *zkt_path(void);

/**
 * Returns the path of @name below zkt_path(). The text is valid for sixteen calls. Only one thread at a time may call
 * this.
 */
const char *zkt_child(const char *name);

/** Returns how many nodes a server has at the path. */
int zkt_nodes(void);

/** Write the full path of the only node at the path to @node. Fails the test if there is not exactly one. */
void zkt_lone_node(char *node, size_t size);

/** Returns how many watches all of zkt_servers() have at the path. */
int64_t zkt_watches(void);

/**
 * Returns a connected client that uses zkt_door and this session timeout. Fails the test if that is not possible. Kept.
 */
zkr_client *zkt_client(const char *hosts, int64_t session_ms);
/** Like zkt_client(), with more options. */
zkr_client *zkt_client_with(const char *hosts, const zkr_client_options *options);
/** Returns a client with default options, or NULL if memory runs out. */
zkr_client *zkt_client_if_memory(void);
/** Like zkt_client(), with these options: ZKT_CLIENT_WITH(hosts, .session_timeout_ms = 3000). */
#define ZKT_CLIENT_WITH(hosts, ...)                                                    \
    zkt_client_with((hosts), &(const zkr_client_options){                              \
                                 .size = sizeof(zkr_client_options), __VA_ARGS__})
/** Credentials that every server refuses, for clients that a test opens itself. */
extern const zkr_client_options zkt_bad_credentials;
/** Close the client now, and check the result. */
void zkt_close(zkr_client *c);
zkr_stats zkt_stats(zkr_client *c);

/** Returns a mutex on the path of the test. Kept. */
zkr_mutex *zkt_mutex(zkr_client *c);
zkr_mutex *zkt_mutex_with(zkr_client *c, const zkr_mutex_options *options);
#define ZKT_MUTEX_WITH(c, ...)                                                         \
    zkt_mutex_with((c), &(const zkr_mutex_options){.size = sizeof(zkr_mutex_options),  \
                                                   __VA_ARGS__})
/** Like zkt_mutex_with(), on another path. */
zkr_mutex *
zkt_mutex_at(zkr_client *c, const char *where, const zkr_mutex_options *options);
/** Acquire @m, waiting as long as necessary, and release it. */
void zkt_in_and_out(zkr_mutex *m);
/** Destroy the mutex now, and check the result. */
void zkt_destroy(zkr_mutex *m);

/** Returns a ticket without a callback that waits as long as necessary. Kept. */
zkr_ticket *zkt_ticket(zkr_mutex *m);
/**
 * Release the ticket, which must not be lost, destroy it now, and check the results. Also accepts a ticket that
 * zkt_ticket() has not made.
 */
void zkt_end_ticket(zkr_ticket *t);
/**
 * Wait until every server has applied every write that any server has acknowledged, and return @m. Needed before a call
 * that reads what another client wrote.
 */
zkr_mutex *zkt_settled(zkr_mutex *m);
/** Returns the contenders in the queue of @m, settled. Kept. */
zkr_contenders *zkt_contenders(zkr_mutex *m);

/** Returns true for ZKR_ETIMEDOUT, and for ZKR_ENOANSWER, because a server may not have answered in so short a time. */
static inline bool zkt_timed_out(int rc)
{
    return rc == ZKR_ETIMEDOUT || rc == ZKR_ENOANSWER;
}

/**
 * Returns whether all requests of the client are answered. A server may have watches that the client does not know of
 * yet.
 */
bool zkt_all_answered(zkr_client *c);

/** End the client's session at the server, and wait until the client has noticed. */
void zkt_expire(zkr_client *c);
/** Like zkt_expire(), without waiting. */
void zkt_expire_start(zkr_client *c);

/**
 * Remember the session of @c for zkt_expire_noted(), which ends that session. zkt_door_before() may call the latter.
 */
void zkt_note_session(zkr_client *c);
void zkt_expire_noted(void *unused);
/** Wait until @c has a session other than the remembered one, and is connected. */
void zkt_await_next_session(zkr_client *c);

/**
 * Searches over the number of the request at which a fault strikes. Each turn of
 *
 *     for (struct zkt_strikes s = {.least = 3}; zkt_next_strike(&s);) { ... s.struck = ...; }
 *
 * arms the fault for request s.n, counted from 1, and records whether it struck. The first turn in which it did not
 * strike is the last. The test fails if it struck fewer than .least times.
 */
struct zkt_strikes {
    int least;
    int n;
    bool struck;
};
bool zkt_next_strike(struct zkt_strikes *s);

/**
 * From now on, let the library's @n-th allocation fail (1 = the next). zkt_was_denied() ends this, and returns whether
 * that allocation has failed.
 */
void zkt_deny_allocation(int n);
bool zkt_was_denied(void);
/**
 * Run @life once for each of its allocations, with that allocation failing, and once without a failure. There must be
 * at least @least allocations.
 */
void zkt_each_allocation_fails(int least, void (*life)(void));

/**
 * Poll until the calling thread's mutex is no longer sure. Returns the latest time, in zkt_now_ms(), until which a
 * query reported the mutex as sure.
 */
int64_t zkt_latest_claim(zkr_mutex *m);

#endif

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
 * process. What a case opens by functions that say "kept" is ended with it, newest first.
 */

int zkt_enter(void **state);
int zkt_leave(void **state);

/** The path of the present test, which need not exist. */
const char *zkt_path(void);

/** That of @name below it. The text lasts for sixteen calls; one thread at a time. */
const char *zkt_child(const char *name);

/** How many nodes a server has there. */
int zkt_nodes(void);

/** Full path of the one node there; fails the test unless there is exactly one. */
void zkt_lone_node(char *node, size_t size);

/** How many watches all of zkt_servers() have there. */
int64_t zkt_watches(void);

/** A connected client through zkt_door, with this session timeout; fails the test if it cannot. Kept. */
zkr_client *zkt_client(const char *hosts, int64_t session_ms);
/** The same with more options. */
zkr_client *zkt_client_with(const char *hosts, const zkr_client_options *options);
/** A client with default options. NULL: no memory. */
zkr_client *zkt_client_if_memory(void);
/** With these options: ZKT_CLIENT_WITH(hosts, .session_timeout_ms = 3000). */
#define ZKT_CLIENT_WITH(hosts, ...)                                                    \
    zkt_client_with((hosts), &(const zkr_client_options){                              \
                                 .size = sizeof(zkr_client_options), __VA_ARGS__})
/** What no server takes: for clients that are opened by hand. */
extern const zkr_client_options zkt_bad_credentials;
/** Close now, and check. */
void zkt_close(zkr_client *c);
zkr_stats zkt_stats(zkr_client *c);

/** A mutex on the path of the test. Kept. */
zkr_mutex *zkt_mutex(zkr_client *c);
zkr_mutex *zkt_mutex_with(zkr_client *c, const zkr_mutex_options *options);
#define ZKT_MUTEX_WITH(c, ...)                                                         \
    zkt_mutex_with((c), &(const zkr_mutex_options){.size = sizeof(zkr_mutex_options),  \
                                                   __VA_ARGS__})
/** The same on another path. */
zkr_mutex *
zkt_mutex_at(zkr_client *c, const char *where, const zkr_mutex_options *options);
/** Acquire @m, for as long as it takes, and release it. */
void zkt_in_and_out(zkr_mutex *m);
/** Destroy now, and check. */
void zkt_destroy(zkr_mutex *m);

/** A ticket that waits as long as it takes, without a callback. Kept. */
zkr_ticket *zkt_ticket(zkr_mutex *m);
/** Release, which has not been lost, and destroy now, and check; one that was made by hand, too. */
void zkt_end_ticket(zkr_ticket *t);
/** @m, once every server knows what any client has been told: for a call that reads what another client wrote. */
zkr_mutex *zkt_settled(zkr_mutex *m);
/** The contenders in its queue, settled. Kept. */
zkr_contenders *zkt_contenders(zkr_mutex *m);

/** ZKR_ETIMEDOUT; or ZKR_ENOANSWER, as a server may not have answered in so short a time. */
static inline bool zkt_timed_out(int rc)
{
    return rc == ZKR_ETIMEDOUT || rc == ZKR_ENOANSWER;
}

/** No request of the client waits for its answer. A server may have watches of which the client does not know yet. */
bool zkt_all_answered(zkr_client *c);

/** End the client's session at the server, and wait until the client has noticed. */
void zkt_expire(zkr_client *c);
/** The same, without waiting. */
void zkt_expire_start(zkr_client *c);

/** Note the session of @c for zkt_expire_noted(), which ends the session and may be called by the door. */
void zkt_note_session(zkr_client *c);
void zkt_expire_noted(void *unused);
/** Wait until @c has left that session behind. */
void zkt_await_next_session(zkr_client *c);

/**
 * A search over the number of the request at which a fault strikes. Each turn of
 *
 *     for (struct zkt_strikes s = {.least = 3}; zkt_next_strike(&s);) { ... s.struck = ...; }
 *
 * arms the fault for request s.n, which counts from 1, and says whether it struck; the first turn in which it did not
 * strike is the last. Fails the test when it struck less than .least times.
 */
struct zkt_strikes {
    int least;
    int n;
    bool struck;
};
bool zkt_next_strike(struct zkt_strikes *s);

/** From now on the library's @n-th allocation fails, 1 = the next. zkt_was_denied() ends that: has it failed? */
void zkt_deny_allocation(int n);
bool zkt_was_denied(void);
/** Run @life with each of its allocations failing once, of which there are @least or more, and once with none. */
void zkt_each_allocation_fails(int least, void (*life)(void));

/** Ask until the calling thread's mutex is not sure any more. Returns until when, in zkt_now_ms(), it ever was sure. */
int64_t zkt_latest_claim(zkr_mutex *m);

#endif

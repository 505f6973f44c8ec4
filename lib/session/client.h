/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client: what all files of this floor share, and the floors above may use.
 *
 * One lock per client, `mu`, covers client, session, engine and recipes. It is held for short
 * computations and for submitting requests. It is never held across a wait, a callback of the
 * application or a zoo_* call that can block. ZooKeeper's threads take it to deliver, and hold
 * none of libzookeeper's locks then.
 */
#ifndef ZKR_SESSION_CLIENT_H
#define ZKR_SESSION_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include <zkr/client.h>

#include "base/clock.h"
#include "base/sync.h"
#include "base/table.h"
#include "session/dispatch.h"
#include "session/lease.h"
#include "session/log_echo.h"
#include "session/meter.h"
#include "session/retry.h"
#include "session/upcalls.h"
#include "session/zk.h"

struct zkr__link;
struct zkr__listener;

/* An answer to a request that was not sent (request.h). */
struct zkr__unsent {
    struct zkr__unsent *next;
    void (*fn)(void *ctx, unsigned tag, const struct zkr__answer *answer);
    void *ctx;
    unsigned tag;
    int code, zk_rc;
    bool spare; /* one of client.spares */
};

enum { ZKR__SPARES = 64 };

/* A session timeout that may be asked for, or granted. libzookeeper gives a connection attempt a part of it. */
enum { ZKR__SESSION_LEAST_MS = 100, ZKR__SESSION_MOST_MS = 86400000 };

/* What the resolver said last (lookup.h). */
struct zkr__lookup {
    bool under_way, here;
    int64_t enough_at; /* when what needs no resolver will do */
    int code;
    char *servers, why[200];
};

/* What is known of a session: observed.h. */
struct zkr__observed {
    int64_t session_id;
    unsigned epoch;
    int64_t last_write_ms, silent_ms, disconnected_ms, stopped_ms; /* as in zkr_lost */
};

struct zkr_client {
    struct zkr__mu mu;
    struct zkr__cv changed; /* state, flush */
    const struct zkr__door *door;
    unsigned fork_generation;
    int holders; /* atomic: who needs this memory; the program, and a lookup under way */

    char *servers;
    unsigned list;      /* times that it was replaced */
    bool numeric;       /* these are addresses */
    bool new_list;      /* which the present handle does not have yet */
    char *next_servers; /* the same, resolved; NULL = not yet */
    int64_t list_at;    /* no look at it before this */
    int64_t list_by;    /* leave the connection by then, whatever is in flight */
    int64_t list_pause; /* before the handle is told again */
    char *owner;        /* NULL = default text */
    zkr_auth *auths;    /* all credentials, in order */
    size_t auth_count;
    char *tls_cert; /* NULL = no TLS */
    struct ACL_vector *acl;
    zkr_client_options
        options; /* numbers, callbacks and contexts; no borrowed pointers */
    struct zkr__retry retry;
    uint64_t random;

    int state;
    struct zkr__listener *listeners; /* list */
    struct zkr__link *link;          /* present one, or NULL between sessions */
    struct zkr__link *dead;          /* to be closed by the service */
    int64_t session_id;
    int64_t session_ms; /* the shortest that was granted to it, as the lease counts */
    int64_t granted_ms; /* the one in force, by which libzookeeper pings */
    unsigned epoch;     /* sessions begun so far */
    int64_t open_at, open_failures;
    int64_t suspended_at;
    struct zkr__lookup lookup;
    char obstacle[200]; /* why there is no connection, for people */

    struct zkr__lease lease;
    bool probing;
    bool probe_wanted; /* before it is due */
    bool overrun; /* no memory to keep an answer, or to name the node of an event */
    int64_t
        watch_most; /* bytes of watches of a handle (watches.h); tests allow fewer */
    int64_t connections; /* of the present handle */
    int64_t unheard;     /* the last so many of them brought no answer to any request */
    int64_t heard_at;    /* when there was one, or the session began */
    int64_t probe_after; /* CLOCK_BOOTTIME; no probe before this */
    int probe_failures;  /* in a row, as far as they lengthen the pause */
    int64_t round_trip;  /* smoothed; 0 = not known yet */
    int64_t sent_at; /* CLOCK_BOOTTIME; by the present connection, last; 0 = nothing */
    int64_t nudge_after; /* no nudge before this */
    int64_t nudge_pause; /* after the next one; 0 = the last was answered */

    void *engine;
    const struct zkr__upcalls *up;

    struct zkr__request *idle; /* list: memory for the next requests (request.c) */
    unsigned idle_count;
    struct zkr__unsent *unsent, **unsent_tail; /* answers to come (request.c) */
    struct zkr__unsent *spare;                 /* for when memory runs out */
    struct zkr__unsent spares[ZKR__SPARES];

    int64_t recipes; /* objects on this client */
    zkr_stats stats;
    int64_t refused_deletes; /* of those pending, for want of permission */
    struct zkr__meters meters;
    struct zkr__histogram probe_trips;

    int64_t due; /* CLOCK_BOOTTIME at which the service will have run; 0 = not known */
    int64_t stopped, stopped_until; /* for so long the process did not run, lately */
    struct zkr__observed at_end;    /* of the last session */

    pthread_t service;
    bool service_started, closing;
    bool shut; /* zkr_client_shutdown() was called: waits end, and none begins */
    struct zkr__cv service_cv;
    int64_t service_at; /* when the service wakes by itself */

    struct zkr__dispatch dispatch;
    /* atomic, of a size that every machine has: lines come with and without the lock */
    long log_queued, log_dropped;
    int log_slot;              /* of libzookeeper's lines about it */
    unsigned log_connected;    /* atomic: how often it has been */
    struct zkr__echo log_echo; /* of those lines */
    zkr_client *next_log;      /* in the list of clients that take libzookeeper's log */
};

/* A client of which nothing is set but locks and memory, kept once. 0 or errno. */
int zkr__client_new(zkr_client **out);
/* Free the memory with the last one that has it: once for the making, once for each keep. */
void zkr__client_free(zkr_client *c);
void zkr__client_keep(zkr_client *c);

/*
 * The client's lock. clang's analysis cannot follow which client a pointer leads to, so one
 * capability, which is never defined, stands for the lock of any client.
 */
extern struct zkr__mu zkr__any_client;
#define ZKR__LOCKED ZKR__NEEDS(zkr__any_client)

ZKR__TSA(no_thread_safety_analysis)
static inline void zkr__lock(zkr_client *c) ZKR__ACQUIRES(zkr__any_client)
{
    zkr__mu_lock(&c->mu);
}

ZKR__TSA(no_thread_safety_analysis)
static inline void zkr__unlock(zkr_client *c) ZKR__RELEASES(zkr__any_client)
{
    zkr__mu_unlock(&c->mu);
}

/* zkr__cv_wait() with the client's lock. */
ZKR__TSA(no_thread_safety_analysis)
static inline bool
zkr__wait(zkr_client *c, struct zkr__cv *cv, int64_t deadline) ZKR__LOCKED
{
    return zkr__cv_wait(cv, &c->mu, deadline);
}

static inline int64_t zkr__now(const zkr_client *c)
{
    return c->door->now();
}

static inline bool zkr__connected(const zkr_client *c)
{
    return c->state == ZKR_STATE_CONNECTED;
}

/* --- for public functions: first thing, before any lock --- */

/* ZKR_OK; ZKR_EINVAL for NULL; ZKR_ESTATE in a forked child. */
int zkr__client_enter(const zkr_client *c);
/* The same, and ZKR_ESTATE on the dispatch thread. */
int zkr__client_enter_blocking(const zkr_client *c);
/* ZKR_EINVAL for less than ZKR_FOREVER; @path may be NULL. */
int zkr__timeout_check(int64_t timeout_ms, const char *path);
/* One recipe more on the client, which takes c->recipes-- to end; ZKR_ECLOSED: too late,
 * it is shut down or being closed. */
int zkr__client_enlist(zkr_client *c, const char *path) ZKR__LOCKED;

#endif

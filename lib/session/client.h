/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client: data that all files of this layer share, and that the layers above may use.
 *
 * The client's only lock, `mu`, also covers the engine and the recipes (lib/README.md). libzookeeper's threads take it
 * to deliver answers and events. Meanwhile they hold none of libzookeeper's locks.
 */
#ifndef ZKR_SESSION_CLIENT_H
#define ZKR_SESSION_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include <zkr/client.h>
#include <zkr/loss.h>

#include "base/clock.h"
#include "base/sync.h"
#include "base/table.h"
#include "session/dispatch.h"
#include "session/lease.h"
#include "session/meter.h"
#include "session/watches.h"
#include "session/zk.h"
#include "session/zk_log.h"

struct zkr__guardian;
struct zkr__link;
struct zkr__nearby;
struct zkr__news;
struct zkr__resolver;

/* Functions of the engine that this layer calls with the client's lock held. None may block. */
struct zkr__upcalls {
    void (*connected)(void *engine);     /* the first time, or again */
    void (*session_over)(void *engine);  /* the session and its nodes are gone */
    void (*auth_refused)(void *engine);  /* no session will follow */
    void (*lease_expired)(void *engine); /* no hold is surely valid any more */
    /*
     * Warn the owners of holds whose lease ends soon. Returns when to call this again (CLOCK_BOOTTIME), or ZKR__NEVER.
     * May be NULL.
     */
    int64_t (*lease_runs)(void *engine);
    void (*node_event)(void *engine, const char *path, enum zkr__node_event event);
    /* News from another process of this host has arrived (nearby.h). May be NULL. */
    void (*news_came)(void *engine, const struct zkr__news *news);
    /* Send one quorum write, then call zkr__probe_done(). */
    void (*send_probe)(void *engine);
    /* Do everything that is due at @now. Returns when to call this again, or ZKR__NEVER. */
    int64_t (*run_timers)(void *engine, int64_t now);
    /* Delete the nodes that are kept for later holds only. May be NULL. */
    void (*flush)(void *engine);
    /* Returns whether the engine has work left in this session after the deletes are confirmed. May be NULL. */
    bool (*has_sequel)(const void *engine);
    /* Called once. Ends all waits with ZKR_ECLOSED. May be NULL. */
    void (*shutdown)(void *engine);
    void (*free)(void *engine);
};

/*
 * A callback for each new state of the client and for its shutdown, called with the client's lock held. Embedded in the
 * object of its user.
 */
struct zkr__listener {
    struct zkr__listener *prev, *next;
    /*
     * Must not block, and must not add or remove listeners. At a shutdown, client.shut is set and the state is
     * unchanged.
     */
    void (*on_state)(struct zkr__listener *listener, int state);
};

/* Whether the servers support an operation (support.h). */
struct zkr__support {
    bool known, missing;
    int closes;     /* consecutive connections closed with such a request unanswered */
    int64_t closed; /* the last of these connections */
};

/* Limits of session timeouts, both requested and granted. */
enum { ZKR__SESSION_LEAST_MS = 100, ZKR__SESSION_MOST_MS = 86400000 };

/* The last answer of the resolver (servers.h). */
struct zkr__lookup {
    bool under_way, here;
    int64_t enough_at; /* when to stop waiting for names, if an address is known */
    char *servers;     /* NULL = no answer */
    char why[200];     /* why .servers is NULL */
};

/* A requested move to another server (rebalance.h). Times are by zkr__now(). */
struct zkr__rebalance {
    int64_t at;          /* no move before this time; 0 = no move is requested */
    int64_t by;          /* when to give up if the client could not leave its server */
    size_t first, tried; /* index of the first server to try; how many were tried */
};

/*
 * The last session of a client that is ending, kept until a server confirms the end (finish.h). Times are by
 * zkr__now().
 */
struct zkr__rest {
    int64_t session; /* 0 = it has not ended yet */
    unsigned char password[16];
    int64_t timeout_ms;
    bool has_nodes; /* some nodes may still exist */
    bool closing;   /* the session's handle is being closed */
    /* The time by which the servers have certainly ended the session. */
    int64_t gone_at;
    int64_t failures; /* number of handles closed without a confirmation */
};

/* How the last session ended. Times are by zkr__now(). */
struct zkr__ended {
    bool by_servers;        /* a server reported the end */
    bool early;             /* a server ended it before its timeout was over */
    int64_t promised_until; /* the latest time that valid_for() may have promised */
    /* When the timeout of the session, counted from its reported end, is over. */
    int64_t gone_at;
};

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): the fields are grouped by subject
struct zkr_client {
    struct zkr__mu mu;
    /* Signaled on a change of state, when the last pending delete is done, and at each step of the client's end. */
    struct zkr__cv changed;
    const struct zkr__door *door;
    unsigned fork_generation;
    /* Atomic: references to this memory, held by the program and by resolver threads that outlive the close. */
    int holders;

    /* --- options --- */
    zkr_client_options options; /* with NULL pointers; the copies follow */
    char *owner;                /* NULL = the default text */
    zkr_auth *auths;            /* all credentials, in order */
    size_t auth_count;
    char *tls_cert; /* NULL = no TLS */
    struct ACL_vector *acl;
    struct zkr__retry retry;
    uint64_t random;

    /* --- servers (servers.h) --- */
    char *servers;
    bool numeric;       /* .servers has only addresses, no names */
    unsigned list;      /* how often the server list was updated */
    bool new_list;      /* the handle does not have the last update yet */
    char *next_servers; /* the last update, resolved; NULL = not resolved yet */
    int64_t list_at;    /* when to apply the update next */
    int64_t list_by;    /* when to leave the connection even with requests in flight */
    int64_t list_pause; /* pause before the handle is given the update again */
    struct zkr__lookup lookup;
    struct zkr__rebalance rebalance;
    struct zkr__resolver *resolvers; /* list of threads that are not joined yet */

    /* --- session --- */
    int state;
    struct zkr__listener *listeners; /* list */
    struct zkr__link *link;          /* NULL = no handle is in use */
    struct zkr__link *dead;          /* list: handles that the service will close */
    int64_t session_id;
    int64_t session_ms; /* for the lease: the shortest timeout granted to the session */
    int64_t granted_ms; /* the current timeout, which sets libzookeeper's ping rate */
    unsigned epoch;     /* how many sessions have begun */
    int64_t open_at, open_failures;
    int64_t fruitless; /* consecutive sessions that ended with `unanswered` set */
    bool unanswered;   /* a write was sent, and no write was answered since then */
    struct zkr__support create2, containers; /* support.h */
    bool keeper;                             /* the server is ClickHouse Keeper */
    int64_t suspended_at;
    char obstacle[200]; /* why there is no connection, for error texts */

    /* --- connections of the current handle --- */
    int64_t connections;
    int64_t unheard;       /* number of consecutive connections without an answer */
    int64_t heard_at;      /* when the last answer arrived or the session began */
    int64_t round_trip;    /* smoothed; 0 = not known yet */
    int64_t shortest_trip; /* recent minimum of reads, which load distorts least */
    int64_t sent_at;       /* CLOCK_BOOTTIME of its last request; 0 = none */
    int64_t nudge_after;   /* no nudge (service.c) before this time */
    int64_t nudge_pause;   /* pause after the next nudge; 0 = the last was answered */

    /* --- lease (bound.h) --- */
    struct zkr__lease lease;
    int64_t
        told; /* CLOCK_BOOTTIME; the bound before a reconnection with a shorter timeout lowered it */
    bool probing;
    bool probe_wanted;   /* the next probe is sent before it is due */
    int64_t probe_after; /* CLOCK_BOOTTIME; no probe before this time */
    int probe_failures;  /* consecutive failed probes, counted up to 3 */
    /* Number of claims that the next event may grant, and that probes treat as holds. */
    int64_t prepared;
    int64_t due; /* CLOCK_BOOTTIME; the service must run or rest by then; 0 = unknown */
    int64_t stopped, stopped_until; /* length and end of the last stop of the process */
    /* What the client observed when its last session ended (bound.h). */
    zkr_lost at_end;
    /* Why the client gave up the session; NULL = the servers ended it. */
    const char *gave_up;
    struct zkr__ended ended;

    /* --- engine and recipes --- */
    void *engine;
    const struct zkr__upcalls *up;
    int64_t recipes; /* number of objects that use this client */
    zkr_stats stats;
    int64_t refused_deletes; /* pending deletes that the servers do not permit */
    struct zkr__meters meters;
    struct zkr__histogram probe_trips;

    /* --- requests (request.h) --- */
    struct zkr__request *idle; /* list: memory for the next requests, and the spares */
    unsigned idle_count;
    /* List: requests that were not sent and must be answered. */
    struct zkr__request *unsent;
    bool overrun; /* memory was short, so an answer or event was lost */
    /* Limits for each handle; tests set lower ones. */
    struct zkr__watch_bytes watch_most;
    int64_t watch_reserved; /* bytes reserved for needed watches (request.h) */

    /* --- guardian (guardian.h) --- */
    struct zkr__guardian *guardian; /* NULL = none */
    /* The number by which the guardian knows this client. */
    uint64_t ward;
    char *guardian_tls;       /* tls_cert with absolute file names */
    bool unguarded;           /* the lack of a guardian was logged */
    int guardian_directories; /* how many directories the guardian knows */
    /* The guardian lacks some directories, which was logged. */
    bool guardian_full;
    int guardian_looks; /* number of checks for its first record */
    int64_t guardian_look_at;

    /* --- end (finish.h) --- */
    bool finishing; /* the session is ending, and no new one begins */
    bool finished;  /* the session has ended, and all nodes are confirmed deleted */
    struct zkr__rest rest;

    /* --- nearby (nearby.h) --- */
    struct zkr__nearby *nearby; /* NULL = the client neither sends nor receives news */
    /* News that the client did not believe, or that arrived too late. */
    int64_t news_ignored;
    /*
     * Pieces of news that may have granted a lock so far, and how many of these preceded an answered sync (inquiry.c).
     */
    int64_t news_grants, news_synced;

    /* --- threads --- */
    pthread_t service;
    bool service_started, closing;
    bool service_over; /* the service thread has done its last work */
    int flushing;      /* how many calls of zkr_client_flush() wait */
    /* Set by zkr_client_shutdown(): all waits end, and no new wait begins. */
    bool shut;
    bool broken; /* the library has detected a fault in itself (must.h) */
    struct zkr__cv service_cv;
    int64_t service_at; /* when the service wakes unless it is signaled */
    struct zkr__dispatch dispatch;

    /* --- log --- */
    long log_queued, log_dropped; /* atomic: also used without the lock */
    unsigned log_connected;       /* atomic: how often the client has connected */
    int log_slot; /* this field and the next two: for libzookeeper's lines (zk_log.h) */
    struct zkr__echo log_echo;
    zkr_client *next_log;
};

/* Returns a new client with @options, its locks, and an empty queue of callbacks, or NULL if memory runs out. */
zkr_client *zkr__client_new(const zkr_client_options *options);
/* Take another reference to the client's memory. */
void zkr__client_keep(zkr_client *c);
/* Drop a reference. The last one frees the memory. NULL is allowed. */
void zkr__client_free(zkr_client *c);

/*
 * Stands for the lock of every client in clang's annotations, because clang cannot tell clients apart. It is never
 * defined.
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

/* Like zkr__cv_wait(), with the client's lock. */
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

/* --- the beginning of public functions, before they take any lock --- */

/* Returns ZKR_OK, ZKR_EINVAL if @c is NULL, or ZKR_ESTATE in a forked child. */
int zkr__client_enter(const zkr_client *c);
/* Like zkr__client_enter(). Also returns ZKR_ESTATE in callbacks and on the client's own threads. */
int zkr__client_enter_blocking(const zkr_client *c);
/* Returns ZKR_EINVAL for a timeout below ZKR_FOREVER, else ZKR_OK. @path may be NULL. */
int zkr__timeout_check(int64_t timeout_ms, const char *path);
/*
 * Count one more object in c->recipes. Destroying the object decrements the count. Fails with ZKR_ECLOSED after a
 * shutdown or during a close.
 */
int zkr__client_enlist(zkr_client *c, const char *path) ZKR__LOCKED;

/* --- state and service --- */

/* Enter a state: wake waiting threads, call listeners, log the state, and queue options.on_state. */
void zkr__set_state(zkr_client *c, int state) ZKR__LOCKED;
void zkr__tell_listeners(zkr_client *c) ZKR__LOCKED;
void zkr__listen(zkr_client *c, struct zkr__listener *listener) ZKR__LOCKED;
void zkr__unlisten(zkr_client *c, struct zkr__listener *listener) ZKR__LOCKED;

/* End all waits and refuse new ones, as zkr_client_shutdown() promises. */
void zkr__shut(zkr_client *c) ZKR__LOCKED;

/* Record that no delete is pending any more. */
void zkr__deletes_done(zkr_client *c) ZKR__LOCKED;
/* Convert a time of zkr__now() to CLOCK_BOOTTIME. A time in the past becomes the present. */
int64_t zkr__to_boot(const zkr_client *c, int64_t at) ZKR__LOCKED;
/* Make the service (service.h) run at @at (by zkr__now()) or earlier. */
void zkr__wake_by(zkr_client *c, int64_t at) ZKR__LOCKED;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client: what all files of this floor share, and the floors above may use.
 *
 * Its one lock, `mu`, covers session, engine and recipes, too: lib/README.md. libzookeeper's threads take it to deliver,
 * and hold none of libzookeeper's locks then.
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

/* What this floor tells the engine, with the client's lock held. No function may block. */
struct zkr__upcalls {
    void (*connected)(void *engine);     /* for the first time, or again */
    void (*session_over)(void *engine);  /* and its nodes with it */
    void (*auth_refused)(void *engine);  /* no session will follow */
    void (*lease_expired)(void *engine); /* no hold is sure any more */
    void (*node_event)(void *engine, const char *path, enum zkr__node_event event);
    /* Of another process of this host (nearby.h). May be NULL. */
    void (*news_came)(void *engine, const struct zkr__news *news);
    void (*send_probe)(void *engine); /* one quorum write, then zkr__probe_done() */
    /* Do what is due at @now. Returns when to call next, or ZKR__NEVER. */
    int64_t (*run_timers)(void *engine, int64_t now);
    /* Delete the nodes that are only kept for later. May be NULL. */
    void (*flush)(void *engine);
    /* Is there something to do when the deletes are confirmed, which the end of the session would prevent? May be NULL. */
    bool (*has_sequel)(const void *engine);
    /* Called once: end all waits with ZKR_ECLOSED. May be NULL. */
    void (*shutdown)(void *engine);
    void (*free)(void *engine);
};

/* Is told each state that the client enters, and of its shutdown, with the lock held. Embedded in its object. */
struct zkr__listener {
    struct zkr__listener *prev, *next;
    /* Must not block, nor add or remove listeners. After the shutdown the state is as before, and client.shut is set. */
    void (*on_state)(struct zkr__listener *listener, int state);
};

/* Do the servers know an operation? See support.h. */
struct zkr__support {
    bool known, missing;
    int closes; /* of connections in a row, while such a request had no answer yet */
    int64_t closed; /* the last of them */
};

/* Session timeouts that may be asked for, or granted. */
enum { ZKR__SESSION_LEAST_MS = 100, ZKR__SESSION_MOST_MS = 86400000 };

/* What the resolver said last (servers.h). */
struct zkr__lookup {
    bool under_way, here;
    int64_t enough_at; /* from then on the addresses beside the names suffice */
    char *servers;     /* NULL = none */
    char why[200];     /* why there are none */
};

/* The last session, whose end no server has confirmed yet (finish.h). Times are by zkr__now(). */
struct zkr__rest {
    int64_t session; /* 0 = it was not ended yet */
    unsigned char password[16];
    int64_t timeout_ms;
    bool has_nodes;   /* that were not confirmed gone */
    bool closing;     /* its handle is being closed */
    int64_t gone_at;  /* from then on the servers have ended it */
    int64_t failures; /* handles whose close was not confirmed */
};

/* How the last session ended. Times are by zkr__now(). */
struct zkr__ended {
    bool by_servers;        /* they have said so */
    bool early;             /* and it was too early for the timeout of the session */
    int64_t promised_until; /* valid_for() has told of no later time */
    int64_t
        gone_at; /* from then on the servers have ended it, whatever they have said */
};

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): the fields stand by subject
struct zkr_client {
    struct zkr__mu mu;
    /* The state, the number of pending deletes; or the last answer before the close is here. */
    struct zkr__cv changed;
    const struct zkr__door *door;
    unsigned fork_generation;
    int holders; /* atomic: of this memory: the program, and resolver threads that outlive the close */

    /* --- options --- */
    zkr_client_options options; /* but for the pointers, of which copies follow */
    char *owner;                /* NULL = default text */
    zkr_auth *auths;            /* all credentials, in order */
    size_t auth_count;
    char *tls_cert; /* NULL = no TLS */
    struct ACL_vector *acl;
    struct zkr__retry retry;
    uint64_t random;

    /* --- servers (servers.h) --- */
    char *servers;
    bool numeric;       /* these are addresses */
    unsigned list;      /* updates of the server list so far */
    bool new_list;      /* the present handle does not have the last update yet */
    char *next_servers; /* the last update, resolved; NULL = not yet */
    int64_t list_at;    /* no look at the update before this */
    int64_t list_by;    /* leave the connection by then, whatever is in flight */
    int64_t list_pause; /* before the handle is told again */
    struct zkr__lookup lookup;
    struct zkr__resolver *resolvers; /* list: threads that are not joined yet */

    /* --- session --- */
    int state;
    struct zkr__listener *listeners; /* list */
    struct zkr__link *link;          /* NULL between sessions */
    struct zkr__link *dead;          /* list: to be closed by the service */
    int64_t session_id;
    int64_t session_ms; /* the shortest timeout granted to the session, for the lease */
    int64_t granted_ms; /* the timeout in force, by which libzookeeper pings */
    unsigned epoch;     /* sessions begun so far */
    int64_t open_at, open_failures;
    int64_t fruitless; /* sessions that ended @unanswered, since a write was answered */
    bool unanswered;   /* no write was answered since the session sent the last one */
    struct zkr__support create2, containers; /* support.h */
    bool keeper;                             /* the server is ClickHouse Keeper */
    int64_t suspended_at;
    char obstacle[200]; /* why there is no connection, for people */

    /* --- connections of the present handle --- */
    int64_t connections;
    int64_t unheard;       /* how many of the last ones brought no answer */
    int64_t heard_at;      /* when an answer came last, or the session began */
    int64_t round_trip;    /* smoothed; 0 = not known yet */
    int64_t shortest_trip; /* of reads, lately: busy processors lengthen it least */
    int64_t sent_at; /* CLOCK_BOOTTIME of this connection's last request; 0 = none */
    int64_t nudge_after; /* no nudge before this */
    int64_t nudge_pause; /* after the next nudge; 0 = the last was answered */

    /* --- lease (bound.h) --- */
    struct zkr__lease lease;
    int64_t told; /* CLOCK_BOOTTIME; the bound before shorter timeouts lowered it */
    bool probing;
    bool probe_wanted;   /* before it is due */
    int64_t probe_after; /* CLOCK_BOOTTIME; no probe before this */
    int probe_failures;  /* in a row, as far as they lengthen the pause */
    int64_t prepared; /* claims that the next event may grant: probed, as holds are */
    int64_t due; /* CLOCK_BOOTTIME by which the service runs or rests; 0 = not known */
    int64_t stopped, stopped_until; /* how long, until when the process stood still */
    zkr_lost at_end; /* what was observed of the last session as it ended (bound.h) */
    const char *gave_up; /* why we ended that one; NULL = the servers did */
    struct zkr__ended ended;

    /* --- engine and recipes --- */
    void *engine;
    const struct zkr__upcalls *up;
    int64_t recipes; /* objects that use this client */
    zkr_stats stats;
    int64_t refused_deletes; /* pending deletes for which permission was refused */
    struct zkr__meters meters;
    struct zkr__histogram probe_trips;

    /* --- requests (request.h) --- */
    struct zkr__request *idle; /* list: memory for the next requests, and spares */
    unsigned idle_count;
    struct zkr__request *unsent; /* list: answers to come */
    bool overrun;                /* an answer or an event was lost for want of memory */
    struct zkr__watch_bytes watch_most; /* of a handle; tests allow fewer */
    int64_t watch_reserved;             /* bytes of needed watches (request.h) */

    /* --- guardian (guardian.h) --- */
    struct zkr__guardian *guardian; /* NULL = none */
    uint64_t ward;                  /* the client's number, for the guardian */
    char *guardian_tls;             /* tls_cert with absolute names */
    bool unguarded;                 /* that was logged */
    int guardian_directories;       /* so many the guardian knows */
    bool guardian_full;             /* that it does not know all was logged */
    int guardian_looks;             /* so many, for its first word */
    int64_t guardian_look_at;

    /* --- end (finish.h) --- */
    bool finishing; /* the session ends, and no other begins */
    bool finished;  /* and all nodes are confirmed gone */
    struct zkr__rest rest;

    /* --- nearby (nearby.h) --- */
    struct zkr__nearby *nearby; /* NULL = no news is sent, and none comes */
    int64_t news_ignored;       /* news that were not believed, or came too late */
    /* News that may have granted; and up to which of them a sync was answered since: inquiry.c. */
    int64_t news_grants, news_synced;

    /* --- threads --- */
    pthread_t service;
    bool service_started, closing;
    bool service_over; /* the service thread has done its last work */
    int flushing;      /* calls of zkr_client_flush() that wait */
    bool shut;         /* by zkr_client_shutdown(): waits end, and no wait begins */
    bool broken;       /* a fault of the library was seen: must.h */
    struct zkr__cv service_cv;
    int64_t service_at; /* when the service wakes by itself */
    struct zkr__dispatch dispatch;

    /* --- log --- */
    long log_queued, log_dropped; /* atomic: lines come with and without the lock */
    unsigned log_connected;       /* atomic: how often the client has been connected */
    int log_slot; /* and the rest: for libzookeeper's lines (zk_log.h) */
    struct zkr__echo log_echo;
    zkr_client *next_log;
};

/* A client with @options, and nothing else set but its locks. NULL: no memory. */
zkr_client *zkr__client_new(const zkr_client_options *options);
/* Keep the memory for one more free(). */
void zkr__client_keep(zkr_client *c);
/* Give the memory back, which the last holder frees. NULL is allowed. */
void zkr__client_free(zkr_client *c);

/* Stands for the lock of any client, as clang cannot tell which client a pointer leads to. Never defined. */
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
/* ZKR_EINVAL for a timeout below ZKR_FOREVER. @path may be NULL. */
int zkr__timeout_check(int64_t timeout_ms, const char *path);
/* Count one more object on the client, until c->recipes--. ZKR_ECLOSED for a client that is shut down or closing. */
int zkr__client_enlist(zkr_client *c, const char *path) ZKR__LOCKED;

/* --- state and service --- */

/* Enter a state: tell waits, listeners, the log, and options.on_state. */
void zkr__set_state(zkr_client *c, int state) ZKR__LOCKED;
void zkr__tell_listeners(zkr_client *c) ZKR__LOCKED;
void zkr__listen(zkr_client *c, struct zkr__listener *listener) ZKR__LOCKED;
void zkr__unlisten(zkr_client *c, struct zkr__listener *listener) ZKR__LOCKED;

/* End all waits, and let none begin: zkr_client_shutdown(). */
void zkr__shut(zkr_client *c) ZKR__LOCKED;

/* No delete is pending any more. */
void zkr__deletes_done(zkr_client *c) ZKR__LOCKED;
/* A time of zkr__now() as one of CLOCK_BOOTTIME; the present if it has passed. */
int64_t zkr__to_boot(const zkr_client *c, int64_t at) ZKR__LOCKED;
/* The service (service.h) is to run by @at (zkr__now()). */
void zkr__wake_by(zkr_client *c, int64_t at) ZKR__LOCKED;

#endif

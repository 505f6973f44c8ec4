/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this floor share, and what the floor above may use: a client, the link to
 * its present session, and requests.
 *
 * One lock per client, `mu`, covers client, link, engine and recipes. It is held for short
 * computations and for submitting requests, never across a wait, a callback of the application
 * or a zoo_* call that can block. ZooKeeper's threads take it to deliver and hold none of
 * libzookeeper's locks then.
 */
#ifndef ZKR_SESSION_SESSION_H
#define ZKR_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <zkr/client.h>

#include "base/clock.h"
#include "base/sync.h"
#include "base/table.h"
#include "session/dispatch.h"
#include "session/lease.h"
#include "session/retry.h"
#include "session/zk.h"

/* What this floor tells the engine. All with mu held; none may block. */
struct zkr__upcalls {
    void (*up)(void *engine);         /* connected, or connected again */
    void (*over)(void *engine);       /* the session ended, and its nodes with it */
    void (*refused)(void *engine);    /* authentication failed for good */
    void (*lease_over)(void *engine); /* nothing held is sure any more */
    void (*node)(void *engine, const char *path, enum zkr__node_event event);
    void (*probe)(void *engine); /* send one quorum write; calls zkr__probe_done() */
    int64_t (*tick)(void *engine,
                    int64_t now); /* do what is due; when next, or ZKR__NEVER */
    void (*free)(void *engine);
};

struct zkr__request;
struct zkr__watch;

/* ZooKeeper keeps these apart, also on one path. */
enum zkr__watch_kind {
    ZKR__WATCH_DATA,     /* left by ZKR__OP_GET */
    ZKR__WATCH_CHILDREN, /* by ZKR__OP_CHILDREN */
    ZKR__WATCH_MISSING,  /* by ZKR__OP_EXISTS */
    ZKR__WATCH_KINDS
};

/* One handle of libzookeeper, from its opening until its close has returned. */
struct zkr__link {
    zkr_client *c;
    void *zh;                         /* NULL while it is being opened */
    bool opened;                      /* zh is final */
    enum zkr__session_event early[2]; /* told before that, and to be carried out then */
    unsigned early_count;
    bool was_up;
    bool over;        /* ended: answers and events are dropped, to be closed */
    char *servers;    /* numeric */
    int64_t begun;    /* CLOCK_BOOTTIME before it was opened */
    int64_t check_at; /* when to ask for addresses, still without a connection */
    struct zkr__request *pending, **pending_tail; /* oldest first */
    struct zkr__watch *watches[ZKR__WATCH_KINDS]; /* by path */
    struct zkr__link *next;                       /* in client.dead */
};

/* What the resolver said last (lookup.h). */
struct zkr__lookup {
    bool under_way, here;
    int code;
    char *servers, why[200];
};

/* Someone who is told each state the client enters, with mu held. Embedded in what it is about. */
struct zkr__listener {
    struct zkr__listener *prev, *next;
    /* Must not block, nor add or remove listeners. */
    void (*on_state)(struct zkr__listener *listener, int state);
};

struct zkr_client {
    struct zkr__mu mu;
    struct zkr__cv changed; /* state, flush */
    const struct zkr__door *door;
    unsigned fork_generation;
    int holders; /* atomic: who needs this memory; the program, and a lookup under way */

    char *servers;
    bool numeric; /* these are addresses */
    char *owner;  /* NULL = default text */
    char *auth_scheme;
    void *auth_cert;
    struct ACL_vector *acl;
    zkr_client_options
        options; /* numbers, callbacks and contexts; no borrowed pointers */
    struct zkr__retry retry;
    uint64_t random;

    int state;
    struct zkr__listener *listeners; /* list */
    struct zkr__link *link;          /* present one, or NULL between sessions */
    struct zkr__link *dead;          /* to be closed by the service */
    int64_t session_id, session_ms;
    unsigned epoch; /* sessions begun so far */
    int64_t open_at, open_failures;
    int64_t suspended_at;
    struct zkr__lookup lookup;
    char obstacle[200]; /* why there is no connection, for people */

    struct zkr__lease lease;
    bool probing;
    bool admitted; /* in this session, no credentials were needed or ours were taken */
    int64_t probe_after; /* CLOCK_BOOTTIME; no probe before this */
    int64_t round_trip;  /* smoothed; 0 = not known yet */
    int64_t nudge_after; /* no nudge before this */
    int64_t nudge_pause; /* after the next one; 0 = the last was answered */

    void *engine;
    const struct zkr__upcalls *up;
    int64_t recipes; /* objects on this client */
    zkr_stats stats;

    pthread_t service;
    bool service_started, closing;
    struct zkr__cv service_cv;
    int64_t service_at; /* when the service wakes by itself */

    struct zkr__dispatch dispatch;
    int64_t log_queued, log_dropped; /* atomic: lines come with and without the lock */
    zkr_client *next_log; /* in the list of clients that take libzookeeper's log */
};

/* Parts that a test replaces; NULL = libzookeeper and threads. */
struct zkr__env {
    const struct zkr__door *door;
    bool no_threads; /* the test calls zkr__service_run() and zkr__dispatch_run_one() */
};
int zkr__client_open(zkr_client **out,
                     const char *servers,
                     const zkr_client_options *options,
                     const struct zkr__env *env);
/* Free the memory with the last one that has it: once for the opening, once for each keep. */
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

/* The same, and the servers have not refused our credentials, nor will they. */
static inline bool zkr__admitted(const zkr_client *c)
{
    return zkr__connected(c) && c->admitted;
}

/* --- for public functions: first thing, before any lock --- */

/* ZKR_OK; ZKR_EINVAL for NULL; ZKR_ESTATE in a forked child. */
int zkr__client_enter(const zkr_client *c);
/* The same, and ZKR_ESTATE on the dispatch thread. */
int zkr__client_enter_blocking(const zkr_client *c);
/* ZKR_EINVAL for less than ZKR_FOREVER; @path may be NULL. */
int zkr__timeout_check(int64_t timeout_ms, const char *path);
/* One recipe more on the client, which takes c->recipes-- to end; ZKR_ECLOSED: too late. */
int zkr__client_enlist(zkr_client *c, const char *path) ZKR__LOCKED;

/* --- requests (request.c) --- */

/* Gets each answer exactly once, with mu held: ZooKeeper's, or ZKR_ESESSION when the session
 * ended first. */
typedef void (*zkr__answer_fn)(void *ctx,
                               unsigned tag,
                               const struct zkr__answer *answer);

/* Send. A code other than ZKR_OK: nothing was sent, and @fn is not called. */
int zkr__submit(zkr_client *c,
                const struct zkr__op *op,
                zkr__answer_fn fn,
                void *ctx,
                unsigned tag) ZKR__LOCKED;
/* Call back all that wait with ZKR_ESESSION; later answers are dropped. */
void zkr__link_fail(struct zkr__link *link) ZKR__LOCKED;
/* After its handle was closed. */
void zkr__link_free(struct zkr__link *link);
/* When the oldest request was sent (CLOCK_BOOTTIME), ZKR__NEVER when none is pending. */
int64_t zkr__link_oldest(const struct zkr__link *link);
/* For how long an answer may stay away before it is nudged: a few usual round trips. */
int64_t zkr__patience(const zkr_client *c) ZKR__LOCKED;

/* --- lease --- */

/* Is what we hold in this session surely ours, now? Always, when probes are turned off. */
bool zkr__sure(zkr_client *c) ZKR__LOCKED;
/* The same, and long enough for a holder to send a probe (queue.c) and have it answered. */
bool zkr__amply_sure(zkr_client *c) ZKR__LOCKED;
int64_t zkr__valid_for_ms(zkr_client *c) ZKR__LOCKED;
/* When another quorum write can prove more than those answered do. */
int64_t zkr__probe_due(const zkr_client *c) ZKR__LOCKED;
/* The probe was answered, or could not be sent. */
void zkr__probe_done(zkr_client *c, bool answered) ZKR__LOCKED;

/* --- service thread (service.c) --- */

int zkr__service_start(zkr_client *c); /* 0 or errno */
void zkr__service_stop(zkr_client *c);
/* Make sure the service looks at its timers by @at. */
void zkr__service_by(zkr_client *c, int64_t at) ZKR__LOCKED;
/* One turn: all that is due. Returns when to call again. */
int64_t zkr__service_run(zkr_client *c) ZKR__LOCKED;

/* --- session changes (state.c) --- */

/* The handle is final: carry out what it told before. */
void zkr__link_opened(struct zkr__link *link) ZKR__LOCKED;
/* What zkr_client_wait_connected() says of a handle that gets no answer. */
void zkr__no_answer_yet(zkr_client *c) ZKR__LOCKED;
/* The present session is over, or given up; the service opens the next. */
void zkr__session_over(zkr_client *c, const char *why) ZKR__LOCKED;
/* The same, into a state from which nothing follows by itself. */
void zkr__session_end(zkr_client *c, int state) ZKR__LOCKED;
void zkr__set_state(zkr_client *c, int state) ZKR__LOCKED;
void zkr__listen(zkr_client *c, struct zkr__listener *listener) ZKR__LOCKED;
void zkr__unlisten(zkr_client *c, struct zkr__listener *listener) ZKR__LOCKED;

/* --- log (log.c) --- */

void zkr__log(zkr_client *c, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Take part in libzookeeper's log from now on, until. */
void zkr__log_join(zkr_client *c);
void zkr__log_leave(zkr_client *c);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests, and the links that carry them. Each request gets exactly one answer, with the client's lock held, and never
 * from inside the call that submits it.
 *
 * A request lives until its answer, or until the close of its handle has returned. A link lives as long as its handle.
 * libzookeeper may lose completions while it closes a handle, and may call completions late after an expiry, but calls
 * none after the close. Their contexts point to requests and, for watches, to links, so no pointer dangles.
 */
#ifndef ZKR_SESSION_REQUEST_H
#define ZKR_SESSION_REQUEST_H

#include "session/client.h"
#include "session/watches.h"

struct zkr__request;

/* Number of answers that a client can store when memory is short. */
enum { ZKR__SPARES = 64 };

/*
 * One handle of libzookeeper, from its opening until its close has returned. A link that is no longer client.link is
 * over: its answers and events are dropped, and the service closes it.
 */
struct zkr__link {
    struct zkr__handle_owner owner; /* identifies the link to the door */
    zkr_client *c;
    void *zh;                         /* NULL while it is being opened */
    enum zkr__session_event early[2]; /* events while zh is NULL, handled later */
    unsigned early_count;
    unsigned ups;      /* how often it connected */
    bool timed;        /* the timeout of its first connection is known */
    size_t authorized; /* credentials added; the handle sends them at each connection */
    bool doubted;      /* it has given an impossible answer */
    /* Has this connection reported an expired session, and answered a write since? See is_local() in request.c. */
    enum { ZKR__UNEXPIRED, ZKR__EXPIRED, ZKR__EXPIRED_AND_LIVES } expired;
    bool
        demanded; /* a server demands credentials that are missing, so the service must end the session */
    bool settled; /* the servers have ended the session, or surely learn of its end */
    bool last;    /* the client ends with this session (finish.h) */
    bool
        moved; /* its servers were replaced, and the door has sent a request of its own */
    int tap;   /* reads the answer to the end of the session: zk_tap.h; 0 = none */
    bool broke;       /* a request was lost since the tap was made */
    size_t heard;     /* answers of servers since the close began */
    int64_t close_at; /* no close before this, by zkr__now() */
    char *servers;    /* numeric addresses */
    /* The server that the handle has left, while the handle has one server (rebalance.h). NULL = it has all servers. */
    char *home;
    bool returns;        /* the other server has answered, or was given up */
    int64_t alone_until; /* when the handle, if not connected, gets other servers */
    int64_t guarded;     /* the session that the guardian knows; 0 = none */
    int64_t begun;       /* CLOCK_BOOTTIME before it was opened */
    int64_t check_at;    /* when to look names up, if still not connected */
    struct zkr__watches watches;
    struct zkr__request *pending; /* list, oldest first */
    struct zkr__link *next;       /* in client.dead */
};

typedef void (*zkr__answer_fn)(void *ctx,
                               unsigned tag,
                               const struct zkr__answer *answer);

/*
 * Submit a request. @fn gets one answer, later: ZooKeeper's, or ZKR_ESESSION if the session ended first. A request that
 * was not sent is answered with ZKR_ECONNLOSS (no connection), ZKR_ENOMEM (no memory), or the code with which
 * libzookeeper refused it. Such answers arrive in order, at the next turn of the service, which this function wakes, or
 * at the end of the session. A request that was not sent counts neither in stats.requests nor for the lease.
 *
 * If memory for such an answer is short, the client uses a spare. Without a spare the answer is dropped, the function
 * returns false, and the next turn of the service gives up the session, so the engine learns of that end instead. At
 * the end of the client, answers to requests that an answer's @fn submits are dropped.
 */
bool zkr__submit(zkr_client *c,
                 const struct zkr__op *op,
                 zkr__answer_fn fn,
                 void *ctx,
                 unsigned tag) ZKR__LOCKED;
/* Like zkr__submit(), but works as soon as a session exists, before the client counts as connected. */
bool zkr__submit_early(zkr_client *c,
                       const struct zkr__op *op,
                       zkr__answer_fn fn,
                       void *ctx,
                       unsigned tag) ZKR__LOCKED;
/* Answer a request that could not be made: @fn gets @code, like the answer to a request that was not sent. */
bool zkr__answer_later(zkr_client *c,
                       int code,
                       zkr__answer_fn fn,
                       void *ctx,
                       unsigned tag) ZKR__LOCKED;

/* Is there room for the watch of @op? Without room, the request is sent without the watch, and its answer says so. */
bool zkr__watch_fits(const zkr_client *c, const struct zkr__op *op) ZKR__LOCKED;
/* Is there room to reserve @bytes for needed watches? */
bool zkr__watch_may_reserve(const zkr_client *c, int64_t bytes) ZKR__LOCKED;
/* Reserve @bytes for a RESERVED watch, in this session and in later ones. A negative number returns them. */
void zkr__watch_reserve(zkr_client *c, int64_t bytes) ZKR__LOCKED;

/* Prepare a new client for requests, until zkr__request_finish(). Returns false if out of memory. */
bool zkr__request_begin(zkr_client *c);
/* Deliver the answers to requests that were not sent. Answers that are added meanwhile wait for the next call. */
void zkr__request_deliver(zkr_client *c) ZKR__LOCKED;
/* At the end of the client: deliver the answers to requests that were not sent. Answers added meanwhile are dropped. */
void zkr__request_finish(zkr_client *c) ZKR__LOCKED;

/* The callback zkr__handle_owner.node of links. Reports the event to the engine, unless the link is over. */
void zkr__link_node(struct zkr__handle_owner *owner,
                    const char *path,
                    enum zkr__node_event event);
/* Answer all pending requests with ZKR_ESESSION. Their real answers will be dropped. */
void zkr__link_fail(struct zkr__link *link) ZKR__LOCKED;
/*
 * Close the handle, which blocks, and free the link. Call without the client's lock. Returns true if the session is
 * surely over.
 */
bool zkr__link_close(struct zkr__link *link);
/* Free a link that has no handle. */
void zkr__link_free(struct zkr__link *link);
/* Does a caller wait for a pending request? A request without a ctx is a keep-alive read, whose answer is ignored. */
bool zkr__link_awaited(const struct zkr__link *link);
/* Return when the oldest pending request was sent (CLOCK_BOOTTIME), or ZKR__NEVER if there is none. */
int64_t zkr__link_oldest(const struct zkr__link *link);
/* Return how long an answer may take before a nudge: a few usual round trips. */
int64_t zkr__patience(const zkr_client *c) ZKR__LOCKED;

/*
 * Can @answer be true, as the answer to a request of @kind in session @session_id? If not, it proves nothing. Only the
 * caller of zkr__submit() can check whether the path of a node is the requested one. Pure.
 */
bool zkr__credible(enum zkr__op_kind kind,
                   const struct zkr__answer *answer,
                   int64_t session_id);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests, and the link by which they go. Each request gets exactly one answer, with the client's lock held, and never
 * from inside the call that submits it.
 *
 * A request lives until its answer, or until the close of its handle has returned; the link lives as long as its
 * handle. libzookeeper may lose completions as a handle is closed, and may call late after an expiry, but not after
 * the close. Its contexts point to requests and, for watches, to the link, so nothing dangles.
 */
#ifndef ZKR_SESSION_REQUEST_H
#define ZKR_SESSION_REQUEST_H

#include "session/client.h"
#include "session/watches.h"

struct zkr__request;

/* Answers that a client can keep without memory. */
enum { ZKR__SPARES = 64 };

/*
 * One handle of libzookeeper, from its opening until its close has returned. When it is not client.link any more, it is
 * over: answers and events are dropped, and the service will close it.
 */
struct zkr__link {
    struct zkr__handle_owner owner; /* the door knows the link by it */
    zkr_client *c;
    void *zh;                         /* NULL while it is being opened */
    enum zkr__session_event early[2]; /* told meanwhile, and carried out then */
    unsigned early_count;
    unsigned ups;      /* how often it came up */
    bool timed;        /* the timeout of the first of these connections is known */
    size_t authorized; /* how many credentials it has, and repeats as it connects */
    bool doubted;      /* it has answered what cannot be */
    /* Has this connection reported an expired session, and answered a write since? See is_local() in request.c. */
    enum { ZKR__UNEXPIRED, ZKR__EXPIRED, ZKR__EXPIRED_AND_LIVES } expired;
    bool
        demanded; /* a server demands other credentials: the service has to end the session */
    bool settled; /* the servers have ended the session, or surely hear of its end */
    bool last;    /* the client ends with this session: finish.h */
    bool
        moved; /* libzookeeper was told of other servers, and sent a request by itself */
    int tap; /* by which the answer to the end of the session is read: zk_tap.h; 0 = none */
    bool broke;       /* since the tap was made */
    size_t heard;     /* answers of servers since the close began */
    int64_t close_at; /* not before that, by zkr__now() */
    char *servers;    /* numeric */
    int64_t guarded;  /* the session that the guardian knows; 0 = none */
    int64_t begun;    /* CLOCK_BOOTTIME before it was opened */
    int64_t check_at; /* when to ask for addresses, still without a connection */
    struct zkr__watches watches;
    struct zkr__request *pending; /* list, oldest first */
    struct zkr__link *next;       /* in client.dead */
};

typedef void (*zkr__answer_fn)(void *ctx,
                               unsigned tag,
                               const struct zkr__answer *answer);

/*
 * Ask. @fn gets one answer, later. It is ZooKeeper's, or ZKR_ESESSION when the session ended first. For a
 * request that was not sent it is ZKR_ECONNLOSS without a connection, ZKR_ENOMEM without memory, or the code with which
 * libzookeeper refused; such answers come in order, at the next turn of the service, which is woken, or at the end of
 * the session. What was not sent counts neither in stats.requests nor for the lease.
 *
 * Without memory to keep such an answer, a spare of the client is used. Without a spare the answer is dropped, and the
 * service gives up the session at its next turn: the engine is told of that end instead. Returns false then. At the end
 * of the client, answers to what was submitted by an answer are dropped.
 */
bool zkr__submit(zkr_client *c,
                 const struct zkr__op *op,
                 zkr__answer_fn fn,
                 void *ctx,
                 unsigned tag) ZKR__LOCKED;
/* Ask as soon as there is a session, before the client counts as connected. */
bool zkr__submit_early(zkr_client *c,
                       const struct zkr__op *op,
                       zkr__answer_fn fn,
                       void *ctx,
                       unsigned tag) ZKR__LOCKED;
/* For a request that could not even be made: @fn gets @code, in the same way. */
bool zkr__answer_later(zkr_client *c,
                       int code,
                       zkr__answer_fn fn,
                       void *ctx,
                       unsigned tag) ZKR__LOCKED;

/* Is there room for the watch of @op? If not, the request is sent without the watch, and its answer says so. */
bool zkr__watch_fits(const zkr_client *c, const struct zkr__op *op) ZKR__LOCKED;
/* Is there room to reserve so many bytes of needed watches? */
bool zkr__watch_may_reserve(const zkr_client *c, int64_t bytes) ZKR__LOCKED;
/* Reserve them for a RESERVED watch, in this session and in later ones; below 0: give them back. */
void zkr__watch_reserve(zkr_client *c, int64_t bytes) ZKR__LOCKED;

/* Prepare a new client for requests, up to zkr__request_finish(). False: no memory. */
bool zkr__request_begin(zkr_client *c);
/* Deliver the answers to what was not sent. Answers that come up meanwhile wait for the next time. */
void zkr__request_deliver(zkr_client *c) ZKR__LOCKED;
/* The same at the end of the client, and drop what comes up meanwhile. */
void zkr__request_finish(zkr_client *c) ZKR__LOCKED;

/* zkr__handle_owner.node of links: tells the engine, unless the link is over. */
void zkr__link_node(struct zkr__handle_owner *owner,
                    const char *path,
                    enum zkr__node_event event);
/* Answer all pending requests with ZKR_ESESSION; their real answers will be dropped. */
void zkr__link_fail(struct zkr__link *link) ZKR__LOCKED;
/* Close the handle, which blocks, and free the link. Without the client's lock. True: the session is surely over. */
bool zkr__link_close(struct zkr__link *link);
/* Free a link that has no handle. */
void zkr__link_free(struct zkr__link *link);
/* Does anybody wait for a pending request? Nobody does for one without a ctx, a keep-alive read. */
bool zkr__link_awaited(const struct zkr__link *link);
/* When the oldest pending request was sent (CLOCK_BOOTTIME); ZKR__NEVER: there is none. */
int64_t zkr__link_oldest(const struct zkr__link *link);
/* How long an answer may take until a nudge: a few usual round trips. */
int64_t zkr__patience(const zkr_client *c) ZKR__LOCKED;

/*
 * Can @answer be true, to a request of @kind in session @session_id? False: it says nothing. Whether the path of a
 * node is the one that was asked for, only the caller of zkr__submit() knows. Pure.
 */
bool zkr__credible(enum zkr__op_kind kind,
                   const struct zkr__answer *answer,
                   int64_t session_id);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests, and the links that carry them. Each request gets exactly one answer. The answer arrives with the client's
 * lock held, but never inside the call that submits the request.
 *
 * A request lives until its answer, or until the close of its handle has returned. A link lives as long as its handle.
 * While libzookeeper closes a handle, it may lose completions, and after an expiry it may call completions late, but it
 * calls none after the close. The contexts of completions point to requests, and those of watches point to links, so no
 * pointer dangles.
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
 * over. Its answers and events are dropped, and the service closes it.
 */
struct zkr__link {
    struct zkr__handle_owner owner; /* identifies the link to the door */
    zkr_client *c;
    void *zh; /* NULL while the handle is being opened */
    /* Events that arrived while zh was NULL, to be handled later. */
    enum zkr__session_event early[2];
    unsigned early_count;
    unsigned ups; /* how often the handle has connected */
    bool timed;   /* the timeout of the first connection is known */
    /* Number of credentials that were added. The handle sends them at each connection. */
    size_t authorized;
    bool doubted; /* the handle has returned an impossible answer */
    /*
     * Whether this connection has reported an expired session, and has answered a write after that. See is_local() in
     * request.c.
     */
    enum { ZKR__UNEXPIRED, ZKR__EXPIRED, ZKR__EXPIRED_AND_LIVES } expired;
    /* A server demands credentials that the client lacks, so the service must end the session. */
    bool demanded;
    /* The servers have ended the session, or will surely learn of its end. */
    bool settled;
    bool last; /* the client ends with this session (finish.h) */
    /* The handle's servers were replaced, and the door has sent a request for that. */
    bool moved;
    int tap;      /* reads the answer to the end of the session (zk_tap.h); 0 = none */
    bool broke;   /* a request has been lost since the tap was made */
    size_t heard; /* how many answers have arrived since the close began */
    int64_t close_at; /* no close before this time, by zkr__now() */
    char *servers;    /* numeric addresses */
    /*
     * The server that the handle has left, while the handle has only one other server (rebalance.h). NULL = the handle
     * has all servers.
     */
    char *home;
    bool returns;        /* the other server has answered or was given up */
    int64_t alone_until; /* when the handle gets other servers if it is not connected */
    int64_t guarded;     /* the session that the guardian knows; 0 = none */
    int64_t begun;       /* CLOCK_BOOTTIME before the handle was opened */
    /* When to look up the names if the handle is still not connected. */
    int64_t check_at;
    struct zkr__watches watches;
    struct zkr__request *pending; /* list, oldest first */
    struct zkr__link *next;       /* next in client.dead */
};

typedef void (*zkr__answer_fn)(void *ctx,
                               unsigned tag,
                               const struct zkr__answer *answer);

/*
 * Submit a request. @fn later gets one answer: ZooKeeper's answer, or ZKR_ESESSION if the session ended first. A
 * request that was not sent is answered with ZKR_ECONNLOSS (no connection), ZKR_ENOMEM (no memory), or the code with
 * which libzookeeper refused it. Such answers arrive in order, at the next turn of the service, which this function
 * wakes, or at the end of the session. A request that was not sent counts neither in stats.requests nor for the lease.
 *
 * If memory for such an answer is short, the client uses a spare. If there is no spare, the answer is dropped, and the
 * function returns false. The next turn of the service then gives up the session, so the engine learns of the end of
 * the session instead. At the end of the client, if the @fn of an answer submits further requests, their answers are
 * dropped.
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
/*
 * Answer an unsent request: @fn gets @code at the next turn of the service, like any request that zkr__submit() could
 * not send. Returns false if there is no memory for the answer.
 */
bool zkr__answer_later(zkr_client *c,
                       int code,
                       zkr__answer_fn fn,
                       void *ctx,
                       unsigned tag) ZKR__LOCKED;

/*
 * Returns whether there is room for the watch of @op. If there is none, the request is sent without the watch, and
 * `unwatched` is set in its answer.
 */
bool zkr__watch_fits(const zkr_client *c, const struct zkr__op *op) ZKR__LOCKED;
/* Returns whether @bytes can be reserved for needed watches. */
bool zkr__watch_may_reserve(const zkr_client *c, int64_t bytes) ZKR__LOCKED;
/* Reserve @bytes for a RESERVED watch, in this session and in later ones. If @bytes is negative, give bytes back. */
void zkr__watch_reserve(zkr_client *c, int64_t bytes) ZKR__LOCKED;

/* Prepare a new client for requests, until zkr__request_finish(). Returns false if memory runs out. */
bool zkr__request_begin(zkr_client *c);
/* Deliver the answers to requests that were not sent. Answers that are added meanwhile wait for the next call. */
void zkr__request_deliver(zkr_client *c) ZKR__LOCKED;
/* At the end of the client, deliver the answers to requests that were not sent. Answers added meanwhile are dropped. */
void zkr__request_finish(zkr_client *c) ZKR__LOCKED;

/* The callback zkr__handle_owner.node of links. Reports the event to the engine unless the link is over. */
void zkr__link_node(struct zkr__handle_owner *owner,
                    const char *path,
                    enum zkr__node_event event);
/* Answer all pending requests with ZKR_ESESSION. Their real answers will be dropped. */
void zkr__link_fail(struct zkr__link *link) ZKR__LOCKED;
/*
 * Close the handle, which blocks, and free the link. Called without the client's lock. Returns true if the session has
 * surely ended.
 */
bool zkr__link_close(struct zkr__link *link);
/* Free a link that has no handle. */
void zkr__link_free(struct zkr__link *link);
/*
 * Returns whether a caller waits for a pending request. A request without a ctx is a keep-alive read, and its answer is
 * ignored.
 */
bool zkr__link_awaited(const struct zkr__link *link);
/* Returns when the oldest pending request was sent (CLOCK_BOOTTIME), or ZKR__NEVER if no request is pending. */
int64_t zkr__link_oldest(const struct zkr__link *link);
/* Returns how long an answer may take before a nudge, which is a few usual round trips. */
int64_t zkr__patience(const zkr_client *c) ZKR__LOCKED;

/*
 * Returns whether @answer can be true, as the answer to a request of @kind in session @session_id. An impossible answer
 * proves nothing. Only the caller of zkr__submit() can check whether the path of a node is the requested one. Pure.
 */
bool zkr__credible(enum zkr__op_kind kind,
                   const struct zkr__answer *answer,
                   int64_t session_id);

#endif

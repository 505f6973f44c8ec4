/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests, and the link they go by. Each request gets exactly one answer, with the client's lock
 * held, and never from inside the call that submits it.
 *
 * A request lives until its answer came, or until the close of its handle has returned; the link
 * lives as long as its handle. libzookeeper may lose completions at close, call late after an expiry,
 * and never again afterwards. Its contexts point to requests and, of all watches, to the link, so
 * nothing dangles.
 */
#ifndef ZKR_SESSION_REQUEST_H
#define ZKR_SESSION_REQUEST_H

#include "session/client.h"
#include "session/watches.h"

struct zkr__request;

/* One handle of libzookeeper, from its opening until its close has returned. */
struct zkr__link {
    struct zkr__handle_owner owner; /* the door knows the link by it */
    zkr_client *c;
    void *zh;                         /* NULL while it is being opened */
    bool opened;                      /* zh is final */
    enum zkr__session_event early[2]; /* told before that, and to be carried out then */
    unsigned early_count;
    bool was_up;
    unsigned ups,
        timed; /* how often it came up; the last of these whose timeout is known */
    size_t
        authorized; /* so many of our credentials the handle has; it repeats them at each connection */
    bool abandoned;   /* its session is left to the servers to end */
    bool doubted;     /* it has answered what cannot be */
    bool over;        /* ended: answers and events are dropped, to be closed */
    char *servers;    /* numeric */
    int64_t begun;    /* CLOCK_BOOTTIME before it was opened */
    int64_t check_at; /* when to ask for addresses, still without a connection */
    struct zkr__watches watches;
    struct zkr__request *pending, **pending_tail; /* oldest first */
    struct zkr__link *next;                       /* in client.dead */
};

typedef void (*zkr__answer_fn)(void *ctx,
                               unsigned tag,
                               const struct zkr__answer *answer);

/*
 * Ask. Cannot fail: @fn gets one answer, later. It is ZooKeeper's, or ZKR_ESESSION when the session
 * ended first. For a request that was not sent it is ZKR_ECONNLOSS without a connection, ZKR_ENOMEM
 * without memory, or the code with which libzookeeper refused. Such an answer comes with the next
 * turn of the service, which is woken, or with the end of the session. Answers of that kind keep
 * their order among each other.
 *
 * When there is no memory even to keep the answer, the spares of the client are used. When these are
 * used up as well, the session is given up at the next turn of the service, and the answer dropped:
 * the engine is told of the end of the session instead. At the end of the client, answers to what
 * was submitted by an answer are dropped.
 *
 * What was not sent counts neither in stats.requests nor for the lease.
 */
void zkr__submit(zkr_client *c,
                 const struct zkr__op *op,
                 zkr__answer_fn fn,
                 void *ctx,
                 unsigned tag) ZKR__LOCKED;
/* The same as soon as there is a session, before the client counts as connected. */
void zkr__submit_early(zkr_client *c,
                       const struct zkr__op *op,
                       zkr__answer_fn fn,
                       void *ctx,
                       unsigned tag) ZKR__LOCKED;
/* The same for a request that its maker could not even make: @fn gets @code. */
void zkr__answer_later(zkr_client *c,
                       int code,
                       zkr__answer_fn fn,
                       void *ctx,
                       unsigned tag) ZKR__LOCKED;

/* Is there room for the watch that this is to leave? Without it is sent without, and the answer says so. */
bool zkr__watch_fits(const zkr_client *c, const struct zkr__op *op) ZKR__LOCKED;

/* Prepare a new client for the above. */
void zkr__request_begin(zkr_client *c);
/* Give the answers that wait for it. Those that come up meanwhile wait for the next time. */
void zkr__request_deliver(zkr_client *c) ZKR__LOCKED;
/* The same at the end of the client, and drop what comes up meanwhile. */
void zkr__request_finish(zkr_client *c) ZKR__LOCKED;

/* zkr__handle_owner.node of links: the engine is told, unless the link is over. */
void zkr__link_node(struct zkr__handle_owner *owner,
                    const char *path,
                    enum zkr__node_event event);
/* Call back all that wait with ZKR_ESESSION; later answers are dropped. */
void zkr__link_fail(struct zkr__link *link) ZKR__LOCKED;
/* Close its handle, which blocks, and free it. Without the client's lock. */
void zkr__link_close(struct zkr__link *link);
/* The same for one without a handle. */
void zkr__link_free(struct zkr__link *link);
/* When the oldest request was sent (CLOCK_BOOTTIME), ZKR__NEVER when none is pending. */
int64_t zkr__link_oldest(const struct zkr__link *link);
/* For how long an answer may stay away before it is nudged: a few usual round trips. */
int64_t zkr__patience(const zkr_client *c) ZKR__LOCKED;

#endif

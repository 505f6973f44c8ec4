/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Some requests that a thread sends and waits for, with one deadline.
 *
 * What the answers fill in begins with an inquiry, and is of zkr__mem_alloc(). That memory belongs to the asking thread and
 * to each request in flight, as answers may come when the thread has long given up. All functions need the client's lock;
 * those that block sleep without it.
 */
#ifndef ZKR_SESSION_INQUIRY_H
#define ZKR_SESSION_INQUIRY_H

#include <zkr/node.h>

#include "session/client.h"
#include "session/request.h"

struct zkr__inquiry {
    zkr_client *c;
    void (*forget)(void *inquiry);
    struct zkr__listener listener; /* until the thread is done */
    struct zkr__cv done;
    int64_t deadline;       /* 0 = options.connect_timeout_ms from the beginning */
    size_t refs, in_flight; /* a reference for each request, and one of the thread */
    int code;               /* of the first request that failed */
    bool even_shut;         /* a shutdown of the client ends no wait */
};

/*
 * Begin, and sleep until the client is connected. @inquiry is zeroed but for its deadline. It is freed when neither the
 * thread nor a request needs it any more, after @forget, if not NULL, has let go of what is in it; after a failure it is
 * freed already. Returns ZKR_OK, ZKR_ETIMEDOUT, ZKR_ECLOSED or ZKR_EAUTH.
 */
int zkr__inquiry_begin(struct zkr__inquiry *inquiry,
                       zkr_client *c,
                       void (*forget)(void *inquiry)) ZKR__LOCKED;
/* The thread does not need the inquiry any more. */
void zkr__inquiry_end(struct zkr__inquiry *inquiry) ZKR__LOCKED;

/*
 * Send @op. @fn gets @inquiry, and ends with zkr__inquiry_answered(); NULL does only that. An op that lacks its path, for
 * which there was no memory, fails with ZKR_ENOMEM.
 */
void zkr__inquiry_ask(struct zkr__inquiry *inquiry,
                      const struct zkr__op *op,
                      zkr__answer_fn fn,
                      unsigned tag) ZKR__LOCKED;
void zkr__inquiry_answered(struct zkr__inquiry *inquiry, int code) ZKR__LOCKED;

/* The thread has not given up: what an answer leads to may be asked. */
static inline bool zkr__inquiry_wanted(const struct zkr__inquiry *inquiry) ZKR__LOCKED
{
    return inquiry->refs > inquiry->in_flight;
}

/* Sleep until all requests are answered. ZKR_ETIMEDOUT, ZKR_ECLOSED, ZKR_EAUTH, or the code. */
int zkr__inquiry_await(struct zkr__inquiry *inquiry) ZKR__LOCKED;

/*
 * Sleep until it is known whether the chroot exists. Call this if a node is missing: below a missing chroot every node is
 * missing, which says nothing about the node. ZKR_OK, ZKR_ENONODE (no chroot), or as zkr__inquiry_await(). One round trip
 * with a chroot, else none.
 */
int zkr__inquiry_check_chroot(struct zkr__inquiry *inquiry) ZKR__LOCKED;
#define ZKR__NO_CHROOT "the chroot of the server list is missing"

/* An inquiry that is made again while the servers are too busy for it, all within one deadline. Zeroed at first. */
struct zkr__tries {
    int64_t deadline; /* as that of an inquiry, for which it is, too */
    int64_t count;    /* so far */
    int rc;           /* of the last one */
};

/* True for the first try, and after a pause if the last try was throttled. It sleeps in that pause. */
bool zkr__inquiry_try(zkr_client *c, struct zkr__tries *t) ZKR__LOCKED;

/* As zkr_client_get(), without a last error. @deadline: as that of an inquiry. */
int zkr__node_read(zkr_client *c,
                   const char *path,
                   void *data,
                   size_t size,
                   zkr_node *node,
                   int64_t deadline) ZKR__LOCKED;

#endif

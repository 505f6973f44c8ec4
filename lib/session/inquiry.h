/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that a thread sends and waits for, with one deadline.
 *
 * The answers fill a struct that begins with a struct zkr__inquiry, and that zkr__mem_alloc() has allocated. The
 * waiting thread and each request in flight hold a reference to it, because answers may arrive after the thread has
 * given up. All functions need the client's lock. Functions that block release it while they sleep.
 */
#ifndef ZKR_SESSION_INQUIRY_H
#define ZKR_SESSION_INQUIRY_H

#include <zkr/node.h>

#include "session/client.h"
#include "session/request.h"

struct zkr__inquiry {
    zkr_client *c;
    void (*forget)(void *inquiry);
    struct zkr__listener listener; /* registered until the thread has finished */
    struct zkr__cv done;
    int64_t deadline; /* 0 = options.connect_timeout_ms after the beginning */
    /* References: one for each request, and one of the thread. */
    size_t refs, in_flight;
    int code;       /* code of the first request that failed */
    bool even_shut; /* a shutdown of the client does not end the waits */
};

/*
 * Begin an inquiry, and sleep until the client is connected. @inquiry is zeroed except for .deadline and .even_shut.
 * When its last reference is dropped, @forget (may be NULL) frees its contents, and then the inquiry itself is freed.
 * If this function fails, the inquiry has already been freed. Returns ZKR_OK, ZKR_ETIMEDOUT, ZKR_ECLOSED or ZKR_EAUTH.
 */
int zkr__inquiry_begin(struct zkr__inquiry *inquiry,
                       zkr_client *c,
                       void (*forget)(void *inquiry)) ZKR__LOCKED;
/* Drop the thread's reference. */
void zkr__inquiry_end(struct zkr__inquiry *inquiry) ZKR__LOCKED;

/*
 * Send @op. @fn receives @inquiry and the answer, and must end with zkr__inquiry_answered(). If @fn is NULL, the answer
 * only ends the request. If the path of @op is NULL because memory ran out, the request fails with ZKR_ENOMEM.
 */
void zkr__inquiry_ask(struct zkr__inquiry *inquiry,
                      const struct zkr__op *op,
                      zkr__answer_fn fn,
                      unsigned tag) ZKR__LOCKED;
void zkr__inquiry_answered(struct zkr__inquiry *inquiry, int code) ZKR__LOCKED;

/* Returns whether the thread still waits. If it does, an answer may lead to further requests. */
static inline bool zkr__inquiry_wanted(const struct zkr__inquiry *inquiry) ZKR__LOCKED
{
    return inquiry->refs > inquiry->in_flight;
}

/* Sleep until all requests are answered. Returns ZKR_ETIMEDOUT, ZKR_ECLOSED, ZKR_EAUTH, or .code. */
int zkr__inquiry_await(struct zkr__inquiry *inquiry) ZKR__LOCKED;

/*
 * Sleep until the client knows whether the chroot exists. The caller has found a node missing, which proves nothing
 * about that node if the chroot is missing, too. Returns ZKR_OK, ZKR_ENONODE (no chroot), or an error of
 * zkr__inquiry_await(). Costs one round trip with a chroot, and none without.
 */
int zkr__inquiry_check_chroot(struct zkr__inquiry *inquiry) ZKR__LOCKED;
#define ZKR__NO_CHROOT "the chroot of the server list is missing"

/*
 * The tries of an inquiry. While the servers throttle it, the inquiry is tried again, within one deadline. Initially
 * zeroed.
 */
struct zkr__tries {
    int64_t deadline; /* like zkr__inquiry.deadline; passed to each inquiry */
    int64_t count;    /* how many tries have begun */
    int rc;           /* result of the last try */
};

/*
 * Returns true if a try may begin: the first one, or another one after a throttled try. Sleeps for a pause before each
 * further try.
 */
bool zkr__inquiry_try(zkr_client *c, struct zkr__tries *t) ZKR__LOCKED;

/* Like zkr_client_get(), but does not set the last error. @deadline is like zkr__inquiry.deadline. */
int zkr__node_read(zkr_client *c,
                   const char *path,
                   void *data,
                   size_t size,
                   zkr_node *node,
                   int64_t deadline) ZKR__LOCKED;

#endif

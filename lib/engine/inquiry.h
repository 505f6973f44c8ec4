/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What somebody asks the servers and waits for: some requests, one deadline. Embedded in what the
 * answers fill, which belongs to its asker and to each request in flight: answers may come when the
 * asker has long given up. All functions need the client's lock; what blocks sleeps without it.
 */
#ifndef ZKR_ENGINE_INQUIRY_H
#define ZKR_ENGINE_INQUIRY_H

#include "engine/engine.h"
#include "session/request.h"

struct zkr__inquiry {
    zkr_client *c;
    void (*free)(struct zkr__inquiry *inquiry); /* with the last who needs it */
    struct zkr__session_listener listener;      /* as long as somebody waits */
    struct zkr__cv done;
    size_t refs, in_flight;
    int code; /* of the first request that failed */
};

/* The asker's reference. @inquiry is zeroed but for c and free. ZKR_OK or ZKR_ESYS. */
int zkr__inquiry_begin(struct zkr__inquiry *inquiry,
                       struct zkr__engine *engine) ZKR__LOCKED;
/* The asker is done with it. */
void zkr__inquiry_end(struct zkr__inquiry *inquiry,
                      struct zkr__engine *engine) ZKR__LOCKED;

/* Ask. @fn gets @inquiry, and ends with zkr__inquiry_answered(). An op without a path, for which
 * there was no memory, fails with ZKR_ENOMEM. */
void zkr__inquiry_ask(struct zkr__inquiry *inquiry,
                      const struct zkr__op *op,
                      zkr__answer_fn fn,
                      unsigned tag) ZKR__LOCKED;
void zkr__inquiry_answered(struct zkr__inquiry *inquiry, int code) ZKR__LOCKED;

/* Sleep until the servers talk to us: ZKR_OK, ZKR_ETIMEDOUT, ZKR_ECLOSED, ZKR_EAUTH. */
int zkr__inquiry_await_session(struct zkr__inquiry *inquiry,
                               int64_t deadline) ZKR__LOCKED;
/* Sleep until all is answered that was asked: the same, or the code. */
int zkr__inquiry_await(struct zkr__inquiry *inquiry, int64_t deadline) ZKR__LOCKED;

#endif

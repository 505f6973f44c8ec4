/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/inquiry.h"

static void drop(struct zkr__inquiry *inquiry) ZKR__LOCKED
{
    if (--inquiry->refs == 0) {
        zkr__cv_destroy(&inquiry->done);
        inquiry->free(inquiry);
    }
}

static void on_session(struct zkr__session_listener *listener,
                       enum zkr__session_change change)
{
    (void)change;
    zkr__cv_signal(&ZKR__OWNER_OF(listener, struct zkr__inquiry, listener)->done);
}

int zkr__inquiry_begin(struct zkr__inquiry *inquiry, struct zkr__engine *engine)
{
    if (zkr__cv_init(&inquiry->done) != 0) {
        return ZKR_ESYS;
    }
    inquiry->refs = 1;
    inquiry->listener.on_change = on_session;
    zkr__engine_listen(engine, &inquiry->listener);
    return ZKR_OK;
}

void zkr__inquiry_end(struct zkr__inquiry *inquiry, struct zkr__engine *engine)
{
    zkr__engine_unlisten(engine, &inquiry->listener);
    drop(inquiry);
}

void zkr__inquiry_answered(struct zkr__inquiry *inquiry, int code)
{
    if (inquiry->code == ZKR_OK) {
        inquiry->code = code;
    }
    inquiry->in_flight--;
    zkr__cv_signal(&inquiry->done);
    drop(inquiry);
}

void zkr__inquiry_ask(struct zkr__inquiry *inquiry,
                      const struct zkr__op *op,
                      zkr__answer_fn fn,
                      unsigned tag)
{
    inquiry->refs++;
    inquiry->in_flight++;
    if (op->path) {
        zkr__submit(inquiry->c, op, fn, inquiry, tag);
    } else {
        zkr__inquiry_answered(inquiry, ZKR_ENOMEM);
    }
}

int zkr__inquiry_await_session(struct zkr__inquiry *inquiry, int64_t deadline)
{
    zkr_client *c = inquiry->c;
    bool in_time = true;
    while (!zkr__connected(c) && c->state != ZKR_STATE_AUTH_FAILED && !c->shut &&
           in_time) {
        in_time = zkr__wait(c, &c->changed, deadline);
    }
    return c->state == ZKR_STATE_AUTH_FAILED ? ZKR_EAUTH
           : c->shut                         ? ZKR_ECLOSED
           : zkr__connected(c)               ? ZKR_OK
                                             : ZKR_ETIMEDOUT;
}

int zkr__inquiry_await(struct zkr__inquiry *inquiry, int64_t deadline)
{
    zkr_client *c = inquiry->c;
    bool in_time = true;
    while (inquiry->in_flight > 0 && !c->shut && in_time) {
        in_time = zkr__wait(c, &inquiry->done, deadline);
    }
    return c->state == ZKR_STATE_AUTH_FAILED ? ZKR_EAUTH
           : c->shut                         ? ZKR_ECLOSED
           : inquiry->in_flight > 0          ? ZKR_ETIMEDOUT
                                             : inquiry->code;
}

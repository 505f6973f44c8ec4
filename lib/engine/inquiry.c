/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/inquiry.h"

static void drop(struct zkr__inquiry *inquiry) ZKR__LOCKED
{
    if (--inquiry->refs == 0) {
        zkr__cv_destroy(&inquiry->done);
        inquiry->free(inquiry);
    }
}

static void on_state(struct zkr__listener *listener, int state)
{
    (void)state;
    zkr__cv_signal(&ZKR__OWNER_OF(listener, struct zkr__inquiry, listener)->done);
}

/* ZKR_EAUTH and ZKR_ECLOSED come first. */
static int outcome(const struct zkr__inquiry *inquiry, int code) ZKR__LOCKED
{
    const zkr_client *c = inquiry->c;
    return c->state == ZKR_STATE_AUTH_FAILED ? ZKR_EAUTH : c->shut ? ZKR_ECLOSED : code;
}

static int await_session(struct zkr__inquiry *inquiry) ZKR__LOCKED
{
    zkr_client *c = inquiry->c;
    bool in_time = true;
    while (!zkr__connected(c) && outcome(inquiry, ZKR_OK) == ZKR_OK && in_time) {
        in_time = zkr__wait(c, &c->changed, inquiry->deadline);
    }
    return outcome(inquiry, zkr__connected(c) ? ZKR_OK : ZKR_ETIMEDOUT);
}

int zkr__inquiry_begin(struct zkr__inquiry *inquiry,
                       zkr_client *c,
                       void (*free)(struct zkr__inquiry *inquiry))
{
    zkr__cv_init(&inquiry->done);
    inquiry->c = c;
    inquiry->free = free;
    inquiry->deadline = zkr__clock_deadline(zkr__now(c), c->options.connect_timeout_ms);
    inquiry->refs = 1;
    inquiry->listener.on_state = on_state;
    zkr__listen(c, &inquiry->listener);
    int rc = await_session(inquiry);
    if (rc != ZKR_OK) {
        zkr__inquiry_end(inquiry);
    }
    return rc;
}

void zkr__inquiry_end(struct zkr__inquiry *inquiry)
{
    zkr__unlisten(inquiry->c, &inquiry->listener);
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

int zkr__inquiry_await(struct zkr__inquiry *inquiry)
{
    zkr_client *c = inquiry->c;
    bool in_time = true;
    while (inquiry->in_flight > 0 && !c->shut && in_time) {
        in_time = zkr__wait(c, &inquiry->done, inquiry->deadline);
    }
    return outcome(inquiry, inquiry->in_flight > 0 ? ZKR_ETIMEDOUT : inquiry->code);
}

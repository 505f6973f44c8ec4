/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/place_multi.h"

#include <limits.h>

#include "base/error.h"
#include "base/mem.h"
#include "engine/claim_run.h"
#include "session/request.h"
#include "session/zk_multi.h"

int zkr__writes_check(const struct zkr__writes *writes, const char *dir)
{
    int rc = zkr__timeout_check(writes->timeout_ms, dir);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (writes->count > INT_MAX || (writes->count > 0 && !writes->ops)) {
        return zkr__fail(ZKR_EINVAL, dir, "count does not go with the operations");
    }
    return zkr__zk_ops_check(writes->ops, writes->count);
}

/* One that is under way. The caller may give it up; then the answer frees it. */
struct transaction {
    struct zkr__cv answered;
    struct zkr__session_listener listener;
    struct zkr__claim *claim; /* referenced */
    struct zkr__place *place; /* NULL: given up */
    const struct zkr__writes *writes;
    bool deletes, done;
    int code, zk_rc;
    size_t failed_at;
};

enum verdict { WRITTEN, REFUSED, NO_HOLD, NOT_SENT, UNKNOWN, CLOSED };

static enum verdict judge(int code, size_t failed_at)
{
    if (code == ZKR_OK) {
        return WRITTEN;
    }
    if (failed_at == SIZE_MAX) {
        return code == ZKR_ENOMEM ? NOT_SENT : UNKNOWN;
    }
    return failed_at == 0 ? NO_HOLD : REFUSED; /* our check is the first */
}

static void end(struct transaction *x)
{
    zkr__cv_destroy(&x->answered);
    zkr__mem_free(x);
}

static void
on_answer(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct transaction *x = ctx;
    (void)tag;
    enum verdict verdict = judge(answer->code, answer->failed_at);
    x->done = true;
    x->code = answer->code;
    x->zk_rc = answer->zk_rc;
    x->failed_at = answer->failed_at;
    if (x->place && x->writes->results) {
        zkr__zk_results(answer, x->writes->ops, x->writes->count, x->writes->results);
    }
    if (x->place && x->deletes && verdict == WRITTEN &&
        x->place->state == ZKR__PLACE_HELD) {
        x->place->state = ZKR__PLACE_NONE;
    }
    struct zkr__claim_event e = {.kind = ZKR__EV_WRITTEN, .deletes = x->deletes};
    e.code = verdict == WRITTEN   ? ZKR_OK
             : verdict == NO_HOLD ? ZKR_ENONODE
                                  : ZKR_ECONNLOSS;
    struct zkr__claim *claim = x->claim;
    if (x->place) {
        zkr__cv_signal(&x->answered);
    } else {
        end(x);
    }
    zkr__claim_run(claim, e);
    zkr__claim_unref(claim);
}

/* An answer comes with it, or was dropped for want of memory, or nobody is to wait for one. */
static void on_session(struct zkr__session_listener *listener,
                       enum zkr__session_change change)
{
    (void)change;
    zkr__cv_signal(&ZKR__OWNER_OF(listener, struct transaction, listener)->answered);
}

static struct transaction *
send(struct zkr__place *place, const struct zkr__writes *writes, int *rc) ZKR__LOCKED
{
    struct transaction *x = zkr__mem_alloc(sizeof(*x));
    if (!x) {
        *rc = zkr__fail(ZKR_ENOMEM, place->queue->dir, "cannot write: out of memory");
        return NULL;
    }
    int error = zkr__cv_init(&x->answered);
    if (error != 0) {
        zkr__mem_free(x);
        *rc = zkr__fail_sys(error, "cannot wait");
        return NULL;
    }
    struct zkr__claim *claim = place->claim;
    const char *node = claim->node;
    x->claim = claim;
    x->place = place;
    x->writes = writes;
    x->deletes = writes->release;
    x->listener.on_change = on_session;
    struct zkr__session_listener *listener = &x->listener;
    DL_APPEND(claim->engine->listeners, listener);
    zkr__claim_ref(claim);
    zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_WRITING,
                                                    .deletes = writes->release});
    const struct zkr__op op = {.kind = ZKR__OP_MULTI,
                               .paths = &node,
                               .path_count = 1,
                               .ops = writes->ops,
                               .op_count = writes->count,
                               .path = writes->release ? node : NULL};
    zkr__submit(claim->q->c, &op, on_answer, x, 0);
    return x;
}

static int
explain(const struct transaction *x, const char *dir, enum verdict verdict) ZKR__LOCKED
{
    switch (verdict) {
    case WRITTEN:
        return ZKR_OK;
    case NO_HOLD:
        return zkr__fail(ZKR_ESESSION, dir,
                         "%s was lost while held; nothing is written", dir);
    case NOT_SENT:
        return zkr__fail(x->code, dir, "cannot write: out of memory");
    case REFUSED:
        return zkr__fail_zk(x->code, x->zk_rc, dir, "refused, and nothing is written");
    case CLOSED:
        return zkr__fail(ZKR_ECLOSED, dir,
                         "the client is shut down; what was to be written may be");
    case UNKNOWN:
        break;
    }
    return zkr__fail(ZKR_ECONNLOSS, dir,
                     "%s: no answer to what was to be written; it may have been", dir);
}

static int64_t deadline_of(const zkr_client *c, int64_t timeout_ms)
{
    int64_t limit = timeout_ms == 0 ? zkr__place_try_ms(c) : timeout_ms;
    return zkr__clock_deadline(zkr__now(c), limit);
}

/* ZKR_OK: held and connected. */
static int
await_connection(struct zkr__place *place, bool once, int64_t deadline) ZKR__LOCKED
{
    zkr_client *c = place->queue->c;
    const char *dir = place->queue->dir;
    bool in_time = !once;
    while (zkr__place_sure(place) && !zkr__connected(c) && !c->shut && in_time) {
        in_time = zkr__wait(c, &c->changed, deadline);
    }
    if (c->shut) {
        return zkr__fail(ZKR_ECLOSED, dir, "the client is shut down");
    }
    if (!zkr__place_sure(place)) {
        return zkr__fail(ZKR_ESESSION, dir, "%s is held no more; nothing is written",
                         dir);
    }
    if (c->shut && !zkr__connected(c)) {
        return zkr__fail(ZKR_ECLOSED, dir,
                         "the client is shut down; nothing is written");
    }
    return zkr__connected(c)
               ? ZKR_OK
               : zkr__fail(ZKR_ENOANSWER, dir, "not connected; nothing is written: %s",
                           c->obstacle[0] ? c->obstacle : "no session");
}

static enum verdict
await_answer(struct transaction *x, zkr_client *c, int64_t deadline) ZKR__LOCKED
{
    struct zkr__engine *engine = c->engine;
    int64_t session = c->session_id;
    bool in_time = true;
    while (!x->done && in_time && !c->shut && c->session_id == session) {
        in_time = zkr__wait(c, &x->answered, deadline);
    }
    struct zkr__session_listener *listener = &x->listener;
    DL_DELETE(engine->listeners, listener);
    return x->done ? judge(x->code, x->failed_at) : c->shut ? CLOSED : UNKNOWN;
}

int zkr__place_multi(struct zkr__place *place,
                     const struct zkr__writes *writes,
                     bool *over)
{
    zkr_client *c = place->queue->c;
    const char *dir = place->queue->dir;
    int64_t deadline = deadline_of(c, writes->timeout_ms);
    int rc = await_connection(place, writes->timeout_ms == 0, deadline);
    *over = rc == ZKR_ESESSION && writes->release;
    struct transaction *x = rc == ZKR_OK ? send(place, writes, &rc) : NULL;
    if (!x) {
        return rc;
    }
    enum verdict verdict = await_answer(x, c, deadline);
    rc = explain(x, dir, verdict);
    *over = writes->release && verdict != REFUSED && verdict != NOT_SENT;
    if (x->done) {
        end(x);
    } else {
        x->place = NULL;
    }
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/place_multi.h"

#include <limits.h>

#include "base/error.h"
#include "base/mem.h"
#include "engine/claim_run.h"
#include "engine/place.h"
#include "session/request.h"
#include "session/zk_multi.h"

int zkr__writes_check(const struct zkr__writes *writes, const char *dir)
{
    int rc = zkr__timeout_check(writes->timeout_ms, dir);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (writes->count > INT_MAX || (writes->count > 0 && !writes->ops)) {
        return zkr__fail(ZKR_EINVAL, dir, "count does not match the operations");
    }
    return zkr__zk_ops_check(writes->ops, writes->count);
}

/* One that is under way. The caller may give it up; then the answer frees it. */
struct transaction {
    struct zkr__cv answered;
    struct zkr__session_listener listener;
    struct zkr__place *place; /* NULL: given up */
    const struct zkr__writes *writes;
    unsigned round; /* of the first claim, as it was sent */
    bool deletes, done;
    int code, zk_rc;
    size_t failed_at;
    uint32_t count;
    struct zkr__claim *claims[]; /* whose nodes are checked; referenced */
};

enum verdict { WRITTEN, REFUSED, NO_HOLD, NOT_SENT, UNKNOWN, CLOSED };

/* @checks: our checks are the first operations. One that is refused for another reason than that it finds no node, an ACL,
 * is no end of a hold. */
static enum verdict judge(int code, size_t failed_at, size_t checks)
{
    if (code == ZKR_OK) {
        return WRITTEN;
    }
    if (failed_at == SIZE_MAX) {
        return code == ZKR_ENOMEM ? NOT_SENT : UNKNOWN;
    }
    return failed_at < checks && code == ZKR_ENONODE ? NO_HOLD : REFUSED;
}

/* What the answer says of one of the claims. */
static int code_for(enum verdict verdict, bool at_fault)
{
    return verdict == WRITTEN               ? ZKR_OK
           : verdict == NO_HOLD && at_fault ? ZKR_ENONODE
                                            : ZKR_ECONNLOSS;
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
    enum verdict verdict = judge(answer->code, answer->failed_at, x->count);
    x->done = true;
    x->code = answer->code;
    x->zk_rc = answer->zk_rc;
    x->failed_at = answer->failed_at;
    if (x->place && x->writes->results) {
        zkr__zk_results(answer, x->writes->ops, x->writes->count, x->writes->results);
    }
    /* Released, or as good as that: the end of the node is no loss then. */
    bool over = x->deletes && (verdict == WRITTEN || verdict == UNKNOWN);
    if (x->place && over && x->place->state == ZKR__PLACE_HELD) {
        zkr__place_meter_release(x->place);
        x->place->state = ZKR__PLACE_NONE;
    }
    bool given_up = !x->place;
    if (!given_up) {
        zkr__cv_signal(&x->answered); /* and not gone before the lock is let go */
    }
    /* A downgrade, or one that was refused, has given the node another path. */
    bool same_nodes = x->round == x->claims[0]->k.round;
    for (uint32_t i = 0; i < x->count; i++) {
        bool at_fault = answer->failed_at == i && same_nodes;
        zkr__claim_run(x->claims[i],
                       (struct zkr__claim_event){.kind = ZKR__EV_WRITTEN,
                                                 .deletes = x->deletes,
                                                 .code = code_for(verdict, at_fault)});
        zkr__claim_unref(x->claims[i]);
    }
    if (given_up) {
        end(x);
    }
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
    uint32_t count = zkr__place_claims(place, NULL);
    struct transaction *x =
        zkr__mem_alloc(sizeof(*x) + count * sizeof(struct zkr__claim *));
    const char **nodes = zkr__mem_alloc(count * sizeof(*nodes));
    if (!x || !nodes) {
        zkr__mem_free(x);
        zkr__mem_free(nodes);
        *rc = zkr__fail(ZKR_ENOMEM, place->queue->dir, "cannot write: out of memory");
        return NULL;
    }
    int error = zkr__cv_init(&x->answered);
    if (error != 0) {
        zkr__mem_free(x);
        zkr__mem_free(nodes);
        *rc = zkr__fail_sys(error, "cannot wait");
        return NULL;
    }
    zkr_client *c = place->queue->c;
    struct zkr__engine *engine = c->engine;
    x->count = zkr__place_claims(place, x->claims);
    x->place = place;
    x->writes = writes;
    x->round = x->claims[0]->k.round;
    x->deletes = writes->release && !writes->keep_nodes;
    x->listener.on_change = on_session;
    struct zkr__session_listener *listener = &x->listener;
    DL_APPEND(engine->listeners, listener);
    for (uint32_t i = 0; i < count; i++) {
        nodes[i] = x->claims[i]->node;
        zkr__claim_ref(x->claims[i]);
        zkr__claim_run(x->claims[i], (struct zkr__claim_event){.kind = ZKR__EV_WRITING,
                                                               .deletes = x->deletes});
    }
    const struct zkr__op op = {.kind = ZKR__OP_MULTI,
                               .paths = nodes,
                               .path_count = count,
                               .ops = writes->ops,
                               .op_count = writes->count,
                               .deleted = nodes,
                               .deleted_count = x->deletes ? count : 0};
    zkr__submit(c, &op, on_answer, x, 0);
    zkr__mem_free(nodes);
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
        return zkr__fail_zk(x->code, x->zk_rc, dir, "refused; nothing was written");
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
        return zkr__fail(ZKR_ECLOSED, dir,
                         "the client is shut down; nothing is written");
    }
    if (!zkr__place_sure(place)) {
        return zkr__fail(ZKR_ESESSION, dir, "%s is no longer held; nothing was written",
                         dir);
    }
    return zkr__connected(c)
               ? ZKR_OK
               : zkr__fail(ZKR_ENOANSWER, dir, "not connected; nothing was written: %s",
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
    return x->done   ? judge(x->code, x->failed_at, x->count)
           : c->shut ? CLOSED
                     : UNKNOWN;
}

int zkr__place_multi(struct zkr__place *place,
                     const struct zkr__writes *writes,
                     bool *over)
{
    zkr_client *c = place->queue->c;
    const char *dir = place->queue->dir;
    int64_t deadline = deadline_of(c, writes->timeout_ms);
    int rc = await_connection(place, writes->timeout_ms == 0, deadline);
    *over = writes->release && (rc == ZKR_ESESSION || rc == ZKR_ECLOSED);
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

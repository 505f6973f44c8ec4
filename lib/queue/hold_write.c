/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/hold_write.h"

#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "queue/claim_run.h"
#include "session/inquiry.h"
#include "session/request.h"
#include "session/zk_multi.h"
#include "session/zk_value.h"

int zkr__writes_check(const struct zkr__writes *writes, const char *dir)
{
    int rc = zkr__timeout_check(writes->timeout_ms, dir);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (writes->count > INT_MAX || (writes->count > 0 && !writes->ops)) {
        return zkr__fail(ZKR_EINVAL, dir, "the count does not match the operations");
    }
    return zkr__zk_ops_check(writes->ops, writes->count);
}

/* A transaction in flight. */
struct transaction {
    struct zkr__inquiry asked;
    struct zkr__hold *hold; /* valid while the thread waits */
    const struct zkr__writes *writes;
    unsigned round; /* round of the first claim when the transaction was sent */
    bool deletes;
    int code, zk_rc;
    size_t failed_at;
    uint32_t count;
    /* The claims whose nodes are checked, each referenced until the answer. */
    struct zkr__claim *claims[];
};

enum verdict { WRITTEN, REFUSED, NO_HOLD, NOT_SENT, UNKNOWN, CLOSED };

/*
 * Decide what the answer means. The first @checks operations check our nodes. A missing node ends the hold, but a check
 * that an ACL refuses does not.
 */
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

/* Returns the result of the transaction for one claim. */
static int code_for(enum verdict verdict, bool at_fault)
{
    return verdict == WRITTEN               ? ZKR_OK
           : verdict == NO_HOLD && at_fault ? ZKR_ENONODE
                                            : ZKR_ECONNLOSS;
}

static void
on_answer(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct transaction *x = ctx;
    (void)tag;
    enum verdict verdict = judge(answer->code, answer->failed_at, x->count);
    bool wanted = zkr__inquiry_wanted(&x->asked);
    x->code = answer->code;
    x->zk_rc = answer->zk_rc;
    x->failed_at = answer->failed_at;
    if (wanted && x->writes->results) {
        zkr__zk_results(answer, x->writes->ops, x->writes->count, x->writes->results);
    }
    /* The hold is released, or may be, so from now on the end of the node is not a loss. */
    bool over = x->deletes && (verdict == WRITTEN || verdict == UNKNOWN);
    if (wanted && over && x->hold->state == ZKR__HOLD_HELD) {
        zkr__hold_released(x->hold);
    }
    /* If a downgrade was made or refused meanwhile, the node has another path. */
    bool same_nodes = x->round == x->claims[0]->k.round;
    for (uint32_t i = 0; i < x->count; i++) {
        bool at_fault = answer->failed_at == i && same_nodes;
        /* After UNKNOWN, the transaction may still arrive, and no answer will show when it no longer can. */
        x->claims[i]->guarded = x->claims[i]->guarded || verdict == UNKNOWN;
        zkr__claim_run(x->claims[i],
                       (struct zkr__claim_event){.kind = ZKR__EV_WRITTEN,
                                                 .deletes = x->deletes,
                                                 .code = code_for(verdict, at_fault)});
        zkr__claim_unref(x->claims[i]);
    }
    zkr__inquiry_answered(&x->asked, answer->code);
}

static struct transaction *
send(struct zkr__hold *hold, const struct zkr__writes *writes, int *rc) ZKR__LOCKED
{
    uint32_t count = zkr__hold_claims(hold, NULL);
    struct transaction *x =
        zkr__mem_alloc(sizeof(*x) + count * sizeof(struct zkr__claim *));
    const char **nodes = zkr__mem_alloc(count * sizeof(*nodes));
    if (!x || !nodes) {
        zkr__mem_free(x);
        zkr__mem_free(nodes);
        *rc = zkr__fail(ZKR_ENOMEM, hold->queue->dir, "cannot write: out of memory");
        return NULL;
    }
    x->count = zkr__hold_claims(hold, x->claims);
    x->hold = hold;
    x->writes = writes;
    x->round = x->claims[0]->k.round;
    x->deletes = writes->release;
    x->asked.even_shut = writes->even_shut;
    *rc = zkr__inquiry_begin(&x->asked, hold->queue->c, NULL);
    if (*rc != ZKR_OK) {
        zkr__mem_free(nodes);
        return NULL;
    }
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
    zkr__inquiry_ask(&x->asked, &op, on_answer, 0);
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
                         "%s was lost while held; nothing was written", dir);
    case NOT_SENT:
        return zkr__fail(x->code, dir, "cannot write: out of memory");
    case REFUSED:
        return zkr__fail_zk(x->code, x->zk_rc, dir,
                            "nothing was written under the lock on");
    case CLOSED:
        return zkr__fail(ZKR_ECLOSED, dir,
                         "the client is shut down; the write may have succeeded");
    case UNKNOWN:
        break;
    }
    return zkr__fail(ZKR_ECONNLOSS, dir,
                     "%s: no answer to the write, which may have succeeded", dir);
}

static int64_t deadline_of(const zkr_client *c, int64_t timeout_ms)
{
    int64_t limit = timeout_ms == 0 ? zkr__hold_try_ms(c) : timeout_ms;
    return zkr__clock_deadline(zkr__now(c), limit);
}

static bool is_shut(const zkr_client *c, const struct zkr__writes *writes) ZKR__LOCKED
{
    return c->shut && !writes->even_shut;
}

/* Wait for a connection. Returns ZKR_OK if the hold is held and the client is connected. */
static int await_connection(struct zkr__hold *hold,
                            const struct zkr__writes *writes,
                            int64_t deadline) ZKR__LOCKED
{
    zkr_client *c = hold->queue->c;
    const char *dir = hold->queue->dir;
    bool in_time = writes->timeout_ms != 0;
    while (zkr__hold_check(hold) && !zkr__connected(c) && !is_shut(c, writes) &&
           in_time) {
        in_time = zkr__wait(c, &c->changed, deadline);
    }
    if (is_shut(c, writes)) {
        return zkr__fail(ZKR_ECLOSED, dir,
                         "the client is shut down; nothing was written");
    }
    if (!zkr__hold_check(hold)) {
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
    int64_t session = c->session_id;
    bool in_time = true;
    while (x->asked.in_flight > 0 && in_time && !is_shut(c, x->writes) &&
           c->session_id == session) {
        in_time = zkr__wait(c, &x->asked.done, deadline);
    }
    return x->asked.in_flight == 0 ? judge(x->code, x->failed_at, x->count)
           : is_shut(c, x->writes) ? CLOSED
                                   : UNKNOWN;
}

/* Sets *again if nothing was written because a failed downgrade has left the hold at its former node. */
static int write_once(struct zkr__hold *hold,
                      const struct zkr__writes *writes,
                      int64_t deadline,
                      bool *over,
                      bool *again) ZKR__LOCKED
{
    zkr_client *c = hold->queue->c;
    int rc = await_connection(hold, writes, deadline);
    *again = false;
    *over = writes->release && (rc == ZKR_ESESSION || rc == ZKR_ECLOSED);
    struct transaction *x = rc == ZKR_OK ? send(hold, writes, &rc) : NULL;
    if (!x) {
        return rc;
    }
    enum verdict verdict = await_answer(x, c, deadline);
    if (verdict == NO_HOLD && zkr__hold_check(hold)) {
        *again = zkr__now(c) < deadline;
        verdict = UNKNOWN;
    }
    rc = explain(x, hold->queue->dir, verdict);
    *over = writes->release && verdict != REFUSED && verdict != NOT_SENT;
    zkr__inquiry_end(&x->asked);
    return rc;
}

int zkr__hold_write(struct zkr__hold *hold,
                    const struct zkr__writes *writes,
                    bool *over)
{
    int64_t deadline = deadline_of(hold->queue->c, writes->timeout_ms);
    bool again;
    int rc;
    do {
        rc = write_once(hold, writes, deadline, over, &again);
    } while (again);
    return rc;
}

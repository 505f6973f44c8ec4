/* SPDX-License-Identifier: Apache-2.0 */
/* The latch and the selector. Any thread may start one, and the process stops it in the end. */
#include "ops.h"

/* A thread that holds something does not wait for ever, and no thread waits for ever for a leader that may continue to
   lead. */
static int64_t some_while(void)
{
    return zkf_chance(20) ? 0 : 1 + zkf_below(scene.session / ZKR__MS);
}

/* --- latch --- */

static void await(struct app *a)
{
    int64_t timeout_ms = some_while();
    struct call call = sim_call(a, "await", timeout_ms == 0 ? ZKR_FOREVER : timeout_ms);
    int rc = zkr_leader_latch_await(a->p->latch, timeout_ms);
    sim_called(&call, rc);
    if (rc == ZKR_ENOTOWNER || rc == ZKR_EBUSY || rc == ZKR_ESESSION) {
        sim_violation("await returns %s", zkr_err_name(rc));
    }
}

static void stop_latch(struct app *a)
{
    struct process *p = a->p;
    bool silent = zkf_chance(50);
    struct call call = sim_call(a, "stop the latch", ZKR_FOREVER);
    p->stopping += silent;
    sim_called(&call, zkr_leader_latch_stop(p->latch, silent ? ZKR_LATCH_SILENT
                                                             : ZKR_LATCH_NOTIFY));
    p->stopping -= silent;
    p->silent = p->silent || silent;
}

void sim_op_latch(struct app *a)
{
    zkr_leader_latch *latch = a->p->latch;
    int64_t what = zkf_below(100), token;
    if (!latch) {
        return;
    }
    if (what < 30) {
        struct call call = sim_call(a, "start the latch", ZKR_FOREVER);
        sim_called(&call, zkr_leader_latch_start(latch));
    } else if (what < 60) {
        await(a);
    } else if (what < 80) {
        stop_latch(a);
    } else if (zkr_leader_latch_has_leadership(latch)) {
        (void)zkr_leader_latch_valid_for_ms(latch);
        (void)zkr_leader_latch_fencing_token(latch, &token);
    }
}

/* --- selector --- */

/* Lead for a few turns, and no longer than allowed. */
void sim_take_leadership(zkr_leadership *lead, void *process)
{
    struct process *p = process;
    int64_t turns = zkf_below(4);
    did.terms++;
    if (p->leading++ != 0) {
        sim_violation("take_leadership() runs twice at once");
    }
    int rc = ZKR_ETIMEDOUT;
    while (rc == ZKR_ETIMEDOUT && turns-- > 0) {
        int64_t timeout_ms = some_while();
        struct moment began = sim_moment(p);
        rc = zkr_leadership_wait(lead, timeout_ms);
        if (sim_since(p, &began) > timeout_ms * ZKR__MS + SIM_SLACK) {
            sim_violation("zkr_leadership_wait() sleeps longer than %lld ms",
                          (long long)timeout_ms);
        }
        if (zkf_chance(30) && zkr_leadership_fencing_token(lead) == 0) {
            sim_violation("a leader without a token");
        }
        if (zkf_chance(10)) {
            (void)zkr_leader_selector_stop(p->selector,
                                           ZKR_FOREVER); /* same effect as 0 */
        } else if (zkf_chance(10)) {
            (void)zkr_leader_selector_requeue(p->selector);
        }
    }
    p->leading--;
    sim_may_exit(p);
}

static void stop_selector(struct app *a)
{
    int64_t timeout_ms = some_while();
    struct call call = sim_call(a, "stop the selector", timeout_ms);
    int rc = zkr_leader_selector_stop(a->p->selector, timeout_ms);
    if (timeout_ms == 0) {
        call.timeout_ms = ZKR_FOREVER;
    }
    sim_called(&call, rc);
    if (rc != ZKR_OK && rc != ZKR_ETIMEDOUT) {
        sim_violation("stop returns %s", zkr_err_name(rc));
    }
}

void sim_op_selector(struct app *a)
{
    zkr_leader_selector *s = a->p->selector;
    int64_t what = zkf_below(100);
    if (!s) {
        return;
    }
    struct call call = sim_call(a, "ask the selector", ZKR_FOREVER);
    int rc = ZKR_OK;
    if (what < 35) {
        rc = zkr_leader_selector_start(s);
    } else if (what < 65) {
        stop_selector(a);
    } else if (what < 75) {
        rc = zkr_leader_selector_requeue(s);
    } else if (what < 85) {
        rc = zkr_leader_selector_interrupt(s);
    } else if (what < 95) {
        (void)zkr_leader_selector_has_leadership(s);
    } else {
        (void)zkr_leader_selector_state(s);
    }
    sim_called(&call, rc);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on a client that is in use. */
#include "ops.h"

static int64_t some_while(void)
{
    return 1 + zkf_below(scene.session / ZKR__MS);
}

/* A client in use refuses to be closed. */
static void close_early(struct app *a)
{
    const struct process *p = a->p;
    if (!p->locks[LOCK_A] && !p->rw && !p->semaphore && !p->latch) {
        return;
    }
    struct call call = sim_call(a, "close, in use", 0);
    int rc = zkr_client_close(p->c);
    sim_called(&call, rc);
    if (rc != ZKR_EBUSY) {
        sim_violation("a client in use can be closed: %s", zkr_err_name(rc));
    }
}

static void shut_down(struct app *a)
{
    struct call call = sim_call(a, "shutdown", 0);
    a->p->shut = true;
    did.shutdowns++;
    sim_called(&call, zkr_client_shutdown(a->p->c));
}

void sim_op_client(struct app *a)
{
    int64_t what = zkf_below(100);
    if (what < 35) {
        struct call call = sim_call(a, "flush", some_while());
        sim_called(&call, zkr_client_flush(a->p->c, call.timeout_ms));
    } else if (what < 60) {
        struct call call = sim_call(a, "wait_connected", some_while());
        sim_called(&call, zkr_client_wait_connected(a->p->c, call.timeout_ms));
    } else if (what < 75 && scene.misuse) {
        close_early(a);
    } else if (what < 90 && scene.shutdowns) {
        shut_down(a);
    } else {
        zkr_stats stats;
        (void)zkr_client_stats(a->p->c, &stats, sizeof(stats));
        if (stats.waiting < 0 || stats.held < 0 || stats.pending_deletes < 0) {
            sim_violation("a count is below zero");
        }
    }
}

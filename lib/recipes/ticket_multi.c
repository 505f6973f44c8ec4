/* SPDX-License-Identifier: Apache-2.0 */
/* Writes of the application that happen only while the ticket is held. */
#include <zkr/guard.h>

#include "base/error.h"
#include "engine/place_multi.h"
#include "recipes/ticket.h"

static int write(zkr_ticket *t, const struct zkr__writes *writes)
{
    int rc = zkr__ticket_enter(t);
    if (rc == ZKR_OK) {
        rc = zkr__client_enter_blocking(t->c);
    }
    if (rc == ZKR_OK) {
        rc = zkr__writes_check(writes, zkr__ticket_dir(t));
    }
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(t->c);
    if (zkr__ticket_hold(t, &rc)) {
        bool over;
        t->writing++;
        rc = zkr__place_multi(&t->place, writes, &over);
        t->writing--;
        if (over) {
            zkr__ticket_let_go(t, rc == ZKR_ESESSION ? ZKR_ESESSION : ZKR_OK);
        }
    }
    zkr__unlock(t->c);
    return rc;
}

int zkr_ticket_multi(zkr_ticket *t,
                     int count,
                     const zoo_op_t *ops,
                     zoo_op_result_t *results,
                     int64_t timeout_ms)
{
    return write(t, &(struct zkr__writes){.count = (size_t)count,
                                          .ops = ops,
                                          .results = results,
                                          .timeout_ms = timeout_ms});
}

int zkr_ticket_release_multi(zkr_ticket *t,
                             int count,
                             const zoo_op_t *ops,
                             zoo_op_result_t *results,
                             int64_t timeout_ms)
{
    return write(t, &(struct zkr__writes){.count = (size_t)count,
                                          .ops = ops,
                                          .results = results,
                                          .timeout_ms = timeout_ms,
                                          .release = true});
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What a ticket can be asked. */
#include <zkr/guard.h>

#include "base/error.h"
#include "recipes/ticket.h"
#include "session/bound.h"
#include "session/zk_value.h"

int zkr_ticket_state(zkr_ticket *t)
{
    int state = zkr__ticket_enter(t);
    if (state == ZKR_OK) {
        zkr__lock(t->c);
        state = zkr__ticket_look(t);
        zkr__unlock(t->c);
    }
    return state;
}

int zkr_ticket_error(zkr_ticket *t)
{
    int rc = zkr__ticket_enter(t);
    if (rc == ZKR_OK) {
        zkr__lock(t->c);
        (void)zkr__ticket_look(t);
        rc = zkr__ticket_why(t);
        zkr__unlock(t->c);
    }
    return rc;
}

int64_t zkr_ticket_valid_for_ms(zkr_ticket *t)
{
    if (zkr__ticket_enter(t) != ZKR_OK) {
        return 0;
    }
    zkr__lock(t->c);
    int64_t left = zkr__ticket_is_sure(t) ? zkr__valid_for_ms(t->c) : 0;
    zkr__unlock(t->c);
    return left;
}

static int no_room(zkr_ticket *t)
{
    return zkr__fail(ZKR_EINVAL, zkr__ticket_dir(t), "there is no room for the result");
}

int zkr_ticket_fencing_token(zkr_ticket *t, int64_t *token)
{
    int rc = zkr__ticket_enter(t);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!token) {
        return no_room(t);
    }
    zkr__lock(t->c);
    const struct zkr__claim *claim = zkr__ticket_hold(t, &rc);
    if (claim) {
        *token = claim->czxid;
    }
    zkr__unlock(t->c);
    return rc;
}

int zkr_ticket_node(zkr_ticket *t, char *buf, size_t size)
{
    int rc = zkr__ticket_enter(t);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!buf) {
        return no_room(t);
    }
    zkr__lock(t->c);
    const struct zkr__claim *claim = zkr__ticket_hold(t, &rc);
    if (claim) {
        rc = zkr__place_node(claim, buf, size);
    }
    zkr__unlock(t->c);
    return rc;
}

int zkr_ticket_guard(zkr_ticket *t, struct zoo_op *op)
{
    int rc = zkr__ticket_enter(t);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!op) {
        return no_room(t);
    }
    zkr__lock(t->c);
    const struct zkr__claim *claim = zkr__ticket_hold(t, &rc);
    if (claim) {
        zkr__zk_guard(op, claim->node);
    }
    zkr__unlock(t->c);
    return rc;
}

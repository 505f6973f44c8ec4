/* SPDX-License-Identifier: Apache-2.0 */
/* What a ticket can be asked. */
#include <limits.h>
#include <string.h>

#include <zkr/guard.h>

#include "base/error.h"
#include "base/mem.h"
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

int zkr_ticket_lost(zkr_ticket *t, zkr_lost *out, size_t size)
{
    int rc = zkr__ticket_enter(t);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!out || size == 0 || size > INT_MAX) {
        return no_room(t);
    }
    zkr__lock(t->c);
    const char *dir = t->place.queue->dir;
    if (zkr__ticket_look(t) != ZKR_TICKET_LOST) {
        rc = zkr__fail(ZKR_ESTATE, dir, "the ticket of %s was not lost", dir);
    } else if (!t->lost_text && !(t->lost_text = zkr__mem_alloc(ZKR__LOSS_TEXT_MAX))) {
        rc = zkr__fail(ZKR_ENOMEM, dir, "cannot tell of a loss: out of memory");
    } else {
        const struct zkr__claim *claim = t->place.claim;
        const zkr_lost lost = zkr__loss_tell(claim, claim->k.lost, t->lost_text);
        memset(out, 0, size);
        memcpy(out, &lost, size < sizeof(lost) ? size : sizeof(lost));
    }
    zkr__unlock(t->c);
    return rc;
}

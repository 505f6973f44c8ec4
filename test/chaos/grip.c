/* SPDX-License-Identifier: Apache-2.0 */
#include "grip.h"

#include <stdlib.h>
#include <string.h>

zkc_record zkc_grip_record(const struct zkc_grip *g, enum zkc_kind kind)
{
    zkc_record r = zkc_client_record(g->w->process, kind, g->path);
    r.thread = (uint8_t)g->w->number;
    r.by = (uint8_t)g->by;
    r.token = g->token;
    return r;
}

void zkc_grip_put(const struct zkc_grip *g, const zkc_record *r)
{
    zkc_put(g->w->process->history, r);
}

/* The number at the end of the node's name, or -1. */
static int64_t sequence_of(const struct zkc_grip *g)
{
    char node[256];
    int rc = g->ticket != NULL ? zkr_ticket_node(g->ticket, node, sizeof node)
                               : zkr_mutex_node(g->mutex, node, sizeof node);
    if (rc != ZKR_OK || strlen(node) < 10) {
        return -1;
    }
    return strtoll(node + strlen(node) - 10, NULL, 10);
}

static int read_token(struct zkc_grip *g)
{
    return g->ticket != NULL ? zkr_ticket_fencing_token(g->ticket, &g->token)
                             : zkr_mutex_fencing_token(g->mutex, &g->token);
}

void zkc_grip_granted(struct zkc_grip *g,
                      int64_t asked,
                      int64_t granted,
                      int64_t limit_ms)
{
    const int64_t sequence = sequence_of(g);
    const int code = read_token(g); /* fails if it is lost already */
    zkc_record r = zkc_grip_record(g, ZKC_GRANT);
    r.at = asked;
    r.until = granted;
    r.limit = limit_ms;
    r.value = sequence;
    r.code = code;
    zkc_grip_put(g, &r);
}

bool zkc_grip_sure(const struct zkc_grip *g)
{
    zkc_record r = zkc_grip_record(g, ZKC_SURE);
    r.value = g->ticket != NULL ? zkr_ticket_valid_for_ms(g->ticket)
                                : zkr_mutex_valid_for_ms(g->mutex);
    r.until = zkc_now();
    if (r.value > 0) {
        zkc_grip_put(g, &r);
    }
    return r.value > 0;
}

int zkc_grip_guard(const struct zkc_grip *g, zoo_op_t *op)
{
    return g->ticket != NULL ? zkr_ticket_guard(g->ticket, op)
                             : zkr_mutex_guard(g->mutex, op);
}

void zkc_grip_release(const struct zkc_grip *g)
{
    zkc_record r = zkc_grip_record(g, ZKC_RELEASE);
    zkc_grip_put(
        g, &r); /* first, so that the claim ends even if we are killed in between */
    r.kind = ZKC_RELEASED;
    r.code =
        g->ticket != NULL ? zkr_ticket_release(g->ticket) : zkr_mutex_release(g->mutex);
    r.until = zkc_now();
    zkc_grip_put(g, &r);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "grip.h"

#include <stdlib.h>
#include <string.h>

struct zkc_grip
zkc_grip_begin(struct zkc_worker *w, const struct zkc_want *want, enum zkc_by by)
{
    return (struct zkc_grip){
        .w = w, .want = *want, .mutex = zkc_locks_mutex(w->locks, want), .by = by};
}

zkc_record zkc_grip_record(const struct zkc_grip *g, enum zkc_kind kind)
{
    zkc_record r = zkc_client_record(g->w->process, kind, g->want.path);
    r.thread = (uint8_t)g->w->number;
    r.by = (uint8_t)g->by;
    r.as = (uint8_t)g->want.as;
    r.permits = (uint8_t)g->want.permits;
    r.also = (uint8_t)g->want.also;
    r.token = g->token;
    return r;
}

void zkc_grip_put(const struct zkc_grip *g, const zkc_record *r)
{
    zkc_put(g->w->process->history, r);
}

/* Returns the number of the hold among the holds of its node, or 0 if the hold is lost. */
static int64_t pass_of(const struct zkc_grip *g)
{
    int64_t pass = 0;
    (void)(g->ticket != NULL ? zkr_ticket_pass(g->ticket, &pass)
                             : zkr_mutex_pass(g->mutex, &pass));
    return pass;
}

/*
 * Returns the number at the end of the node's name. Returns -1 if it is unknown or belongs to an earlier hold of the
 * node.
 */
static int64_t sequence_of(const struct zkc_grip *g)
{
    char node[256];
    if (g->want.path == ZKC_KEPT_PATH && pass_of(g) > 1) {
        return -1;
    }
    int rc = g->ticket != NULL ? zkr_ticket_node(g->ticket, node, sizeof node)
                               : zkr_mutex_node(g->mutex, node, sizeof node);
    if (rc != ZKR_OK || strlen(node) < 10) {
        return -1;
    }
    return strtoll(node + strlen(node) - 10, NULL, 10);
}

int zkc_grip_token(const struct zkc_grip *g, int64_t *out)
{
    int64_t token = 0;
    const int rc = g->ticket != NULL ? zkr_ticket_fencing_token(g->ticket, &token)
                                     : zkr_mutex_fencing_token(g->mutex, &token);
    if (rc == ZKR_OK) {
        *out = zkc_token(g->want.path, token, pass_of(g));
    }
    return rc;
}

void zkc_grip_granted(struct zkc_grip *g,
                      int64_t asked,
                      int64_t granted,
                      int64_t limit_ms)
{
    const int64_t sequence = sequence_of(g);
    /* Fails if the hold is already lost. */
    const int code = zkc_grip_token(g, &g->token);
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

void zkc_grip_downgrade(struct zkc_grip *g)
{
    const struct zkc_want read = {.as = ZKC_AS_READER, .path = g->want.path};
    zkr_mutex *reader = zkc_locks_mutex(g->w->locks, &read);
    if (zkr_mutex_acquire(reader, 0) != ZKR_OK) {
        return; /* the hold is lost, and will be released as a writer */
    }
    zkc_record r = zkc_grip_record(g, ZKC_DOWNGRADE);
    zkc_grip_put(g, &r); /* before the release, because readers may come then */
    (void)zkr_mutex_release(g->mutex);
    g->mutex = reader;
    g->want = read;
    r = zkc_grip_record(g, ZKC_DOWNGRADED);
    r.value = g->token;
    r.code = zkc_grip_token(g, &r.token);
    zkc_grip_put(g, &r);
}

int zkc_grip_guard(const struct zkc_grip *g, zoo_op_t *op)
{
    return g->ticket != NULL ? zkr_ticket_guard(g->ticket, op)
                             : zkr_mutex_guard(g->mutex, op);
}

void zkc_grip_release(const struct zkc_grip *g)
{
    zkc_record r = zkc_grip_record(g, ZKC_RELEASE);
    /* Recorded first: the claim then ends even if this process is killed in between. */
    zkc_grip_put(g, &r);
    r.kind = ZKC_RELEASED;
    r.code =
        g->ticket != NULL ? zkr_ticket_release(g->ticket) : zkr_mutex_release(g->mutex);
    r.until = zkc_now();
    zkc_grip_put(g, &r);
}

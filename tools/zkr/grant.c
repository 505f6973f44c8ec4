/* SPDX-License-Identifier: Apache-2.0 */
#include "grant.h"

#include <stdlib.h>
#include <string.h>

bool grant_begin(struct grant *g, const char *path)
{
    enum { NAME_ROOM = 128 }; /* a slash, "_c_", a GUID, a prefix and the digits */
    g->node_size = strlen(path) + NAME_ROOM;
    g->node = calloc(1, g->node_size);
    return g->node != NULL;
}

void grant_end(struct grant *g)
{
    free(g->node);
}

int grant_await(const struct grant *g, int64_t ms)
{
    return g->latch ? zkr_leader_latch_await(g->latch, ms)
                    : zkr_ticket_wait(g->ticket, ms);
}

bool grant_may_come(const struct grant *g)
{
    return !g->ticket || zkr_ticket_state(g->ticket) == ZKR_TICKET_WAITING;
}

void grant_cancel(const struct grant *g)
{
    (void)(g->latch ? zkr_leader_latch_stop(g->latch, ZKR_LATCH_SILENT)
                    : zkr_ticket_release(g->ticket));
}

bool grant_read(struct grant *g)
{
    int64_t token;
    g->session_id = zkr_client_session_id(g->client);
    int rc = g->latch ? zkr_leader_latch_fencing_token(g->latch, &token)
                      : zkr_ticket_fencing_token(g->ticket, &token);
    if (rc == ZKR_OK) {
        rc = g->latch ? zkr_leader_latch_node(g->latch, g->node, g->node_size)
                      : zkr_ticket_node(g->ticket, g->node, g->node_size);
    }
    g->token = rc == ZKR_OK ? token : g->token;
    return rc == ZKR_OK;
}

void grant_leave(struct grant *g)
{
    (void)zkr_ticket_release(g->ticket);
    (void)zkr_ticket_destroy(g->ticket); /* this waits for a running callback */
    g->ticket = NULL;
}

int64_t grant_valid_ms(const struct grant *g)
{
    if (!g->latch) {
        return g->ticket ? zkr_ticket_valid_for_ms(g->ticket) : 0;
    }
    /* The latch may lead again in a later term, so the token names this term. */
    return zkr_leader_latch_term_valid_for_ms(g->latch, g->token);
}

int64_t grant_session_ms(const struct grant *g)
{
    return zkr_client_session_timeout_ms(g->client);
}

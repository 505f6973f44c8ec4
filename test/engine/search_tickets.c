/* SPDX-License-Identifier: Apache-2.0 */
/* Contenders that hold by tickets. */
#include "search.h"
#include "util.h"

void search_on_ticket(zkr_ticket *ticket, int state, void *ctx)
{
    struct contender *k = ctx;
    (void)ticket;
    zkf_trace("client %d: contender %d: ticket %d", k->client, k->label, state);
    bool in_order = state == ZKR_TICKET_LOST ? k->ticket_told == ZKR_TICKET_HELD
                                             : k->ticket_told == 0;
    if (!in_order) {
        search_violation("contender %d is told %d after %d", k->label, state,
                         k->ticket_told);
    }
    k->ticket_told = state;
    k->ended = k->ended || state != ZKR_TICKET_HELD;
    if (state == ZKR_TICKET_FAILED) {
        int error = zkr_ticket_error(ticket);
        S.did.failed++;
        if (S.s.peace && !S.s.forbids && error != ZKR_ETIMEDOUT &&
            error != ZKR_ENOANSWER) {
            search_violation("the ticket of contender %d fails (%d) without a fault",
                             k->label, error);
        }
    }
}

int64_t search_timeout(struct contender *k)
{
    int64_t timeout_ms = ZKR_FOREVER;
    if (S.s.tries && zkf_chance(50)) {
        timeout_ms = zkf_chance(30) ? 0 : zkf_below(2 * S.s.session / ZKR__MS);
        k->deadline = timeout_ms == 0 ? 0 : zkf_now() + timeout_ms * ZKR__MS;
    }
    return timeout_ms;
}

void search_request(struct contender *k, zkr_mutex *mutex)
{
    int64_t timeout_ms = search_timeout(k);
    S.did.tickets++;
    S.requesting = k->label;
    if (zkr_mutex_request(mutex, timeout_ms, zkf_chance(80) ? search_on_ticket : NULL,
                          k, &k->ticket) != ZKR_OK) {
        zkt_fail("no ticket");
    }
    S.requesting = 0;
}

void search_hand_in(struct contender *k)
{
    zkr_ticket *ticket = k->ticket;
    k->ticket = NULL;
    int rc = zkr_ticket_release(ticket);
    if (rc != ZKR_OK && rc != ZKR_ESESSION) {
        search_violation("a ticket cannot be released: %d", rc);
    }
    if (zkr_ticket_destroy(ticket) != ZKR_OK) {
        search_violation("a ticket that was released cannot be destroyed");
    }
}

void search_check_ticket(struct contender *k)
{
    /* By a clock that is slower by the margin, the longest time limit takes so much longer; and service may be late. */
    const int64_t slower =
        2 * S.s.session / (1000000 - S.s.margin_ppm) * S.s.margin_ppm;
    const int64_t slack = S.s.session / 100 + slower + 30 * ZKR__MS;
    int state = zkr_ticket_state(k->ticket);
    if (state == ZKR_TICKET_FAILED || state == ZKR_TICKET_LOST) {
        k->ended = true;
    }
    if (state == ZKR_TICKET_WAITING && k->deadline != 0 && !S.beyond &&
        zkf_now() > k->deadline + slack &&
        zkf_now() > S.members[k->client].stalled_at + slack &&
        !S.members[k->client].waits &&
        zkf_now() > S.members[k->client].waited_at + slack) {
        search_violation("the ticket of contender %d waits %.1f ms past its deadline",
                         k->label, (double)(zkf_now() - k->deadline) / ZKR__MS);
    }
}

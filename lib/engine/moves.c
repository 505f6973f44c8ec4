/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/moves.h"

#include <zkr/client.h>

enum { QUICK_RETRIES = 3 };

unsigned zkr__move_go(struct zkr__claim_state *k,
                      const struct zkr__claim_event *e,
                      enum zkr__phase phase)
{
    k->phase = phase;
    k->stalled = !e->connected;
    if (k->stalled) {
        return 0;
    }
    switch (phase) {
    case ZKR__IDLE:
        k->phase = ZKR__CREATING;
        k->round++;
        k->own = ZKR__OWN_NONE;
        k->adopted = false;
        return ZKR__DO_CREATE;
    case ZKR__FINDING:
        return ZKR__DO_FIND;
    case ZKR__LISTING:
        if (k->adopted) {
            k->own = ZKR__OWN_ASKED;
            return ZKR__DO_OWN | ZKR__DO_LIST;
        }
        return ZKR__DO_LIST;
    case ZKR__PROVING:
        return ZKR__DO_PROVE;
    case ZKR__REMOVING:
        return ZKR__DO_REMOVE;
    case ZKR__CREATING:
    case ZKR__PARKED:
    case ZKR__HELD:
    case ZKR__GONE:
        break;
    }
    return 0;
}

/* Get rid of the node, if there may be one. */
unsigned zkr__move_remove(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    k->round++;
    if (k->has_node) {
        return zkr__move_go(k, e, ZKR__REMOVING);
    }
    k->phase = ZKR__GONE;
    return 0;
}

/* The same again, after a pause. What is in flight counts no more. */
static unsigned pause_in(struct zkr__claim_state *k, enum zkr__phase phase)
{
    k->phase = phase;
    k->round++;
    k->own = k->own == ZKR__OWN_ASKED ? ZKR__OWN_NONE : k->own;
    k->stalled = true;
    k->failures++;
    return ZKR__DO_RETRY;
}

unsigned
zkr__move_fail(struct zkr__claim_state *k, const struct zkr__claim_event *e, int code)
{
    unsigned tell = k->leaving ? 0 : ZKR__DO_TELL;
    k->failure = code;
    if (k->phase == ZKR__FINDING) {
        /* The owner knows all it needs; whether there is a node to remove we do not yet. */
        k->leaving = true;
        return pause_in(k, ZKR__FINDING) | tell;
    }
    unsigned yield = k->phase == ZKR__CREATING ? 0 : ZKR__DO_YIELD;
    return zkr__move_remove(k, e) | yield | tell;
}

unsigned zkr__move_later(struct zkr__claim_state *k,
                         const struct zkr__claim_event *e,
                         enum zkr__phase phase)
{
    if (!e->patient && !k->leaving) {
        k->phase = phase == ZKR__FINDING ? phase : k->phase;
        return zkr__move_fail(k, e, ZKR_ECONNLOSS);
    }
    return pause_in(k, phase);
}

/* Our node is gone but we still want one: at the tail of the queue. */
unsigned zkr__move_requeue(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    k->has_node = false;
    if (k->doubted) {
        return zkr__move_lose(k, e, ZKR_LOST_NODE);
    }
    k->round++;
    if (k->leaving) {
        k->phase = ZKR__GONE;
        return 0;
    }
    unsigned yield = k->phase == ZKR__CREATING ? 0 : ZKR__DO_YIELD;
    if (k->failures >= QUICK_RETRIES) {
        return yield | zkr__move_later(k, e, ZKR__IDLE);
    }
    k->failures++;
    return yield | zkr__move_go(k, e, ZKR__IDLE);
}

unsigned zkr__move_grant(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    /* A write answered just now is the best there is, however little it proves. */
    bool proved = e->kind == ZKR__EV_PROVED;
    if (proved && !e->sure) {
        k->stalled = true;
        return ZKR__DO_PACE;
    }
    if (!proved && !e->ample) {
        return zkr__move_go(k, e, ZKR__PROVING);
    }
    k->phase = ZKR__HELD;
    k->holds++;
    k->doubted = false;
    k->failures = 0;
    return ZKR__DO_TELL | (k->own == ZKR__OWN_NONE ? ZKR__DO_QUIET : 0);
}

unsigned
zkr__move_lose(struct zkr__claim_state *k, const struct zkr__claim_event *e, int reason)
{
    k->lost = reason;
    return zkr__move_remove(k, e) | ZKR__DO_YIELD | ZKR__DO_TELL;
}

unsigned zkr__move_doubt(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    k->doubted = true;
    return zkr__move_go(k, e, ZKR__PROVING) | ZKR__DO_TELL;
}

unsigned zkr__move_watch_own(struct zkr__claim_state *k,
                             const struct zkr__claim_event *e)
{
    if (k->own != ZKR__OWN_NONE || !e->connected) {
        return 0;
    }
    k->own = ZKR__OWN_ASKED;
    return ZKR__DO_OWN;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts for the claim's state machine: events, and what must follow from each. */
#ifndef ZKT_CLAIM_SCRIPT_H
#define ZKT_CLAIM_SCRIPT_H

#include <zkr/client.h>

#include "engine/claim.h"
#include "unit.h"

/*
 * An event: all is well; the lease is in doubt; it is about to end; the connection is down; no
 * retry is left.
 */
#define WELL(...)                                                                      \
    {                                                                                  \
        .connected = true, .sure = true, .ample = true, .patient = true, __VA_ARGS__   \
    }
#define UNSURE(...)                                                                    \
    {                                                                                  \
        .connected = true, .patient = true, __VA_ARGS__                                \
    }
#define BARELY_SURE(...)                                                               \
    {                                                                                  \
        .connected = true, .sure = true, .patient = true, __VA_ARGS__                  \
    }
#define DOWN(...)                                                                      \
    {                                                                                  \
        .sure = true, .ample = true, .patient = true, __VA_ARGS__                      \
    }
#define LAST(...)                                                                      \
    {                                                                                  \
        .connected = true, .sure = true, .ample = true, __VA_ARGS__                    \
    }

struct zkt_claim_step {
    struct zkr__claim_event event;
    unsigned actions;
    enum zkr__phase phase; /* afterwards */
};

#define ZKT_PLAY(k, steps) zkt_claim_play((k), (steps), ZKT_COUNT(steps))

static inline void zkt_claim_play(struct zkr__claim_state *k,
                                  const struct zkt_claim_step *steps,
                                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned actions = zkr__claim_step(k, &steps[i].event);
        if (actions != steps[i].actions || k->phase != steps[i].phase) {
            fail_msg("step %zu, event %d: actions %#x, not %#x; phase %d, not %d", i,
                     (int)steps[i].event.kind, actions, steps[i].actions, (int)k->phase,
                     (int)steps[i].phase);
        }
    }
}

/* A claim after @steps. */
#define ZKT_CLAIM_AFTER(steps) zkt_claim_after((steps), ZKT_COUNT(steps))

static inline struct zkr__claim_state
zkt_claim_after(const struct zkt_claim_step *steps, size_t count)
{
    struct zkr__claim_state k = {.phase = ZKR__IDLE};
    zkt_claim_play(&k, steps, count);
    return k;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts for the claim's state machine: events, and what must follow from each. */
#ifndef ZKT_CLAIM_SCRIPT_H
#define ZKT_CLAIM_SCRIPT_H

#include <zkr/client.h>

#include "engine/claim_events.h"
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

/* Paused, and this phase follows. */
#define PAUSED_BEFORE(next) (ZKT_PAUSED + (int)(next))

enum { ZKT_PAUSED = 100 };

struct zkt_claim_step {
    struct zkr__claim_event event;
    unsigned actions;
    int phase; /* afterwards: a phase, or PAUSED_BEFORE() one */
};

#define ZKT_PLAY(k, steps) zkt_claim_play((k), (steps), ZKT_COUNT(steps))

static inline int zkt_claim_phase(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__PAUSED ? PAUSED_BEFORE(k->next) : (int)k->phase;
}

static inline void zkt_claim_play(struct zkr__claim_state *k,
                                  const struct zkt_claim_step *steps,
                                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned actions = zkr__claim_step(k, &steps[i].event);
        if (actions != steps[i].actions || zkt_claim_phase(k) != steps[i].phase) {
            fail_msg("step %zu, event %d: actions %#x, not %#x; phase %d, not %d", i,
                     (int)steps[i].event.kind, actions, steps[i].actions,
                     zkt_claim_phase(k), steps[i].phase);
        }
    }
}

/* A claim after @steps. */
#define ZKT_CLAIM_AFTER(steps) zkt_claim_after((steps), ZKT_COUNT(steps))

static inline struct zkr__claim_state
zkt_claim_after(const struct zkt_claim_step *steps, size_t count)
{
    struct zkr__claim_state k = {.phase = ZKR__PAUSED};
    zkt_claim_play(&k, steps, count);
    return k;
}

/* --- steps of many scripts --- */

#define START                                                                          \
    {                                                                                  \
        WELL(.kind = ZKR__EV_START), ZKR__DO_CREATE, ZKR__CREATING                     \
    }
#define CREATED                                                                        \
    {                                                                                  \
        WELL(.kind = ZKR__EV_CREATED, .ours = true), 0, ZKR__LISTING                   \
    }
#define LOST_CREATE                                                                    \
    {                                                                                  \
        DOWN(.kind = ZKR__EV_CREATED, .code = ZKR_ECONNLOSS), ZKR__DO_RETRY,           \
            PAUSED_BEFORE(ZKR__FINDING)                                                \
    }
#define FIND                                                                           \
    {                                                                                  \
        WELL(.kind = ZKR__EV_PAUSE_OVER), ZKR__DO_FIND, ZKR__FINDING                   \
    }
#define FOUND                                                                          \
    {                                                                                  \
        WELL(.kind = ZKR__EV_LISTED, .found = true), ZKR__DO_GET_OWN | ZKR__DO_LIST,   \
            ZKR__ADOPTING                                                              \
    }
#define GRANTED                                                                        \
    {                                                                                  \
        WELL(.kind = ZKR__EV_LISTED, .found = true, .granted = true),                  \
            ZKR__DO_NOTIFY | ZKR__DO_QUIET, ZKR__HELD                                  \
    }
/* Behind the first, who is of another client; of this one; and behind a waiter. */
#define SECOND                                                                         \
    {                                                                                  \
        WELL(.kind = ZKR__EV_LISTED, .found = true, .then = ZKR__THEN_OURS),           \
            ZKR__DO_GET_AHEAD | ZKR__DO_GET_OWN, ZKR__PARKED                           \
    }
#define BEHIND_OURS                                                                    \
    {                                                                                  \
        WELL(.kind = ZKR__EV_LISTED, .found = true, .wait = ZKR__WAIT_NEIGHBOUR,       \
             .then = ZKR__THEN_OURS),                                                  \
            ZKR__DO_GET_OWN, ZKR__PARKED                                               \
    }
#define DEEPER                                                                         \
    {                                                                                  \
        WELL(.kind = ZKR__EV_LISTED, .found = true, .then = ZKR__THEN_OURS_IF_HELD),   \
            ZKR__DO_GET_AHEAD | ZKR__DO_QUIET, ZKR__PARKED                             \
    }
#define WATCHED                                                                        \
    {                                                                                  \
        WELL(.kind = ZKR__EV_GOT_OWN, .ours = true), 0, ZKR__PARKED                    \
    }
#define UNPROVEN                                                                       \
    {                                                                                  \
        UNSURE(.kind = ZKR__EV_LISTED, .found = true, .granted = true), ZKR__DO_PROVE, \
            ZKR__PROVING                                                               \
    }
#define LEAVE_FOR_REMOVAL                                                              \
    {                                                                                  \
        WELL(.kind = ZKR__EV_LEAVE), ZKR__DO_REMOVE | ZKR__DO_STEP_ASIDE,              \
            ZKR__REMOVING                                                              \
    }
#define REMOVED                                                                        \
    {                                                                                  \
        WELL(.kind = ZKR__EV_REMOVED), 0, ZKR__GONE                                    \
    }

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Ways into each phase of a claim, and into each pause. */
#ifndef ZKT_CLAIM_WAYS_H
#define ZKT_CLAIM_WAYS_H

#include "claim_script.h"

#define ZKT_WAY(phase, ...)                                                            \
    {                                                                                  \
        (int)(phase), (const struct zkt_claim_step[]){__VA_ARGS__},                    \
            sizeof((const struct zkt_claim_step[]){__VA_ARGS__}) /                     \
                sizeof(struct zkt_claim_step)                                          \
    }

/* All that is asked is refused for now, which ends in a pause. */
#define REFUSED(event, phase)                                                          \
    {                                                                                  \
        WELL(.kind = (event), .code = ZKR_ECONNLOSS), ZKR__DO_RETRY,                   \
            PAUSED_BEFORE(phase)                                                       \
    }
#define DOUBT                                                                          \
    {                                                                                  \
        UNSURE(.kind = ZKR__EV_LEASE_EXPIRED),                                         \
            ZKR__DO_PROVE | ZKR__DO_COUNT_LOSS | ZKR__DO_NOTIFY, ZKR__DOUBTED          \
    }

/* A claim that keeps its place, in @phase, which may be PAUSED_BEFORE() one. */
static inline struct zkr__claim_state zkt_claim_in(int phase)
{
    const struct {
        int phase;
        const struct zkt_claim_step *steps;
        size_t count;
    } ways[] = {
        ZKT_WAY(PAUSED_BEFORE(ZKR__CREATING),
                {DOWN(.kind = ZKR__EV_START), 0, PAUSED_BEFORE(ZKR__CREATING)}),
        ZKT_WAY(ZKR__CREATING, START),
        ZKT_WAY(PAUSED_BEFORE(ZKR__FINDING), START, LOST_CREATE),
        ZKT_WAY(ZKR__FINDING, START, LOST_CREATE, FIND),
        ZKT_WAY(ZKR__ADOPTING, START, LOST_CREATE, FIND, FOUND),
        ZKT_WAY(PAUSED_BEFORE(ZKR__ADOPTING), START, LOST_CREATE, FIND, FOUND,
                REFUSED(ZKR__EV_GOT_OWN, ZKR__ADOPTING)),
        ZKT_WAY(ZKR__LISTING, START, CREATED),
        ZKT_WAY(PAUSED_BEFORE(ZKR__LISTING), START, CREATED,
                REFUSED(ZKR__EV_LISTED, ZKR__LISTING)),
        ZKT_WAY(ZKR__PARKED, START, CREATED, SECOND, WATCHED),
        ZKT_WAY(ZKR__CONFIRMING, START, CREATED, SECOND,
                {WELL(.kind = ZKR__EV_AHEAD_GONE), 0, ZKR__CONFIRMING}),
        ZKT_WAY(ZKR__PROVING, START, CREATED, UNPROVEN),
        ZKT_WAY(PAUSED_BEFORE(ZKR__PROVING), START, CREATED, UNPROVEN,
                REFUSED(ZKR__EV_PROVED, ZKR__PROVING)),
        ZKT_WAY(ZKR__HELD, START, CREATED, GRANTED),
        ZKT_WAY(ZKR__DOUBTED, START, CREATED, GRANTED, DOUBT),
        ZKT_WAY(PAUSED_BEFORE(ZKR__DOUBTED), START, CREATED, GRANTED, DOUBT,
                REFUSED(ZKR__EV_PROVED, ZKR__DOUBTED)),
        ZKT_WAY(ZKR__REMOVING, START, CREATED, LEAVE_FOR_REMOVAL),
        ZKT_WAY(PAUSED_BEFORE(ZKR__REMOVING), START, CREATED, LEAVE_FOR_REMOVAL,
                REFUSED(ZKR__EV_REMOVED, ZKR__REMOVING)),
        ZKT_WAY(ZKR__GONE, START, CREATED, LEAVE_FOR_REMOVAL, REMOVED),
    };
    for (size_t i = 0; i < ZKT_COUNT(ways); i++) {
        if (ways[i].phase == phase) {
            struct zkr__claim_state k = {.keeps_place = true};
            zkt_claim_play(&k, ways[i].steps, ways[i].count);
            return k;
        }
    }
    fail_msg("no way into phase %d", phase);
    return (struct zkr__claim_state){.phase = ZKR__PAUSED};
}

#endif

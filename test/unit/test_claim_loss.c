/* SPDX-License-Identifier: Apache-2.0 */
/* A claim that loses its node, its lease or its session, while it waits and while it holds. */
#include "claim_ways.h"

/* Our node goes while we wait: back to the tail of the queue, and whoever is behind must look. */
static void a_waiter_whose_node_is_deleted_queues_again(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        SECOND,
        WATCHED,
        {WELL(.kind = ZKR__EV_OWN_GONE), ZKR__DO_STEP_ASIDE | ZKR__DO_CREATE,
         ZKR__CREATING},
        CREATED,
        {WELL(.kind = ZKR__EV_LISTED, .found = false),
         ZKR__DO_STEP_ASIDE | ZKR__DO_CREATE, ZKR__CREATING},
        CREATED,
        DEEPER,
    };
    struct zkr__claim_state k = ZKT_CLAIM_AFTER(steps);
    assert_int_equal(k.failure, 0);
}

/* When that happens again and again there are pauses, and without retries an end. */
static void a_waiter_whose_node_is_always_deleted_slows_down(void **state)
{
    (void)state;
    static const struct zkt_claim_step gone[] = {
        CREATED,
        {WELL(.kind = ZKR__EV_OWN_GONE), ZKR__DO_STEP_ASIDE | ZKR__DO_CREATE,
         ZKR__CREATING},
    };
    static const struct zkt_claim_step slow[] = {
        CREATED,
        {WELL(.kind = ZKR__EV_OWN_GONE), ZKR__DO_STEP_ASIDE | ZKR__DO_RETRY,
         PAUSED_BEFORE(ZKR__CREATING)},
        {WELL(.kind = ZKR__EV_PAUSE_OVER), ZKR__DO_CREATE, ZKR__CREATING},
        CREATED,
        {LAST(.kind = ZKR__EV_OWN_GONE), ZKR__DO_STEP_ASIDE | ZKR__DO_NOTIFY,
         ZKR__GONE},
    };
    static const struct zkt_claim_step start[] = {START};
    struct zkr__claim_state k = ZKT_CLAIM_AFTER(start);
    for (int i = 0; i < 3; i++) {
        ZKT_PLAY(&k, gone);
    }
    ZKT_PLAY(&k, slow);
    assert_int_equal(k.failure, ZKR_ECONNLOSS);
}

/* Our node goes while we hold: the hold is lost, there is nothing to remove. */
static void a_holder_whose_node_is_deleted_has_lost(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        GRANTED,
        {WELL(.kind = ZKR__EV_OWN_GONE),
         ZKR__DO_STEP_ASIDE | ZKR__DO_COUNT_LOSS | ZKR__DO_NOTIFY, ZKR__GONE},
    };
    assert_int_equal(ZKT_CLAIM_AFTER(steps).lost, ZKR_LOST_NODE);
    static const struct zkt_claim_step asked[] = {
        START,
        CREATED,
        GRANTED,
        {WELL(.kind = ZKR__EV_QUIET), ZKR__DO_GET_OWN, ZKR__HELD},
        {WELL(.kind = ZKR__EV_GOT_OWN, .code = ZKR_ENONODE),
         ZKR__DO_STEP_ASIDE | ZKR__DO_COUNT_LOSS | ZKR__DO_NOTIFY, ZKR__GONE},
    };
    assert_int_equal(ZKT_CLAIM_AFTER(asked).lost, ZKR_LOST_NODE);
}

/* The lease is over: lost at once, and the node, should it still be there, goes. */
static void a_holder_whose_lease_is_over_has_lost(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        GRANTED,
        {DOWN(.kind = ZKR__EV_LEASE_EXPIRED),
         ZKR__DO_STEP_ASIDE | ZKR__DO_COUNT_LOSS | ZKR__DO_NOTIFY,
         PAUSED_BEFORE(ZKR__REMOVING)},
        {DOWN(.kind = ZKR__EV_LEASE_EXPIRED), 0, PAUSED_BEFORE(ZKR__REMOVING)},
        {DOWN(.kind = ZKR__EV_LEAVE), 0, PAUSED_BEFORE(ZKR__REMOVING)},
        {WELL(.kind = ZKR__EV_CONNECTED), ZKR__DO_REMOVE, ZKR__REMOVING},
        REMOVED,
    };
    struct zkr__claim_state k = ZKT_CLAIM_AFTER(steps);
    assert_int_equal(k.lost, ZKR_LOST_LEASE);
    assert_int_equal(k.failure, 0);
}

/* With a queue that keeps its place: told as lost, and held again once that is proved. */
static void a_holder_in_doubt_may_hold_again(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        GRANTED,
        {DOWN(.kind = ZKR__EV_LEASE_EXPIRED), ZKR__DO_COUNT_LOSS | ZKR__DO_NOTIFY,
         PAUSED_BEFORE(ZKR__DOUBTED)},
        {DOWN(.kind = ZKR__EV_LEASE_EXPIRED), 0, PAUSED_BEFORE(ZKR__DOUBTED)},
        {UNSURE(.kind = ZKR__EV_CONNECTED), ZKR__DO_PROVE, ZKR__DOUBTED},
        {UNSURE(.kind = ZKR__EV_PROVED), ZKR__DO_PACE, PAUSED_BEFORE(ZKR__DOUBTED)},
        {UNSURE(.kind = ZKR__EV_PAUSE_OVER), ZKR__DO_PROVE, ZKR__DOUBTED},
        {WELL(.kind = ZKR__EV_PROVED), ZKR__DO_NOTIFY | ZKR__DO_QUIET, ZKR__HELD},
    };
    struct zkr__claim_state k = {.keeps_place = true};
    ZKT_PLAY(&k, steps);
    assert_int_equal(k.lost, 0);
    assert_int_equal(k.holds, 2);
}

/* In doubt, and then the node or the session is gone: lost for good, never quietly queued again. */
static void what_is_lost_in_doubt_is_lost(void **state)
{
    (void)state;
    static const struct {
        struct zkt_claim_step step;
        int lost;
    } ends[] = {
        {{WELL(.kind = ZKR__EV_PROVED, .code = ZKR_ENONODE),
          ZKR__DO_STEP_ASIDE | ZKR__DO_NOTIFY, ZKR__GONE},
         ZKR_LOST_NODE},
        {{WELL(.kind = ZKR__EV_OWN_GONE), ZKR__DO_STEP_ASIDE | ZKR__DO_NOTIFY,
          ZKR__GONE},
         ZKR_LOST_NODE},
        {{DOWN(.kind = ZKR__EV_SESSION_OVER), ZKR__DO_NOTIFY, ZKR__GONE},
         ZKR_LOST_SESSION},
        {{WELL(.kind = ZKR__EV_LEAVE), ZKR__DO_REMOVE | ZKR__DO_STEP_ASIDE,
          ZKR__REMOVING},
         0},
    };
    for (size_t i = 0; i < ZKT_COUNT(ends); i++) {
        struct zkr__claim_state k = zkt_claim_in(ZKR__DOUBTED);
        zkt_claim_play(&k, &ends[i].step, 1);
        assert_int_equal(k.lost, ends[i].lost);
    }
}

/* Let go while in doubt, and then the session ends: nobody is told any more. */
static void nobody_is_told_of_a_doubt_that_was_left(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        GRANTED,
        {DOWN(.kind = ZKR__EV_LEASE_EXPIRED), ZKR__DO_COUNT_LOSS | ZKR__DO_NOTIFY,
         PAUSED_BEFORE(ZKR__DOUBTED)},
        {DOWN(.kind = ZKR__EV_LEAVE), ZKR__DO_STEP_ASIDE, PAUSED_BEFORE(ZKR__REMOVING)},
        {DOWN(.kind = ZKR__EV_SESSION_OVER), 0, ZKR__GONE},
    };
    struct zkr__claim_state k = {.keeps_place = true};
    ZKT_PLAY(&k, steps);
    assert_int_equal(k.lost, 0);
}

/* A bound so near that no probe would be answered before it: a write first, and then whatever. */
static void a_grant_at_the_end_of_the_lease_is_proved_first(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        {BARELY_SURE(.kind = ZKR__EV_LISTED, .found = true, .granted = true),
         ZKR__DO_PROVE, ZKR__PROVING},
        {BARELY_SURE(.kind = ZKR__EV_PROVED), ZKR__DO_NOTIFY | ZKR__DO_QUIET,
         ZKR__HELD},
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

/* First in line but not surely alive: a write must be answered first, and again when it proved nothing. */
static void an_unsure_grant_is_proved_first(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        UNPROVEN,
        {UNSURE(.kind = ZKR__EV_PROVED), ZKR__DO_PACE, PAUSED_BEFORE(ZKR__PROVING)},
        {UNSURE(.kind = ZKR__EV_PAUSE_OVER), ZKR__DO_PROVE, ZKR__PROVING},
        {DOWN(.kind = ZKR__EV_PROVED, .code = ZKR_ECONNLOSS), ZKR__DO_RETRY,
         PAUSED_BEFORE(ZKR__PROVING)},
        {UNSURE(.kind = ZKR__EV_PAUSE_OVER), ZKR__DO_PROVE, ZKR__PROVING},
        {WELL(.kind = ZKR__EV_PROVED), ZKR__DO_NOTIFY | ZKR__DO_QUIET, ZKR__HELD},
    };
    (void)ZKT_CLAIM_AFTER(steps);
    static const struct zkt_claim_step gone[] = {
        START,
        CREATED,
        UNPROVEN,
        {UNSURE(.kind = ZKR__EV_PROVED, .code = ZKR_ENONODE),
         ZKR__DO_STEP_ASIDE | ZKR__DO_CREATE, ZKR__CREATING},
    };
    (void)ZKT_CLAIM_AFTER(gone);
}

/* In doubt, and the proof of it is not to be had: after a pause it is asked for again, or the owner is told why not. */
static void a_proof_in_doubt_is_asked_for_again(void **state)
{
    (void)state;
    static const int codes[] = {ZKR_ECONNLOSS, ZKR_ESESSION, ZKR_EZK(-127)};
    for (size_t i = 0; i < ZKT_COUNT(codes); i++) {
        const struct zkt_claim_step steps[] = {
            {WELL(.kind = ZKR__EV_PROVED, .code = codes[i]), ZKR__DO_RETRY,
             PAUSED_BEFORE(ZKR__DOUBTED)},
            {UNSURE(.kind = ZKR__EV_PAUSE_OVER), ZKR__DO_PROVE, ZKR__DOUBTED},
            {WELL(.kind = ZKR__EV_GOT_OWN, .code = codes[i]), ZKR__DO_RETRY,
             PAUSED_BEFORE(ZKR__DOUBTED)},
            {WELL(.kind = ZKR__EV_PAUSE_OVER), ZKR__DO_PROVE, ZKR__DOUBTED},
            {LAST(.kind = ZKR__EV_PROVED, .code = codes[i]),
             ZKR__DO_REMOVE | ZKR__DO_STEP_ASIDE | ZKR__DO_NOTIFY, ZKR__REMOVING},
        };
        struct zkr__claim_state k = zkt_claim_in(ZKR__DOUBTED);
        ZKT_PLAY(&k, steps);
        assert_int_equal(k.failure, ZKR_ECONNLOSS);
        assert_int_equal(k.lost, 0);
    }
}

/* The node is gone while a pause lasts: the doubt ends as any other, without a second loss to count. */
static void a_node_gone_in_a_pause_of_doubt_is_lost(void **state)
{
    (void)state;
    static const struct zkt_claim_step gone[] = {{WELL(.kind = ZKR__EV_OWN_GONE),
                                                  ZKR__DO_STEP_ASIDE | ZKR__DO_NOTIFY,
                                                  ZKR__GONE}};
    struct zkr__claim_state k = zkt_claim_in(PAUSED_BEFORE(ZKR__DOUBTED));
    ZKT_PLAY(&k, gone);
    assert_int_equal(k.lost, ZKR_LOST_NODE);
}

/* The end of the session: waiters start anew in the next one, a hold is lost, what left is gone. */
static void the_end_of_the_session_is_survived_in_each_phase(void **state)
{
    (void)state;
    static const int anew[] = {
        PAUSED_BEFORE(ZKR__CREATING),
        ZKR__CREATING,
        PAUSED_BEFORE(ZKR__FINDING),
        ZKR__FINDING,
        PAUSED_BEFORE(ZKR__ADOPTING),
        ZKR__ADOPTING,
        PAUSED_BEFORE(ZKR__LISTING),
        ZKR__LISTING,
        PAUSED_BEFORE(ZKR__PROVING),
        ZKR__PROVING,
        ZKR__PARKED,
        ZKR__CONFIRMING,
    };
    static const struct zkt_claim_step steps[] = {
        {DOWN(.kind = ZKR__EV_SESSION_OVER), 0, PAUSED_BEFORE(ZKR__CREATING)},
        {DOWN(.kind = ZKR__EV_PAUSE_OVER), 0, PAUSED_BEFORE(ZKR__CREATING)},
        {WELL(.kind = ZKR__EV_CONNECTED), ZKR__DO_CREATE, ZKR__CREATING},
    };
    for (size_t i = 0; i < ZKT_COUNT(anew); i++) {
        struct zkr__claim_state k = zkt_claim_in(anew[i]);
        unsigned round = k.round;
        ZKT_PLAY(&k, steps);
        assert_int_equal(k.round,
                         round + 2); /* what was in flight is not for the new node */
        assert_int_equal(k.own, ZKR__OWN_NONE);
        assert_int_equal(k.failures, 0);
        assert_false(k.made_parents);
        assert_false(zkr__claim_decided(&k));
    }
}

/* With the session goes what is held, and what is being removed needs that no more. */
static void the_end_of_the_session_ends_a_hold_and_a_removal(void **state)
{
    (void)state;
    static const struct {
        int phase;
        unsigned actions;
        int lost;
    } rows[] = {
        {ZKR__HELD, ZKR__DO_COUNT_LOSS | ZKR__DO_NOTIFY, ZKR_LOST_SESSION},
        {ZKR__DOUBTED, ZKR__DO_NOTIFY, ZKR_LOST_SESSION},
        {PAUSED_BEFORE(ZKR__DOUBTED), ZKR__DO_NOTIFY, ZKR_LOST_SESSION},
        {ZKR__REMOVING, 0, 0},
        {PAUSED_BEFORE(ZKR__REMOVING), 0, 0},
        {ZKR__GONE, 0, 0},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        struct zkr__claim_state k = zkt_claim_in(rows[i].phase);
        unsigned round = k.round;
        const struct zkt_claim_step steps[] = {
            {DOWN(.kind = ZKR__EV_SESSION_OVER), rows[i].actions, ZKR__GONE},
            {WELL(.kind = ZKR__EV_CONNECTED), 0, ZKR__GONE},
        };
        ZKT_PLAY(&k, steps);
        assert_int_equal(k.round, round + 1);
        assert_int_equal(k.lost, rows[i].lost);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_waiter_whose_node_is_deleted_queues_again),
        cmocka_unit_test(a_waiter_whose_node_is_always_deleted_slows_down),
        cmocka_unit_test(a_holder_whose_node_is_deleted_has_lost),
        cmocka_unit_test(a_holder_whose_lease_is_over_has_lost),
        cmocka_unit_test(a_holder_in_doubt_may_hold_again),
        cmocka_unit_test(what_is_lost_in_doubt_is_lost),
        cmocka_unit_test(nobody_is_told_of_a_doubt_that_was_left),
        cmocka_unit_test(a_grant_at_the_end_of_the_lease_is_proved_first),
        cmocka_unit_test(an_unsure_grant_is_proved_first),
        cmocka_unit_test(a_proof_in_doubt_is_asked_for_again),
        cmocka_unit_test(a_node_gone_in_a_pause_of_doubt_is_lost),
        cmocka_unit_test(the_end_of_the_session_is_survived_in_each_phase),
        cmocka_unit_test(the_end_of_the_session_ends_a_hold_and_a_removal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The paths a claim takes to be granted, as scripts: each event, the actions it must give, where it leads. */
#include "claim_ways.h"

/* --- as few round trips as can be --- */

/* Free: create and list together; the answer to the list grants. */
static void a_free_lock_is_granted_by_the_first_answer(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {START, CREATED, GRANTED};
    struct zkr__claim_state k = ZKT_CLAIM_AFTER(steps);
    assert_true(zkr__claim_decided(&k));
}

/* Contended: watches on the one ahead and on the own node go out with the answer to the list. */
static void a_contended_lock_parks_behind_the_one_ahead(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,   CREATED, SECOND, {WELL(.kind = ZKR__EV_GOT_AHEAD), 0, ZKR__PARKED},
        WATCHED,
    };
    struct zkr__claim_state k = ZKT_CLAIM_AFTER(steps);
    assert_false(zkr__claim_decided(&k));
    assert_int_equal(k.own, ZKR__OWN_SET);
}

/* Deeper in the queue the own node gets its watch a while after the one ahead. */
static void a_deeper_waiter_watches_its_own_node_after_a_while(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        DEEPER,
        {WELL(.kind = ZKR__EV_QUIET), ZKR__DO_GET_OWN, ZKR__PARKED},
        {WELL(.kind = ZKR__EV_QUIET), 0, ZKR__PARKED},
        WATCHED,
        {WELL(.kind = ZKR__EV_QUIET), 0, ZKR__PARKED},
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

/* The event about the only one ahead grants by itself when the own watch is set and silent. */
static void the_event_alone_hands_over(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        SECOND,
        WATCHED,
        {WELL(.kind = ZKR__EV_AHEAD_GONE), ZKR__DO_NOTIFY, ZKR__HELD},
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

/* After a re-connect the events of what happened meanwhile come in no order: it must look. */
static void after_a_reconnect_the_event_alone_does_not_hand_over(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        SECOND,
        WATCHED,
        {WELL(.kind = ZKR__EV_CONNECTED), ZKR__DO_QUIET, ZKR__PARKED},
        {WELL(.kind = ZKR__EV_AHEAD_GONE), ZKR__DO_LIST, ZKR__LISTING},
    };
    struct zkr__claim_state k = {.phase = ZKR__PAUSED};
    ZKT_PLAY(&k, steps);
}

/* While the own watch is still on its way the grant waits for that answer, and for nothing more. */
static void a_hand_over_waits_for_the_own_watch(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        SECOND,
        {WELL(.kind = ZKR__EV_AHEAD_GONE), 0, ZKR__CONFIRMING},
        {WELL(.kind = ZKR__EV_GOT_OWN, .ours = true), ZKR__DO_NOTIFY, ZKR__HELD},
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

/* The one ahead may be gone before its watch is set: that is the same. */
static void a_missing_one_ahead_is_one_that_went(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        SECOND,
        {WELL(.kind = ZKR__EV_GOT_AHEAD, .code = ZKR_ENONODE), 0, ZKR__CONFIRMING},
        {WELL(.kind = ZKR__EV_GOT_OWN, .ours = true), ZKR__DO_NOTIFY, ZKR__HELD},
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

/* Inside one client a release passes the lock on: no watch on the one ahead, no event. */
static void a_neighbour_that_lets_go_passes_the_lock_on(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        BEHIND_OURS,
        WATCHED,
        {WELL(.kind = ZKR__EV_AHEAD_RELEASED), ZKR__DO_NOTIFY, ZKR__HELD},
        {WELL(.kind = ZKR__EV_LEAVE), ZKR__DO_HAND_OVER | ZKR__DO_REMOVE,
         ZKR__REMOVING},
        REMOVED,
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

/* A neighbour may pass it on to one who joined deeper, too: nobody can be in between. */
static void a_deeper_waiter_takes_what_a_neighbour_passes_on(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        {WELL(.kind = ZKR__EV_LISTED, .found = true, .wait = ZKR__WAIT_NEIGHBOUR,
              .then = ZKR__THEN_OURS_IF_HELD),
         ZKR__DO_GET_OWN, ZKR__PARKED},
        WATCHED,
        {WELL(.kind = ZKR__EV_AHEAD_RELEASED), ZKR__DO_NOTIFY, ZKR__HELD},
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

/* A passed lock without an own watch asks the server first. */
static void a_passed_lock_is_not_taken_blindly(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        BEHIND_OURS,
        {WELL(.kind = ZKR__EV_OWN_CHANGED), ZKR__DO_GET_OWN, ZKR__PARKED},
        {WELL(.kind = ZKR__EV_AHEAD_RELEASED), 0, ZKR__CONFIRMING},
        {WELL(.kind = ZKR__EV_GOT_OWN, .code = ZKR_ENONODE),
         ZKR__DO_STEP_ASIDE | ZKR__DO_CREATE, ZKR__CREATING},
    };
    (void)ZKT_CLAIM_AFTER(steps);
    static const struct zkt_claim_step unwatched[] = {
        START,
        CREATED,
        DEEPER,
        {WELL(.kind = ZKR__EV_AHEAD_RELEASED), ZKR__DO_LIST, ZKR__LISTING},
    };
    (void)ZKT_CLAIM_AFTER(unwatched);
}

/* When not the first was watched, its end means: look again. */
static void any_other_wake_up_lists_again(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        DEEPER,
        {WELL(.kind = ZKR__EV_AHEAD_GONE), ZKR__DO_LIST, ZKR__LISTING},
        DEEPER,
        {WELL(.kind = ZKR__EV_QUIET), ZKR__DO_GET_OWN, ZKR__PARKED},
        WATCHED,
        {WELL(.kind = ZKR__EV_AHEAD_GONE), ZKR__DO_LIST, ZKR__LISTING},
        {WELL(.kind = ZKR__EV_LISTED, .found = true, .granted = true), ZKR__DO_NOTIFY,
         ZKR__HELD},
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

/* Somebody writes into the node ahead: that used the watch up. */
static void a_changed_node_ahead_is_watched_again(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        SECOND,
        WATCHED,
        {WELL(.kind = ZKR__EV_AHEAD_CHANGED), ZKR__DO_GET_AHEAD, ZKR__PARKED},
        {WELL(.kind = ZKR__EV_GOT_AHEAD, .code = ZKR_ENONODE), ZKR__DO_NOTIFY,
         ZKR__HELD},
        {WELL(.kind = ZKR__EV_AHEAD_CHANGED), 0, ZKR__HELD},
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

/* A try that is not first fails at once and takes its node away. */
static void a_try_does_not_park(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        {WELL(.kind = ZKR__EV_LISTED, .found = true, .once = true),
         ZKR__DO_REMOVE | ZKR__DO_STEP_ASIDE | ZKR__DO_NOTIFY, ZKR__REMOVING},
        REMOVED,
    };
    assert_int_equal(ZKT_CLAIM_AFTER(steps).failure, ZKR_ETIMEDOUT);
}

/* The time to watch the own node that came while there was no connection is made up for. */
static void a_watch_that_fell_into_a_cut_is_made_up_for(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        DEEPER,
        {DOWN(.kind = ZKR__EV_QUIET), 0, ZKR__PARKED},
        {WELL(.kind = ZKR__EV_CONNECTED), ZKR__DO_QUIET, ZKR__PARKED},
        {WELL(.kind = ZKR__EV_QUIET), ZKR__DO_GET_OWN, ZKR__PARKED},
        {WELL(.kind = ZKR__EV_CONNECTED), 0, ZKR__PARKED},
    };
    struct zkr__claim_state k = {.phase = ZKR__PAUSED};
    ZKT_PLAY(&k, steps);
}

/* --- what the end of the one ahead means --- */

/* The verdict, how the one ahead ended, and what is known of the own node, together say what to do. */
static void the_verdict_says_what_the_end_of_the_one_ahead_means(void **state)
{
    (void)state;
    static const struct {
        enum zkr__then then;
        enum zkr__event_kind end;
        bool ours;
    } rows[] = {
        {ZKR__THEN_LOOK, ZKR__EV_AHEAD_GONE, false},
        {ZKR__THEN_LOOK, ZKR__EV_AHEAD_RELEASED, false},
        {ZKR__THEN_OURS_IF_HELD, ZKR__EV_AHEAD_GONE, false},
        {ZKR__THEN_OURS_IF_HELD, ZKR__EV_AHEAD_RELEASED, true},
        {ZKR__THEN_OURS, ZKR__EV_AHEAD_GONE, true},
        {ZKR__THEN_OURS, ZKR__EV_AHEAD_RELEASED, true},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        const struct zkt_claim_step park = {WELL(.kind = ZKR__EV_LISTED, .found = true,
                                                 .wait = ZKR__WAIT_NEIGHBOUR,
                                                 .then = rows[i].then),
                                            ZKR__DO_GET_OWN, ZKR__PARKED};
        const struct zkt_claim_step look = {WELL(.kind = rows[i].end), ZKR__DO_LIST,
                                            ZKR__LISTING};
        const struct zkt_claim_step ours = {WELL(.kind = rows[i].end), ZKR__DO_NOTIFY,
                                            ZKR__HELD};
        const struct zkt_claim_step confirm = {WELL(.kind = rows[i].end), 0,
                                               ZKR__CONFIRMING};
        const struct zkt_claim_step seen[] = {START, CREATED, park, WATCHED,
                                              rows[i].ours ? ours : look};
        const struct zkt_claim_step asked[] = {START, CREATED, park,
                                               rows[i].ours ? confirm : look};
        const struct zkt_claim_step unknown[] = {
            START,
            CREATED,
            park,
            WATCHED,
            {WELL(.kind = ZKR__EV_CONNECTED), ZKR__DO_QUIET, ZKR__PARKED},
            look};
        (void)ZKT_CLAIM_AFTER(seen);
        (void)ZKT_CLAIM_AFTER(asked);
        (void)ZKT_CLAIM_AFTER(unknown);
    }
}

/* When nothing blocks any more the own node decides, whatever the one ahead still does. */
static void a_claim_that_is_to_be_confirmed_waits_for_its_own_node_alone(void **state)
{
    (void)state;
    static const struct zkt_claim_step nothing[] = {
        {WELL(.kind = ZKR__EV_AHEAD_GONE), 0, ZKR__CONFIRMING},
        {WELL(.kind = ZKR__EV_AHEAD_RELEASED), 0, ZKR__CONFIRMING},
        {WELL(.kind = ZKR__EV_AHEAD_CHANGED), 0, ZKR__CONFIRMING},
        {WELL(.kind = ZKR__EV_GOT_AHEAD, .code = ZKR_ENONODE), 0, ZKR__CONFIRMING},
        {WELL(.kind = ZKR__EV_GOT_AHEAD, .code = ZKR_EAUTH), 0, ZKR__CONFIRMING},
        {WELL(.kind = ZKR__EV_QUIET), 0, ZKR__CONFIRMING},
        {WELL(.kind = ZKR__EV_PAUSE_OVER), 0, ZKR__CONFIRMING},
        {WELL(.kind = ZKR__EV_LEASE_EXPIRED), 0, ZKR__CONFIRMING},
        {WELL(.kind = ZKR__EV_CONNECTED), 0, ZKR__CONFIRMING},
    };
    static const struct zkt_claim_step answers[] = {
        {WELL(.kind = ZKR__EV_GOT_OWN), ZKR__DO_NOTIFY, ZKR__HELD},
        {UNSURE(.kind = ZKR__EV_GOT_OWN), ZKR__DO_PROVE, ZKR__PROVING},
        {DOWN(.kind = ZKR__EV_GOT_OWN, .code = ZKR_ECONNLOSS), ZKR__DO_RETRY,
         PAUSED_BEFORE(ZKR__LISTING)},
        {WELL(.kind = ZKR__EV_GOT_OWN, .code = ZKR_ENONODE),
         ZKR__DO_STEP_ASIDE | ZKR__DO_CREATE, ZKR__CREATING},
        {WELL(.kind = ZKR__EV_OWN_GONE), ZKR__DO_STEP_ASIDE | ZKR__DO_CREATE,
         ZKR__CREATING},
        {WELL(.kind = ZKR__EV_GOT_OWN, .code = ZKR_EAUTH),
         ZKR__DO_REMOVE | ZKR__DO_STEP_ASIDE | ZKR__DO_NOTIFY, ZKR__REMOVING},
    };
    for (size_t i = 0; i < ZKT_COUNT(answers); i++) {
        struct zkr__claim_state k = zkt_claim_in(ZKR__CONFIRMING);
        ZKT_PLAY(&k, nothing);
        zkt_claim_play(&k, &answers[i], 1);
    }
}

/* A rule that waits for the directory: one more list leaves a watch there, and each change is a reason to look. */
static void a_rule_may_wait_for_all_children(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        {WELL(.kind = ZKR__EV_LISTED, .found = true, .wait = ZKR__WAIT_CHILDREN),
         ZKR__DO_LIST, ZKR__LISTING},
        {WELL(.kind = ZKR__EV_LISTED, .found = true, .wait = ZKR__WAIT_CHILDREN),
         ZKR__DO_QUIET, ZKR__PARKED},
        {WELL(.kind = ZKR__EV_AHEAD_CHANGED), ZKR__DO_LIST, ZKR__LISTING},
        {WELL(.kind = ZKR__EV_LISTED, .found = true, .wait = ZKR__WAIT_CHILDREN),
         ZKR__DO_QUIET, ZKR__PARKED},
        {DOWN(.kind = ZKR__EV_AHEAD_CHANGED), 0, PAUSED_BEFORE(ZKR__LISTING)},
        {WELL(.kind = ZKR__EV_CONNECTED), ZKR__DO_LIST, ZKR__LISTING},
        {WELL(.kind = ZKR__EV_LISTED, .found = true, .wait = ZKR__WAIT_CHILDREN),
         ZKR__DO_QUIET, ZKR__PARKED},
        {WELL(.kind = ZKR__EV_AHEAD_GONE), ZKR__DO_LIST, ZKR__LISTING},
        GRANTED,
    };
    struct zkr__claim_state k = ZKT_CLAIM_AFTER(steps);
    assert_true(k.watch_children);
}

/* A pause that is over means nothing to who does not pause: its own watch stays good. */
static void a_late_end_of_a_pause_changes_nothing(void **state)
{
    (void)state;
    static const int phases[] = {
        ZKR__CREATING, ZKR__FINDING, ZKR__ADOPTING, ZKR__LISTING,  ZKR__PARKED,
        ZKR__PROVING,  ZKR__HELD,    ZKR__DOUBTED,  ZKR__REMOVING, ZKR__GONE,
    };
    for (size_t i = 0; i < ZKT_COUNT(phases); i++) {
        struct zkr__claim_state k = zkt_claim_in(phases[i]);
        enum zkr__own_watch own = k.own;
        const struct zkt_claim_step over[] = {
            {WELL(.kind = ZKR__EV_PAUSE_OVER), 0, phases[i]}};
        ZKT_PLAY(&k, over);
        assert_int_equal(k.own, own);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_lock_is_granted_by_the_first_answer),
        cmocka_unit_test(a_contended_lock_parks_behind_the_one_ahead),
        cmocka_unit_test(a_deeper_waiter_watches_its_own_node_after_a_while),
        cmocka_unit_test(the_event_alone_hands_over),
        cmocka_unit_test(after_a_reconnect_the_event_alone_does_not_hand_over),
        cmocka_unit_test(a_hand_over_waits_for_the_own_watch),
        cmocka_unit_test(a_missing_one_ahead_is_one_that_went),
        cmocka_unit_test(a_neighbour_that_lets_go_passes_the_lock_on),
        cmocka_unit_test(a_deeper_waiter_takes_what_a_neighbour_passes_on),
        cmocka_unit_test(a_passed_lock_is_not_taken_blindly),
        cmocka_unit_test(any_other_wake_up_lists_again),
        cmocka_unit_test(a_changed_node_ahead_is_watched_again),
        cmocka_unit_test(a_try_does_not_park),
        cmocka_unit_test(a_watch_that_fell_into_a_cut_is_made_up_for),
        cmocka_unit_test(the_verdict_says_what_the_end_of_the_one_ahead_means),
        cmocka_unit_test(a_claim_that_is_to_be_confirmed_waits_for_its_own_node_alone),
        cmocka_unit_test(a_rule_may_wait_for_all_children),
        cmocka_unit_test(a_late_end_of_a_pause_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

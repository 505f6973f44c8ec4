/* SPDX-License-Identifier: Apache-2.0 */
/* Making the node of a claim: parents, refusals, lost replies. */
#include "claim_ways.h"

/* --- the create and its parents --- */

/* Without a connection nothing is sent; the first connection sends it. */
static void a_claim_waits_for_the_connection(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        {DOWN(.kind = ZKR__EV_START), 0, PAUSED_BEFORE(ZKR__CREATING)},
        {DOWN(.kind = ZKR__EV_CONNECTED), 0, PAUSED_BEFORE(ZKR__CREATING)},
        {WELL(.kind = ZKR__EV_CONNECTED), ZKR__DO_CREATE, ZKR__CREATING},
        {WELL(.kind = ZKR__EV_CONNECTED), 0, ZKR__CREATING},
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

/* A missing parent is made; when it goes again and again, with pauses. */
static void a_missing_parent_is_made(void **state)
{
    (void)state;
    static const struct zkt_claim_step again = {
        WELL(.kind = ZKR__EV_CREATED, .code = ZKR_ENONODE),
        ZKR__DO_PARENTS | ZKR__DO_CREATE, ZKR__CREATING};
    static const struct zkt_claim_step pauses[] = {
        {WELL(.kind = ZKR__EV_CREATED, .code = ZKR_ENONODE), ZKR__DO_RETRY,
         PAUSED_BEFORE(ZKR__CREATING)},
        {WELL(.kind = ZKR__EV_PAUSE_OVER), ZKR__DO_CREATE, ZKR__CREATING},
    };
    static const struct zkt_claim_step granted[] = {CREATED, GRANTED};
    struct zkr__claim_state k = {.phase = ZKR__PAUSED};
    static const struct zkt_claim_step start[] = {START};
    ZKT_PLAY(&k, start);
    for (int i = 0; i < 4; i++) {
        zkt_claim_play(&k, &again, 1);
    }
    ZKT_PLAY(&k, pauses);
    zkt_claim_play(&k, &again, 1); /* also after any number of failures */
    ZKT_PLAY(&k, pauses);
    zkt_claim_play(&k, &again, 1);
    ZKT_PLAY(&k, granted);
}

/* Answers to the create that end the claim, each with its own code; no node, nothing to remove. */
static void a_refused_create_fails_the_claim(void **state)
{
    (void)state;
    static const int codes[] = {ZKR_EAUTH, ZKR_EINVAL, ZKR_ENOMEM,
                                ZKR_ESYS,  ZKR_EEXIST, ZKR_EZK(-108)};
    for (size_t i = 0; i < ZKT_COUNT(codes); i++) {
        const struct zkt_claim_step steps[] = {
            START,
            {WELL(.kind = ZKR__EV_CREATED, .code = codes[i]), ZKR__DO_NOTIFY,
             ZKR__GONE},
        };
        struct zkr__claim_state k = ZKT_CLAIM_AFTER(steps);
        assert_int_equal(k.failure, codes[i]);
    }
    static const struct zkt_claim_step hopeless[] = {
        START,
        {WELL(.kind = ZKR__EV_CREATED, .code = ZKR_ENONODE, .hopeless = true),
         ZKR__DO_NOTIFY, ZKR__GONE},
    };
    assert_int_equal(ZKT_CLAIM_AFTER(hopeless).failure, ZKR_ENONODE);
}

/* A number at the limit is given back: servers would hand it out twice. */
static void a_spent_sequence_number_is_not_used(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        {WELL(.kind = ZKR__EV_CREATED, .spent = true),
         ZKR__DO_REMOVE | ZKR__DO_STEP_ASIDE | ZKR__DO_NOTIFY, ZKR__REMOVING},
        REMOVED,
    };
    assert_int_equal(ZKT_CLAIM_AFTER(steps).failure, ZKR_ESEQUENCE);
    static const struct zkt_claim_step adopted[] = {
        START,
        LOST_CREATE,
        FIND,
        FOUND,
        {WELL(.kind = ZKR__EV_GOT_OWN, .ours = true, .spent = true),
         ZKR__DO_REMOVE | ZKR__DO_STEP_ASIDE | ZKR__DO_NOTIFY, ZKR__REMOVING},
        REMOVED,
    };
    assert_int_equal(ZKT_CLAIM_AFTER(adopted).failure, ZKR_ESEQUENCE);
}

/* A list that could not be sent along with the create: as if both replies were lost. */
static void a_list_that_was_not_sent_leads_to_a_search(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        {WELL(.kind = ZKR__EV_LISTED, .code = ZKR_ENOMEM), ZKR__DO_RETRY,
         PAUSED_BEFORE(ZKR__FINDING)},
        {WELL(.kind = ZKR__EV_CREATED), 0, PAUSED_BEFORE(ZKR__FINDING)},
        FIND,
        FOUND,
        {WELL(.kind = ZKR__EV_GOT_OWN, .ours = true), 0, ZKR__LISTING},
        {WELL(.kind = ZKR__EV_LISTED, .found = true, .granted = true), ZKR__DO_NOTIFY,
         ZKR__HELD},
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

/* --- a lost reply --- */

/* The node of a lost reply is found by its GUID, and taken once its owner is known. */
static void a_node_is_adopted_after_a_lost_reply(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        LOST_CREATE,
        {DOWN(.kind = ZKR__EV_CONNECTED), 0, PAUSED_BEFORE(ZKR__FINDING)},
        FIND,
        FOUND,
        {WELL(.kind = ZKR__EV_GOT_OWN, .ours = true), 0, ZKR__LISTING},
        {WELL(.kind = ZKR__EV_LISTED, .found = true, .granted = true), ZKR__DO_NOTIFY,
         ZKR__HELD},
    };
    struct zkr__claim_state k = ZKT_CLAIM_AFTER(steps);
    assert_int_equal(k.failures, 0); /* the pauses of a later delete begin anew */
}

/* When none is found none will come: a new create, under a new name. */
static void a_node_that_was_never_made_is_made_again(void **state)
{
    (void)state;
    static const int codes[] = {ZKR_OK, ZKR_ENONODE};
    for (size_t i = 0; i < ZKT_COUNT(codes); i++) {
        const struct zkt_claim_step steps[] = {
            START,
            LOST_CREATE,
            FIND,
            {WELL(.kind = ZKR__EV_LISTED, .code = codes[i]),
             ZKR__DO_STEP_ASIDE | ZKR__DO_CREATE, ZKR__CREATING},
            CREATED,
            GRANTED,
        };
        (void)ZKT_CLAIM_AFTER(steps);
    }
}

/* A node found under our GUID that belongs to another session is no more ours than anybody's. */
static void a_node_of_another_session_is_not_adopted(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        LOST_CREATE,
        FIND,
        FOUND,
        {WELL(.kind = ZKR__EV_GOT_OWN, .ours = false),
         ZKR__DO_STEP_ASIDE | ZKR__DO_CREATE, ZKR__CREATING},
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

/* The search itself may be lost, as often as retries are allowed; then the owner is told. */
static void a_lost_search_is_made_again(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        LOST_CREATE,
        FIND,
        {DOWN(.kind = ZKR__EV_LISTED, .code = ZKR_ECONNLOSS), ZKR__DO_RETRY,
         PAUSED_BEFORE(ZKR__FINDING)},
        FIND,
        {LAST(.kind = ZKR__EV_LISTED, .code = ZKR_ECONNLOSS),
         ZKR__DO_RETRY | ZKR__DO_NOTIFY, PAUSED_BEFORE(ZKR__FINDING)},
        FIND,
        {WELL(.kind = ZKR__EV_LISTED, .found = true), ZKR__DO_REMOVE, ZKR__REMOVING},
        REMOVED,
    };
    assert_int_equal(ZKT_CLAIM_AFTER(steps).failure, ZKR_ECONNLOSS);
}

/* A found node whose stat could not be asked for is not held: whose is it, and which token? */
static void a_found_node_is_not_held_before_its_stat_is_known(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        LOST_CREATE,
        FIND,
        FOUND, /* the request for the stat is refused, which is told after the list's answer */
        {WELL(.kind = ZKR__EV_LISTED, .found = true, .granted = true), ZKR__DO_RETRY,
         PAUSED_BEFORE(ZKR__ADOPTING)},
        {WELL(.kind = ZKR__EV_PAUSE_OVER), ZKR__DO_GET_OWN | ZKR__DO_LIST,
         ZKR__ADOPTING},
        {WELL(.kind = ZKR__EV_GOT_OWN, .ours = true), 0, ZKR__LISTING},
        {WELL(.kind = ZKR__EV_LISTED, .found = true, .granted = true), ZKR__DO_NOTIFY,
         ZKR__HELD},
    };
    struct zkr__claim_state k = {.phase = ZKR__PAUSED};
    ZKT_PLAY(&k, steps);
}

/* The stat of a found node that is not to be had for now is asked for again; one refused is a failure. */
static void the_stat_of_a_found_node_is_asked_for_again(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        {DOWN(.kind = ZKR__EV_GOT_OWN, .code = ZKR_ECONNLOSS), ZKR__DO_RETRY,
         PAUSED_BEFORE(ZKR__ADOPTING)},
        {WELL(.kind = ZKR__EV_CONNECTED), ZKR__DO_GET_OWN | ZKR__DO_LIST,
         ZKR__ADOPTING},
        {WELL(.kind = ZKR__EV_GOT_OWN, .code = ZKR_EAUTH),
         ZKR__DO_REMOVE | ZKR__DO_STEP_ASIDE | ZKR__DO_NOTIFY, ZKR__REMOVING},
    };
    struct zkr__claim_state k = zkt_claim_in(ZKR__ADOPTING);
    ZKT_PLAY(&k, steps);
    assert_int_equal(k.failure, ZKR_EAUTH);
}

/* A found node that is deleted before its stat is read: another one, and without retries an end. */
static void a_found_node_may_be_gone_again(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[][2] = {
        {{WELL(.kind = ZKR__EV_GOT_OWN, .code = ZKR_ENONODE),
          ZKR__DO_STEP_ASIDE | ZKR__DO_CREATE, ZKR__CREATING},
         CREATED},
        {{WELL(.kind = ZKR__EV_OWN_GONE), ZKR__DO_STEP_ASIDE | ZKR__DO_CREATE,
          ZKR__CREATING},
         CREATED},
        {{DOWN(.kind = ZKR__EV_OWN_GONE), ZKR__DO_STEP_ASIDE,
          PAUSED_BEFORE(ZKR__CREATING)},
         START},
    };
    for (size_t i = 0; i < ZKT_COUNT(steps); i++) {
        struct zkr__claim_state k = zkt_claim_in(ZKR__ADOPTING);
        ZKT_PLAY(&k, steps[i]);
        k = zkt_claim_in(PAUSED_BEFORE(ZKR__ADOPTING));
        ZKT_PLAY(&k, steps[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_waits_for_the_connection),
        cmocka_unit_test(a_missing_parent_is_made),
        cmocka_unit_test(a_refused_create_fails_the_claim),
        cmocka_unit_test(a_spent_sequence_number_is_not_used),
        cmocka_unit_test(a_list_that_was_not_sent_leads_to_a_search),
        cmocka_unit_test(a_node_is_adopted_after_a_lost_reply),
        cmocka_unit_test(a_node_that_was_never_made_is_made_again),
        cmocka_unit_test(a_node_of_another_session_is_not_adopted),
        cmocka_unit_test(a_lost_search_is_made_again),
        cmocka_unit_test(a_found_node_is_not_held_before_its_stat_is_known),
        cmocka_unit_test(the_stat_of_a_found_node_is_asked_for_again),
        cmocka_unit_test(a_found_node_may_be_gone_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A claim that is left, given up or fails: nothing of it stays. */
#include "claim_ways.h"

/* How a claim may end whose create is not answered. */
static const struct {
    enum zkr__event_kind event;
    int code;
    unsigned actions;
} how[] = {
    {ZKR__EV_LEAVE, 0, 0},
    {ZKR__EV_GIVE_UP, ZKR_ETIMEDOUT, ZKR__DO_NOTIFY},
};

/* A release passes the lock on, sends the delete, and is over with its answer. */
static void a_release_removes_the_node(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        GRANTED,
        {WELL(.kind = ZKR__EV_LEAVE), ZKR__DO_HAND_OVER | ZKR__DO_REMOVE,
         ZKR__REMOVING},
        {WELL(.kind = ZKR__EV_LEAVE), 0, ZKR__REMOVING},
        REMOVED,
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

/* A delete that finds no node is done; one whose answer is lost is sent again. */
static void a_delete_is_sent_until_it_is_answered(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        GRANTED,
        {DOWN(.kind = ZKR__EV_LEAVE), ZKR__DO_HAND_OVER, PAUSED_BEFORE(ZKR__REMOVING)},
        {WELL(.kind = ZKR__EV_CONNECTED), ZKR__DO_REMOVE, ZKR__REMOVING},
        {DOWN(.kind = ZKR__EV_REMOVED, .code = ZKR_ECONNLOSS), ZKR__DO_RETRY,
         PAUSED_BEFORE(ZKR__REMOVING)},
        {DOWN(.kind = ZKR__EV_PAUSE_OVER), 0, PAUSED_BEFORE(ZKR__REMOVING)},
        {WELL(.kind = ZKR__EV_CONNECTED), ZKR__DO_REMOVE, ZKR__REMOVING},
        {LAST(.kind = ZKR__EV_REMOVED, .code = ZKR_ENOMEM), ZKR__DO_RETRY,
         PAUSED_BEFORE(ZKR__REMOVING)},
        {WELL(.kind = ZKR__EV_PAUSE_OVER), ZKR__DO_REMOVE, ZKR__REMOVING},
        {WELL(.kind = ZKR__EV_REMOVED, .code = ZKR_ENONODE), 0, ZKR__GONE},
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

/* The owner lets go: who has a node removes it, who cannot know yet waits for the answer. */
static void a_claim_can_be_left_in_each_phase(void **state)
{
    (void)state;
    static const unsigned remove = ZKR__DO_REMOVE | ZKR__DO_STEP_ASIDE;
    static const struct {
        int before, after;
        unsigned actions;
    } rows[] = {
        {PAUSED_BEFORE(ZKR__CREATING), ZKR__GONE, 0},
        {ZKR__CREATING, ZKR__CREATING, 0},
        {PAUSED_BEFORE(ZKR__FINDING), PAUSED_BEFORE(ZKR__FINDING), 0},
        {ZKR__FINDING, ZKR__FINDING, 0},
        {PAUSED_BEFORE(ZKR__ADOPTING), ZKR__REMOVING, remove},
        {ZKR__ADOPTING, ZKR__REMOVING, remove},
        {PAUSED_BEFORE(ZKR__LISTING), ZKR__REMOVING, remove},
        {ZKR__LISTING, ZKR__REMOVING, remove},
        {ZKR__PARKED, ZKR__REMOVING, remove},
        {ZKR__CONFIRMING, ZKR__REMOVING, remove},
        {PAUSED_BEFORE(ZKR__PROVING), ZKR__REMOVING, remove},
        {ZKR__PROVING, ZKR__REMOVING, remove},
        {ZKR__HELD, ZKR__REMOVING, ZKR__DO_REMOVE | ZKR__DO_HAND_OVER},
        {PAUSED_BEFORE(ZKR__DOUBTED), ZKR__REMOVING, remove},
        {ZKR__DOUBTED, ZKR__REMOVING, remove},
        {PAUSED_BEFORE(ZKR__REMOVING), PAUSED_BEFORE(ZKR__REMOVING), 0},
        {ZKR__REMOVING, ZKR__REMOVING, 0},
        {ZKR__GONE, ZKR__GONE, 0},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        struct zkr__claim_state k = zkt_claim_in(rows[i].before);
        const struct zkt_claim_step steps[] = {
            {WELL(.kind = ZKR__EV_LEAVE), rows[i].actions, rows[i].after},
            {WELL(.kind = ZKR__EV_LEAVE), 0, rows[i].after},
        };
        ZKT_PLAY(&k, steps);
        assert_int_equal(k.failure, 0);
        assert_int_equal(k.lost, 0);
    }
}

/* It is not to wait any more: the owner is told once, and nothing stays. A hold is left alone, also one in doubt. */
static void a_claim_can_be_given_up_in_each_phase(void **state)
{
    (void)state;
    static const unsigned remove = ZKR__DO_REMOVE | ZKR__DO_STEP_ASIDE | ZKR__DO_NOTIFY;
    static const struct {
        int before, after;
        unsigned actions;
        int failure;
    } rows[] = {
        {PAUSED_BEFORE(ZKR__CREATING), ZKR__GONE, ZKR__DO_NOTIFY, ZKR_ETIMEDOUT},
        {ZKR__CREATING, ZKR__CREATING, ZKR__DO_NOTIFY, ZKR_ETIMEDOUT},
        {PAUSED_BEFORE(ZKR__FINDING), PAUSED_BEFORE(ZKR__FINDING), ZKR__DO_NOTIFY,
         ZKR_ETIMEDOUT},
        {ZKR__FINDING, ZKR__FINDING, ZKR__DO_NOTIFY, ZKR_ETIMEDOUT},
        {PAUSED_BEFORE(ZKR__ADOPTING), ZKR__REMOVING, remove, ZKR_ETIMEDOUT},
        {ZKR__ADOPTING, ZKR__REMOVING, remove, ZKR_ETIMEDOUT},
        {PAUSED_BEFORE(ZKR__LISTING), ZKR__REMOVING, remove, ZKR_ETIMEDOUT},
        {ZKR__LISTING, ZKR__REMOVING, remove, ZKR_ETIMEDOUT},
        {ZKR__PARKED, ZKR__REMOVING, remove, ZKR_ETIMEDOUT},
        {ZKR__CONFIRMING, ZKR__REMOVING, remove, ZKR_ETIMEDOUT},
        {PAUSED_BEFORE(ZKR__PROVING), ZKR__REMOVING, remove, ZKR_ETIMEDOUT},
        {ZKR__PROVING, ZKR__REMOVING, remove, ZKR_ETIMEDOUT},
        {ZKR__HELD, ZKR__HELD, 0, 0},
        {PAUSED_BEFORE(ZKR__DOUBTED), PAUSED_BEFORE(ZKR__DOUBTED), 0, 0},
        {ZKR__DOUBTED, ZKR__DOUBTED, 0, 0},
        {PAUSED_BEFORE(ZKR__REMOVING), PAUSED_BEFORE(ZKR__REMOVING), 0, 0},
        {ZKR__REMOVING, ZKR__REMOVING, 0, 0},
        {ZKR__GONE, ZKR__GONE, 0, 0},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        struct zkr__claim_state k = zkt_claim_in(rows[i].before);
        const struct zkt_claim_step steps[] = {
            {WELL(.kind = ZKR__EV_GIVE_UP, .code = ZKR_ETIMEDOUT), rows[i].actions,
             rows[i].after},
            {WELL(.kind = ZKR__EV_GIVE_UP, .code = ZKR_ECANCELED), 0, rows[i].after},
        };
        ZKT_PLAY(&k, steps);
        assert_int_equal(k.failure, rows[i].failure);
        assert_int_equal(k.lost, 0);
    }
}

/* No session will ever come: who has no node fails, and a second word of it changes nothing. */
static void a_refused_client_fails_its_claims(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        {DOWN(.kind = ZKR__EV_SESSION_OVER), 0, PAUSED_BEFORE(ZKR__CREATING)},
        {DOWN(.kind = ZKR__EV_GIVE_UP, .code = ZKR_EAUTH), ZKR__DO_NOTIFY, ZKR__GONE},
        {DOWN(.kind = ZKR__EV_GIVE_UP, .code = ZKR_EAUTH), 0, ZKR__GONE},
    };
    assert_int_equal(ZKT_CLAIM_AFTER(steps).failure, ZKR_EAUTH);
}

/* Given up without a connection: the node is deleted when there is one. */
static void what_is_given_up_is_removed_by_the_next_connection(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        {DOWN(.kind = ZKR__EV_GIVE_UP, .code = ZKR_ENOANSWER),
         ZKR__DO_STEP_ASIDE | ZKR__DO_NOTIFY, PAUSED_BEFORE(ZKR__REMOVING)},
        {DOWN(.kind = ZKR__EV_LEAVE), 0, PAUSED_BEFORE(ZKR__REMOVING)},
        {WELL(.kind = ZKR__EV_CONNECTED), ZKR__DO_REMOVE, ZKR__REMOVING},
        REMOVED,
    };
    struct zkr__claim_state k = zkt_claim_in(ZKR__PARKED);
    ZKT_PLAY(&k, steps);
    assert_int_equal(k.failure, ZKR_ENOANSWER);
}

/* Left while the create is under way: each answer to it leads out, without a word to the owner. */
static void a_claim_left_while_creating_leads_out_with_each_answer(void **state)
{
    (void)state;
    static const struct {
        int code;
        int phase;
        unsigned actions;
    } rows[] = {
        {ZKR_OK, ZKR__REMOVING, ZKR__DO_REMOVE},
        {ZKR_ECONNLOSS, PAUSED_BEFORE(ZKR__FINDING), ZKR__DO_RETRY},
        {ZKR_ESESSION, PAUSED_BEFORE(ZKR__FINDING), ZKR__DO_RETRY},
        {ZKR_ENONODE, ZKR__GONE, 0},
        {ZKR_EAUTH, ZKR__GONE, 0},
        {ZKR_ENOMEM, ZKR__GONE, 0},
        {ZKR_EZK(-127), ZKR__GONE, 0},
    };
    for (size_t j = 0; j < ZKT_COUNT(how) * ZKT_COUNT(rows); j++) {
        size_t i = j / ZKT_COUNT(how);
        const struct zkt_claim_step steps[] = {
            START,
            {WELL(.kind = how[j % ZKT_COUNT(how)].event,
                  .code = how[j % ZKT_COUNT(how)].code),
             how[j % ZKT_COUNT(how)].actions, ZKR__CREATING},
            {LAST(.kind = ZKR__EV_CREATED, .code = rows[i].code), rows[i].actions,
             rows[i].phase},
        };
        (void)ZKT_CLAIM_AFTER(steps);
    }
}

/* Left while searching: what is found is removed, what is not found needs nothing. */
static void a_claim_left_while_finding_removes_what_it_finds(void **state)
{
    (void)state;
    static const struct {
        int code;
        bool found;
        int phase;
        unsigned actions;
    } rows[] = {
        {ZKR_OK, true, ZKR__REMOVING, ZKR__DO_REMOVE},
        {ZKR_OK, false, ZKR__GONE, 0},
        {ZKR_ENONODE, false, ZKR__GONE, 0},
        {ZKR_ECONNLOSS, false, PAUSED_BEFORE(ZKR__FINDING), ZKR__DO_RETRY},
        {ZKR_EAUTH, false, PAUSED_BEFORE(ZKR__FINDING), ZKR__DO_RETRY},
        {ZKR_ENOMEM, false, PAUSED_BEFORE(ZKR__FINDING), ZKR__DO_RETRY},
        {ZKR_EZK(-127), false, PAUSED_BEFORE(ZKR__FINDING), ZKR__DO_RETRY},
    };
    for (size_t j = 0; j < ZKT_COUNT(how) * ZKT_COUNT(rows); j++) {
        size_t i = j / ZKT_COUNT(how);
        const struct zkt_claim_step steps[] = {
            START,
            LOST_CREATE,
            FIND,
            {WELL(.kind = how[j % ZKT_COUNT(how)].event,
                  .code = how[j % ZKT_COUNT(how)].code),
             how[j % ZKT_COUNT(how)].actions, ZKR__FINDING},
            {LAST(.kind = ZKR__EV_LISTED, .code = rows[i].code, .found = rows[i].found),
             rows[i].actions, rows[i].phase},
        };
        (void)ZKT_CLAIM_AFTER(steps);
    }
}

/* A failure with a node on the server is told once, and the node removed, however long it takes. */
static void a_failure_is_told_once(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        {LAST(.kind = ZKR__EV_LISTED, .code = ZKR_ECONNLOSS),
         ZKR__DO_REMOVE | ZKR__DO_STEP_ASIDE | ZKR__DO_NOTIFY, ZKR__REMOVING},
        {LAST(.kind = ZKR__EV_REMOVED, .code = ZKR_ECONNLOSS), ZKR__DO_RETRY,
         PAUSED_BEFORE(ZKR__REMOVING)},
        {WELL(.kind = ZKR__EV_PAUSE_OVER), ZKR__DO_REMOVE, ZKR__REMOVING},
        {LAST(.kind = ZKR__EV_REMOVED, .code = ZKR_ECONNLOSS), ZKR__DO_RETRY,
         PAUSED_BEFORE(ZKR__REMOVING)},
        {WELL(.kind = ZKR__EV_LEAVE), 0, PAUSED_BEFORE(ZKR__REMOVING)},
        {WELL(.kind = ZKR__EV_CONNECTED), ZKR__DO_REMOVE, ZKR__REMOVING},
        REMOVED,
    };
    assert_int_equal(ZKT_CLAIM_AFTER(steps).failure, ZKR_ECONNLOSS);
}

/* An answer to a delete that says neither gone nor forbidden is no end. */
static void a_delete_is_not_given_up_for_a_strange_answer(void **state)
{
    (void)state;
    static const int codes[] = {ZKR_ESYS, ZKR_EINVAL, ZKR_ENOMEM, ZKR_EZK(-5)};
    for (size_t i = 0; i < ZKT_COUNT(codes); i++) {
        const struct zkt_claim_step steps[] = {
            START,
            CREATED,
            GRANTED,
            {WELL(.kind = ZKR__EV_LEAVE), ZKR__DO_HAND_OVER | ZKR__DO_REMOVE,
             ZKR__REMOVING},
            {WELL(.kind = ZKR__EV_REMOVED, .code = codes[i]), ZKR__DO_RETRY,
             PAUSED_BEFORE(ZKR__REMOVING)},
            {WELL(.kind = ZKR__EV_PAUSE_OVER), ZKR__DO_REMOVE, ZKR__REMOVING},
            {WELL(.kind = ZKR__EV_REMOVED), 0, ZKR__GONE},
        };
        struct zkr__claim_state k = {.phase = ZKR__PAUSED};
        ZKT_PLAY(&k, steps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_release_removes_the_node),
        cmocka_unit_test(a_delete_is_sent_until_it_is_answered),
        cmocka_unit_test(a_claim_can_be_left_in_each_phase),
        cmocka_unit_test(a_claim_can_be_given_up_in_each_phase),
        cmocka_unit_test(a_refused_client_fails_its_claims),
        cmocka_unit_test(what_is_given_up_is_removed_by_the_next_connection),
        cmocka_unit_test(a_claim_left_while_creating_leads_out_with_each_answer),
        cmocka_unit_test(a_claim_left_while_finding_removes_what_it_finds),
        cmocka_unit_test(a_failure_is_told_once),
        cmocka_unit_test(a_delete_is_not_given_up_for_a_strange_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The paths a claim takes, as scripts: each event, the actions it must give, the phase after it. */
#include "claim_script.h"

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
            ZKR__FINDING                                                               \
    }
#define FIND                                                                           \
    {                                                                                  \
        WELL(.kind = ZKR__EV_UP), ZKR__DO_FIND, ZKR__FINDING                           \
    }
#define FOUND                                                                          \
    {                                                                                  \
        WELL(.kind = ZKR__EV_LISTED, .found = true), ZKR__DO_OWN | ZKR__DO_LIST,       \
            ZKR__LISTING                                                               \
    }
#define GRANTED                                                                        \
    {                                                                                  \
        WELL(.kind = ZKR__EV_LISTED, .found = true, .granted = true),                  \
            ZKR__DO_TELL | ZKR__DO_QUIET, ZKR__HELD                                    \
    }
/* Behind the first, who is of another client; of this one; and behind a waiter. */
#define SECOND                                                                         \
    {                                                                                  \
        WELL(.kind = ZKR__EV_LISTED, .found = true, .sole = true),                     \
            ZKR__DO_AHEAD | ZKR__DO_OWN, ZKR__PARKED                                   \
    }
#define BEHIND_OURS                                                                    \
    {                                                                                  \
        WELL(.kind = ZKR__EV_LISTED, .found = true, .sole = true, .local = true),      \
            ZKR__DO_OWN, ZKR__PARKED                                                   \
    }
#define DEEPER                                                                         \
    {                                                                                  \
        WELL(.kind = ZKR__EV_LISTED, .found = true), ZKR__DO_AHEAD | ZKR__DO_QUIET,    \
            ZKR__PARKED                                                                \
    }
#define WATCHED                                                                        \
    {                                                                                  \
        WELL(.kind = ZKR__EV_OWN, .ours = true), 0, ZKR__PARKED                        \
    }
#define UNPROVEN                                                                       \
    {                                                                                  \
        UNSURE(.kind = ZKR__EV_LISTED, .found = true, .granted = true), ZKR__DO_PROVE, \
            ZKR__PROVING                                                               \
    }
#define LEAVE_FOR_REMOVAL                                                              \
    {                                                                                  \
        WELL(.kind = ZKR__EV_LEAVE), ZKR__DO_REMOVE | ZKR__DO_YIELD, ZKR__REMOVING     \
    }
#define REMOVED                                                                        \
    {                                                                                  \
        WELL(.kind = ZKR__EV_REMOVED), 0, ZKR__GONE                                    \
    }

/* --- as few round trips as can be --- */

/* Free: create and list together; the answer to the list grants. */
static void a_free_lock_is_granted_by_the_first_answer(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {START, CREATED, GRANTED};
    struct zkr__claim_state k = ZKT_CLAIM_AFTER(steps);
    assert_true(zkr__claim_decided(&k));
    assert_true(k.has_node);
}

/* Contended: watches on the one ahead and on the own node go out with the answer to the list. */
static void a_contended_lock_parks_behind_the_one_ahead(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START, CREATED, SECOND, {WELL(.kind = ZKR__EV_AHEAD), 0, ZKR__PARKED}, WATCHED,
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
        {WELL(.kind = ZKR__EV_QUIET), ZKR__DO_OWN, ZKR__PARKED},
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
        {WELL(.kind = ZKR__EV_AHEAD_GONE), ZKR__DO_TELL, ZKR__HELD},
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
        {WELL(.kind = ZKR__EV_UP), ZKR__DO_QUIET, ZKR__PARKED},
        {WELL(.kind = ZKR__EV_AHEAD_GONE), ZKR__DO_LIST, ZKR__LISTING},
    };
    struct zkr__claim_state k = {.phase = ZKR__IDLE};
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
        {WELL(.kind = ZKR__EV_AHEAD_GONE), 0, ZKR__PARKED},
        {WELL(.kind = ZKR__EV_OWN, .ours = true), ZKR__DO_TELL, ZKR__HELD},
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
        {WELL(.kind = ZKR__EV_AHEAD, .code = ZKR_ENONODE), 0, ZKR__PARKED},
        {WELL(.kind = ZKR__EV_OWN, .ours = true), ZKR__DO_TELL, ZKR__HELD},
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
        {WELL(.kind = ZKR__EV_AHEAD_PASSED), ZKR__DO_TELL, ZKR__HELD},
        {WELL(.kind = ZKR__EV_LEAVE), ZKR__DO_PASS | ZKR__DO_REMOVE, ZKR__REMOVING},
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
        {WELL(.kind = ZKR__EV_LISTED, .found = true, .local = true), ZKR__DO_OWN,
         ZKR__PARKED},
        WATCHED,
        {WELL(.kind = ZKR__EV_AHEAD_PASSED), ZKR__DO_TELL, ZKR__HELD},
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
        {WELL(.kind = ZKR__EV_OWN_CHANGED), ZKR__DO_OWN, ZKR__PARKED},
        {WELL(.kind = ZKR__EV_AHEAD_PASSED), 0, ZKR__PARKED},
        {WELL(.kind = ZKR__EV_OWN, .code = ZKR_ENONODE), ZKR__DO_YIELD | ZKR__DO_CREATE,
         ZKR__CREATING},
    };
    (void)ZKT_CLAIM_AFTER(steps);
    static const struct zkt_claim_step unwatched[] = {
        START,
        CREATED,
        DEEPER,
        {WELL(.kind = ZKR__EV_AHEAD_PASSED), ZKR__DO_LIST, ZKR__LISTING},
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
        {WELL(.kind = ZKR__EV_LISTED, .found = true), ZKR__DO_AHEAD | ZKR__DO_QUIET,
         ZKR__PARKED},
        {WELL(.kind = ZKR__EV_QUIET), ZKR__DO_OWN, ZKR__PARKED},
        WATCHED,
        {WELL(.kind = ZKR__EV_AHEAD_GONE), ZKR__DO_LIST, ZKR__LISTING},
        {WELL(.kind = ZKR__EV_LISTED, .found = true, .granted = true), ZKR__DO_TELL,
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
        {WELL(.kind = ZKR__EV_AHEAD_CHANGED), ZKR__DO_AHEAD, ZKR__PARKED},
        {WELL(.kind = ZKR__EV_AHEAD, .code = ZKR_ENONODE), ZKR__DO_TELL, ZKR__HELD},
        {WELL(.kind = ZKR__EV_AHEAD_CHANGED), 0, ZKR__HELD},
    };
    (void)ZKT_CLAIM_AFTER(steps);
}

/* A release passes the lock on, sends the delete, and is over with its answer. */
static void a_release_removes_the_node(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        GRANTED,
        {WELL(.kind = ZKR__EV_LEAVE), ZKR__DO_PASS | ZKR__DO_REMOVE, ZKR__REMOVING},
        {WELL(.kind = ZKR__EV_LEAVE), 0, ZKR__REMOVING},
        REMOVED,
    };
    struct zkr__claim_state k = ZKT_CLAIM_AFTER(steps);
    assert_false(k.has_node);
}

/* A delete that finds no node is done; one whose answer is lost is sent again. */
static void a_delete_is_sent_until_it_is_answered(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        GRANTED,
        {DOWN(.kind = ZKR__EV_LEAVE), ZKR__DO_PASS, ZKR__REMOVING},
        {WELL(.kind = ZKR__EV_UP), ZKR__DO_REMOVE, ZKR__REMOVING},
        {DOWN(.kind = ZKR__EV_REMOVED, .code = ZKR_ECONNLOSS), ZKR__DO_RETRY,
         ZKR__REMOVING},
        {DOWN(.kind = ZKR__EV_UP), 0, ZKR__REMOVING},
        {WELL(.kind = ZKR__EV_UP), ZKR__DO_REMOVE, ZKR__REMOVING},
        {LAST(.kind = ZKR__EV_REMOVED, .code = ZKR_ENOMEM), ZKR__DO_RETRY,
         ZKR__REMOVING},
        {WELL(.kind = ZKR__EV_UP), ZKR__DO_REMOVE, ZKR__REMOVING},
        {WELL(.kind = ZKR__EV_REMOVED, .code = ZKR_ENONODE), 0, ZKR__GONE},
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
        {WELL(.kind = ZKR__EV_LISTED, .found = true, .sole = true),
         ZKR__DO_REMOVE | ZKR__DO_YIELD | ZKR__DO_TELL, ZKR__REMOVING},
        REMOVED,
    };
    struct zkr__claim_state k = {.phase = ZKR__IDLE, .once = true};
    ZKT_PLAY(&k, steps);
    assert_int_equal(k.failure, ZKR_ETIMEDOUT);
    static const struct zkt_claim_step first[] = {START, CREATED, GRANTED};
    k = (struct zkr__claim_state){.phase = ZKR__IDLE, .once = true};
    ZKT_PLAY(&k, first);
}

/* --- the create and its parents --- */

/* Without a connection nothing is sent; the first connection sends it. */
static void a_claim_waits_for_the_connection(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        {DOWN(.kind = ZKR__EV_START), 0, ZKR__IDLE},
        {DOWN(.kind = ZKR__EV_UP), 0, ZKR__IDLE},
        {WELL(.kind = ZKR__EV_UP), ZKR__DO_CREATE, ZKR__CREATING},
        {WELL(.kind = ZKR__EV_UP), 0, ZKR__CREATING},
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
        {WELL(.kind = ZKR__EV_CREATED, .code = ZKR_ENONODE), ZKR__DO_RETRY, ZKR__IDLE},
        {WELL(.kind = ZKR__EV_UP), ZKR__DO_CREATE, ZKR__CREATING},
    };
    static const struct zkt_claim_step granted[] = {CREATED, GRANTED};
    struct zkr__claim_state k = {.phase = ZKR__IDLE};
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
            {WELL(.kind = ZKR__EV_CREATED, .code = codes[i]), ZKR__DO_TELL, ZKR__GONE},
        };
        struct zkr__claim_state k = ZKT_CLAIM_AFTER(steps);
        assert_int_equal(k.failure, codes[i]);
        assert_false(k.has_node);
    }
    static const struct zkt_claim_step hopeless[] = {
        START,
        {WELL(.kind = ZKR__EV_CREATED, .code = ZKR_ENONODE, .hopeless = true),
         ZKR__DO_TELL, ZKR__GONE},
    };
    assert_int_equal(ZKT_CLAIM_AFTER(hopeless).failure, ZKR_ENONODE);
}

/* A number at the limit is given back: servers would hand it out twice. */
static void a_spent_sequence_number_is_not_used(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        {WELL(.kind = ZKR__EV_CREATED, .spent = true), ZKR__DO_REMOVE | ZKR__DO_TELL,
         ZKR__REMOVING},
        REMOVED,
    };
    assert_int_equal(ZKT_CLAIM_AFTER(steps).failure, ZKR_ESEQUENCE);
    static const struct zkt_claim_step adopted[] = {
        START,
        LOST_CREATE,
        FIND,
        FOUND,
        {WELL(.kind = ZKR__EV_OWN, .ours = true, .spent = true),
         ZKR__DO_REMOVE | ZKR__DO_YIELD | ZKR__DO_TELL, ZKR__REMOVING},
        REMOVED,
    };
    assert_int_equal(ZKT_CLAIM_AFTER(adopted).failure, ZKR_ESEQUENCE);
}

/* A list that could not be sent along with the create counts as a lost reply. */
static void a_list_that_was_not_sent_is_a_lost_reply(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        {WELL(.kind = ZKR__EV_LISTED, .code = ZKR_ENOMEM), ZKR__DO_RETRY, ZKR__FINDING},
        FIND,
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
        {DOWN(.kind = ZKR__EV_UP), 0, ZKR__FINDING},
        FIND,
        FOUND,
        {WELL(.kind = ZKR__EV_OWN, .ours = true), 0, ZKR__LISTING},
        {WELL(.kind = ZKR__EV_LISTED, .found = true, .granted = true), ZKR__DO_TELL,
         ZKR__HELD},
    };
    struct zkr__claim_state k = ZKT_CLAIM_AFTER(steps);
    assert_true(k.has_node);
    assert_false(k.adopted);
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
             ZKR__DO_YIELD | ZKR__DO_CREATE, ZKR__CREATING},
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
        {WELL(.kind = ZKR__EV_OWN, .ours = false), ZKR__DO_YIELD | ZKR__DO_CREATE,
         ZKR__CREATING},
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
         ZKR__FINDING},
        FIND,
        {LAST(.kind = ZKR__EV_LISTED, .code = ZKR_ECONNLOSS),
         ZKR__DO_RETRY | ZKR__DO_TELL, ZKR__FINDING},
        FIND,
        {WELL(.kind = ZKR__EV_LISTED, .found = true), ZKR__DO_REMOVE, ZKR__REMOVING},
        REMOVED,
    };
    assert_int_equal(ZKT_CLAIM_AFTER(steps).failure, ZKR_ECONNLOSS);
}

/* --- loss --- */

/* Our node goes while we wait: back to the tail of the queue, and whoever is behind must look. */
static void a_waiter_whose_node_is_deleted_queues_again(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        SECOND,
        WATCHED,
        {WELL(.kind = ZKR__EV_OWN_GONE), ZKR__DO_YIELD | ZKR__DO_CREATE, ZKR__CREATING},
        CREATED,
        {WELL(.kind = ZKR__EV_LISTED, .found = false), ZKR__DO_YIELD | ZKR__DO_CREATE,
         ZKR__CREATING},
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
        {WELL(.kind = ZKR__EV_OWN_GONE), ZKR__DO_YIELD | ZKR__DO_CREATE, ZKR__CREATING},
    };
    static const struct zkt_claim_step slow[] = {
        CREATED,
        {WELL(.kind = ZKR__EV_OWN_GONE), ZKR__DO_YIELD | ZKR__DO_RETRY, ZKR__IDLE},
        {WELL(.kind = ZKR__EV_UP), ZKR__DO_CREATE, ZKR__CREATING},
        CREATED,
        {LAST(.kind = ZKR__EV_OWN_GONE), ZKR__DO_YIELD | ZKR__DO_TELL, ZKR__GONE},
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
        {WELL(.kind = ZKR__EV_OWN_GONE), ZKR__DO_YIELD | ZKR__DO_TELL, ZKR__GONE},
    };
    assert_int_equal(ZKT_CLAIM_AFTER(steps).lost, ZKR_LOST_NODE);
    static const struct zkt_claim_step asked[] = {
        START,
        CREATED,
        GRANTED,
        {WELL(.kind = ZKR__EV_QUIET), ZKR__DO_OWN, ZKR__HELD},
        {WELL(.kind = ZKR__EV_OWN, .code = ZKR_ENONODE), ZKR__DO_YIELD | ZKR__DO_TELL,
         ZKR__GONE},
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
        {DOWN(.kind = ZKR__EV_LEASE_OVER), ZKR__DO_YIELD | ZKR__DO_TELL, ZKR__REMOVING},
        {DOWN(.kind = ZKR__EV_LEASE_OVER), 0, ZKR__REMOVING},
        {DOWN(.kind = ZKR__EV_LEAVE), 0, ZKR__REMOVING},
        {WELL(.kind = ZKR__EV_UP), ZKR__DO_REMOVE, ZKR__REMOVING},
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
        {DOWN(.kind = ZKR__EV_LEASE_OVER), ZKR__DO_TELL, ZKR__PROVING},
        {DOWN(.kind = ZKR__EV_LEASE_OVER), 0, ZKR__PROVING},
        {UNSURE(.kind = ZKR__EV_UP), ZKR__DO_PROVE, ZKR__PROVING},
        {WELL(.kind = ZKR__EV_PROVED), ZKR__DO_TELL | ZKR__DO_QUIET, ZKR__HELD},
    };
    struct zkr__claim_state k = {.keeps = true};
    ZKT_PLAY(&k, steps);
    assert_int_equal(k.lost, 0);
    assert_int_equal(k.holds, 2);
    assert_false(k.doubted);
}

/* In doubt, and then the node or the session is gone: lost for good, never quietly queued again. */
static void what_is_lost_in_doubt_is_lost(void **state)
{
    (void)state;
    static const struct zkt_claim_step doubt[] = {
        START,
        CREATED,
        GRANTED,
        {UNSURE(.kind = ZKR__EV_LEASE_OVER), ZKR__DO_PROVE | ZKR__DO_TELL,
         ZKR__PROVING},
    };
    static const struct {
        struct zkt_claim_step step;
        int lost;
    } ends[] = {
        {{WELL(.kind = ZKR__EV_PROVED, .code = ZKR_ENONODE),
          ZKR__DO_YIELD | ZKR__DO_TELL, ZKR__GONE},
         ZKR_LOST_NODE},
        {{WELL(.kind = ZKR__EV_OWN_GONE), ZKR__DO_YIELD | ZKR__DO_TELL, ZKR__GONE},
         ZKR_LOST_NODE},
        {{DOWN(.kind = ZKR__EV_OVER), ZKR__DO_TELL, ZKR__GONE}, ZKR_LOST_SESSION},
        {{WELL(.kind = ZKR__EV_LEAVE), ZKR__DO_REMOVE | ZKR__DO_YIELD, ZKR__REMOVING},
         0},
    };
    for (size_t i = 0; i < ZKT_COUNT(ends); i++) {
        struct zkr__claim_state k = {.keeps = true};
        ZKT_PLAY(&k, doubt);
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
        {DOWN(.kind = ZKR__EV_LEASE_OVER), ZKR__DO_TELL, ZKR__PROVING},
        {DOWN(.kind = ZKR__EV_LEAVE), ZKR__DO_YIELD, ZKR__REMOVING},
        {DOWN(.kind = ZKR__EV_OVER), 0, ZKR__GONE},
    };
    struct zkr__claim_state k = {.keeps = true};
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
        {BARELY_SURE(.kind = ZKR__EV_PROVED), ZKR__DO_TELL | ZKR__DO_QUIET, ZKR__HELD},
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
        {UNSURE(.kind = ZKR__EV_PROVED), ZKR__DO_PACE, ZKR__PROVING},
        {UNSURE(.kind = ZKR__EV_UP), ZKR__DO_PROVE, ZKR__PROVING},
        {DOWN(.kind = ZKR__EV_PROVED, .code = ZKR_ECONNLOSS), ZKR__DO_RETRY,
         ZKR__PROVING},
        {UNSURE(.kind = ZKR__EV_UP), ZKR__DO_PROVE, ZKR__PROVING},
        {WELL(.kind = ZKR__EV_PROVED), ZKR__DO_TELL | ZKR__DO_QUIET, ZKR__HELD},
    };
    (void)ZKT_CLAIM_AFTER(steps);
    static const struct zkt_claim_step gone[] = {
        START,
        CREATED,
        UNPROVEN,
        {UNSURE(.kind = ZKR__EV_PROVED, .code = ZKR_ENONODE),
         ZKR__DO_YIELD | ZKR__DO_CREATE, ZKR__CREATING},
    };
    (void)ZKT_CLAIM_AFTER(gone);
}

/* Ways into each phase. */
static const struct zkt_claim_step to_idle[] = {
    {DOWN(.kind = ZKR__EV_START), 0, ZKR__IDLE}};
static const struct zkt_claim_step to_creating[] = {START};
static const struct zkt_claim_step to_finding[] = {START, LOST_CREATE, FIND};
static const struct zkt_claim_step to_listing[] = {START, CREATED};
static const struct zkt_claim_step to_parked[] = {START, CREATED, SECOND, WATCHED};
static const struct zkt_claim_step to_proving[] = {START, CREATED, UNPROVEN};
static const struct zkt_claim_step to_held[] = {START, CREATED, GRANTED};
static const struct zkt_claim_step to_removing[] = {START, CREATED, LEAVE_FOR_REMOVAL};
static const struct zkt_claim_step to_gone[] = {START, CREATED, LEAVE_FOR_REMOVAL,
                                                REMOVED};
#define WAY(name) to_##name, ZKT_COUNT(to_##name)

/* The end of the session: waiters start anew in the next one, a hold is lost, what left is gone. */
static void the_end_of_the_session_is_survived_in_each_phase(void **state)
{
    (void)state;
    static const struct {
        const struct zkt_claim_step *way;
        size_t count;
        enum zkr__phase phase;
        unsigned actions;
    } rows[] = {
        {WAY(idle), ZKR__IDLE, 0},
        {WAY(creating), ZKR__IDLE, 0},
        {WAY(finding), ZKR__IDLE, 0},
        {WAY(listing), ZKR__IDLE, 0},
        {WAY(parked), ZKR__IDLE, 0},
        {WAY(proving), ZKR__IDLE, 0},
        {WAY(held), ZKR__GONE, ZKR__DO_TELL},
        {WAY(removing), ZKR__GONE, 0},
        {WAY(gone), ZKR__GONE, 0},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        struct zkr__claim_state k = zkt_claim_after(rows[i].way, rows[i].count);
        unsigned round = k.round;
        const struct zkt_claim_step over[] = {
            {DOWN(.kind = ZKR__EV_OVER), rows[i].actions, rows[i].phase}};
        ZKT_PLAY(&k, over);
        assert_int_equal(k.round, round + 1);
        assert_false(k.has_node);
        assert_int_equal(k.lost, rows[i].actions ? ZKR_LOST_SESSION : 0);
        const struct zkt_claim_step up[] = {
            {WELL(.kind = ZKR__EV_UP), rows[i].phase == ZKR__IDLE ? ZKR__DO_CREATE : 0,
             rows[i].phase == ZKR__IDLE ? ZKR__CREATING : ZKR__GONE}};
        ZKT_PLAY(&k, up);
    }
}

/* No session will ever come: who has no node fails, others have heard of the end before. */
static void a_refused_client_fails_its_claims(void **state)
{
    (void)state;
    static const struct zkt_claim_step steps[] = {
        START,
        CREATED,
        {DOWN(.kind = ZKR__EV_OVER), 0, ZKR__IDLE},
        {DOWN(.kind = ZKR__EV_REFUSED, .code = ZKR_EAUTH), ZKR__DO_YIELD | ZKR__DO_TELL,
         ZKR__GONE},
        {DOWN(.kind = ZKR__EV_REFUSED, .code = ZKR_EAUTH), 0, ZKR__GONE},
    };
    assert_int_equal(ZKT_CLAIM_AFTER(steps).failure, ZKR_EAUTH);
}

/* --- leaving --- */

/* The owner lets go: who has a node removes it, who cannot know yet waits for the answer. */
static void a_claim_can_be_left_in_each_phase(void **state)
{
    (void)state;
    static const struct {
        const struct zkt_claim_step *way;
        size_t count;
        enum zkr__phase phase;
        unsigned actions;
    } rows[] = {
        {WAY(idle), ZKR__GONE, 0},
        {WAY(creating), ZKR__CREATING, 0},
        {WAY(finding), ZKR__FINDING, 0},
        {WAY(listing), ZKR__REMOVING, ZKR__DO_REMOVE | ZKR__DO_YIELD},
        {WAY(parked), ZKR__REMOVING, ZKR__DO_REMOVE | ZKR__DO_YIELD},
        {WAY(proving), ZKR__REMOVING, ZKR__DO_REMOVE | ZKR__DO_YIELD},
        {WAY(held), ZKR__REMOVING, ZKR__DO_REMOVE | ZKR__DO_PASS},
        {WAY(removing), ZKR__REMOVING, 0},
        {WAY(gone), ZKR__GONE, 0},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        struct zkr__claim_state k = zkt_claim_after(rows[i].way, rows[i].count);
        const struct zkt_claim_step leave[] = {
            {WELL(.kind = ZKR__EV_LEAVE), rows[i].actions, rows[i].phase}};
        ZKT_PLAY(&k, leave);
        const struct zkt_claim_step again[] = {
            {WELL(.kind = ZKR__EV_LEAVE), 0, rows[i].phase}};
        ZKT_PLAY(&k, again);
    }
}

/* Left while the create is under way: each answer to it leads out, without a word to the owner. */
static void a_claim_left_while_creating_leads_out_with_each_answer(void **state)
{
    (void)state;
    static const struct {
        int code;
        enum zkr__phase phase;
        unsigned actions;
    } rows[] = {
        {ZKR_OK, ZKR__REMOVING, ZKR__DO_REMOVE},
        {ZKR_ECONNLOSS, ZKR__FINDING, ZKR__DO_RETRY},
        {ZKR_ESESSION, ZKR__FINDING, ZKR__DO_RETRY},
        {ZKR_ENONODE, ZKR__GONE, 0},
        {ZKR_EAUTH, ZKR__GONE, 0},
        {ZKR_ENOMEM, ZKR__GONE, 0},
        {ZKR_EZK(-127), ZKR__GONE, 0},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        const struct zkt_claim_step steps[] = {
            START,
            {WELL(.kind = ZKR__EV_LEAVE), 0, ZKR__CREATING},
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
        enum zkr__phase phase;
        unsigned actions;
    } rows[] = {
        {ZKR_OK, true, ZKR__REMOVING, ZKR__DO_REMOVE},
        {ZKR_OK, false, ZKR__GONE, 0},
        {ZKR_ENONODE, false, ZKR__GONE, 0},
        {ZKR_ECONNLOSS, false, ZKR__FINDING, ZKR__DO_RETRY},
        {ZKR_EAUTH, false, ZKR__FINDING, ZKR__DO_RETRY},
        {ZKR_ENOMEM, false, ZKR__FINDING, ZKR__DO_RETRY},
        {ZKR_EZK(-127), false, ZKR__FINDING, ZKR__DO_RETRY},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        const struct zkt_claim_step steps[] = {
            START,
            LOST_CREATE,
            FIND,
            {WELL(.kind = ZKR__EV_LEAVE), 0, ZKR__FINDING},
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
         ZKR__DO_REMOVE | ZKR__DO_YIELD | ZKR__DO_TELL, ZKR__REMOVING},
        {LAST(.kind = ZKR__EV_REMOVED, .code = ZKR_ECONNLOSS), ZKR__DO_RETRY,
         ZKR__REMOVING},
        {WELL(.kind = ZKR__EV_UP), ZKR__DO_REMOVE, ZKR__REMOVING},
        {LAST(.kind = ZKR__EV_REMOVED, .code = ZKR_ECONNLOSS), ZKR__DO_RETRY,
         ZKR__REMOVING},
        {WELL(.kind = ZKR__EV_LEAVE), 0, ZKR__REMOVING},
        {WELL(.kind = ZKR__EV_UP), ZKR__DO_REMOVE, ZKR__REMOVING},
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
         ZKR__LISTING},
        {WELL(.kind = ZKR__EV_UP), ZKR__DO_OWN | ZKR__DO_LIST, ZKR__LISTING},
        {WELL(.kind = ZKR__EV_OWN, .ours = true), 0, ZKR__LISTING},
        {WELL(.kind = ZKR__EV_LISTED, .found = true, .granted = true), ZKR__DO_TELL,
         ZKR__HELD},
    };
    struct zkr__claim_state k = {.phase = ZKR__IDLE};
    ZKT_PLAY(&k, steps);
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
        {WELL(.kind = ZKR__EV_UP), ZKR__DO_QUIET, ZKR__PARKED},
        {WELL(.kind = ZKR__EV_QUIET), ZKR__DO_OWN, ZKR__PARKED},
        {WELL(.kind = ZKR__EV_UP), 0, ZKR__PARKED},
    };
    struct zkr__claim_state k = {.phase = ZKR__IDLE};
    ZKT_PLAY(&k, steps);
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
            {WELL(.kind = ZKR__EV_LEAVE), ZKR__DO_PASS | ZKR__DO_REMOVE, ZKR__REMOVING},
            {WELL(.kind = ZKR__EV_REMOVED, .code = codes[i]), ZKR__DO_RETRY,
             ZKR__REMOVING},
            {WELL(.kind = ZKR__EV_UP), ZKR__DO_REMOVE, ZKR__REMOVING},
            {WELL(.kind = ZKR__EV_REMOVED), 0, ZKR__GONE},
        };
        struct zkr__claim_state k = {.phase = ZKR__IDLE};
        ZKT_PLAY(&k, steps);
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
        cmocka_unit_test(a_release_removes_the_node),
        cmocka_unit_test(a_delete_is_sent_until_it_is_answered),
        cmocka_unit_test(a_try_does_not_park),
        cmocka_unit_test(a_claim_waits_for_the_connection),
        cmocka_unit_test(a_missing_parent_is_made),
        cmocka_unit_test(a_refused_create_fails_the_claim),
        cmocka_unit_test(a_spent_sequence_number_is_not_used),
        cmocka_unit_test(a_list_that_was_not_sent_is_a_lost_reply),
        cmocka_unit_test(a_node_is_adopted_after_a_lost_reply),
        cmocka_unit_test(a_node_that_was_never_made_is_made_again),
        cmocka_unit_test(a_node_of_another_session_is_not_adopted),
        cmocka_unit_test(a_lost_search_is_made_again),
        cmocka_unit_test(a_waiter_whose_node_is_deleted_queues_again),
        cmocka_unit_test(a_waiter_whose_node_is_always_deleted_slows_down),
        cmocka_unit_test(a_holder_whose_node_is_deleted_has_lost),
        cmocka_unit_test(a_holder_whose_lease_is_over_has_lost),
        cmocka_unit_test(a_holder_in_doubt_may_hold_again),
        cmocka_unit_test(what_is_lost_in_doubt_is_lost),
        cmocka_unit_test(nobody_is_told_of_a_doubt_that_was_left),
        cmocka_unit_test(a_grant_at_the_end_of_the_lease_is_proved_first),
        cmocka_unit_test(an_unsure_grant_is_proved_first),
        cmocka_unit_test(the_end_of_the_session_is_survived_in_each_phase),
        cmocka_unit_test(a_refused_client_fails_its_claims),
        cmocka_unit_test(a_claim_can_be_left_in_each_phase),
        cmocka_unit_test(a_claim_left_while_creating_leads_out_with_each_answer),
        cmocka_unit_test(a_claim_left_while_finding_removes_what_it_finds),
        cmocka_unit_test(a_failure_is_told_once),
        cmocka_unit_test(a_found_node_is_not_held_before_its_stat_is_known),
        cmocka_unit_test(a_watch_that_fell_into_a_cut_is_made_up_for),
        cmocka_unit_test(a_delete_is_not_given_up_for_a_strange_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

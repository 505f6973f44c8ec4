/* SPDX-License-Identifier: Apache-2.0 */
/* A claim whose writer becomes a reader: which of two nodes is there, and what others may do meanwhile. */
#include <zkr/client.h>

#include "engine/claim_events.h"
#include "unit.h"

static struct zkr__claim_state held(void)
{
    return (struct zkr__claim_state){
        .phase = ZKR__HELD, .own = ZKR__OWN_SET, .holds = 1, .round = 1};
}

static unsigned step(struct zkr__claim_state *k, struct zkr__claim_event e)
{
    e.sure = e.ample = e.patient = true;
    return zkr__claim_step(k, &e);
}

static unsigned happens(struct zkr__claim_state *k, enum zkr__event_kind kind)
{
    return step(k, (struct zkr__claim_event){.kind = kind, .connected = true});
}

static unsigned answer(struct zkr__claim_state *k, enum zkr__event_kind kind, int code)
{
    return step(k, (struct zkr__claim_event){
                       .kind = kind, .connected = true, .ours = true, .code = code});
}

static struct zkr__claim_state downgrading(void)
{
    struct zkr__claim_state k = held();
    assert_int_equal(happens(&k, ZKR__EV_DOWNGRADE),
                     ZKR__DO_DOWNGRADE | ZKR__DO_STEP_ASIDE);
    assert_int_equal(k.phase, ZKR__HELD);
    assert_int_equal(k.round, 2); /* what was asked about the old node counts no more */
    return k;
}

static void expect_kept(const struct zkr__claim_state *k)
{
    assert_int_equal(k->phase, ZKR__HELD);
    assert_int_equal(k->lost, 0);
    assert_int_equal(k->downgrade, ZKR__SETTLED);
}

/*
 * Done, or refused: the hold goes on, and its node gets a watch in a while. Which wish was told counts for the node
 * that had it.
 */
static void an_answer_settles_it(void **state)
{
    (void)state;
    struct zkr__claim_state k = downgrading();
    k.told = 3;
    assert_int_equal(answer(&k, ZKR__EV_DOWNGRADED, ZKR_OK), ZKR__DO_QUIET);
    expect_kept(&k);
    assert_int_equal(k.told, 0);
    assert_int_equal(happens(&k, ZKR__EV_QUIET), ZKR__DO_GET_OWN);
    k = downgrading();
    k.told = 3;
    assert_int_equal(step(&k, (struct zkr__claim_event){.kind = ZKR__EV_DOWNGRADED,
                                                        .connected = true,
                                                        .code = ZKR_ECONNLOSS,
                                                        .refused = true}),
                     ZKR__DO_QUIET);
    expect_kept(&k);
    assert_int_equal(k.told, 3);
}

/* Until then that a node is missing is no loss, nor is it looked at. */
static void a_missing_node_is_no_loss_meanwhile(void **state)
{
    (void)state;
    struct zkr__claim_state k = downgrading();
    assert_int_equal(happens(&k, ZKR__EV_OWN_GONE), 0);
    assert_int_equal(happens(&k, ZKR__EV_QUIET), 0);
    assert_int_equal(
        step(&k, (struct zkr__claim_event){.kind = ZKR__EV_WRITING, .connected = true}),
        0);
    assert_int_equal(answer(&k, ZKR__EV_WRITTEN, ZKR_ENONODE), 0);
    assert_int_equal(answer(&k, ZKR__EV_DOWNGRADED, ZKR_OK), ZKR__DO_QUIET);
    expect_kept(&k);
    assert_true(happens(&k, ZKR__EV_OWN_GONE) & ZKR__DO_NOTIFY);
    assert_int_equal(k.lost, ZKR_LOST_NODE);
}

/* The answer is lost: asked again on the next connection, and then the writer's node may be gone already. */
static void a_lost_answer_is_asked_for_again(void **state)
{
    (void)state;
    static const int seen[] = {ZKR_OK, ZKR_ENONODE};
    for (int i = 0; i < 2; i++) {
        struct zkr__claim_state k = downgrading();
        assert_int_equal(step(&k, (struct zkr__claim_event){.kind = ZKR__EV_DOWNGRADED,
                                                            .code = ZKR_ECONNLOSS}),
                         0);
        assert_int_equal(k.downgrade, ZKR__DOWNGRADE_OWED);
        assert_int_equal(happens(&k, ZKR__EV_CONNECTED), ZKR__DO_DOWNGRADE);
        assert_int_equal(answer(&k, ZKR__EV_DOWNGRADED, ZKR_ENONODE), ZKR__DO_GET_OWN);
        unsigned todo = answer(&k, ZKR__EV_GOT_OWN, seen[i]);
        if (seen[i] == ZKR_OK) {
            assert_int_equal(todo, 0);
            assert_int_equal(k.own, ZKR__OWN_SET);
            expect_kept(&k);
        } else {
            assert_int_equal(k.lost, ZKR_LOST_NODE);
            assert_int_equal(k.phase, ZKR__GONE);
        }
    }
}

/* It was not sent, for want of memory: after a pause. */
static void what_was_not_sent_is_sent_after_a_pause(void **state)
{
    (void)state;
    struct zkr__claim_state k = downgrading();
    assert_int_equal(answer(&k, ZKR__EV_DOWNGRADED, ZKR_ECONNLOSS), ZKR__DO_RETRY);
    assert_int_equal(happens(&k, ZKR__EV_PAUSE_OVER), ZKR__DO_DOWNGRADE);
    assert_int_equal(happens(&k, ZKR__EV_PAUSE_OVER), 0); /* it is on its way */
    assert_int_equal(answer(&k, ZKR__EV_DOWNGRADED, ZKR_OK), ZKR__DO_QUIET);
    expect_kept(&k);
}

/* Left meanwhile: neither path is deleted blindly; those behind look. */
static void who_leaves_meanwhile_finds_its_node_first(void **state)
{
    (void)state;
    struct zkr__claim_state k = downgrading();
    assert_int_equal(happens(&k, ZKR__EV_LEAVE), ZKR__DO_LET_LOOK | ZKR__DO_FIND);
    assert_int_equal(k.phase, ZKR__FINDING);
    assert_int_equal(step(&k, (struct zkr__claim_event){.kind = ZKR__EV_LISTED,
                                                        .connected = true,
                                                        .found = true}),
                     ZKR__DO_REMOVE);
    assert_int_equal(answer(&k, ZKR__EV_REMOVED, ZKR_OK), 0);
    assert_int_equal(k.phase, ZKR__GONE);
}

/* So does one that is lost at the lease bound, and it is never asked again. */
static void after_a_loss_nothing_is_downgraded(void **state)
{
    (void)state;
    struct zkr__claim_state k = downgrading();
    unsigned todo = happens(&k, ZKR__EV_LEASE_EXPIRED);
    assert_int_equal(todo, ZKR__DO_STEP_ASIDE | ZKR__DO_NOTIFY | ZKR__DO_COUNT_LOSS |
                               ZKR__DO_FIND);
    assert_int_equal(k.lost, ZKR_LOST_LEASE);
    assert_int_equal(happens(&k, ZKR__EV_CONNECTED), 0);
    assert_int_equal(happens(&k, ZKR__EV_DOWNGRADE), 0);
    assert_int_equal(answer(&k, ZKR__EV_DOWNGRADED, ZKR_OK), 0);
    k = downgrading();
    (void)step(&k, (struct zkr__claim_event){.kind = ZKR__EV_SESSION_OVER});
    assert_int_equal(k.lost, ZKR_LOST_SESSION);
    assert_int_equal(k.phase, ZKR__GONE);
    assert_int_equal(happens(&k, ZKR__EV_CONNECTED), 0);
    k = held();
    (void)happens(&k, ZKR__EV_OWN_GONE);
    assert_int_equal(happens(&k, ZKR__EV_DOWNGRADE), 0);
}

/* Without a connection it is owed, and those behind hear of it all the same. */
static void without_a_connection_it_is_owed(void **state)
{
    (void)state;
    struct zkr__claim_state k = held();
    assert_int_equal(step(&k, (struct zkr__claim_event){.kind = ZKR__EV_DOWNGRADE}),
                     ZKR__DO_STEP_ASIDE);
    assert_int_equal(k.downgrade, ZKR__DOWNGRADE_OWED);
    assert_int_equal(happens(&k, ZKR__EV_CONNECTED), ZKR__DO_DOWNGRADE);
    assert_int_equal(answer(&k, ZKR__EV_DOWNGRADED, ZKR_OK), ZKR__DO_QUIET);
    expect_kept(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_settles_it),
        cmocka_unit_test(a_missing_node_is_no_loss_meanwhile),
        cmocka_unit_test(a_lost_answer_is_asked_for_again),
        cmocka_unit_test(what_was_not_sent_is_sent_after_a_pause),
        cmocka_unit_test(who_leaves_meanwhile_finds_its_node_first),
        cmocka_unit_test(after_a_loss_nothing_is_downgraded),
        cmocka_unit_test(without_a_connection_it_is_owed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

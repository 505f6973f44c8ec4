/* SPDX-License-Identifier: Apache-2.0 */
/* A claim whose owner writes: transactions on their way, and one that deletes the node. */
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
    e.connected = e.sure = e.ample = e.patient = true;
    return zkr__claim_step(k, &e);
}

static void send(struct zkr__claim_state *k, bool deletes)
{
    assert_int_equal(
        step(k, (struct zkr__claim_event){.kind = ZKR__EV_WRITING, .deletes = deletes}),
        0);
    assert_int_equal(k->phase, ZKR__HELD);
}

static unsigned answer(struct zkr__claim_state *k, bool deletes, int code)
{
    return step(k, (struct zkr__claim_event){
                       .kind = ZKR__EV_WRITTEN, .deletes = deletes, .code = code});
}

static unsigned happens(struct zkr__claim_state *k, enum zkr__event_kind kind)
{
    return step(k, (struct zkr__claim_event){.kind = kind});
}

static void expect_lost(const struct zkr__claim_state *k, unsigned todo)
{
    assert_int_equal(k->lost, ZKR_LOST_NODE);
    assert_int_equal(k->phase, ZKR__GONE);
    assert_true(todo & ZKR__DO_NOTIFY);
    assert_false(todo & ZKR__DO_REMOVE);
}

/* A write that is made, or refused for its own sake, or unanswered, changes nothing. */
static void a_write_leaves_the_hold(void **state)
{
    (void)state;
    static const int codes[] = {ZKR_OK, ZKR_ECONNLOSS};
    for (int i = 0; i < 2; i++) {
        struct zkr__claim_state k = held();
        send(&k, false);
        assert_int_equal(answer(&k, false, codes[i]), 0);
        assert_int_equal(k.phase, ZKR__HELD);
        assert_int_equal(k.writing, 0);
    }
}

/* One that finds no node of ours is how we learn that the hold is lost. */
static void a_write_without_a_node_is_a_loss(void **state)
{
    (void)state;
    for (int deletes = 0; deletes < 2; deletes++) {
        struct zkr__claim_state k = held();
        send(&k, deletes);
        unsigned todo = answer(&k, deletes, ZKR_ENONODE);
        expect_lost(&k, todo);
    }
}

/* The node goes with the transaction: the event that it is gone is no loss, and nothing is left to delete. */
static void a_release_with_a_write_is_no_loss(void **state)
{
    (void)state;
    for (int heard = 0; heard < 2; heard++) {
        struct zkr__claim_state k = held();
        send(&k, true);
        if (heard) {
            assert_int_equal(happens(&k, ZKR__EV_OWN_GONE), 0);
            assert_int_equal(k.phase, ZKR__HELD);
        }
        assert_int_equal(answer(&k, true, ZKR_OK), ZKR__DO_HAND_OVER);
        assert_int_equal(k.phase, ZKR__GONE);
        assert_int_equal(k.lost, 0);
        assert_int_equal(happens(&k, ZKR__EV_LEAVE), 0);
    }
}

/* Refused, and the node gone meanwhile: by somebody else, then. */
static void a_node_gone_under_a_refused_release_is_lost(void **state)
{
    (void)state;
    struct zkr__claim_state k = held();
    send(&k, true);
    assert_int_equal(happens(&k, ZKR__EV_OWN_GONE), 0);
    unsigned todo = answer(&k, true, ZKR_ECONNLOSS);
    expect_lost(&k, todo);
}

/* After the answer, a node that goes is a loss again. */
static void a_refused_release_leaves_the_hold(void **state)
{
    (void)state;
    struct zkr__claim_state k = held();
    send(&k, true);
    assert_int_equal(answer(&k, true, ZKR_ECONNLOSS), 0);
    assert_int_equal(k.phase, ZKR__HELD);
    unsigned todo = happens(&k, ZKR__EV_OWN_GONE);
    expect_lost(&k, todo);
}

/* Left with a write on its way: the one behind has to look, and is not handed the lock at once. */
static void a_hand_over_waits_for_writes(void **state)
{
    (void)state;
    for (int writing = 0; writing < 3; writing++) {
        struct zkr__claim_state k = held();
        for (int i = 0; i < writing; i++) {
            send(&k, i == 1);
        }
        unsigned todo = happens(&k, ZKR__EV_LEAVE);
        assert_int_equal(todo, ZKR__DO_REMOVE |
                                   (writing ? ZKR__DO_LET_LOOK : ZKR__DO_HAND_OVER));
        assert_int_equal(k.phase, ZKR__REMOVING);
        for (int i = 0; i < writing; i++) {
            assert_int_equal(answer(&k, i == 1, i == 1 ? ZKR_OK : ZKR_ECONNLOSS), 0);
        }
        assert_int_equal(k.phase, ZKR__REMOVING);
    }
}

/* And that one looks, even if the end of the one ahead alone would grant it. */
static void the_one_behind_a_writer_looks(void **state)
{
    (void)state;
    struct zkr__claim_state k = {
        .phase = ZKR__PARKED, .own = ZKR__OWN_SET, .then = ZKR__THEN_OURS, .round = 1};
    assert_int_equal(happens(&k, ZKR__EV_AHEAD_WRITES), ZKR__DO_LIST);
    assert_int_equal(k.phase, ZKR__LISTING);
    assert_int_equal(happens(&k, ZKR__EV_AHEAD_WRITES), 0);
}

/* The lease, or the session, ends under it: the answer changes nothing any more. */
static void an_answer_after_the_end_changes_nothing(void **state)
{
    (void)state;
    static const enum zkr__event_kind ends[] = {ZKR__EV_LEASE_EXPIRED,
                                                ZKR__EV_SESSION_OVER};
    for (int i = 0; i < 4; i++) {
        struct zkr__claim_state k = held();
        send(&k, i / 2);
        (void)happens(&k, ends[i % 2]);
        enum zkr__phase phase = k.phase;
        int lost = k.lost;
        assert_int_not_equal(lost, 0);
        assert_int_equal(answer(&k, i / 2, ZKR_OK), 0);
        assert_int_equal(k.phase, phase);
        assert_int_equal(k.lost, lost);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_leaves_the_hold),
        cmocka_unit_test(a_write_without_a_node_is_a_loss),
        cmocka_unit_test(a_release_with_a_write_is_no_loss),
        cmocka_unit_test(a_node_gone_under_a_refused_release_is_lost),
        cmocka_unit_test(a_refused_release_leaves_the_hold),
        cmocka_unit_test(a_hand_over_waits_for_writes),
        cmocka_unit_test(the_one_behind_a_writer_looks),
        cmocka_unit_test(an_answer_after_the_end_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

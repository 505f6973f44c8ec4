/* SPDX-License-Identifier: Apache-2.0 */
/* The checkers of the chaos run, on made-up histories: a good one, and one for each fault. */
#include <zkr/error.h>

#include "made_up.h"
#include "runner.h"

/* Nothing to complain about. */
static void a_good_history_passes(void **state)
{
    (void)state;
    visit(1, 0);
    visit(2, 0);
    calm();
    expect_good();
    assert_int_equal(t.verdict.timed_out, 1);
    assert_int_equal(t.verdict.canceled, 1);
}

/* A holder that never released is sure for as long as it was told. */
static void two_that_are_sure_at_once_are_seen(void **state)
{
    (void)state;
    zkc_record *first = visit(1, 0);
    strike_out(&first[RELEASE]);
    strike_out(&first[RELEASED]);
    visit(2, 0);
    t.now += 2 * PROMISE_MS * (int64_t)MS;
    calm();
    expect_only(ZKC_BAD_OVERLAP);
}

/* A promise longer than the next one's does not hide behind it. */
static void an_overlap_with_an_earlier_holder_is_seen(void **state)
{
    (void)state;
    zkc_record *first = visit(1, 0);
    strike_out(&first[RELEASE]);
    first[SURE].value = 75;
    visit(2, 1); /* another path: no overlap */
    visit(3, 0);
    visit(4, 0);
    calm();
    judge();
    assert_int_equal(t.verdict.bad[ZKC_BAD_OVERLAP], 2);
}

/* Whoever was killed is sure no longer than promised. */
static void a_promise_that_has_run_out_is_no_overlap(void **state)
{
    (void)state;
    zkc_record *first = visit(1, 0);
    strike_out(&first[RELEASE]);
    strike_out(&first[RELEASED]);
    t.now += PROMISE_MS * (int64_t)MS;
    visit(2, 0);
    calm();
    expect_good();
    assert_true(t.verdict.margin > 0);
    assert_true(t.verdict.margin < 100 * MS);
}

/* Who had a guardian is sure no longer than it lived, and it lived when it said that it was sure. */
static void a_life_that_has_ended_is_no_promise(void **state)
{
    (void)state;
    zkc_record *first = visit(1, 0);
    keep_on(first);
    zkc_record *killed = add(ZKC_KILLED, 1, 0, 0);
    t.now += ROUND_MS * (int64_t)MS;
    visit(2, 0);
    calm();
    expect_good();
    killed->life++;
    expect_only(ZKC_BAD_OVERLAP);
    killed->life--;
    first[SURE].at = first[SURE].until = t.now;
    judge();
    assert_true(t.verdict.bad[ZKC_BAD_OVERLAP] > 0);
}

/* A hold that had been lost when acquire returned says nothing about the order. */
static void a_grant_that_was_never_sure_is_no_overlap(void **state)
{
    (void)state;
    zkc_record *first = visit(1, 0);
    strike_out(&first[SURE]);
    strike_out(&first[RELEASE]);
    visit(2, 0);
    calm();
    expect_good();
}

static zkc_record *delete_by_hand(const zkc_record *hold)
{
    zkc_record *r = add(ZKC_DELETED, 0, hold->path, 0);
    r->token = hold[GRANT].token;
    r->at = hold[RELEASE].at;
    r->until = r->at + MS;
    return r;
}

/* What the guarantee excepts is measured, not judged. */
static void a_deletion_by_hand_ends_a_promise(void **state)
{
    (void)state;
    zkc_record *first = visit(1, 0);
    delete_by_hand(first);
    strike_out(&first[RELEASE]);
    visit(2, 0);
    calm();
    expect_good();
    assert_true(t.verdict.hand_overlap > 900 * (int64_t)MS);
}

/* But a session later the holder has to know. */
static void a_deletion_noticed_too_late_is_seen(void **state)
{
    (void)state;
    zkc_record *first = visit(1, 0);
    delete_by_hand(first);
    strike_out(&first[RELEASE]);
    t.now += (ZKC_SESSION_MS + ZKC_NOTICE_MS) * (int64_t)MS;
    zkc_record *late = add(ZKC_SURE, 1, 0, 0);
    late->token = first[GRANT].token;
    late->value = 1;
    t.now += ROUND_MS * (int64_t)MS;
    calm();
    expect_only(ZKC_BAD_UNNOTICED);
}

/* Held, with a token of zero. */
static void a_hold_without_token_is_seen(void **state)
{
    (void)state;
    visit(1, 0)[GRANT].token = 0;
    calm();
    expect_only(ZKC_BAD_NO_TOKEN);
}

/* The later holder has the lower token. */
static void tokens_that_fall_are_seen(void **state)
{
    (void)state;
    zkc_record *first = visit(1, 0);
    zkc_record *second = visit(2, 0);
    set_token(first, t.token + 2);
    set_token(second, t.token + 1);
    t.token += 10;
    calm();
    judge();
    assert_int_equal(t.verdict.bad[ZKC_BAD_TOKEN_ORDER], 1);
    assert_int_equal(t.verdict.bad[ZKC_BAD_COUNTER_ORDER], 1);
}

/* Two holds, one token. */
static void a_token_given_twice_is_seen(void **state)
{
    (void)state;
    zkc_record *first = visit(1, 0);
    set_token(first, t.token + 10);
    visit(2, 1);
    calm();
    judge();
    assert_int_equal(t.verdict.bad[ZKC_BAD_TOKEN_TWICE], 1);
}

/* Re-entry must keep the token. */
static void another_token_on_re_entry_is_seen(void **state)
{
    (void)state;
    visit(1, 0)[AGAIN].token++;
    calm();
    expect_only(ZKC_BAD_TOKEN_AGAIN);
}

/* Granted before one with a lower number. */
static void overtaking_is_seen(void **state)
{
    (void)state;
    visit(1, 0)[GRANT].value = 2;
    visit(2, 0)[GRANT].value = 1;
    t.sequence = 3;
    calm();
    expect_only(ZKC_BAD_SEQUENCE_ORDER);
}

/* Numbers start again with a new parent. */
static void a_new_count_after_the_parent_was_deleted_is_none(void **state)
{
    (void)state;
    visit(1, 0)[GRANT].value = 2;
    add(ZKC_PARENT, 0, 0, -5);
    visit(2, 0)[GRANT].value = 1;
    t.sequence = 3;
    calm();
    expect_good();
}

/* Surely held, and yet somebody had shown a higher token. */
static void a_sure_holder_that_is_refused_is_seen(void **state)
{
    (void)state;
    visit(1, 0)[STORE].code = 0;
    calm();
    expect_only(ZKC_BAD_SURE_REFUSED);
}

/* The store has more writes than its value says, or fewer than clients know of. */
static void lost_fenced_updates_are_seen(void **state)
{
    (void)state;
    visit(1, 0);
    calm();
    t.expected.paths[0].store_value--;
    t.expected.paths[1].store_value--;
    t.expected.paths[1].store_writes--;
    judge();
    assert_int_equal(t.verdict.bad[ZKC_BAD_STORE_LOST], 2);
}

/* The counter must lie between what was answered and what was sent. */
static void lost_guarded_updates_are_seen(void **state)
{
    (void)state;
    add(ZKC_GUARD_TRY, 1, 0, 0);
    calm();
    expect_good();
    t.expected.paths[0].counter++; /* the one without answer has happened */
    expect_good();
    t.expected.paths[0].counter++;
    expect_only(ZKC_BAD_COUNTER_LOST);
    t.expected.paths[0].counter -= 3;
    expect_only(ZKC_BAD_COUNTER_LOST);
}

/* A value written twice, and one older than its holder's token. */
static void guarded_writes_out_of_order_are_seen(void **state)
{
    (void)state;
    visit(1, 0)[WRITTEN].value++;
    visit(2, 0);
    visit(3, 1)[WRITTEN].limit = 1;
    calm();
    judge();
    assert_int_equal(t.verdict.bad[ZKC_BAD_COUNTER_ORDER], 2);
}

/* An acquire of 30 ms that took two seconds too many. */
static void a_late_return_is_seen(void **state)
{
    (void)state;
    zkc_record *r = failed(ZKR_ETIMEDOUT, 30);
    r->until += (ZKC_LATE_MS + 1) * (int64_t)MS;
    t.now += 5000 * (int64_t)MS;
    calm();
    expect_only(ZKC_BAD_LATE);
}

/* Time in which the process did not run is not the library's; another process's is. */
static void a_late_return_after_a_stop_is_none(void **state)
{
    (void)state;
    zkc_record *r = failed(ZKR_ETIMEDOUT, 30);
    r->until += (ZKC_LATE_MS + 100) * (int64_t)MS;
    zkc_record *stopped = add(ZKC_STOPPED, 0, 0, 100);
    stopped->until += 150 * (int64_t)MS;
    t.now += 5000 * (int64_t)MS;
    calm();
    expect_good();
    stopped->kind = ZKC_STALLED;
    expect_good();
    assert_int_equal(t.verdict.stalled, 151 * MS);
    stopped->process = 1;
    expect_only(ZKC_BAD_LATE);
}

/* The lost callback comes once for each hold. */
static void a_second_lost_callback_is_seen(void **state)
{
    (void)state;
    const int64_t token = visit(1, 0)[GRANT].token;
    add(ZKC_LOST, 1, 0, 0)->token = token;
    calm();
    expect_good();
    add(ZKC_LOST, 1, 0, 0)->token = token;
    expect_only(ZKC_BAD_LOST_TWICE);
}

/* One thread did not get one of the locks after the nemesis, or too late. */
static void starvation_is_seen(void **state)
{
    (void)state;
    calm();
    zkc_record *last = &t.all[t.n - VISIT];
    last[GRANT].thread = 0;
    judge();
    assert_int_equal(t.verdict.bad[ZKC_BAD_STARVED], 1);
    last[GRANT].thread = ZKC_THREADS - 1;
    for (int i = 0; i < VISIT; i++) {
        last[i].at += (ZKC_CALM_MS + 1) * (int64_t)MS;
        last[i].until += (ZKC_CALM_MS + 1) * (int64_t)MS;
    }
    expect_only(ZKC_BAD_STARVED);
}

/* A run that proves nothing is a failure, too. */
static void a_run_without_moves_is_seen(void **state)
{
    (void)state;
    calm();
    t.expected.seconds = ZKC_ALL_KINDS_S;
    judge();
    /* each kind of fault, the losses, and the number of faults */
    assert_int_equal(t.verdict.bad[ZKC_BAD_NO_MOVES], ZKC_FAULT_KINDS + 2);
    for (int i = 0; i < ZKC_FAULT_KINDS; i++) {
        add(ZKC_FAULT, 0, 0, 0)->code = i;
    }
    add(ZKC_LOST, 0, 0, 0);
    expect_good();
    t.all[0].kind = ZKC_NONE; /* the only time-out */
    expect_only(ZKC_BAD_NO_MOVES);
}

/* The same seed, the same faults; another seed, others. */
static void the_seed_makes_the_schedule(void **state)
{
    (void)state;
    zkc_plan a;
    zkc_plan b;
    zkc_plan c;
    int differ = 0;
    zkc_plan_begin(&a, 42);
    zkc_plan_begin(&b, 42);
    zkc_plan_begin(&c, 43);
    for (int i = 0; i < 10 * ZKC_FAULT_KINDS; i++) {
        const zkc_fault x = zkc_plan_next(&a);
        const zkc_fault y = zkc_plan_next(&b);
        assert_int_equal(x.kind, y.kind);
        assert_int_equal(x.who, y.who);
        assert_int_equal(x.how, y.how);
        assert_int_equal(x.span_ms, y.span_ms);
        assert_int_equal(x.rest_ms, y.rest_ms);
        differ += x.kind != zkc_plan_next(&c).kind;
    }
    assert_true(differ > ZKC_FAULT_KINDS);
}

/* Every kind once in each round. */
static void every_kind_of_fault_has_its_turn(void **state)
{
    (void)state;
    zkc_plan p;
    zkc_plan_begin(&p, 7);
    for (int round = 1; round <= 5; round++) {
        int seen[ZKC_FAULT_KINDS] = {0};
        for (int i = 0; i < ZKC_FAULT_KINDS; i++) {
            seen[zkc_plan_next(&p).kind]++;
        }
        for (int i = 0; i < ZKC_FAULT_KINDS; i++) {
            assert_int_equal(seen[i], 1);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup(name, made_up_setup)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_good_history_passes),
        TEST(two_that_are_sure_at_once_are_seen),
        TEST(an_overlap_with_an_earlier_holder_is_seen),
        TEST(a_promise_that_has_run_out_is_no_overlap),
        TEST(a_life_that_has_ended_is_no_promise),
        TEST(a_grant_that_was_never_sure_is_no_overlap),
        TEST(a_deletion_by_hand_ends_a_promise),
        TEST(a_deletion_noticed_too_late_is_seen),
        TEST(a_hold_without_token_is_seen),
        TEST(tokens_that_fall_are_seen),
        TEST(a_token_given_twice_is_seen),
        TEST(another_token_on_re_entry_is_seen),
        TEST(overtaking_is_seen),
        TEST(a_new_count_after_the_parent_was_deleted_is_none),
        TEST(a_sure_holder_that_is_refused_is_seen),
        TEST(lost_fenced_updates_are_seen),
        TEST(lost_guarded_updates_are_seen),
        TEST(guarded_writes_out_of_order_are_seen),
        TEST(a_late_return_is_seen),
        TEST(a_late_return_after_a_stop_is_none),
        TEST(a_second_lost_callback_is_seen),
        TEST(starvation_is_seen),
        TEST(a_run_without_moves_is_seen),
        TEST(the_seed_makes_the_schedule),
        TEST(every_kind_of_fault_has_its_turn),
    };
    return zkt_run(argc, argv, tests, NULL, NULL);
}

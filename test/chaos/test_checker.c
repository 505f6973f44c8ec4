/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the checkers of the chaos run on made-up histories: a good one, and one for each fault. */
#include <stdlib.h>

#include <zkr/error.h>

#include "made_up.h"
#include "runner.h"

/* A good history has no violation. */
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

/* The holder must know that its node was deleted within a session timeout and ZKC_NOTICE_MS. */
static void a_deletion_noticed_too_late_is_seen(void **state)
{
    (void)state;
    zkc_record *first = visit(1, 0);
    zkc_record *deleted = add(ZKC_DELETED, 0, 0, 0);
    deleted->token = first[GRANT].token;
    deleted->at = first[RELEASE].at;
    deleted->until = deleted->at + MS;
    strike_out(&first[RELEASE]);
    t.now += (ZKC_SESSION_MS + ZKC_NOTICE_MS) * (int64_t)MS;
    zkc_record *late = add(ZKC_SURE, 1, 0, 0);
    late->token = first[GRANT].token;
    late->value = 1;
    t.now += ROUND_MS * (int64_t)MS;
    calm();
    expect_only(ZKC_BAD_UNNOTICED);
}

static struct zkc_gaps gaps_of(struct made_up *m)
{
    size_t count;
    zkc_hold *holds = zkc_holds(m->all, m->n, &count);
    assert_non_null(holds);
    qsort(holds, count, sizeof *holds, zkc_hold_by_time);
    const struct zkc_gaps g = zkc_gaps(holds, count, &m->verdict);
    free(holds);
    return g;
}

/*
 * A hold that begins 1 ms before the previous claim on its path has ended is a violation. On another path it is none.
 */
static void two_that_believe_at_once_are_seen(void **state)
{
    (void)state;
    visit(3, 1);
    zkc_record *first = visit(1, 0);
    t.now = first[SURE].at + (PROMISE_MS - 2) * (int64_t)MS;
    zkc_record *second = visit(2, 0);
    assert_int_equal(gaps_of(&t).both, 0); /* the release ends the claim */
    strike_out(&first[RELEASE]);
    second[GRANT].until = first[SURE].at + PROMISE_MS * (int64_t)MS;
    assert_int_equal(gaps_of(&t).both, 0);
    second[GRANT].until -= MS;
    assert_int_equal(gaps_of(&t).shortest, -MS);
    assert_int_equal(t.verdict.bad[ZKC_BAD_BOTH], 1);
}

/* An acquire with a timeout of 30 ms takes two seconds too long. */
static void a_late_return_is_seen(void **state)
{
    (void)state;
    zkc_record *r = failed(ZKR_ETIMEDOUT, 30);
    r->until += (ZKC_LATE_MS + 1) * (int64_t)MS;
    t.now += 5000 * (int64_t)MS;
    calm();
    expect_only(ZKC_BAD_LATE);
}

/* Time in which the process did not run does not count as late. A stall of another process is no excuse. */
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

/* After the nemesis, a thread did not get one of the locks, or got it too late. */
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

/* A run that proves nothing is a failure. */
static void a_run_without_moves_is_seen(void **state)
{
    (void)state;
    calm();
    t.expected.seconds = ZKC_ALL_KINDS_S;
    judge();
    /* Each kind of fault, the losses, and the number of faults. */
    assert_int_equal(t.verdict.bad[ZKC_BAD_NO_MOVES], ZKC_USUAL_KINDS + 2);
    for (int i = 0; i < ZKC_USUAL_KINDS; i++) {
        add(ZKC_FAULT, 0, 0, 0)->code = i;
    }
    add(ZKC_LOST, 0, 0, 0);
    expect_good();
    t.all[0].kind = ZKC_NONE; /* the only timeout */
    expect_only(ZKC_BAD_NO_MOVES);
}

/* A callback comes twice, or reports the loss of a hold that never existed. */
static void a_callback_out_of_turn_is_seen(void **state)
{
    (void)state;
    zkc_record *first = visit(1, 0);
    zkc_record *call = add(ZKC_BAD_CALL, 1, 0, 0);
    call->by = ZKC_BY_CALLBACK;
    call->token = first[GRANT].token;
    calm();
    expect_only(ZKC_BAD_TOLD);
}

/* Each way of requesting a lock must have been granted. */
static void a_run_without_tickets_is_seen(void **state)
{
    (void)state;
    visit(1, 0);
    calm();
    for (size_t i = 0; i < t.n; i++) {
        t.all[i].by = t.all[i].kind == ZKC_GRANT ? ZKC_BY_THREAD : t.all[i].by;
    }
    expect_only(ZKC_BAD_NO_MOVES);
    assert_int_equal(t.verdict.bad[ZKC_BAD_NO_MOVES], ZKC_BYS - 1);
}

/* A run in which no ticket was released while it waited is a failure. */
static void a_run_without_a_released_waiting_ticket_is_seen(void **state)
{
    (void)state;
    for (size_t i = 0; i < t.n; i++) {
        t.all[i].by = ZKC_BY_THREAD;
    }
    calm();
    expect_only(ZKC_BAD_NO_MOVES);
}

/* Each kind of lock must have been granted; locks must have been looked at, downgraded, and kept. */
static void a_run_without_one_of_the_locks_is_seen(void **state)
{
    (void)state;
    calm();
    for (int as = ZKC_AS_READER; as < ZKC_ASES; as++) {
        static const uint8_t other[] = {[ZKC_AS_READER] = ZKC_AS_WRITER,
                                        [ZKC_AS_WRITER] = ZKC_AS_READER,
                                        [ZKC_AS_PERMITS] = ZKC_AS_MUTEX,
                                        [ZKC_AS_BOTH] = ZKC_AS_MUTEX};
        static zkc_record kept[ROOM];
        for (size_t i = 0; i < t.n; i++) {
            kept[i] = t.all[i];
            t.all[i].as = t.all[i].as == as ? other[as] : t.all[i].as;
        }
        expect_only(ZKC_BAD_NO_MOVES);
        for (size_t i = 0; i < t.n; i++) {
            t.all[i] = kept[i];
        }
    }
    for (size_t i = 0; i < t.n; i++) {
        if (t.all[i].kind == ZKC_LOOKED || t.all[i].kind == ZKC_DOWNGRADED) {
            strike_out(&t.all[i]);
        }
        if (t.all[i].kind == ZKC_GRANT && t.all[i].path == ZKC_KEPT_PATH) {
            t.all[i].value = (int64_t)i; /* each grant has its own node */
        }
    }
    expect_only(ZKC_BAD_NO_MOVES);
    assert_int_equal(t.verdict.bad[ZKC_BAD_NO_MOVES], 3);
}

/* The same seed gives the same faults, and another seed gives others. */
static void the_seed_makes_the_schedule(void **state)
{
    (void)state;
    zkc_plan a;
    zkc_plan b;
    zkc_plan c;
    int differ = 0;
    zkc_plan_begin(&a, 42, ZKC_USUAL);
    zkc_plan_begin(&b, 42, ZKC_USUAL);
    zkc_plan_begin(&c, 43, ZKC_USUAL);
    for (int i = 0; i < 10 * ZKC_USUAL_KINDS; i++) {
        const zkc_fault x = zkc_plan_next(&a);
        const zkc_fault y = zkc_plan_next(&b);
        assert_int_equal(x.kind, y.kind);
        assert_int_equal(x.who, y.who);
        assert_int_equal(x.how, y.how);
        assert_int_equal(x.span_ms, y.span_ms);
        assert_int_equal(x.rest_ms, y.rest_ms);
        differ += x.kind != zkc_plan_next(&c).kind;
    }
    assert_true(differ > ZKC_USUAL_KINDS);
}

/* Each round has every kind once. */
static void every_kind_of_fault_has_its_turn(void **state)
{
    (void)state;
    zkc_plan p;
    zkc_plan_begin(&p, 7, ZKC_USUAL);
    for (int round = 1; round <= 5; round++) {
        int seen[ZKC_USUAL_KINDS] = {0};
        for (int i = 0; i < ZKC_USUAL_KINDS; i++) {
            seen[zkc_plan_next(&p).kind]++;
        }
        for (int i = 0; i < ZKC_USUAL_KINDS; i++) {
            assert_int_equal(seen[i], 1);
        }
    }
}

/* Every kind that --nemesis names must come, in a run of any length, and no other kind comes. */
static void a_kind_that_was_asked_for_has_to_come(void **state)
{
    (void)state;
    zkc_kinds kinds;
    zkc_plan p;
    calm();
    assert_true(zkc_kinds_read("disk-full,wall-stepped", &kinds));
    t.expected.kinds = kinds;
    expect_good();
    t.expected.each = true;
    add(ZKC_FAULT, 0, 0, 0)->code = ZKC_DISK_FULL;
    expect_only(ZKC_BAD_NO_MOVES);
    add(ZKC_FAULT, 0, 0, 0)->code = ZKC_WALL_STEPPED;
    expect_good();
    zkc_plan_begin(&p, 1, kinds);
    for (int i = 0; i < 10; i++) {
        assert_true(zkc_has_kind(kinds, (int)zkc_plan_next(&p).kind));
    }
    assert_true(zkc_kinds_read("usual", &kinds) && kinds == ZKC_USUAL);
    assert_false(zkc_kinds_read("disk", &kinds));
    assert_false(zkc_kinds_read("disk-fuller", &kinds));
    assert_false(zkc_kinds_read("", &kinds));
}

#define TEST(name) cmocka_unit_test_setup(name, made_up_setup)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_good_history_passes),
        TEST(a_deletion_noticed_too_late_is_seen),
        TEST(two_that_believe_at_once_are_seen),
        TEST(a_late_return_is_seen),
        TEST(a_late_return_after_a_stop_is_none),
        TEST(starvation_is_seen),
        TEST(a_run_without_moves_is_seen),
        TEST(a_callback_out_of_turn_is_seen),
        TEST(a_run_without_tickets_is_seen),
        TEST(a_run_without_a_released_waiting_ticket_is_seen),
        TEST(a_run_without_one_of_the_locks_is_seen),
        TEST(the_seed_makes_the_schedule),
        TEST(every_kind_of_fault_has_its_turn),
        TEST(a_kind_that_was_asked_for_has_to_come),
    };
    return zkt_run(argc, argv, tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the checkers of the chaos run say of readers and writers, permits and multi-locks, on made-up histories. */
#include <zkr/error.h>

#include "made_up.h"
#include "runner.h"

static zkc_record *reader(int who)
{
    zkc_record *first = visit(who, ZKC_RW_PATH);
    set_as(first, ZKC_AS_READER, 0);
    return first;
}

static zkc_record *writer(int who)
{
    zkc_record *first = visit(who, ZKC_RW_PATH);
    set_as(first, ZKC_AS_WRITER, 0);
    return first;
}

static zkc_record *permits(int who, int count)
{
    zkc_record *first = visit(who, ZKC_PERMITS_PATH);
    set_as(first, ZKC_AS_PERMITS, count);
    return first;
}

/* All promises end before the good part begins. */
static void finish(void)
{
    t.now += 2 * PROMISE_MS * (int64_t)MS;
    calm();
}

/* ---- readers and writers ------------------------------------------------------------ */

/* As many as there are, with tokens in any order. */
static void readers_together_are_fine(void **state)
{
    (void)state;
    writer(1);
    zkc_record *first = reader(1);
    zkc_record *second = reader(2);
    set_token(first, t.token + 2);
    set_token(second, t.token + 1);
    t.token += 10;
    keep_on(first);
    keep_on(second);
    finish();
    judge();
    /* the made-up guarded writes of readers are as much out of order as their tokens */
    assert_int_equal(zkc_bad_count(&t.verdict), t.verdict.bad[ZKC_BAD_COUNTER_ORDER]);
    assert_int_equal(t.verdict.readers_most, 2);
}

static void a_writer_beside_a_reader_is_seen(void **state)
{
    (void)state;
    keep_on(reader(1));
    writer(2);
    finish();
    expect_only(ZKC_BAD_OVERLAP);
}

static void a_reader_beside_a_writer_is_seen(void **state)
{
    (void)state;
    keep_on(writer(1));
    reader(2);
    finish();
    expect_only(ZKC_BAD_OVERLAP);
}

/* A reader whose promise ends last does not hide a writer, nor the other way round. */
static void a_writer_beside_the_second_of_two_readers_is_seen(void **state)
{
    (void)state;
    zkc_record *first = reader(1);
    keep_on(first);
    first[SURE].value = 25;
    keep_on(reader(2));
    writer(3);
    finish();
    expect_only(ZKC_BAD_OVERLAP);
    assert_int_equal(t.verdict.bad[ZKC_BAD_OVERLAP], 1);
}

/* From the downgrade on others may read. */
static void a_reader_beside_a_downgraded_writer_is_fine(void **state)
{
    (void)state;
    keep_on(visit_downgraded(1));
    reader(2);
    finish();
    expect_good();
    assert_int_equal(t.verdict.readers_most, 2);
}

static void a_reader_before_the_downgrade_is_seen(void **state)
{
    (void)state;
    zkc_record *first = visit_downgraded(1);
    keep_on(first);
    for (int i = 0; i < 2; i++) {
        first[VISIT + i].at += (int64_t)PROMISE_MS * MS;
    }
    reader(2);
    finish();
    expect_only(ZKC_BAD_OVERLAP);
}

static void a_writer_beside_a_downgraded_one_is_seen(void **state)
{
    (void)state;
    keep_on(visit_downgraded(1));
    writer(2);
    finish();
    expect_only(ZKC_BAD_OVERLAP);
}

static void another_token_after_a_downgrade_is_seen(void **state)
{
    (void)state;
    visit_downgraded(1)[VISIT + 1].token++;
    calm();
    expect_only(ZKC_BAD_TOKEN_AGAIN);
}

/* Both sides are told of one loss, and neither is twice. */
static void a_third_loss_of_a_downgraded_writer_is_seen(void **state)
{
    (void)state;
    const int64_t token = visit_downgraded(1)[GRANT].token;
    add(ZKC_LOST, 1, ZKC_RW_PATH, 0)->token = token;
    add(ZKC_LOST, 1, ZKC_RW_PATH, 0)->token = token;
    calm();
    expect_good();
    add(ZKC_LOST, 1, ZKC_RW_PATH, 0)->token = token;
    expect_only(ZKC_BAD_LOST_TWICE);
}

/* A lower token than that of the one before, which it must not meet. */
static void expect_fallen(zkc_record *first, zkc_record *second)
{
    set_token(first, t.token + 2);
    set_token(second, t.token + 1);
    t.token += 10;
    calm();
    judge();
    assert_int_equal(t.verdict.bad[ZKC_BAD_TOKEN_ORDER], 1);
}

static void a_writers_token_below_a_readers_is_seen(void **state)
{
    (void)state;
    zkc_record *first = reader(1);
    expect_fallen(first, writer(2));
}

static void a_readers_token_below_a_writers_is_seen(void **state)
{
    (void)state;
    zkc_record *first = writer(1);
    expect_fallen(first, reader(2));
}

static void a_reader_that_overtakes_a_writer_is_seen(void **state)
{
    (void)state;
    writer(1)[GRANT].value = 2;
    reader(2)[GRANT].value = 1;
    t.sequence = 3;
    calm();
    expect_only(ZKC_BAD_SEQUENCE_ORDER);
}

/* ---- permits ------------------------------------------------------------------------ */

/* As many as there are, granted in any order. */
static void permits_up_to_the_maximum_are_fine(void **state)
{
    (void)state;
    zkc_record *first = permits(1, 2);
    keep_on(first);
    first[GRANT].value = 7;
    keep_on(permits(2, 1));
    finish();
    expect_good();
    assert_int_equal(t.verdict.permits_most, ZKC_PERMITS_MAX);
}

static void a_permit_too_many_is_seen(void **state)
{
    (void)state;
    keep_on(permits(1, 2));
    permits(2, 2);
    finish();
    expect_only(ZKC_BAD_OVERLAP);
}

/* No two of them are too many. */
static void a_fourth_holder_of_a_permit_is_seen(void **state)
{
    (void)state;
    for (int i = 0; i < ZKC_PERMITS_MAX; i++) {
        keep_on(permits(i, 1));
    }
    permits(4, 1);
    finish();
    expect_only(ZKC_BAD_OVERLAP);
    assert_int_equal(t.verdict.bad[ZKC_BAD_OVERLAP], 1);
}

/* ---- multi-locks -------------------------------------------------------------------- */

static void a_multi_lock_excludes_on_its_second_path(void **state)
{
    (void)state;
    keep_on(visit_both(1));
    visit(2, ZKC_LONG_PATH); /* not one of its paths */
    visit(3, ZKC_RARE_PATH);
    finish();
    expect_only(ZKC_BAD_OVERLAP);
}

static void a_mutex_excludes_a_multi_lock_on_its_second_path(void **state)
{
    (void)state;
    keep_on(visit(1, ZKC_RARE_PATH));
    visit_both(2);
    finish();
    expect_only(ZKC_BAD_OVERLAP);
}

/* One release ends both holds. */
static void a_released_multi_lock_is_over_on_both_paths(void **state)
{
    (void)state;
    visit_both(1);
    visit(2, ZKC_RARE_PATH);
    visit(3, ZKC_SHORT_PATH);
    calm();
    expect_good();
}

/* The number of its second node is not known. */
static void the_number_of_a_multi_lock_is_that_of_its_first_path(void **state)
{
    (void)state;
    visit_both(1)[GRANT].value = 100;
    t.sequence = 50;
    visit(2, ZKC_RARE_PATH);
    t.sequence = 101;
    calm();
    expect_good();
}

/* A node was deleted by hand: as long as it is sure nevertheless, it has not let go of the other. */
static void half_a_multi_lock_excludes_while_it_is_sure(void **state)
{
    (void)state;
    zkc_record *first = visit_both(1);
    keep_on(first);
    zkc_record *deleted = add(ZKC_DELETED, 0, ZKC_SHORT_PATH, 0);
    deleted->token = first[GRANT].token;
    deleted->at = first[RELEASE].at;
    deleted->until = deleted->at + MS;
    visit(2, ZKC_SHORT_PATH);
    visit(3, ZKC_RARE_PATH);
    zkc_record *late = add(ZKC_SURE, 1, ZKC_SHORT_PATH, 0);
    late->token = first[GRANT].token;
    late->value = 1;
    finish();
    expect_only(ZKC_BAD_OVERLAP); /* on one path */
    assert_int_equal(t.verdict.bad[ZKC_BAD_OVERLAP], 1);
    strike_out(late);
    expect_good();
}

/* Sure, and somebody else is first on the second path. */
static void a_multi_lock_without_one_of_its_nodes_is_seen(void **state)
{
    (void)state;
    zkc_record *first = visit_both(1);
    first[VISIT + 1].value = 0;
    calm();
    expect_only(ZKC_BAD_NOT_ALL);
    first[VISIT + 1].until = first[RELEASE].at + 1; /* no longer sure: no matter */
    expect_good();
}

/* But for a node that was made there by hand, under the name of one that was deleted. */
static void a_node_made_by_hand_is_first_for_nobody(void **state)
{
    (void)state;
    zkc_record *first = visit_both(1);
    zkc_record *made = add(ZKC_REPLACED, 0, ZKC_RARE_PATH, 0);
    made->token = first[VISIT + 1].value = first[GRANT].token + 1;
    calm();
    expect_good();
    made->token++;
    expect_only(ZKC_BAD_NOT_ALL);
}

/* ---- all of them -------------------------------------------------------------------- */

/* Each kind of lock has to have been granted, looked at, and downgraded. */
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
            t.all[i].value = (int64_t)i; /* each by a node of its own */
        }
    }
    expect_only(ZKC_BAD_NO_MOVES);
    assert_int_equal(t.verdict.bad[ZKC_BAD_NO_MOVES], 3);
}

#define TEST(name) cmocka_unit_test_setup(name, made_up_setup)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(readers_together_are_fine),
        TEST(a_writer_beside_a_reader_is_seen),
        TEST(a_reader_beside_a_writer_is_seen),
        TEST(a_writer_beside_the_second_of_two_readers_is_seen),
        TEST(a_reader_beside_a_downgraded_writer_is_fine),
        TEST(a_reader_before_the_downgrade_is_seen),
        TEST(a_writer_beside_a_downgraded_one_is_seen),
        TEST(another_token_after_a_downgrade_is_seen),
        TEST(a_third_loss_of_a_downgraded_writer_is_seen),
        TEST(a_writers_token_below_a_readers_is_seen),
        TEST(a_readers_token_below_a_writers_is_seen),
        TEST(a_reader_that_overtakes_a_writer_is_seen),
        TEST(permits_up_to_the_maximum_are_fine),
        TEST(a_permit_too_many_is_seen),
        TEST(a_fourth_holder_of_a_permit_is_seen),
        TEST(a_multi_lock_excludes_on_its_second_path),
        TEST(a_mutex_excludes_a_multi_lock_on_its_second_path),
        TEST(a_released_multi_lock_is_over_on_both_paths),
        TEST(the_number_of_a_multi_lock_is_that_of_its_first_path),
        TEST(half_a_multi_lock_excludes_while_it_is_sure),
        TEST(a_multi_lock_without_one_of_its_nodes_is_seen),
        TEST(a_node_made_by_hand_is_first_for_nobody),
        TEST(a_run_without_one_of_the_locks_is_seen),
    };
    return zkt_run(argc, argv, tests, NULL, NULL);
}

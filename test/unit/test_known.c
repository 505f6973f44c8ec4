/* SPDX-License-Identifier: Apache-2.0 */
/* What numbers tell about who stands in a directory. */
#include "engine/known.h"
#include "unit.h"

static const char *const ours_here[] = {"a-lock-0000000003", "b-lock-0000000005",
                                        "c-lock-0000000006"};

static bool is_ours(void *ctx, const char *name)
{
    (void)ctx;
    for (size_t i = 0; i < ZKT_COUNT(ours_here); i++) {
        if (strcmp(ours_here[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void
list(struct zkr__known *known, const char *const *names, size_t count, size_t strays)
{
    struct zkr__children children;
    assert_int_equal(zkr__children_order(&children, names, count, NULL, NULL), ZKR_OK);
    assert_int_equal(children.strays, strays);
    zkr__known_listed(known, &children, is_ours, NULL);
    zkr__mem_free(children.list);
}

/* The first number says nothing about who came before it; the next one does, and so on. */
static void only_the_next_number_says_that_nobody_came(void **state)
{
    (void)state;
    struct zkr__known known;
    zkr__known_begin(&known);
    assert_false(zkr__known_made(&known, 7));
    assert_true(zkr__known_made(&known, 8));
    assert_int_equal(known.from, 7);
    assert_false(zkr__known_made(&known, 10));
    assert_int_equal(known.from, 10);
    assert_false(zkr__known_made(&known, 10));
    assert_false(zkr__known_made(&known, 0)); /* made again */
    assert_int_equal(known.from, 0);
    assert_true(zkr__known_made(&known, 1));
}

/* What is forgotten begins anew, with whatever number. */
static void what_is_forgotten_says_nothing(void **state)
{
    (void)state;
    struct zkr__known known;
    zkr__known_begin(&known);
    (void)zkr__known_made(&known, 7);
    zkr__known_forget(&known);
    assert_false(known.counts);
    assert_false(zkr__known_quiet(&known));
    assert_false(zkr__known_made(&known, 8));
    assert_int_equal(known.from, 8);
}

/* A list says from where on there are only ours; of what came behind our last one it need not know. */
static void a_list_says_from_where_on_all_are_ours(void **state)
{
    (void)state;
    static const struct {
        const char *names[5];
        size_t count, strays;
        int64_t from;
    } rows[] = {
        {{NULL}, 0, 0, ZKR__KNOWN_ALL},
        {{"c-lock-0000000006", "a-lock-0000000003"}, 2, 0, ZKR__KNOWN_ALL},
        {{"c-lock-0000000006", "stray"}, 2, 1, ZKR__KNOWN_ALL},
        {{"c-lock-0000000006", "x-lock-0000000002"}, 2, 0, 3},
        {{"a-lock-0000000003", "x-lock-0000000004", "b-lock-0000000005"}, 3, 0, 5},
        {{"x-lock-0000000005", "b-lock-0000000005"}, 2, 0, 6},
        {{"x-lock-0000000006"}, 1, 0, 7},
        {{"x-lock-0000000007", "b-lock-0000000005"}, 2, 0, ZKR__KNOWN_ALL},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        struct zkr__known known;
        zkr__known_begin(&known);
        (void)zkr__known_made(&known, 6);
        list(&known, rows[i].names, rows[i].count, rows[i].strays);
        assert_true(known.from == rows[i].from);
        assert_int_equal(known.strays, rows[i].strays);
        assert_true(zkr__known_made(&known, 7));
        assert_true(known.from == rows[i].from);
    }
}

/* It was wrong to count on it: then two must come right before it is counted on again. */
static void a_stranger_is_remembered_for_a_while(void **state)
{
    (void)state;
    struct zkr__known known;
    zkr__known_begin(&known);
    assert_false(zkr__known_quiet(&known));
    (void)zkr__known_made(&known, 1);
    assert_true(zkr__known_quiet(&known));
    (void)zkr__known_made(&known, 3);
    assert_false(zkr__known_quiet(&known));
    (void)zkr__known_made(&known, 4);
    assert_false(zkr__known_quiet(&known));
    (void)zkr__known_made(&known, 5);
    assert_true(zkr__known_quiet(&known));
    zkr__known_forget(&known);
    (void)zkr__known_made(&known, 9);
    assert_true(zkr__known_quiet(&known));
}

/* At the limit numbers are given out twice, and behind it there are negative ones. */
static void numbers_that_repeat_say_nothing(void **state)
{
    (void)state;
    static const int64_t spent[] = {ZKR__SEQUENCE_LIMIT, -2147483647, -1};
    struct zkr__known known;
    zkr__known_begin(&known);
    assert_false(zkr__known_made(&known, ZKR__SEQUENCE_LIMIT - 2));
    assert_true(zkr__known_made(&known, ZKR__SEQUENCE_LIMIT - 1));
    assert_true(known.counts);
    for (size_t i = 0; i < ZKT_COUNT(spent); i++) {
        (void)zkr__known_made(&known, spent[i]);
        assert_false(known.counts);
        assert_false(zkr__known_made(&known, spent[i]));
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_next_number_says_that_nobody_came),
        cmocka_unit_test(what_is_forgotten_says_nothing),
        cmocka_unit_test(a_list_says_from_where_on_all_are_ours),
        cmocka_unit_test(a_stranger_is_remembered_for_a_while),
        cmocka_unit_test(numbers_that_repeat_say_nothing),
    };
    return zkt_run(argc, argv, tests, NULL, NULL);
}

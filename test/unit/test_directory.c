/* SPDX-License-Identifier: Apache-2.0 */
/* What sequence numbers show about the contenders in a directory. */
#include "queue/children.h"
#include "unit.h"

static const char *const ours_here[] = {"a-lock-0000000003", "b-lock-0000000005",
                                        "c-lock-0000000006"};

static bool is_ours(void *ctx, const char *name)
{
    for (size_t i = 0; i < ZKT_COUNT(ours_here); i++) {
        if (strcmp(ours_here[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void list(struct zkr__known *known,
                 const char *const *names,
                 size_t count,
                 size_t strays,
                 int64_t next)
{
    struct zkr__children children;
    ZKT_MUST(zkr__children_order(&children, names, count, ZKR__ANY_NUMBER, NULL, NULL));
    assert_int_equal(children.strays, strays);
    zkr__known_listed(known, &children, next, is_ours, NULL);
    zkr__children_free(&children);
}

/*
 * The first number says nothing about earlier contenders, but each following number does. After a directory was
 * forgotten, counting begins again with any number. If a prediction was wrong, two numbers must match before
 * predictions count again.
 */
ZKT_UNIT_CASE(only_the_next_number_says_that_nobody_came)
{
    static const struct {
        bool forgotten; /* before this number */
        int64_t number;
        bool follows, quiet;
        int64_t from;
    } rows[] = {
        {false, 7, false, true, 7},    {false, 8, true, true, 7},
        {false, 10, false, false, 10}, {false, 10, false, false, 10},
        {false, 0, false, false, 0}, /* the directory was created again */
        {false, 1, true, false, 0},    {false, 2, true, true, 0},
        {true, 3, false, true, 3},
    };
    struct zkr__known known;
    zkr__known_begin(&known);
    assert_false(zkr__known_quiet(&known));
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        if (rows[i].forgotten) {
            zkr__known_forget(&known);
            assert_false(known.counts);
            assert_false(zkr__known_quiet(&known));
        }
        bool follows = zkr__known_made(&known, rows[i].number);
        bool quiet = zkr__known_quiet(&known);
        if (follows != rows[i].follows || quiet != rows[i].quiet ||
            known.from != rows[i].from) {
            fail_msg("row %zu: %d %d from %d", i, follows, quiet, (int)known.from);
        }
    }
}

/* After a list, all contenders are known: our own, and others by their names. The names outlive the list. */
ZKT_UNIT_CASE(a_list_says_who_is_there)
{
    static const struct {
        const char *names[4];
        size_t count, strays;
        int64_t next;
        const char *others[3];
    } rows[] = {
        {{NULL}, 0, 0, 7, {NULL}},
        {{"c-lock-0000000006", "a-lock-0000000003"}, 2, 0, 7, {NULL}},
        {{"c-lock-0000000006", "stray"}, 2, 1, 7, {NULL}},
        {{"c-lock-0000000006", "x-lock-0000000002"}, 2, 0, 7, {"x-lock-0000000002"}},
        {{"y-lock-0000000007", "x-lock-0000000004", "b-lock-0000000005"},
         3,
         0,
         8,
         {"x-lock-0000000004", "y-lock-0000000007"}},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        char names[4][32];
        const char *lent[4];
        for (size_t k = 0; k < rows[i].count; k++) {
            lent[k] = strcpy(names[k], rows[i].names[k]);
        }
        struct zkr__known known;
        zkr__known_begin(&known);
        (void)zkr__known_made(&known, 6);
        list(&known, lent, rows[i].count, rows[i].strays, rows[i].next);
        memset(names, 0, sizeof(names));
        for (int more = 0; more < 2; more++) {
            assert_true(known.from == ZKR__KNOWN_ALL);
            size_t k = 0;
            for (; k < known.others.count; k++) {
                assert_string_equal(known.others.list[k].name, rows[i].others[k]);
            }
            assert_null(rows[i].others[k]);
            assert_true(zkr__known_made(&known, rows[i].next + more));
        }
        zkr__known_forget(&known);
    }
}

/*
 * A server's count is believed if it agrees with the nodes that the server has shown: our last node, which had number
 * 6, and the list. A count that is too high would hide other contenders. A count that is too low belongs to another
 * directory.
 */
ZKT_UNIT_CASE(a_count_without_its_node_says_nothing)
{
    static const struct {
        const char *newest; /* beside our node; NULL = nobody */
        int64_t count;
        bool believed;
    } rows[] = {
        {NULL, 7, true},
        {NULL, 6, false},
        {NULL, 0, false},
        {NULL, 8, false},
        {NULL, 12, false},
        {"x-lock-0000000002", 7, true},
        {"x-lock-0000000002", 3, false},
        {"x-lock-0000000007", 8, true},
        {"x-lock-0000000007", 7, false},
        /* The node with number 8 is gone, or never existed. */
        {"x-lock-0000000007", 9, false},
        {"x-lock-0000000007", 2000, false},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        /* Whether our node is still in the list. */
        for (size_t ours = 0; ours <= 1; ours++) {
            const char *const names[] = {rows[i].newest, "c-lock-0000000006"};
            struct zkr__known known;
            zkr__known_begin(&known);
            (void)zkr__known_made(&known, 6);
            size_t first = rows[i].newest ? 0 : 1;
            list(&known, names + first, 1 - first + ours, 0, rows[i].count);
            if (known.counts != rows[i].believed) {
                fail_msg("row %zu: %d", i, known.counts);
            }
            assert_true(known.counts || known.others.count == 0);
            bool next = zkr__known_made(&known, rows[i].count);
            assert_int_equal(next, rows[i].believed);
            zkr__known_forget(&known);
        }
    }
}

/* Other contenders disappear one by one, in any order. A contender that was not known may disappear, too. */
ZKT_UNIT_CASE(who_is_gone_is_known_no_more)
{
    static const char *const names[] = {"x-lock-0000000002", "y-lock-0000000004",
                                        "z-lock-0000000007", "stray"};
    static const char *const gone[] = {"y-lock-0000000004", "y-lock-0000000002",
                                       "stray", "z-lock-0000000007",
                                       "x-lock-0000000002"};
    static const size_t left[] = {2, 2, 2, 1, 0};
    struct zkr__known known;
    zkr__known_begin(&known);
    (void)zkr__known_made(&known, 5);
    list(&known, names, 4, 1, 8);
    for (size_t i = 0; i < ZKT_COUNT(gone); i++) {
        zkr__known_gone(&known, gone[i]);
        assert_int_equal(known.others.count, left[i]);
        if (left[i] > 0) {
            assert_string_equal(known.others.list[0].name, names[0]);
        }
        assert_true(known.from == ZKR__KNOWN_ALL);
    }
    zkr__known_forget(&known);
}

/* Without memory for the names, nothing is known. */
ZKT_UNIT_CASE(a_list_without_memory_says_nothing)
{
    static const char *const names[] = {"x-lock-0000000002"};
    struct zkr__children children;
    struct zkr__known known;
    zkr__known_begin(&known);
    (void)zkr__known_made(&known, 5);
    ZKT_MUST(zkr__children_order(&children, names, 1, ZKR__ANY_NUMBER, NULL, NULL));
    zkt_allow_allocations(0);
    zkr__known_listed(&known, &children, 6, is_ours, NULL);
    zkt_allow_allocations(-1);
    assert_false(known.counts);
    zkr__children_free(&children);
}

/* At their limit, numbers repeat, and negative numbers follow. */
ZKT_UNIT_CASE(numbers_that_repeat_say_nothing)
{
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
    static const char *const names[] = {"x-lock-2147483646"};
    (void)zkr__known_made(&known, 8);
    list(&known, names, 1, 0, ZKR__SEQUENCE_LIMIT);
    assert_true(zkr__known_made(&known, ZKR__SEQUENCE_LIMIT));
    assert_int_equal(known.others.count, 0);
}

/* After a list, one other node is created, and then ours. */
ZKT_UNIT_CASE(a_node_in_between_is_not_known)
{
    static const char *const names[] = {"x-lock-0000000005", "x-lock-0000000007"};
    for (int64_t number = 8; number <= 9; number++) {
        struct zkr__known known;
        zkr__known_begin(&known);
        (void)zkr__known_made(&known, 6);
        list(&known, names, 2, 0, 8);
        zkr__known_gone(&known, names[0]);
        assert_int_equal(zkr__known_made(&known, number), number == 8);
        assert_int_equal(known.next, number + 1);
        assert_true(known.counts);
        assert_true(known.from == (number == 8 ? ZKR__KNOWN_ALL : number));
        assert_int_equal(known.others.count, number == 8);
        zkr__known_forget(&known);
    }
}

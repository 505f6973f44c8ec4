/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the children of a queue. */
#include <stdlib.h>
#include <string.h>

#include <zkr/error.h>

#include "queue/children.h"
#include "unit.h"

static bool is_named(void *ctx, const char *name)
{
    const char **asked = ctx;
    return strcmp(*asked, name) == 0;
}

// clang-format off
static const struct {
    const char *what;
    size_t count;
    const char *names[6], *wanted[6];
    const char *dead; /* this child is left out */
    size_t strays;
} orders[] = {
    {.what = "all recipes stand by their number, not by their name", .count = 6,
     .names = {"_c_f-lock-0000000003", "_c_0-lock-0000000010", "a__lock__0000000002", "x-9-0000000004",
               "lock-0000000001", "lock--2147483648"},
     .wanted = {"lock--2147483648", "lock-0000000001", "a__lock__0000000002", "_c_f-lock-0000000003",
                "x-9-0000000004", "_c_0-lock-0000000010"}},
    /* Servers repeat sequence numbers at their limit. */
    {.what = "of equal numbers the names decide, for all clients alike", .count = 3,
     .names = {"c-lock-2147483647", "a-lock-2147483647", "b-lock-2147483647"},
     .wanted = {"a-lock-2147483647", "b-lock-2147483647", "c-lock-2147483647"}},
    {.what = "a writer's READ node stands right behind its WRIT node, whichever GUID is lower", .count = 5,
     .names = {"_c_a-__READ__0000000007", "_c_b-__WRIT__0000000007", "_c_0-__READ__0000000008",
               "_c_c-__READ__0000000007", "_c_f-__WRIT__0000000006"},
     .wanted = {"_c_f-__WRIT__0000000006", "_c_b-__WRIT__0000000007", "_c_a-__READ__0000000007",
                "_c_c-__READ__0000000007", "_c_0-__READ__0000000008"}},
    /* Each of these children takes up a permit of a semaphore. */
    {.what = "what has no number is no contender, nor is a hole in the answer; both are counted", .count = 5,
     .names = {"config", NULL, "lock-0000000001", "lock-1", ""}, .wanted = {"lock-0000000001"}, .strays = 4},
    {.what = "strays alone", .count = 2, .names = {"config", NULL}, .strays = 2},
    {.what = "nothing", .count = 0},
    {.what = "a node as good as deleted is left out", .count = 2, .dead = "lock-0000000001",
     .names = {"lock-0000000002", "lock-0000000001"}, .wanted = {"lock-0000000002"}},
    {.what = "and strays are counted then", .count = 5, .dead = "lock-0000000001",
     .names = {"config", NULL, "lock-0000000001", "lock-1", ""}, .strays = 4},
};
// clang-format on

ZKT_UNIT_CASE(children_have_an_order)
{
    for (size_t i = 0; i < ZKT_COUNT(orders); i++) {
        struct zkr__children c;
        const char *dead = orders[i].dead;
        size_t n = 0;
        print_message("%s\n", orders[i].what);
        ZKT_MUST(zkr__children_order(&c, orders[i].names, orders[i].count,
                                     ZKR__ANY_NUMBER, dead ? is_named : NULL, &dead));
        for (; n < ZKT_COUNT(orders[i].wanted) && orders[i].wanted[n]; n++) {
            assert_true(n < c.count);
            assert_string_equal(c.list[n].name, orders[i].wanted[n]);
        }
        assert_int_equal(c.count, n);
        assert_int_equal(c.strays, orders[i].strays);
        zkr__children_free(&c);
    }
}

/* Each child shows which recipe it belongs to. */
ZKT_UNIT_CASE(a_child_tells_its_recipe)
{
    static const char *const names[] = {
        "_c_0-lock-0000000001",  "a__lock__0000000002",     "x-9-0000000003",
        "_c_0-latch-0000000004", "_c_0-__READ__0000000005", "_c_0-__WRIT__0000000006",
        "_c_0-lease-0000000007",
    };
    static const enum zkr__name_kind kinds[] = {
        ZKR__NAME_LOCK, ZKR__NAME_OTHER, ZKR__NAME_OTHER, ZKR__NAME_LATCH,
        ZKR__NAME_READ, ZKR__NAME_WRITE, ZKR__NAME_LEASE,
    };
    struct zkr__children c;
    ZKT_MUST(
        zkr__children_order(&c, names, ZKT_COUNT(names), ZKR__ANY_NUMBER, NULL, NULL));
    assert_int_equal(c.count, ZKT_COUNT(kinds));
    for (size_t i = 0; i < ZKT_COUNT(kinds); i++) {
        assert_int_equal(c.list[i].kind, kinds[i]);
    }
    zkr__mem_free(c.list);
}

/* A child is found by its whole name. For a missing child, the result is the count. */
ZKT_UNIT_CASE(a_child_is_found_by_its_name)
{
    static const char *const names[] = {"_c_aa-lock-0000000001",
                                        "_c_ab-lock-0000000002"};
    struct zkr__children c;
    ZKT_MUST(zkr__children_order(&c, names, 2, ZKR__ANY_NUMBER, NULL, NULL));
    assert_int_equal(zkr__children_find(&c, "_c_ab-lock-0000000002"), 1);
    assert_int_equal(zkr__children_find(&c, "_c_ab-lock-000000000"), 2);
    assert_int_equal(zkr__children_find(&c, ""), 2);
    zkr__mem_free(c.list);
    assert_int_equal(zkr__children_find(&(struct zkr__children){0}, "x"), 0);
}

/* Among children with the same number, the search finds the one with that name. */
ZKT_UNIT_CASE(equal_numbers_are_told_apart)
{
    static const char *const names[] = {"c-__READ__0000000002", "a-lock-0000000002",
                                        "b-lock-0000000002", "x-lock-0000000001"};
    struct zkr__children c;
    ZKT_MUST(zkr__children_order(&c, names, 4, ZKR__ANY_NUMBER, NULL, NULL));
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(zkr__children_find(&c, c.list[i].name), i);
    }
    assert_int_equal(zkr__children_find(&c, "d-lock-0000000002"), 4);
    zkr__mem_free(c.list);
}

/* Children that become dead later can be removed from a list that is already in order. */
ZKT_UNIT_CASE(the_filter_works_later_as_well)
{
    static const char *const names[] = {"lock-0000000002", "lock-0000000001",
                                        "lock-0000000003"};
    const char *dead = "lock-0000000002";
    struct zkr__children c;
    ZKT_MUST(zkr__children_order(&c, names, 3, ZKR__ANY_NUMBER, NULL, NULL));
    zkr__children_filter(&c, is_named, &dead);
    assert_int_equal(c.count, 2);
    assert_string_equal(c.list[0].name, "lock-0000000001");
    assert_string_equal(c.list[1].name, "lock-0000000003");
    zkr__mem_free(c.list);
}

/* Twenty thousand shuffled children come out in order. */
ZKT_UNIT_CASE(many_children_are_ordered)
{
    enum { MANY = 20000, ROOM = 24 };
    char(*text)[ROOM] = calloc(MANY, sizeof(*text));
    const char **names = calloc(MANY, sizeof(*names));
    assert_non_null(text);
    assert_non_null(names);
    uint64_t seed = 7;
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(text[i], ROOM, "%s%010d", i % 3 ? "lock-" : "x-", i);
        int64_t at = zkt_below(&seed, i + 1);
        names[i] = names[at];
        names[at] = text[i];
    }
    struct zkr__children c;
    ZKT_MUST(zkr__children_order(&c, names, MANY, ZKR__ANY_NUMBER, NULL, NULL));
    assert_int_equal(c.count, MANY);
    for (int i = 0; i < MANY; i++) {
        assert_ptr_equal(c.list[i].name, text[i]);
        assert_int_equal(c.list[i].sequence, i);
    }
    zkr__mem_free(c.list);
    free(names);
    free(text);
}

/* Without memory, ordering fails and leaves nothing to free. */
ZKT_UNIT_CASE(order_needs_memory)
{
    static const char *const names[] = {"lock-0000000001"};
    struct zkr__children c = {.count = 9};
    zkt_allow_allocations(0);
    int rc = zkr__children_order(&c, names, 1, ZKR__ANY_NUMBER, NULL, NULL);
    zkt_allow_allocations(-1);
    ZKT_RC(rc, ZKR_ENOMEM);
    assert_null(c.list);
    assert_int_equal(c.count, 0);
}

/* A caller that needs only the children up to a certain number gets only these. Strays and children behind are still
   counted. */
ZKT_UNIT_CASE(those_behind_can_be_left_out)
{
    static const char *const names[] = {"d-lock-0000000009", "b-lock-0000000004",
                                        "stray", "c-lock-0000000005",
                                        "a-lock-0000000002"};
    static const size_t left[] = {[1] = 0, [2] = 1, [3] = 1, [4] = 2, [5] = 3, [8] = 3};
    static const int64_t most[] = {1, 2, 3, 4, 5, 8};
    for (size_t i = 0; i < ZKT_COUNT(most); i++) {
        struct zkr__children c;
        ZKT_MUST(zkr__children_order(&c, names, ZKT_COUNT(names), most[i], NULL, NULL));
        assert_int_equal(c.count, left[most[i]]);
        assert_int_equal(c.strays, 1);
        assert_int_equal(c.behind, ZKT_COUNT(names) - 1 - c.count);
        if (c.count > 0) {
            assert_string_equal(c.list[0].name, "a-lock-0000000002");
        }
        zkr__children_free(&c);
    }
}

/* If the list contains each child that was created after our own, no other node was created with our name. */
ZKT_UNIT_CASE(a_full_list_proves_whose_node_it_is)
{
    static const char *const names[] = {"a-lock-0000000002", "b-lock-0000000004",
                                        "stray", "c-lock-0000000005",
                                        "d-lock-0000000006"};
    static const struct {
        int64_t most, made;
        size_t self;
        bool proves;
    } rows[] = {
        {ZKR__ANY_NUMBER, 7, 1, true},  {ZKR__ANY_NUMBER, 7, 2, true},
        {ZKR__ANY_NUMBER, 7, 3, true},  {4, 7, 1, true},
        {ZKR__ANY_NUMBER, 7, 0, false}, /* the child with the number 3 is gone */
        {ZKR__ANY_NUMBER, 8, 1, false}, /* a higher number, or the same name, may be gone */
        {ZKR__ANY_NUMBER, 8, 3, false}, {4, 8, 1, false},
        {ZKR__ANY_NUMBER, 6, 1, false}, /* the count is too low */
        {ZKR__ANY_NUMBER, 0, 1, false},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        struct zkr__children c;
        ZKT_MUST(
            zkr__children_order(&c, names, ZKT_COUNT(names), rows[i].most, NULL, NULL));
        assert_int_equal(zkr__children_prove(&c, rows[i].self, rows[i].made),
                         rows[i].proves);
        zkr__children_free(&c);
    }
}

/* Any number of a known recipe is accepted. Another child must have a number that the server can have assigned. */
ZKT_UNIT_CASE(what_no_server_numbered_is_not_shown)
{
    static const char *const names[] = {
        "x-0000000006",  "x-0000000007", "lock-0000000099",    "a__lock__0000000099",
        "dt=2025112812", "config",       "host,1732795200123", "x--0000000005"};
    static const char *const shown[] = {"x--0000000005", "x-0000000006",
                                        "lock-0000000099", "a__lock__0000000099"};
    enum { MADE = 7 };
    struct zkr__children c;
    ZKT_MUST(zkr__children_shown(&c, names, ZKT_COUNT(names), MADE));
    assert_int_equal(c.count, ZKT_COUNT(shown));
    assert_int_equal(c.strays, ZKT_COUNT(names) - c.count);
    for (size_t i = 0; i < c.count; i++) {
        assert_true(zkr__children_find(&c, shown[i]) < c.count);
    }
    zkr__children_free(&c);
}

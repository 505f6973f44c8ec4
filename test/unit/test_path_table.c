/* SPDX-License-Identifier: Apache-2.0 */
/* A table that finds entries by path, from none to many entries and back. */
#include <stdio.h>

#include "base/path_table.h"
#include "unit.h"

enum { MANY = 5000 };

struct thing {
    struct zkr__path_entry entry;
    char path[32];
};

static struct thing things[MANY];
static struct zkr__path_table table;

static void name_all(void)
{
    for (int i = 0; i < MANY; i++) {
        things[i] = (struct thing){.path = ""};
        (void)snprintf(things[i].path, sizeof(things[i].path), "/lock/%d", i);
    }
}

static void add(int i)
{
    assert_true(zkr__path_table_add(&table, &things[i].entry, things[i].path));
}

/* Check that the table finds exactly the things @from to @to - 1. */
static void check(int from, int to)
{
    for (int i = 0; i < MANY; i++) {
        char copy[32];
        memcpy(copy, things[i].path, sizeof(copy));
        bool there = i >= from && i < to;
        assert_ptr_equal(zkr__path_table_find(&table, copy),
                         there ? &things[i].entry : NULL);
        assert_int_equal(things[i].entry.path != NULL, there);
    }
    assert_int_equal(table.count, to - from);
    assert_int_equal(table.slots != NULL, to > from);
}

ZKT_UNIT_CASE(each_is_found_while_it_is_there)
{
    name_all();
    check(0, 0);
    for (int i = 0; i < MANY; i++) {
        add(i);
        if (i % 500 == 0) {
            check(0, i + 1);
        }
    }
    assert_null(zkr__path_table_find(&table, "/lock"));
    assert_null(zkr__path_table_find(&table, ""));
    for (int i = 0; i < MANY; i++) {
        zkr__path_table_remove(&table, &things[i].entry);
        zkr__path_table_remove(&table, &things[i].entry); /* a no-op */
        if (i % 500 == 0) {
            check(i + 1, MANY);
        }
    }
    check(0, 0);
}

/* The last thing may be added first and removed first, and a removed thing may be added again. */
ZKT_UNIT_CASE(any_order_will_do)
{
    name_all();
    for (int round = 0; round < 3; round++) {
        for (int i = 99; i >= 0; i--) {
            add(i);
        }
        check(0, 100);
        for (int i = 99; i >= 50; i--) {
            zkr__path_table_remove(&table, &things[i].entry);
        }
        check(0, 50);
        for (int i = 0; i < 50; i++) {
            zkr__path_table_remove(&table, &things[i].entry);
        }
    }
    check(0, 0);
}

/* Only the first entry needs memory. The next entries need no more if memory is short. */
ZKT_UNIT_CASE(only_the_first_needs_memory)
{
    name_all();
    zkt_allow_allocations(0);
    assert_false(zkr__path_table_add(&table, &things[0].entry, things[0].path));
    zkt_allow_allocations(-1);
    check(0, 0);
    add(0);
    zkt_allow_allocations(0);
    for (int i = 1; i < 100; i++) {
        add(i);
    }
    zkt_allow_allocations(-1);
    check(0, 100);
    for (int i = 0; i < 100; i++) {
        zkr__path_table_remove(&table, &things[i].entry);
    }
    check(0, 0);
}

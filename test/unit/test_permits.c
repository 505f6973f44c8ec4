/* SPDX-License-Identifier: Apache-2.0 */
/* Which permits are held, as far as the nodes of a semaphore show. */
#include <stdio.h>
#include <string.h>

#include "look/contender.h"
#include "unit.h"

enum { LEASES_MAX = 6 };

/* Each lease is written as session, token and maximum: "a7/2" belongs to session a. A lease without a maximum has none
   in its data. @gate is the first node in PATH/locks. */
struct row {
    const char *leases[LEASES_MAX + 1];
    const char *gate;
    size_t held;
    int64_t max;
};

static zkr_contender contender(const char *text)
{
    zkr_contender entry = {0};
    char data[64];
    const char *max = strchr(text, '/');
    (void)snprintf(data, sizeof(data), max ? "me\nmax=%s" : "me", max ? max + 1 : "");
    const struct zkr__answer answer = {.data = data,
                                       .data_len = strlen(data),
                                       .owner = text[0] == '-' ? 0 : text[0],
                                       .czxid = text[1] - '0'};
    ZKT_MUST(zkr__contender_take(&entry, &answer));
    return entry;
}

static void expect(const struct row *row)
{
    zkr_contender leases[LEASES_MAX], gate = {0};
    size_t count = 0;
    int64_t max = -1;
    for (; row->leases[count]; count++) {
        leases[count] = contender(row->leases[count]);
    }
    if (row->gate) {
        gate = contender(row->gate);
    }
    assert_int_equal(zkr__permits_held(leases, count, row->gate ? &gate : NULL, &max),
                     row->held);
    assert_int_equal(max, row->max);
    for (size_t i = 0; i < count; i++) {
        zkr__contender_drop(&leases[i]);
    }
    zkr__contender_drop(&gate);
}

/* Leases are held up to the maximum with which they were created. */
ZKT_UNIT_CASE(permits_are_held_but_for_those_waited_for)
{
    static const struct row rows[] = {
        {{NULL}, NULL, 0, 0},
        {{NULL}, "a1", 0, 0},
        {{"a1/2"}, NULL, 1, 2},
        {{"a1/2", "b2/2"}, NULL, 2, 2},
        {{"a1/2", "b2/2"}, "b1", 2, 2}, /* b was granted, and b1 will be deleted */
        {{"a1/2", "b2/2"}, "c3", 2, 2},
        {{"a1/2", "b2/2", "c4/2"}, "c3", 2, 2},
        {{"a1/2", "b4/2", "b4/2"}, "b3", 1, 2}, /* the group gets all permits or none */
        {{"a1/3", "a1/3", "a1/3"}, NULL, 3, 3},
        {{"a1/3", "a1/3", "b4/1"}, "b3", 2, 1}, /* the maximum was lowered */
        {{"a1/3", "a1/3", "b2/1"}, NULL, 2, 1},
        /* Several contenders wait with leases. */
        {{"a1/1", "b2/1", "c3/1"}, "b4", 1, 1},
        {{"a1/1", "b2/2"}, NULL, 2, 2}, /* the maximum was raised */
        {{"a1", "b4"}, "b3", 1, 0},     /* leases of Curator */
        {{"a1", "b2"}, "c3", 2, 0},
        {{"a1", "a4"}, "a3", 1, 0}, /* one session both holds and waits */
        {{"a1", "a2"}, "a3", 2, 0},
        {{"-1", "-2"}, "-1", 2, 0}, /* nodes without a session */
        {{"a1/2", "b2"}, NULL, 2, 2},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        expect(&rows[i]);
    }
}

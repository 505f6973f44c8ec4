/* SPDX-License-Identifier: Apache-2.0 */
/* Who may hold, and whom the others watch. */
#include "engine/rule.h"
#include "unit.h"

enum { N_MAX = 3, QUEUE_MAX = 8 };

static struct zkr__verdict judge(size_t count, size_t self, int64_t n)
{
    struct zkr__child list[QUEUE_MAX] = {{.name = NULL}};
    const struct zkr__children children = {.list = list, .count = count};
    return zkr__rule_first_n(&children, self, n);
}

/* In each short queue the first n hold, and each other watches the one n places ahead. */
static void the_first_n_hold_and_the_others_watch_n_places_ahead(void **state)
{
    (void)state;
    for (size_t n = 1; n <= N_MAX; n++) {
        for (size_t count = 1; count <= QUEUE_MAX; count++) {
            for (size_t self = 0; self < count; self++) {
                struct zkr__verdict v = judge(count, self, (int64_t)n);
                assert_int_equal(v.granted, self < n);
                assert_int_equal(v.watch, self < n ? 0 : self - n);
            }
        }
    }
}

/* Who waits watches somebody else, and no two watch the same: one hand-over wakes one. */
static void nobody_is_watched_by_two(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= N_MAX; n++) {
        bool watched[QUEUE_MAX] = {false};
        for (size_t self = 0; self < QUEUE_MAX; self++) {
            struct zkr__verdict v = judge(QUEUE_MAX, self, n);
            if (!v.granted) {
                assert_true(v.watch < self);
                assert_false(watched[v.watch]);
                watched[v.watch] = true;
            }
        }
    }
}

/* Only the second in line for a lock of one needs nothing but the end of the first. */
static void only_the_second_in_line_waits_for_one_node_alone(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= N_MAX; n++) {
        for (size_t self = 0; self < QUEUE_MAX; self++) {
            assert_int_equal(judge(QUEUE_MAX, self, n).sole, n == 1 && self == 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_n_hold_and_the_others_watch_n_places_ahead),
        cmocka_unit_test(nobody_is_watched_by_two),
        cmocka_unit_test(only_the_second_in_line_waits_for_one_node_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

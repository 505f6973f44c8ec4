/* SPDX-License-Identifier: Apache-2.0 */
/* Who may hold, and whom the others watch. */
#include "engine/rule.h"
#include "unit.h"

enum { QUEUE_MAX = 8 };

static struct zkr__verdict judge(size_t count, size_t self)
{
    struct zkr__child list[QUEUE_MAX] = {{.name = NULL}};
    const struct zkr__children children = {.list = list, .count = count};
    return zkr__rule_first(&children, self, 7);
}

/* In each short queue the first holds, and each other watches the one ahead, and so nobody is watched by two. */
static void the_first_holds_and_the_others_watch_the_one_ahead(void **state)
{
    (void)state;
    for (size_t count = 1; count <= QUEUE_MAX; count++) {
        for (size_t self = 0; self < count; self++) {
            struct zkr__verdict v = judge(count, self);
            assert_int_equal(v.granted, self == 0);
            if (self > 0) {
                assert_int_equal(v.watch, self - 1);
            }
        }
    }
}

/* The second in line needs nothing but the end of the first; one further behind needs that the one ahead held. */
static void only_the_second_in_line_waits_for_one_node_alone(void **state)
{
    (void)state;
    for (size_t self = 1; self < QUEUE_MAX; self++) {
        assert_int_equal(judge(QUEUE_MAX, self).then,
                         self == 1 ? ZKR__THEN_OURS : ZKR__THEN_OURS_IF_HELD);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_holds_and_the_others_watch_the_one_ahead),
        cmocka_unit_test(only_the_second_in_line_waits_for_one_node_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A claim on a long random walk. */
#include "claim_walk.h"

enum { STEPS = 2000000 };

/* Nothing that can happen breaks a promise, and from wherever it is, calm brings it to its end. */
ZKT_UNIT_CASE(a_claim_is_right_on_a_long_random_walk)
{
    begin_walk(11);
    for (int i = 0; i < STEPS; i++) {
        anything();
        check_ends();
    }
    assert_true(w.decided > STEPS / 4); /* it did get around */
    for (int look = 0; look <= ZKR__BEHIND_FIRST; look++) {
        assert_true(w.looks[look] > 50);
    }
    for (enum zkr__phase phase = ZKR__PAUSED; phase <= ZKR__GONE; phase++) {
        const bool stays = phase == ZKR__PAUSED || phase == ZKR__CREATING ||
                           phase == ZKR__FINDING || phase == ZKR__REMOVING ||
                           phase == ZKR__GONE;
        assert_true(w.reached[false][phase] > 50);
        assert_int_equal(w.reached[true][phase] > 50, stays);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Pauses between attempts. */
#include "base/clock.h"
#include "unit.h"

/* Without jitter the pause doubles up to its limit and stays there. */
ZKT_UNIT_CASE(the_pause_doubles_up_to_its_limit)
{
    static const struct zkr__retry r = {.base = 50, .max = 5000};
    static const int64_t wanted[] = {50, 100, 200, 400, 800, 1600, 3200, 5000, 5000};
    for (size_t n = 0; n < ZKT_COUNT(wanted); n++) {
        assert_int_equal(zkr__retry_pause(&r, (int64_t)n, 0), wanted[n]);
    }
    assert_int_equal(zkr__retry_pause(&r, INT64_MAX, 0), 5000);
}

/* Extreme settings cause neither an overflow nor an endless loop. */
ZKT_UNIT_CASE(extreme_settings_are_safe)
{
    static const struct {
        struct zkr__retry r;
        int64_t n, wanted;
    } rows[] = {
        {{.base = 100, .max = 10}, 0, 10},
        {{.base = 100, .max = 10}, 5, 10},
        {{.base = 0, .max = 10}, 3, 0},
        {{.base = 1, .max = 1}, 9, 1},
        {{.base = 1, .max = INT64_MAX}, 62, INT64_C(1) << 62},
        {{.base = 1, .max = INT64_MAX}, 63, INT64_MAX},
        {{.base = 3, .max = INT64_MAX}, 1000, INT64_MAX},
        {{.base = INT64_MAX, .max = INT64_MAX}, 1, INT64_MAX},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        assert_int_equal(zkr__retry_pause(&rows[i].r, rows[i].n, 0), rows[i].wanted);
    }
}

/* Jitter takes away up to half of the pause, and over time nearly each part of that half. */
ZKT_UNIT_CASE(jitter_keeps_between_half_and_whole)
{
    static const struct zkr__retry r = {.base = 1000, .max = 8000};
    uint64_t seed = 1;
    int64_t least = INT64_MAX;
    int64_t most = 0;
    for (int i = 0; i < 100000; i++) {
        int64_t pause = zkr__retry_pause(&r, 2, zkr__retry_random(&seed));
        least = pause < least ? pause : least;
        most = pause > most ? pause : most;
    }
    ZKT_IN_RANGE(least, 2001, 2010);
    ZKT_IN_RANGE(most, 3990, 4000);
    assert_int_equal(zkr__retry_pause(&r, 2, UINT64_MAX), 4000 - UINT64_MAX % 2000);
}

/* A pause that is too short to be halved has no jitter. */
ZKT_UNIT_CASE(the_shortest_pauses_have_no_jitter)
{
    for (int64_t base = 0; base < 4; base++) {
        const struct zkr__retry r = {.base = base, .max = base};
        int64_t pause = zkr__retry_pause(&r, 0, UINT64_MAX);
        ZKT_IN_RANGE(pause, base - base / 2, base);
    }
}

/* One seed gives one sequence of numbers, which neither repeats a number at once nor reaches the state 0. */
ZKT_UNIT_CASE(the_random_numbers_depend_on_the_seed_alone)
{
    uint64_t x = 1;
    uint64_t y = 1;
    uint64_t z = 2;
    uint64_t last = 0;
    for (int i = 0; i < 10000; i++) {
        uint64_t number = zkr__retry_random(&x);
        assert_true(number == zkr__retry_random(&y));
        assert_true(number != zkr__retry_random(&z));
        assert_true(number != last);
        assert_true(x != 0);
        last = number;
    }
}

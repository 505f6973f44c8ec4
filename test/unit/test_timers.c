/* SPDX-License-Identifier: Apache-2.0 */
/* Which timer fires next, compared with a plain list of times. */
#include <stdlib.h>

#include "base/timers.h"
#include "unit.h"

enum { SOME = 40, MANY = 20000, STEPS = 200000 };

struct alarm {
    struct zkr__timer timer;
    int64_t at; /* the time that was set; 0 = off */
    int fired;
    int64_t again;       /* the new time to set while this timer fires; 0 = none */
    struct alarm *other; /* stopped while this one fires, or set to other_at */
    int64_t other_at;
};

static struct zkr__timers timers;
static int64_t last_at;
static int total;

static void fire(struct zkr__timer *timer, int64_t now)
{
    struct alarm *a = (struct alarm *)timer;
    assert_int_equal(timer->at, 0); /* off again */
    assert_true(a->at != 0 && a->at <= now);
    assert_true(a->at >= last_at); /* in order */
    last_at = a->at;
    a->at = 0;
    a->fired++;
    total++;
    if (a->again != 0) {
        a->at = a->again;
        a->again = 0;
        last_at = a->at < last_at ? a->at : last_at;
        zkr__timer_set(&timers, timer, a->at);
    }
    if (a->other) {
        a->other->at = a->other_at;
        last_at = a->other_at != 0 && a->other_at < last_at ? a->other_at : last_at;
        if (a->other_at != 0) {
            zkr__timer_set(&timers, &a->other->timer, a->other_at);
        } else {
            zkr__timer_stop(&timers, &a->other->timer);
        }
    }
}

static void set(struct alarm *a, int64_t at)
{
    a->timer.fire = fire;
    a->at = at;
    zkr__timer_set(&timers, &a->timer, at);
}

static void stop_alarm(struct alarm *a)
{
    a->at = 0;
    zkr__timer_stop(&timers, &a->timer);
}

static void fire_until(int64_t now)
{
    last_at = 0;
    zkr__timers_fire(&timers, now);
}

/* A timer that fires may stop or postpone another timer that is also due. */
ZKT_UNIT_CASE(a_timer_stopped_by_another_does_not_fire)
{
    struct alarm stopped = {.fired = 0}, put_off = {.fired = 0};
    struct alarm a = {.other = &stopped}, b = {.other = &put_off, .other_at = 30};
    set(&stopped, 12);
    set(&put_off, 13);
    set(&a, 10);
    set(&b, 11);
    fire_until(20);
    assert_int_equal(stopped.fired, 0);
    assert_int_equal(put_off.fired, 0);
    assert_int_equal(zkr__timers_next(&timers), 30);
    fire_until(30);
    assert_int_equal(put_off.fired, 1);
    assert_int_equal(total, 3);
}

static int64_t first_of(const struct alarm *a, size_t count)
{
    int64_t first = ZKR__NEVER;
    for (size_t i = 0; i < count; i++) {
        first = a[i].at != 0 && a[i].at < first ? a[i].at : first;
    }
    return first;
}

/*
 * Timers are set, set again, stopped and fired in random order, and are set again while they fire, also to a time in
 * the past. All due timers fire, once and in order, and the next one is always the first of all.
 */
ZKT_UNIT_CASE(the_next_is_always_the_first_of_all)
{
    struct alarm a[SOME] = {{.fired = 0}};
    uint64_t seed = 5;
    int64_t now = 1;
    assert_int_equal(zkr__timers_next(&timers), ZKR__NEVER);
    zkr__timers_fire(&timers, ZKR__NEVER);
    stop_alarm(&a[0]); /* it is already off */
    assert_int_equal(zkr__timers_next(&timers), ZKR__NEVER);
    for (int i = 0; i < STEPS; i++) {
        struct alarm *one = &a[zkt_below(&seed, SOME)];
        int64_t what = zkt_below(&seed, 8);
        if (what < 4) {
            set(one, now + zkt_below(&seed, 100));
        } else if (what < 6) {
            stop_alarm(one);
        } else {
            now += zkt_below(&seed, 20);
            one->again =
                what == 7 && one->at != 0 ? (now + 1) / 2 + zkt_below(&seed, now) : 0;
            fire_until(now);
            one->again = 0;
        }
        int64_t first = first_of(a, SOME);
        assert_int_equal(zkr__timers_next(&timers), first);
        assert_true(what < 6 || first > now);
    }
    assert_true(total > STEPS / 20);
}

/* Twenty thousand timers are set in random order, and a third of them are stopped. The others fire in their order. */
ZKT_UNIT_CASE(many_timers_fire_in_order)
{
    struct alarm *a = calloc(MANY, sizeof(*a));
    assert_non_null(a);
    uint64_t seed = 7;
    for (int i = 0; i < MANY; i++) {
        set(&a[i], 1 + zkt_below(&seed, MANY));
    }
    for (int i = 0; i < MANY; i += 3) {
        stop_alarm(&a[i]);
    }
    fire_until(MANY);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(a[i].fired, i % 3 != 0);
    }
    assert_int_equal(zkr__timers_next(&timers), ZKR__NEVER);
    free(a);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers, the next one first. Pure: the caller brings the time. A timer is embedded in what it is about, so
 * setting one needs no memory. Any number costs little: a pairing heap.
 */
#ifndef ZKR_BASE_TIMERS_H
#define ZKR_BASE_TIMERS_H

#include <stdint.h>

#include "base/clock.h"

/* Zeroed except for fire: off. */
struct zkr__timer {
    void (*fire)(struct zkr__timer *timer,
                 int64_t now); /* the timer is off again by then */
    int64_t at;                /* 0 = off */
    struct zkr__timer *child, *next, **link;
};

struct zkr__timers {
    struct zkr__timer *root; /* due first */
};

/* Set, or set anew, for @at, which is not 0. */
void zkr__timer_set(struct zkr__timers *timers, struct zkr__timer *timer, int64_t at);
/* A no-op when it is off. */
void zkr__timer_stop(struct zkr__timers *timers, struct zkr__timer *timer);

/* When the next one is due, or ZKR__NEVER. */
int64_t zkr__timers_next(const struct zkr__timers *timers);

/* Fire all that are due at @now, those that are set meanwhile for then or earlier too. */
void zkr__timers_fire(struct zkr__timers *timers, int64_t now);

#endif

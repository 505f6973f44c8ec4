/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers, in a pairing heap. Pure: the caller brings the time. A timer is embedded in its object, so setting it needs
 * no memory.
 */
#ifndef ZKR_BASE_TIMERS_H
#define ZKR_BASE_TIMERS_H

#include <stdint.h>

#include "base/clock.h"

/* Zeroed but for .fire: off. */
struct zkr__timer {
    /* The timer is off again by then. */
    void (*fire)(struct zkr__timer *timer, int64_t now);
    int64_t at; /* 0 = off */
    struct zkr__timer *child, *next, **link;
};

struct zkr__timers {
    struct zkr__timer *root; /* due first */
};

/* Set, or set anew. @at is not 0. */
void zkr__timer_set(struct zkr__timers *timers, struct zkr__timer *timer, int64_t at);
/* Does nothing to a timer that is off. */
void zkr__timer_stop(struct zkr__timers *timers, struct zkr__timer *timer);
/* When the next timer is due, or ZKR__NEVER. */
int64_t zkr__timers_next(const struct zkr__timers *timers);
/* Fire all timers that are due at @now, also timers that are set meanwhile for @now or earlier. */
void zkr__timers_fire(struct zkr__timers *timers, int64_t now);

#endif

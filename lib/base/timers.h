/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers in a pairing heap. Pure: the caller passes the time. A timer is embedded in its object, so setting a timer
 * needs no memory.
 */
#ifndef ZKR_BASE_TIMERS_H
#define ZKR_BASE_TIMERS_H

#include <stdint.h>

#include "base/clock.h"

/* A timer is off if all fields except .fire are zero. */
struct zkr__timer {
    /* Called when the timer fires. The timer is already off then. */
    void (*fire)(struct zkr__timer *timer, int64_t now);
    int64_t at; /* 0 = off */
    struct zkr__timer *child, *next, **link;
};

struct zkr__timers {
    struct zkr__timer *root; /* the next timer to fire */
};

/* Start a timer, or change the time of a running timer. @at must not be 0. */
void zkr__timer_set(struct zkr__timers *timers, struct zkr__timer *timer, int64_t at);
/* Stop a timer. If it is off, do nothing. */
void zkr__timer_stop(struct zkr__timers *timers, struct zkr__timer *timer);
/* Returns when the next timer is due, or ZKR__NEVER if all are off. */
int64_t zkr__timers_next(const struct zkr__timers *timers);
/* Fire all timers that are due at @now, including timers that are set meanwhile for @now or earlier. */
void zkr__timers_fire(struct zkr__timers *timers, int64_t now);

#endif

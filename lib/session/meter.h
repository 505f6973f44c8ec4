/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements for each path: waits and holds, their outcomes and durations. A meter lives as long as its client, so
 * counters never decrease. Once ZKR__METERS paths have meters, all other paths share one. All functions need the
 * client's lock.
 */
#ifndef ZKR_SESSION_METER_H
#define ZKR_SESSION_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/path_table.h"

/* --- durations: counts between fixed bounds, from a millisecond to an hour --- */

enum { ZKR__BOUNDS = 16 };

struct zkr__histogram {
    int64_t sum_ns;
    /*
     * Number of durations above the previous bound and up to this one. The last element counts durations above all
     * bounds.
     */
    int64_t counts[ZKR__BOUNDS + 1];
};

/* Add a duration. A negative duration counts as 0. */
void zkr__histogram_add(struct zkr__histogram *h, int64_t ns);
/* Returns the upper bound of counts[@i] as text in seconds, for example "0.25", or "+Inf" for the last element. */
const char *zkr__histogram_bound(int i);

/* --- meters --- */

enum { ZKR__METERS = 1000 };

/* As in zkr_lost_reason. STOPPED: the lease ended while the process was stopped. */
enum zkr__metered_loss {
    ZKR__METERED_SESSION,
    ZKR__METERED_NODE,
    ZKR__METERED_LEASE,
    ZKR__METERED_STOPPED,
    ZKR__METERED_LOSSES
};

/* The cause of the grant that ended a wait. metrics.h explains the kinds. */
enum zkr__hand_over {
    ZKR__BY_NEIGHBOUR,
    ZKR__BY_NEWS,
    ZKR__BY_EVENT,
    ZKR__BY_PREPARATION,
    ZKR__BY_LIST,
    ZKR__HAND_OVERS
};

struct zkr__counts {
    int64_t waiting, held;
    int64_t acquired, contended, timed_out, canceled, failed, reentries;
    int64_t lost[ZKR__METERED_LOSSES];
    int64_t hand_overs[ZKR__HAND_OVERS];
    struct zkr__histogram wait, hold;
};

struct zkr__meter {
    struct zkr__counts n;
    struct zkr__meter *prev, *next;
    struct zkr__path_entry by_path;
    const char *path;
};

struct zkr__meters {
    struct zkr__path_table by_path;
    struct zkr__meter *list; /* oldest first */
    size_t count;
    struct zkr__meter other;
};

/*
 * Returns the meter of @path, which the first call creates. If there is no room for it, returns the meter that all
 * other paths share.
 */
struct zkr__meter *zkr__meter_of(struct zkr__meters *meters, const char *path);
void zkr__meters_free(struct zkr__meters *meters);

#endif

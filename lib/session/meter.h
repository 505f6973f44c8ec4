/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is measured at each path: who waits and who holds, what became of it, how long it took. metrics.c makes a text of
 * it. A meter lives as long as its client, so counters never go back; beyond ZKR__METERS paths one serves all others.
 * All functions need the client's lock.
 */
#ifndef ZKR_SESSION_METER_H
#define ZKR_SESSION_METER_H

#include "base/histogram.h"
#include "base/path_table.h"

enum { ZKR__METERS = 1000 };

/* As zkr_lost_reason, but a lease that ended since the process did not run is LOST_STOPPED. */
enum zkr__metered_loss {
    ZKR__METERED_SESSION,
    ZKR__METERED_NODE,
    ZKR__METERED_LEASE,
    ZKR__METERED_STOPPED,
    ZKR__METERED_LOSSES
};

/* How it came that one who waited was granted: metrics.h has the words. */
enum zkr__hand_over { ZKR__BY_NEIGHBOUR, ZKR__BY_EVENT, ZKR__BY_LIST, ZKR__HAND_OVERS };

struct zkr__counts {
    int64_t waiting, held;
    int64_t acquired, contended, timed_out, canceled, failed, reentries;
    int64_t lost[ZKR__METERED_LOSSES];
    int64_t hand_overs[ZKR__HAND_OVERS];
    struct zkr__histogram wait, hold;
};

struct zkr__meter {
    struct zkr__counts n;
    struct zkr__meter *next;
    struct zkr__path_entry by_path;
    const char *path;
};

struct zkr__meters {
    struct zkr__path_table by_path;
    struct zkr__meter *first, **tail; /* tail NULL: none yet */
    size_t count;
    struct zkr__meter other;
};

/* The one of @path, which is made when there is none. */
struct zkr__meter *zkr__meter_of(struct zkr__meters *meters, const char *path);
void zkr__meters_free(struct zkr__meters *meters);

/* The steps of one that asks, in this order: it waits, then is granted or fails; a hold is released or lost. Times in ns. */
void zkr__meter_wait(struct zkr__meter *m);
void zkr__meter_grant(struct zkr__meter *m, int64_t waited, bool contended);
void zkr__meter_fail(struct zkr__meter *m, int code);
void zkr__meter_release(struct zkr__meter *m, int64_t held);
void zkr__meter_lose(struct zkr__meter *m, int64_t held, enum zkr__metered_loss why);

#endif

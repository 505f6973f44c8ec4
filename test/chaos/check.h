/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_CHECK_H
#define ZKC_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan.h"
#include "record.h"

/*
 * Checks what history.h does not check: time, callbacks, progress. Pure functions: the same history always gets the
 * same verdict.
 */

#define ZKC_BAD_MAP(X)                                                                 \
    X(ILLEGAL, "no order of the operations is that of a lock")                         \
    X(BOTH, "two believed to hold at once")                                            \
    X(LATE, "acquire returned long after its deadline")                                \
    X(UNNOTICED, "deleted node noticed too late")                                      \
    X(TOLD, "callback of a ticket out of turn")                                        \
    X(WEDGED, "lock wanted and free for long while the servers answered")              \
    X(STARVED, "lock not obtained after the nemesis stopped")                          \
    X(LEFT_OVER, "something left behind")                                              \
    X(CRASHED, "process ended by itself")                                              \
    X(NO_MOVES, "run without enough happening")

enum zkc_bad {
#define ZKC_BAD_ENUM_(name, text) ZKC_BAD_##name,
    ZKC_BAD_MAP(ZKC_BAD_ENUM_)
#undef ZKC_BAD_ENUM_
        ZKC_BAD_KINDS
};

enum {
    ZKC_LATE_MS = 2000,    /* an acquire may be this much later than its timeout */
    ZKC_NOTICE_MS = 500,   /* a holder may notice a deletion a session and this later */
    ZKC_CALM_MS = 45000,   /* by then every thread must have got every lock */
    ZKC_WEDGED_MS = 20000, /* a wanted lock that is free this long is wedged */
    ZKC_ANSWERED_MS = 5000, /* servers that are silent for longer count as away */
    ZKC_ALL_KINDS_S = 300,  /* a run this long must have every kind of fault */
    ZKC_LOSSES_S = 120,     /* a run this long must have losses */
    ZKC_FAULT_EVERY_S = 20, /* a run must have a fault for each this many seconds */
    ZKC_TEXT = 400
};

/* A hold, put together from the records of the history. */
typedef struct zkc_hold {
    int64_t token;
    int64_t asked, granted; /* when acquire was called; when it returned */
    int64_t last_sure;      /* when the hold was last sure, by its SURE records */
    int64_t claimed;        /* end of the longest promise of validity */
    int64_t released;       /* when the hold was released; 0: never */
    int64_t deleted;        /* when the deletion from outside began; 0: not deleted */
    int64_t deleted_until;
    int release_code;
    int path; /* a multi-lock has two holds, one for each path */
} zkc_hold;

struct zkc_expected {
    int64_t seconds; /* duration of the nemesis */
    zkc_kinds kinds; /* the possible faults */
    bool each;       /* each of @kinds must occur, however short the run */
    bool ended;      /* the run ended in order: @paths are known */
    struct {
        int64_t counter; /* value at the end */
        int64_t store_value, store_writes;
    } paths[ZKC_PATHS];
};

struct zkc_verdict {
    int64_t bad[ZKC_BAD_KINDS];
    char first[ZKC_BAD_KINDS][ZKC_TEXT]; /* the first violation of each kind */
    int64_t count[ZKC_KINDS];
    int64_t fault[ZKC_FAULT_KINDS];
    int64_t fault_ns[ZKC_FAULT_KINDS];    /* the longest */
    int64_t timed_out, canceled, refused; /* acquires; refused = any other code */
    int64_t granted[ZKC_BYS];
    int64_t granted_as[ZKC_ASES];
    int64_t kept;             /* grants that reused a kept node */
    int64_t tickets_canceled; /* included in canceled */
    int64_t store_refused;    /* writes refused because of their token */
    /* Durations, in ns; each the longest unless its name says otherwise. */
    int64_t hand_over_median, hand_over_99, hand_over_max;
    int64_t unavailable; /* a thread waited for a lock that nobody held */
    int64_t late;        /* acquires after their deadlines */
    int64_t stalled;     /* a client stalled by the machine, not by the nemesis */
    int64_t calm;        /* after the nemesis, until every thread had every lock */
    int64_t noticed;     /* until a deletion from outside was noticed */
};

/** Returns the holds ordered by token, to be freed, or NULL if there is no memory. */
zkc_hold *zkc_holds(const zkc_record *all, size_t n, size_t *count);
/** Returns when the claim of the hold ended. */
int64_t zkc_hold_end(const zkc_hold *h);
/** Returns whether the record, a grant or a failure, concerns @path. */
bool zkc_is_on(const zkc_record *r, int path);
/** Order by path, then by time of the grant. */
int zkc_hold_by_time(const void *a, const void *b);

/* The times from the end of a claim to the next hold on the same path, in ns. */
struct zkc_gaps {
    int64_t shortest, longest; /* 0 if there is no gap */
    int64_t both;              /* how often a claim ended after the next hold began */
};

/**
 * Returns the gaps between holds of mutexes that are never released before the claim ends. @holds are ordered by time.
 */
struct zkc_gaps zkc_gaps(const zkc_hold *holds, size_t count, struct zkc_verdict *v);

void zkc_check(const zkc_record *all,
               size_t n,
               const struct zkc_expected *expected,
               struct zkc_verdict *v);

/** Compute how long hand-overs took and how long a wanted lock was free. @holds are ordered by time. */
void zkc_figures(const zkc_record *all,
                 size_t n,
                 const zkc_hold *holds,
                 size_t count,
                 struct zkc_verdict *v);

/** Returns whether each kind of fault must take effect. */
bool zkc_is_each_expected(const struct zkc_expected *expected);

/** Add a violation. */
void zkc_bad_add(struct zkc_verdict *v, enum zkc_bad kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int64_t zkc_bad_count(const struct zkc_verdict *v);
const char *zkc_bad_name(enum zkc_bad kind);

#endif

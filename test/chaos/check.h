/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_CHECK_H
#define ZKC_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan.h"
#include "record.h"

/*
 * Judges of a history what history.h does not: time, callbacks, progress. Pure: the same history gets the same
 * verdict.
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
    ZKC_LATE_MS = 2000, /* an acquire may be later than its time-out by this */
    ZKC_NOTICE_MS =
        500, /* a deletion by hand may be noticed a session and this later */
    ZKC_CALM_MS = 45000,    /* everybody gets every lock by then */
    ZKC_WEDGED_MS = 20000,  /* nobody holds it, somebody waits, the servers answer */
    ZKC_ANSWERED_MS = 5000, /* with less than one answer in this they do not */
    ZKC_ALL_KINDS_S = 300,  /* a run of that length has every kind of fault, */
    ZKC_LOSSES_S = 120,     /* of that length, losses */
    ZKC_FAULT_EVERY_S = 20, /* and in so many seconds at least one fault */
    ZKC_TEXT = 400
};

/* What a hold of the history came to. */
typedef struct zkc_hold {
    int64_t token;
    int64_t asked, granted; /* acquire called, returned */
    int64_t last_sure;      /* last time at which it was asked, and sure */
    int64_t claimed;        /* to when it was told to be sure */
    int64_t released;       /* 0: never */
    int64_t deleted;        /* by hand: when that began; 0: not */
    int64_t deleted_until;
    int release_code;
    int path; /* of a multi-lock there are two holds, one for each path */
} zkc_hold;

struct zkc_expected {
    int64_t seconds; /* of the nemesis */
    zkc_kinds kinds; /* of faults that there may be */
    bool each;       /* of these there has to be, however short the run */
    bool ended;      /* in order: what follows is known */
    struct {
        int64_t counter; /* at the end */
        int64_t store_value, store_writes;
    } paths[ZKC_PATHS];
};

struct zkc_verdict {
    int64_t bad[ZKC_BAD_KINDS];
    char first[ZKC_BAD_KINDS][ZKC_TEXT]; /* of each kind */
    int64_t count[ZKC_KINDS];
    int64_t fault[ZKC_FAULT_KINDS];
    int64_t fault_ns[ZKC_FAULT_KINDS];    /* the longest */
    int64_t timed_out, canceled, refused; /* acquires; refused: any other code */
    int64_t granted[ZKC_BYS];
    int64_t granted_as[ZKC_ASES];
    int64_t kept;             /* grants by a node that was there */
    int64_t tickets_canceled; /* of those canceled */
    int64_t store_refused;    /* writes by their token */
    /* figures, in ns */
    int64_t hand_over_median, hand_over_99, hand_over_max;
    int64_t unavailable; /* somebody waited, nobody held */
    int64_t late;        /* acquires behind their deadlines */
    int64_t stalled;     /* a client by the machine, not by the nemesis */
    int64_t calm;        /* until all had every lock after the nemesis */
    int64_t noticed;     /* a deletion by hand */
};

/** Holds by rising token; to be freed. NULL: no memory. */
zkc_hold *zkc_holds(const zkc_record *all, size_t n, size_t *count);
/** When its claim ended. */
int64_t zkc_hold_end(const zkc_hold *h);
/** Whether a grant or failure is of @path. */
bool zkc_is_on(const zkc_record *r, int path);
/** Order by path, then by when it was granted. */
int zkc_hold_by_time(const void *a, const void *b);

/* From the end of a claim to the next hold on the path, in ns. */
struct zkc_gaps {
    int64_t shortest, longest; /* 0 if there is none */
    int64_t both; /* how often the claim ended later than the next hold began */
};

/** Of mutexes, that nobody gives back before the end of the claim: @holds ordered by time. */
struct zkc_gaps zkc_gaps(const zkc_hold *holds, size_t count, struct zkc_verdict *v);

void zkc_check(const zkc_record *all,
               size_t n,
               const struct zkc_expected *expected,
               struct zkc_verdict *v);

/** How long hand-overs took, and how long nobody held: @holds ordered by time. */
void zkc_figures(const zkc_record *all,
                 size_t n,
                 const zkc_hold *holds,
                 size_t count,
                 struct zkc_verdict *v);

/** Has each kind of fault to take effect? */
bool zkc_is_each_expected(const struct zkc_expected *expected);

/** Add a violation. */
void zkc_bad_add(struct zkc_verdict *v, enum zkc_bad kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int64_t zkc_bad_count(const struct zkc_verdict *v);
const char *zkc_bad_name(enum zkc_bad kind);

#endif

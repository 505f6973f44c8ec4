/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_MADE_UP_H
#define ZKC_MADE_UP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check.h"

/* Made-up histories: good ones, of which a test spoils a record. */

enum { MS = 1000000, ROOM = 4096, ROUND_MS = 20, PROMISE_MS = 1000 };

/* The records of one visit, in this order. */
enum { GRANT, SURE, STORE, AGAIN, PLAIN, TRY, WRITTEN, RELEASE, RELEASED, VISIT };

struct made_up {
    zkc_record all[ROOM];
    size_t n;
    int64_t now; /* ns */
    int64_t token;
    int64_t sequence;
    int64_t visits;
    struct zkc_expected expected;
    struct zkc_verdict verdict;
};

extern struct made_up t;

/** cmocka's: an empty history but for a time-out and a canceled ticket. */
int made_up_setup(void **state);

/** A record @at_ms from now; @who counts the threads of all processes. */
zkc_record *add(enum zkc_kind kind, int who, int path, int64_t at_ms);

/** One hold of 10 ms with everything that can be done in it. Returns its first record. */
zkc_record *visit(int who, int path);

/** The same by a multi-lock of the paths 0 and 2, which is first on both. */
zkc_record *visit_both(int who);

/** A writer that stays as a reader from 5 ms on; followed by two more records. */
zkc_record *visit_downgraded(int who);

void set_as(zkc_record *visit, enum zkc_as as, int permits);

/** An acquire that failed after @limit_ms. */
zkc_record *failed(int code, int64_t limit_ms);

/** The end of every good history. */
void calm(void);

void strike_out(zkc_record *r);

/** Judge and print. */
void judge(void);
void expect_good(void);
void expect_only(enum zkc_bad kind);

#endif

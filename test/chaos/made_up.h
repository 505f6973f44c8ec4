/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_MADE_UP_H
#define ZKC_MADE_UP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check.h"

/* Made-up histories. They are good; a test then spoils a record. */

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

/** The setup function for cmocka: a history with only a timeout and a canceled ticket. */
int made_up_setup(void **state);

/** Add a record, @at_ms from now. @who numbers the threads of all processes. */
zkc_record *add(enum zkc_kind kind, int who, int path, int64_t at_ms);

/** Add a hold of 10 ms with every operation that a hold allows. Returns its first record. */
zkc_record *visit(int who, int path);

/** Like visit(), by a multi-lock of the paths 0 and 2 that is first on both. */
zkc_record *visit_both(int who);

/** Add a hold of a writer that stays as a reader from 5 ms on. Two more records follow. */
zkc_record *visit_downgraded(int who);

void set_as(zkc_record *visit, enum zkc_as as, int permits);

/** Add an acquire that failed after @limit_ms. */
zkc_record *failed(int code, int64_t limit_ms);

/** Add the end that every good history has. */
void calm(void);

void strike_out(zkc_record *r);

/** Judge the history, and print the violations. */
void judge(void);
void expect_good(void);
void expect_only(enum zkc_bad kind);

#endif

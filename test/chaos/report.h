/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_REPORT_H
#define ZKC_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "check.h"
#include "store.h"

/* What a person is told: lines while it runs, a table at the end. */

struct zkc_progress {
    int history;
    size_t read; /* records so far */
    int64_t count[ZKC_KINDS];
    int64_t timed_out;
    zkc_kinds took;        /* kinds of faults that have taken effect */
    int64_t grants_before; /* at the last line */
    int64_t next_at;       /* when the next line is due */
    int64_t started;
    const char *doing;
};

/** Read what is new in the history, and write a line when one is due. */
void zkc_progress_tick(void *progress);
/** A line at once. */
void zkc_progress_say(struct zkc_progress *p, const char *doing);

struct zkc_outcome_text {
    uint64_t seed;
    int64_t seconds;
    zkc_kinds kinds;     /* of faults that there may have been */
    const char *nemesis; /* the list that said so, or NULL */
    const struct zkc_verdict *verdict;
    const zkc_store_reply *store; /* one for each path */
};

/** The end of a table: the violations. */
void zkc_report_bad(const struct zkc_verdict *v);

/** The table, on stdout. */
void zkc_report(const struct zkc_outcome_text *o);

#endif

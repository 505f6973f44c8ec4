/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_REPORT_H
#define ZKC_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "check.h"
#include "store.h"

/* The output of a run: progress lines while it runs, a table at the end. */

struct zkc_progress {
    int history;
    size_t read; /* records read so far */
    int64_t count[ZKC_KINDS];
    int64_t timed_out;
    zkc_kinds took;        /* kinds of faults that have taken effect */
    int64_t grants_before; /* at the last line */
    int64_t next_at;       /* when the next line is due */
    int64_t started;
    const char *doing;
};

/** Read the new records of the history, and print a line when one is due. */
void zkc_progress_tick(void *progress);
/** Print a line at once. */
void zkc_progress_say(struct zkc_progress *p, const char *doing);

struct zkc_outcome_text {
    uint64_t seed;
    int64_t seconds;
    zkc_kinds kinds;     /* the possible kinds of faults */
    const char *nemesis; /* the argument of --nemesis, or NULL */
    const struct zkc_verdict *verdict;
    const zkc_store_reply *store; /* one for each path */
};

/** Print the end of a table: the violations. */
void zkc_report_bad(const struct zkc_verdict *v);

/** Print the table on stdout. */
void zkc_report(const struct zkc_outcome_text *o);

#endif

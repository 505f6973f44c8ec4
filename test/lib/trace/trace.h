/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The set of all steps that claims have made. The tests record theirs in the file that $ZKT_TRACE names, all programs in
 * the same file, each step once. The proof of claims records its own in memory, and compares (test/proof).
 */
#ifndef ZKT_TRACE_H
#define ZKT_TRACE_H

#include "transition.h"

struct zkt_trace;

/* Map the set in @file. If the file is missing, create it, or exit if not @create. */
struct zkt_trace *zkt_trace_open(const char *file, bool create);
/* Add a step, if it is new. The name of this program is recorded with it. */
void zkt_trace_add(struct zkt_trace *set,
                   const struct zkr__claim_state *before,
                   const struct zkr__claim_event *e,
                   const struct zkr__claim_state *after,
                   unsigned todo);
/* Returns how many steps of @seen are not in @set, and prints each of them. @steps: of all that were added, also again. */
int zkt_trace_compare(const struct zkt_trace *seen,
                      const struct zkt_trace *set,
                      uint64_t *steps,
                      int *different);

#endif

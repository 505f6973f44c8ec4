/* SPDX-License-Identifier: Apache-2.0 */
/* Samples, and the lines of the report. */
#ifndef ZKR_BENCH_STATS_H
#define ZKR_BENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts as {0}. */
struct series {
    double *values;
    size_t count, room;
};

void series_add(struct series *s, double value); /* NULL: nothing is kept */
/* The value below which @share of the samples lie: 0 = least, 0.5 = median. Sorts. */
double series_at(struct series *s, double share);
/* The median of those added since there were @from. */
double series_recent(const struct series *s, size_t from);
void series_free(struct series *s);

int64_t stats_now(void); /* ns, CLOCK_MONOTONIC */
int64_t stats_cpu(void); /* ns of CPU time this process has used */

enum row_aim {
    ROW_FOR_INFORMATION,
    ROW_VALUE_AT_MOST, /* of the median of ours */
    ROW_RATIO_AT_MOST, /* ours / other */
    ROW_GAIN_AT_LEAST, /* other / ours */
    ROW_MORE_AT_MOST   /* ours - other, of the medians */
};

/* One line. All samples are costs: less is better. The ratio is the median of the rounds'. */
struct row {
    const char *name;
    const char *unit;
    struct series *ours;
    struct series *other;  /* NULL = nothing to compare with */
    struct series *ratios; /* of each round, ours / other; NULL likewise */
    enum row_aim aim;
    double target;
};

void row_heading(bool json);
void row_print(const struct row *row, bool json);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Samples, and the lines of the report. */
#ifndef ZKR_BENCH_STATS_H
#define ZKR_BENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Initially {0}. */
struct series {
    double *values;
    size_t count, room;
};

void series_add(struct series *s, double value); /* @s NULL: the value is not kept */
/* Returns the @share quantile of the samples: 0 = minimum, 0.5 = median. Sorts the samples. */
double series_at(struct series *s, double share);
/* Returns the median of the samples from the index @from on. */
double series_recent(const struct series *s, size_t from);
void series_free(struct series *s);

int64_t stats_now(void); /* returns ns of CLOCK_MONOTONIC */
int64_t stats_cpu(void); /* returns the CPU time of this process, in ns */

enum row_aim {
    ROW_FOR_INFORMATION,
    ROW_VALUE_AT_MOST, /* limits the median of ours */
    ROW_RATIO_AT_MOST, /* limits ours / other */
    ROW_GAIN_AT_LEAST, /* the least that other / ours should be */
    ROW_MORE_AT_MOST   /* limits ours - other, of the medians */
};

/*
 * One line of the report. All samples are costs, so less is better. The ratio is the median of the ratios of the
 * rounds.
 */
struct row {
    const char *name;
    const char *unit;
    struct series *ours;
    struct series *other; /* NULL = there is no comparison */
    /* The ratio ours / other for each round. NULL = there is no comparison. */
    struct series *ratios;
    enum row_aim aim;
    double target;
};

void row_heading(bool json);
void row_print(const struct row *row, bool json);

#endif

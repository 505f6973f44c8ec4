/* SPDX-License-Identifier: Apache-2.0 */
#include "stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "die.h"

void series_add(struct series *s, double value)
{
    if (!s) {
        return;
    }
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 256;
        s->values = realloc(s->values, s->room * sizeof(*s->values));
        if (!s->values) {
            bench_die("out of memory");
        }
    }
    s->values[s->count++] = value;
}

static int compare(const void *x, const void *y)
{
    double a = *(const double *)x;
    double b = *(const double *)y;
    return (a > b) - (a < b);
}

double series_at(struct series *s, double share)
{
    if (s->count == 0) {
        return 0;
    }
    qsort(s->values, s->count, sizeof(*s->values), compare);
    return s->values[(size_t)((double)(s->count - 1) * share + 0.5)];
}

double series_recent(const struct series *s, size_t from)
{
    struct series recent = {0};
    for (size_t i = from; i < s->count; i++) {
        series_add(&recent, s->values[i]);
    }
    double median = series_at(&recent, 0.5);
    series_free(&recent);
    return median;
}

void series_free(struct series *s)
{
    free(s->values);
    *s = (struct series){0};
}

int64_t stats_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t ns_of(struct timeval t)
{
    return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_usec * 1000;
}

int64_t stats_cpu(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
}

/* --- report --- */

/*
 * Returns the @share quantile of the rounds' ratios, in the direction of the aim, or 0 if there is nothing to compare.
 */
static double ratio_at(const struct row *row, double share)
{
    if (!row->ratios || row->ratios->count == 0) {
        return 0;
    }
    return row->aim == ROW_GAIN_AT_LEAST ? 1 / series_at(row->ratios, 1 - share)
                                         : series_at(row->ratios, share);
}

static double difference(const struct row *row)
{
    return series_at(row->ours, 0.5) - series_at(row->other, 0.5);
}

static bool is_met(const struct row *row)
{
    switch (row->aim) {
    case ROW_VALUE_AT_MOST:
        return series_at(row->ours, 0.5) <= row->target;
    case ROW_RATIO_AT_MOST:
        return ratio_at(row, 0.5) <= row->target;
    case ROW_GAIN_AT_LEAST:
        return ratio_at(row, 0.5) >= row->target;
    case ROW_MORE_AT_MOST:
        return difference(row) <= row->target;
    case ROW_FOR_INFORMATION:
        break;
    }
    return true;
}

static void print_json_side(const char *key, struct series *s)
{
    printf(",\"%s\":{\"n\":%zu,\"min\":%.3f,\"p50\":%.3f,\"p90\":%.3f}", key, s->count,
           series_at(s, 0), series_at(s, 0.5), series_at(s, 0.9));
}

static void print_json(const struct row *row)
{
    static const char *const aims[] = {
        [ROW_FOR_INFORMATION] = "none",        [ROW_VALUE_AT_MOST] = "ours <=",
        [ROW_RATIO_AT_MOST] = "ours/other <=", [ROW_GAIN_AT_LEAST] = "other/ours >=",
        [ROW_MORE_AT_MOST] = "ours-other <=",
    };
    printf("{\"name\":\"%s\",\"unit\":\"%s\"", row->name, row->unit);
    print_json_side("ours", row->ours);
    if (row->other) {
        print_json_side("other", row->other);
        printf(",\"ratio\":%.3f,\"q1\":%.3f,\"q3\":%.3f", ratio_at(row, 0.5),
               ratio_at(row, 0.25), ratio_at(row, 0.75));
    }
    if (row->aim == ROW_MORE_AT_MOST) {
        printf(",\"difference\":%.3f", difference(row));
    }
    printf(",\"aim\":\"%s\"", aims[row->aim]);
    if (row->aim != ROW_FOR_INFORMATION) {
        printf(",\"target\":%.3f,\"met\":%s", row->target,
               is_met(row) ? "true" : "false");
    }
    printf("}\n");
}

static void print_side(struct series *s)
{
    if (s) {
        printf(" %8.1f %8.1f %8.1f", series_at(s, 0), series_at(s, 0.5),
               series_at(s, 0.9));
    } else {
        printf(" %8s %8s %8s", "", "-", "");
    }
}

static void print_line(const struct row *row)
{
    printf("%-38s %-8s", row->name, row->unit);
    print_side(row->ours);
    printf(" |");
    print_side(row->other);
    if (row->other) {
        printf(" | %6.2f %6.2f %6.2f", ratio_at(row, 0.25), ratio_at(row, 0.5),
               ratio_at(row, 0.75));
    } else {
        printf(" | %20s", "");
    }
    if (row->aim == ROW_MORE_AT_MOST) {
        printf("  %+.1f", difference(row));
    }
    if (row->aim != ROW_FOR_INFORMATION) {
        printf("  %s %6.2f  %s",
               row->aim == ROW_GAIN_AT_LEAST ? ">=" : "<=", row->target,
               is_met(row) ? "met" : "MISSED");
    }
    printf("\n");
}

void row_heading(bool json)
{
    if (!json) {
        printf("%-38s %-8s %26s | %26s | %20s  target\n", "", "", "ours", "other",
               "ratio of the rounds");
        printf("%-38s %-8s %8s %8s %8s | %8s %8s %8s | %6s %6s %6s\n", "measurement",
               "unit", "min", "median", "p90", "min", "median", "p90", "q1", "median",
               "q3");
    }
}

void row_print(const struct row *row, bool json)
{
    if (json) {
        print_json(row);
    } else {
        print_line(row);
    }
    (void)fflush(stdout);
}

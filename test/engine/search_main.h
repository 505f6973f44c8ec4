/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a search of schedules does as a program:
 *
 *   PROGRAM [--seeds N] [--from S]       seeds that once failed, then N from S on
 *           [--seconds N] [--base B]     and then others, for so long; from where is said, if not chosen
 *   PROGRAM --seed S [--trace]           one again, and say what happens in it
 *   PROGRAM --beyond ...                 with clocks that differ by more than they may
 */
#ifndef ZKT_SEARCH_MAIN_H
#define ZKT_SEARCH_MAIN_H

#include <stdbool.h>
#include <stdint.h>

struct search_program {
    const char *name;                       /* in the file of kept seeds */
    uint64_t seeds;                         /* usually */
    bool (*run)(uint64_t seed, bool trace); /* false: */
    const char *violation;                  /* says what was wrong */
    void (*print_counts)(void);
    /* Further tests, with the counts of all that was run. Returns how many failed. */
    int (*after)(void);
    bool *beyond; /* set by --beyond; NULL = there is no such option */
};

int search_main(int argc, char **argv, const struct search_program *program);

#endif

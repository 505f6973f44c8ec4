/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_engine_search [--seeds N] [--from S]        search
 * test_engine_search --seed S [--trace]             replay one
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "search.h"
#include "util.h"

static uint64_t from = 1, seeds = 20000;
static bool trace;

static void print_counts(void)
{
    printf("steps %ld, entered %ld, grants %ld, losses %ld, failures %ld, gains %ld\n"
           "faults %ld: cuts %ld, stops %ld, isolations %ld, crashes %ld, by hand %ld, "
           "kills %ld\n",
           S.did.steps, S.did.entered, S.did.grants, S.did.losses, S.did.failed,
           S.did.latch_gains, S.did.faults, S.did.cuts, S.did.stops, S.did.isolations,
           S.did.crashes, S.did.hands, S.did.kills);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--trace") == 0) {
            trace = true;
        } else if (i + 1 < argc && strcmp(argv[i], "--seeds") == 0) {
            seeds = strtoull(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--from") == 0) {
            from = strtoull(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
            from = strtoull(argv[++i], NULL, 10);
            seeds = 1;
        }
    }
    for (uint64_t seed = from; seed < from + seeds; seed++) {
        if (!search_run(seed, trace)) {
            printf("seed %" PRIu64 ": %s\n", seed, S.violation);
            return 1;
        }
    }
    print_counts();
    return 0;
}

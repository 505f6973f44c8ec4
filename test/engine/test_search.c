/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search as a test, and by hand:
 *
 *   test_engine_search [--seeds N] [--from S]    search N schedules
 *   test_engine_search --seed S [--trace]        replay one, and say what happens in it
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "search.h"
#include "util.h"

static uint64_t from = 1, seeds = 20000;

static void print_counts(void)
{
    printf("steps %ld, entered %ld, grants %ld, losses %ld, failures %ld, gains %ld, "
           "tickets %ld, readers together %ld, downgrades %ld, multi-locks %ld, their "
           "paths granted "
           "%ld\n"
           "permits granted %ld, several %ld, together %ld, resized %ld\n"
           "faults %ld: cuts %ld, stops %ld, isolations %ld, crashes %ld, by hand %ld, "
           "kills %ld, shortened %ld; wishes %ld, told to tickets %ld\n",
           S.did.steps, S.did.entered, S.did.grants, S.did.losses, S.did.failed,
           S.did.latch_gains, S.did.tickets, S.did.shared_grants, S.did.downgrades,
           S.did.multis, S.did.multi_grants, S.did.permit_grants, S.did.several_permits,
           S.did.permits_together, S.did.resizes, S.did.faults, S.did.cuts, S.did.stops,
           S.did.isolations, S.did.crashes, S.did.hands, S.did.kills, S.did.shortened,
           S.did.wishes, S.did.asked);
}

/* In no schedule do two hold, is anybody overtaken or forgotten, or is anything left. */
static void what_must_hold_holds_in_every_schedule(void **state)
{
    (void)state;
    printf("%" PRIu64 " schedules from seed %" PRIu64 "\n", seeds, from);
    for (uint64_t seed = from; seed - from < seeds; seed++) {
        if (!search_run(seed, false)) {
            zkt_fail("seed %" PRIu64 ": %s\nreplay: test_engine_search --seed %" PRIu64
                     " --trace",
                     seed, S.violation, seed);
        }
    }
    print_counts();
}

/* A search that never lost, cut or stopped anything has shown nothing. */
static void every_kind_of_fault_was_met(void **state)
{
    (void)state;
    const long counts[] = {S.did.grants,
                           S.did.losses,
                           S.did.failed,
                           S.did.latch_gains,
                           S.did.cuts,
                           S.did.stops,
                           S.did.isolations,
                           S.did.crashes,
                           S.did.hands,
                           S.did.kills,
                           S.did.shortened,
                           S.did.tickets,
                           S.did.shared_grants,
                           S.did.downgrades,
                           S.did.wishes,
                           S.did.asked,
                           S.did.multis,
                           S.did.multi_grants,
                           S.did.permit_grants,
                           S.did.several_permits,
                           S.did.permits_together,
                           S.did.resizes};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        assert_true(counts[i] > 0);
    }
}

/* The same seed is the same schedule, so that what fails can be looked at. */
static void a_seed_replays(void **state)
{
    (void)state;
    for (uint64_t seed = from; seed < from + 20; seed++) {
        long steps[2], grants[2];
        int64_t end[2];
        for (int i = 0; i < 2; i++) {
            long steps_before = S.did.steps, grants_before = S.did.grants;
            assert_true(search_run(seed, false));
            steps[i] = S.did.steps - steps_before;
            grants[i] = S.did.grants - grants_before;
            end[i] = zkf_now();
        }
        assert_int_equal(steps[0], steps[1]);
        assert_int_equal(grants[0], grants[1]);
        assert_int_equal(end[0], end[1]);
    }
}

static int replay(uint64_t seed, bool trace)
{
    bool fine = search_run(seed, trace);
    print_counts();
    printf("seed %" PRIu64 ": %s\n", seed, fine ? "nothing wrong" : S.violation);
    return fine ? 0 : 1;
}

int main(int argc, char **argv)
{
    bool one = false, trace = false;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--trace") == 0) {
            trace = true;
        } else if (value && strcmp(argv[i], "--seeds") == 0) {
            seeds = strtoull(argv[++i], NULL, 10);
        } else if (value && strcmp(argv[i], "--from") == 0) {
            from = strtoull(argv[++i], NULL, 10);
        } else if (value && strcmp(argv[i], "--seed") == 0) {
            from = strtoull(argv[++i], NULL, 10);
            one = true;
        } else {
            fprintf(stderr, "usage: %s [--seeds N] [--from S] | --seed S [--trace]\n",
                    argv[0]);
            return 64;
        }
    }
    if (one) {
        return replay(from, trace);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_must_hold_holds_in_every_schedule),
        cmocka_unit_test(every_kind_of_fault_was_met),
        cmocka_unit_test(a_seed_replays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

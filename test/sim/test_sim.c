/* SPDX-License-Identifier: Apache-2.0 */
/* The search of the whole library as a program; search_main.h has its options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "search_main.h"
#include "sim.h"

static void print_counts(void)
{
    printf(
        "steps %ld, threads %ld, calls %ld, acquired %ld, timed out %ld, lost %ld, "
        "wakes %ld\ntickets %ld, permits %ld, multis %ld, downgrades %ld, joined %ld, "
        "gains %ld, "
        "terms %ld, callbacks %ld, refused %ld, on_lost %ld\ncloses %ld, ends holding "
        "%ld, shutdowns %ld\nfaults %ld: cuts %ld, stops %ld, isolations %ld, crashes "
        "%ld, by hand %ld\n",
        did.steps, did.threads, did.calls, did.acquired, did.timed_out, did.lost,
        did.wakes, did.tickets, did.permits, did.multis, did.downgrades, did.joined,
        did.gains, did.terms, did.callbacks, did.refused, did.on_lost, did.closes,
        did.ends_holding, did.shutdowns, S.did.faults, S.did.cuts, S.did.stops,
        S.did.isolations, S.did.crashes, S.did.hands);
    printf("lists: spared %ld, asked for after all %ld, shared %ld, behind others "
           "%ld; in line %ld; visitors %ld, by numbers of their own %ld, "
           "directories made again %ld, counted on %ld; granted as prepared %ld; "
           "events not told %ld\n",
           S.did.guesses, S.did.wrong, S.did.lists_shared, S.did.placed_behind,
           S.did.lined_up, S.did.visits, S.did.visits_named, S.did.remakes,
           S.did.remakes_counted_on, S.did.prepared, zkf_counts()->hushed);
    printf(
        "wishes %ld, told %ld; writes under locks %ld, with the release %ld; permits: "
        "several %ld, in turn %ld, resized %ld; looks %ld; no memory %ld, kills %ld, "
        "forbidden %ld, numbers spent %ld\n",
        did.wishes, did.asked, did.written, did.write_releases, did.several_permits,
        did.permits_in_turn, did.resizes, did.looks, did.no_memory, did.kills,
        zkf_counts()->refused, S.did.numbers_spent);
}

/* A search in which nobody held, lost or was told anything has shown nothing. */
static void everything_was_met(void **state)
{
    (void)state;
    const long counts[] = {did.acquired,
                           did.timed_out,
                           did.lost,
                           did.wakes,
                           did.tickets,
                           did.permits,
                           did.multis,
                           did.downgrades,
                           did.joined,
                           did.gains,
                           did.terms,
                           did.callbacks,
                           did.refused,
                           did.on_lost,
                           did.ends_holding,
                           did.shutdowns,
                           S.did.cuts,
                           S.did.stops,
                           S.did.isolations,
                           S.did.crashes,
                           S.did.hands,
                           S.did.faults,
                           S.did.visits,
                           S.did.visits_named,
                           S.did.remakes,
                           S.did.guesses,
                           S.did.wrong,
                           S.did.lists_shared,
                           S.did.placed_behind,
                           S.did.lined_up,
                           S.did.prepared,
                           zkf_counts()->hushed,
                           did.wishes,
                           did.asked,
                           did.written,
                           did.write_releases,
                           did.several_permits,
                           did.permits_in_turn,
                           did.resizes,
                           did.looks,
                           did.no_memory,
                           did.kills,
                           zkf_counts()->refused,
                           S.did.numbers_spent};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        assert_true(counts[i] > 0);
    }
}

/* The same seed is the same schedule, so that what fails can be looked at. */
static void a_seed_replays(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        long steps[2], calls[2];
        int64_t end[2];
        for (int i = 0; i < 2; i++) {
            long steps_before = did.steps, calls_before = did.calls;
            assert_true(sim_run(seed, false));
            steps[i] = did.steps - steps_before;
            calls[i] = did.calls - calls_before;
            end[i] = zkf_now();
        }
        assert_int_equal(steps[0], steps[1]);
        assert_int_equal(calls[0], calls[1]);
        assert_int_equal(end[0], end[1]);
    }
}

static int check_counts_and_replays(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_was_met),
        cmocka_unit_test(a_seed_replays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    const struct search_program program = {.name = "sim_search",
                                           .seeds = 30000,
                                           .run = sim_run,
                                           .violation = S.violation,
                                           .print_counts = print_counts,
                                           .after = check_counts_and_replays};
    return search_main(argc, argv, &program);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The search of the engine as a program; search_main.h has its options. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "search.h"
#include "search_main.h"
#include "util.h"

static void print_counts(void)
{
    printf("steps %ld, entered %ld, grants %ld, losses %ld, failures %ld, gains %ld, "
           "tickets %ld, readers together %ld, downgrades %ld, multi-locks %ld, their "
           "paths granted "
           "%ld\n"
           "permits granted %ld, several %ld, together %ld, in turn %ld, resized %ld\n"
           "faults %ld: cuts %ld, stops %ld, isolations %ld, crashes %ld, by hand %ld, "
           "kills %ld, shortened %ld; wishes %ld, told to tickets %ld\n",
           S.did.steps, S.did.entered, S.did.grants, S.did.losses, S.did.failed,
           S.did.latch_gains, S.did.tickets, S.did.shared_grants, S.did.downgrades,
           S.did.multis, S.did.multi_grants, S.did.permit_grants, S.did.several_permits,
           S.did.permits_together, S.did.permits_in_turn, S.did.resizes, S.did.faults,
           S.did.cuts, S.did.stops, S.did.isolations, S.did.crashes, S.did.hands,
           S.did.kills, S.did.shortened, S.did.wishes, S.did.asked);
    printf("lists: spared %ld, asked for after all %ld, shared %ld, behind others "
           "%ld; in line %ld; without a watch %ld; visitors %ld, by numbers of their "
           "own %ld, "
           "directories made again %ld, counted on %ld; granted as prepared %ld, by "
           "kept nodes %ld\n",
           S.did.guesses, S.did.wrong, S.did.lists_shared, S.did.placed_behind,
           S.did.lined_up, S.did.looked, S.did.visits, S.did.visits_named,
           S.did.remakes, S.did.remakes_counted_on, S.did.prepared, S.did.kept);
    const struct zkf_counts *f = zkf_counts();
    printf(
        "servers: elections %ld, writes late %ld, forgotten %ld, restarts %ld, "
        "wiped %ld, "
        "clients too new %ld, refused %ld, forbidden %ld, of nodes %ld, not told "
        "%ld, over quota %ld, throttled %ld; nodes replaced %ld\n"
        "time-outs: clamped %ld, shortened %ld, lengthened %ld; moves %ld, leaderless "
        "%ld; numbers: spent %ld, equal %ld, negative %ld\n"
        "the door: opens failed %ld, submits %ld, no memory %ld, slow %ld, "
        "credentials lost "
        "%ld, refused %ld; lies %ld\n",
        f->elections, f->late_writes, f->cut_off_writes, f->restarts, f->wipes,
        f->too_new, f->refused, S.did.forbidden, S.did.nodes_forbidden, f->hushed,
        f->over_quota, f->throttled, S.did.replaced, f->clamped, f->shortened,
        f->lengthened, S.did.moves, S.did.leaderless, S.did.numbers_spent,
        f->stuck_numbers, f->negative_numbers, f->opens_failed, f->submits_failed,
        S.did.no_memory, f->slow_calls, f->auths_failed, f->auths_refused, f->lies);
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
                           S.did.permits_in_turn,
                           S.did.resizes,
                           S.did.forbidden,
                           S.did.nodes_forbidden,
                           S.did.replaced,
                           S.did.numbers_spent,
                           S.did.visits,
                           S.did.visits_named,
                           S.did.remakes,
                           S.did.remakes_counted_on,
                           S.did.guesses,
                           S.did.wrong,
                           S.did.lists_shared,
                           S.did.placed_behind,
                           S.did.lined_up,
                           S.did.moves,
                           S.did.leaderless,
                           S.did.looked,
                           S.did.prepared,
                           S.did.kept,
                           S.did.no_memory};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        assert_true(counts[i] > 0);
    }
    const struct zkf_counts *f = zkf_counts();
    const long of_servers[] = {f->elections,     f->late_writes,    f->cut_off_writes,
                               f->restarts,      f->wipes,          f->too_new,
                               f->refused,       f->clamped,        f->shortened,
                               f->lengthened,    f->stuck_numbers,  f->negative_numbers,
                               f->opens_failed,  f->submits_failed, f->auths_failed,
                               f->auths_refused, f->slow_calls,     f->throttled,
                               f->over_quota,    f->lies,           f->hushed};
    for (size_t i = 0; i < sizeof(of_servers) / sizeof(of_servers[0]); i++) {
        assert_true(of_servers[i] > 0);
    }
}

/* Clocks slower by more than the margin break what is promised, and the search sees it. */
static void clocks_beyond_their_margin_are_seen(void **state)
{
    (void)state;
    enum { ENOUGH = 3000 };
    const long grants = S.did.grants;
    uint64_t seed = 1;
    S.beyond = true;
    while (seed <= ENOUGH && search_run(seed, false)) {
        seed++;
    }
    S.beyond = false;
    if (seed > ENOUGH) {
        zkt_fail("%ld grants by slow clocks, and nothing seen", S.did.grants - grants);
    }
    printf("seed %" PRIu64 ", by slow clocks: %s\n", seed, S.violation);
}

/* The same seed is the same schedule, so that what fails can be looked at. */
static void a_seed_replays(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
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

static int check_counts_and_replays(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_fault_was_met),
        cmocka_unit_test(a_seed_replays),
        cmocka_unit_test(clocks_beyond_their_margin_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    const struct search_program program = {.name = "engine_search",
                                           .seeds = 12000,
                                           .run = search_run,
                                           .violation = S.violation,
                                           .print_counts = print_counts,
                                           .beyond = &S.beyond,
                                           .after = check_counts_and_replays};
    return search_main(argc, argv, &program);
}

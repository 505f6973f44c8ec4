/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search of schedules as a program:
 *
 *   PROGRAM [--seeds N] [--from S]       run the seeds that once failed, then N seeds from S on
 *           [--seconds N] [--base B]     then run other seeds from B on for so long; without B, a printed random seed
 *   PROGRAM --seed S [--trace]           run one seed again, and print its events
 *   PROGRAM --beyond ...                 run with clocks that differ by more than the margin
 *   PROGRAM --history FILE ...           write a history for test/history; this program does not check the holders then
 */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "sim.h"
#include "util.h"

enum {
    SEEDS = 30000, /* by default */
    ENOUGH = 5000  /* schedules that are enough to meet everything */
};

/* --- what was met --- */

struct count {
    const char *name;
    long count;
};

enum { COUNTS = 64 }; /* room for the counts and an entry without a name behind them */

/* List the counts, each of which must become positive. */
static void count_all(struct count out[COUNTS])
{
    const struct zkf_counts servers = *zkf_counts();
    const struct count all[] = {
        {"acquired", did.acquired},
        {"timed out", did.timed_out},
        {"lost", did.lost},
        {"wakes", did.wakes},
        {"tickets", did.tickets},
        {"permits", did.permits},
        {"several permits", did.several_permits},
        {"permits in turn", did.permits_in_turn},
        {"resizes", did.resizes},
        {"multis", did.multis},
        {"downgrades", did.downgrades},
        {"gains", did.gains},
        {"terms", did.terms},
        {"callbacks", did.callbacks},
        {"refused", did.refused},
        {"on lost", did.on_lost},
        {"warned", did.warned},
        {"ends holding", did.ends_holding},
        {"shutdowns", did.shutdowns},
        {"asked", did.asked},
        {"written", did.written},
        {"write releases", did.write_releases},
        {"looks", did.looks},
        {"faults", did.faults},
        {"moves", did.moves},
        {"leaderless", did.leaderless},
        {"bare creates", did.bare},
        {"wrong", did.wrong},
        {"lists shared", did.lists_shared},
        {"placed behind", did.placed_behind},
        {"lined up", did.lined_up},
        {"prepared", did.prepared},
        {"news", did.news},
        {"granted by news", did.news_grants},
        {"remakes counted on", did.remakes_counted_on},
        {"elections", servers.elections},
        {"cut off writes", servers.cut_off_writes},
        {"too new", servers.too_new},
        {"clamped", servers.clamped},
        {"stuck numbers", servers.stuck_numbers},
        {"negative numbers", servers.negative_numbers},
        {"auths failed", servers.auths_failed},
        {"slow calls", servers.slow_calls},
    };
    _Static_assert(sizeof(all) < COUNTS * sizeof(*out), "there is no room");
    memset(out, 0, COUNTS * sizeof(*out));
    memcpy(out, all, sizeof(all));
}

static int print_counts(void)
{
    struct count counts[COUNTS];
    count_all(counts);
    printf("steps %ld, threads %ld, calls %ld, closes %ld", did.steps, did.threads,
           did.calls, did.closes);
    for (int i = 0; counts[i].name; i++) {
        printf(", %s %ld", counts[i].name, counts[i].count);
    }
    printf("\n");
    return sim_habits_print();
}

/* A search in which nothing was held, lost or reported proves nothing. */
static void everything_was_met(void **state)
{
    struct count counts[COUNTS];
    count_all(counts);
    for (int i = 0; counts[i].name; i++) {
        assert_true(counts[i].count > 0);
    }
}

/* The same seed gives the same schedule, so that a failure can be examined. */
static void a_seed_replays(void **state)
{
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

/* Clocks that differ by more than the lease allows break promises, and the search detects that. */
static void clocks_beyond_their_margin_are_seen(void **state)
{
    enum { ENOUGH_BEYOND = 3000 };
    uint64_t seed = 1;
    sim_beyond = true;
    while (seed <= ENOUGH_BEYOND && sim_run(seed, false)) {
        seed++;
    }
    sim_beyond = false;
    if (seed > ENOUGH_BEYOND) {
        zkt_fail("slow clocks, and nothing seen");
    }
    printf("seed %" PRIu64 ", by slow clocks: %s\n", seed, sim_violated);
}

static int check_counts_and_replays(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_was_met),
        cmocka_unit_test(a_seed_replays),
        cmocka_unit_test(clocks_beyond_their_margin_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* --- seeds --- */

struct options {
    uint64_t seeds, from, seconds, base, seed;
    bool one, trace;
};

static char running[100]; /* how to replay the current schedule */

/* Print the seed of a schedule that crashes. */
static void on_crash(int signo)
{
    (void)!write(STDOUT_FILENO, running, strlen(running));
    (void)raise(signo);
}

static bool run_one(uint64_t seed)
{
    (void)snprintf(running, sizeof(running),
                   "crashed; replay: test_sim_search --seed %" PRIu64 " --trace\n",
                   seed);
    bool fine = sim_run(seed, false);
    if (!fine) {
        printf("seed %" PRIu64 ": %s\nreplay: test_sim_search --seed %" PRIu64
               " --trace\n",
               seed, sim_violated, seed);
    }
    return fine;
}

/* Lines "SEED MUTANT REASON". */
static bool run_kept(void)
{
    char line[400];
    int count = 0;
    bool fine = true;
    FILE *kept = fopen(KEPT_SEEDS, "re");
    if (!kept) {
        printf("no %s\n", KEPT_SEEDS);
        return false;
    }
    while (fine && fgets(line, sizeof(line), kept)) {
        uint64_t seed = strtoull(line, NULL, 10);
        if (seed > 0) {
            fine = run_one(seed);
            count++;
        }
    }
    (void)fclose(kept);
    printf("%d seeds that once failed\n", count);
    return fine;
}

static bool run_fixed(const struct options *o)
{
    bool fine = true;
    clock_t begin = clock();
    for (uint64_t seed = o->from; fine && seed - o->from < o->seeds; seed++) {
        fine = run_one(seed);
    }
    double took = (double)(clock() - begin) / CLOCKS_PER_SEC;
    printf("%" PRIu64 " schedules from seed %" PRIu64 ", %.0f a second\n", o->seeds,
           o->from, (double)o->seeds / (took > 0 ? took : 1));
    return fine;
}

/* Each run tries seeds that no run has tried before. */
static bool run_fresh(const struct options *o)
{
    enum { ROOM = 1000000 };
    uint64_t state = (uint64_t)zkt_now_ms(), base = o->base, count = 0;
    int64_t end = zkt_now_ms() + (int64_t)o->seconds * 1000;
    bool fine = true;
    if (base == 0) {
        base = zkr__retry_random(&state) % ROOM * ROOM + ROOM;
    }
    while (fine && zkt_now_ms() < end) {
        fine = run_one(base + count++);
    }
    printf("%" PRIu64 " fresh schedules in %" PRIu64 " s, from seed %" PRIu64 "\n",
           count, o->seconds, base);
    return fine;
}

static int replay(const struct options *o)
{
    bool fine = sim_run(o->seed, o->trace);
    (void)print_counts();
    printf("seed %" PRIu64 ": %s\n", o->seed, fine ? "nothing wrong" : sim_violated);
    return fine ? 0 : 1;
}

static bool take_options(struct options *o, int argc, char **argv)
{
    const struct {
        const char *name;
        uint64_t *value;
    } numbers[] = {{"--seeds", &o->seeds},
                   {"--from", &o->from},
                   {"--seconds", &o->seconds},
                   {"--base", &o->base},
                   {"--seed", &o->seed}};
    enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };
    for (int i = 1; i < argc; i++) {
        size_t at = 0;
        while (at < NUMBERS && strcmp(argv[i], numbers[at].name) != 0) {
            at++;
        }
        if (strcmp(argv[i], "--trace") == 0) {
            o->trace = true;
        } else if (strcmp(argv[i], "--history") == 0 && i + 1 < argc) {
            sim_history = fopen(argv[++i], "we");
            if (!sim_history) {
                zkt_fail("no history can be written");
            }
        } else if (strcmp(argv[i], "--beyond") == 0) {
            sim_beyond = true;
        } else if (at < NUMBERS && i + 1 < argc) {
            o->one = o->one || numbers[at].value == &o->seed;
            *numbers[at].value = strtoull(argv[++i], NULL, 10);
        } else {
            return false;
        }
    }
    return true;
}

/* $ZKT_SEEDS limits the number of seeds, for a quick first run. */
static uint64_t at_most(uint64_t seeds)
{
    const char *text = getenv("ZKT_SEEDS");
    const uint64_t most = text ? strtoull(text, NULL, 10) : UINT64_MAX;
    return seeds < most ? seeds : most;
}

int main(int argc, char **argv)
{
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    const struct sigaction crash = {.sa_handler = on_crash,
                                    .sa_flags = (int)SA_RESETHAND};
    struct options o = {.seeds = SEEDS, .from = 1, .seconds = 3};
    (void)sigaction(SIGSEGV, &crash, NULL);
    (void)sigaction(SIGABRT, &crash, NULL);
    if (!take_options(&o, argc, argv)) {
        (void)fprintf(stderr,
                      "usage: %s [--seeds N] [--from S] [--seconds N] [--base B] "
                      "[--beyond] [--history FILE] | --seed S [--trace]\n",
                      argv[0]);
        return 64;
    }
    if (o.one) {
        return replay(&o);
    }
    o.seeds = at_most(o.seeds);
    if (o.seeds > 0 && !(run_kept() && run_fixed(&o))) {
        return 1;
    }
    if (o.seconds > 0 && !run_fresh(&o)) {
        return 1;
    }
    int apart = print_counts();
    if (o.seeds >= SEEDS && apart > 0) {
        return 1;
    }
    if (sim_history) {
        return fclose(sim_history) == 0 ? 0 : 1; /* otherwise it is incomplete */
    }
    return o.seeds >= ENOUGH ? check_counts_and_replays() : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "search_main.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "util.h"

enum { ENOUGH = 1000 }; /* schedules, to have met everything */

struct options {
    uint64_t seeds, from, seconds, base, seed;
    bool one, trace;
};

static const struct search_program *program;
static char running[100]; /* how to replay the schedule that runs */

/* A schedule that crashes tells its seed as well. */
static void on_crash(int signo)
{
    (void)!write(STDOUT_FILENO, running, strlen(running));
    (void)raise(signo);
}

static bool run_one(uint64_t seed)
{
    (void)snprintf(running, sizeof(running),
                   "crashed; replay: test_%s --seed %" PRIu64 " --trace\n",
                   program->name, seed);
    bool fine = program->run(seed, false);
    if (!fine) {
        printf("seed %" PRIu64 ": %s\nreplay: test_%s --seed %" PRIu64 " --trace\n",
               seed, program->violation, program->name, seed);
    }
    return fine;
}

/* Lines "PROGRAM SEED MUTANT REASON". */
static bool run_kept(void)
{
    char line[400];
    size_t len = strlen(program->name);
    int count = 0;
    bool fine = true;
    FILE *kept = fopen(KEPT_SEEDS, "re");
    if (!kept) {
        printf("no %s\n", KEPT_SEEDS);
        return false;
    }
    while (fine && fgets(line, sizeof(line), kept)) {
        if (strncmp(line, program->name, len) == 0 && line[len] == ' ') {
            fine = run_one(strtoull(line + len + 1, NULL, 10));
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
    printf("%" PRIu64 " schedules from seed %" PRIu64 "\n", o->seeds, o->from);
    for (uint64_t seed = o->from; fine && seed - o->from < o->seeds; seed++) {
        fine = run_one(seed);
    }
    return fine;
}

/* Each run looks where nobody has looked before. */
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
    bool fine = program->run(o->seed, o->trace);
    program->print_counts();
    printf("seed %" PRIu64 ": %s\n", o->seed,
           fine ? "nothing wrong" : program->violation);
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
        } else if (program->beyond && strcmp(argv[i], "--beyond") == 0) {
            *program->beyond = true;
        } else if (at < NUMBERS && i + 1 < argc) {
            o->one = o->one || numbers[at].value == &o->seed;
            *numbers[at].value = strtoull(argv[++i], NULL, 10);
        } else {
            return false;
        }
    }
    return true;
}

/* $ZKT_SEEDS: a newcomer's question wants fewer of them. */
static uint64_t at_most(uint64_t seeds)
{
    const char *text = getenv("ZKT_SEEDS");
    const uint64_t most = text ? strtoull(text, NULL, 10) : UINT64_MAX;
    return seeds < most ? seeds : most;
}

int search_main(int argc, char **argv, const struct search_program *with)
{
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    const struct sigaction crash = {.sa_handler = on_crash,
                                    .sa_flags = (int)SA_RESETHAND};
    struct options o = {.seeds = with->seeds, .from = 1, .seconds = 3};
    program = with;
    (void)sigaction(SIGSEGV, &crash, NULL);
    (void)sigaction(SIGABRT, &crash, NULL);
    if (!take_options(&o, argc, argv)) {
        (void)fprintf(
            stderr,
            "usage: %s [--seeds N] [--from S] [--seconds N] [--base B] | --seed S "
            "[--trace]\n",
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
    program->print_counts();
    return o.seeds >= ENOUGH ? program->after() : 0;
}

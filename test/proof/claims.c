/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every state that a claim can reach (alone.h), and every state of small worlds of claims (zoo.h). Without the name of a
 * world, explores all of them; with --quick, some small ones. With --steps FILE, also explores the wide worlds, and adds
 * the different steps to FILE. --compare FILE RECORDED compares these with the steps that tests have recorded (trace.h).
 */
#include <stdio.h>
#include <string.h>

#include "alone.h"
#include "record.h"
#include "trace.h"
#include "zoo.h"

static const struct zkp_use uses[] = {
    {.name = "a mutex", .ahead = 3},
    {.name = "a mutex behind two", .quick = true, .ahead = 2},
    {.name = "a mutex that hears news", .ahead = 2, .nearby = true},
    {.name = "a try", .quick = true, .once = true},
    {.name = "a try of a member", .quick = true, .once = true, .member = true},
    {.name = "a node that is kept", .kept = true, .metadata = true},
    {.name = "a permit", .children = true},
    {.name = "a member", .quick = true, .member = true},
    {.name = "a member for permits", .quick = true, .member = true, .children = true},
    {.name = "a member that is asked", .member = true, .wishes = true},
    {.name = "a latch", .keeps = true},
    {.name = "a latch that is asked", .keeps = true, .wishes = true},
    {.name = "wishes and metadata", .wishes = true, .metadata = true},
    {.name = "a write", .writes = 1},
    {.name = "writes", .writes = 2, .orderly = true},
    {.name = "writes and a downgrade",
     .writes = 1,
     .downgrades = true,
     .orderly = true},
    {.name = "wishes and a downgrade", .wishes = true, .downgrades = true},
    /* Several properties at a time, and more of what may happen: only for the comparison of steps. */
    {.name = "news, no look-ahead", .wide = true, .nearby = true},
    {.name = "lists that lie", .wide = true, .ahead = 3, .lies = true, .orderly = true},
    {.name = "lists that lie, a member",
     .wide = true,
     .member = true,
     .lies = true,
     .orderly = true},
    {.name = "shared watches",
     .wide = true,
     .ahead = 3,
     .shared = true,
     .fair = true,
     .orderly = true},
    {.name = "shared watches, one ahead", .wide = true, .shared = true},
    {.name = "shared watches, a member",
     .wide = true,
     .ahead = 2,
     .member = true,
     .shared = true,
     .orderly = true},
    {.name = "a mutex behind four",
     .wide = true,
     .ahead = 4,
     .fair = true,
     .orderly = true},
    {.name = "all of a mutex",
     .wide = true,
     .ahead = 3,
     .nearby = true,
     .wishes = true,
     .fair = true,
     .orderly = true},
    {.name = "all of a kept node",
     .wide = true,
     .kept = true,
     .wishes = true,
     .metadata = true,
     .orderly = true},
    {.name = "a member with metadata", .wide = true, .member = true, .metadata = true},
    {.name = "all of a member",
     .wide = true,
     .ahead = 2,
     .member = true,
     .wishes = true,
     .metadata = true,
     .orderly = true},
    {.name = "all of a permit",
     .wide = true,
     .member = true,
     .children = true,
     .wishes = true,
     .metadata = true,
     .orderly = true},
    {.name = "all of a writer",
     .wide = true,
     .wishes = true,
     .metadata = true,
     .downgrades = true,
     .orderly = true},
    {.name = "a member that writes",
     .wide = true,
     .member = true,
     .writes = 1,
     .orderly = true},
    {.name = "a permit that writes",
     .wide = true,
     .member = true,
     .children = true,
     .writes = 1,
     .orderly = true},
};

// clang-format off
#define LOCK(of) .session = (of), .kind = ZKR__NAME_LOCK, .rule = zkr__rule_first
#define READ(of) .session = (of), .kind = ZKR__NAME_READ, .rule = zkr__rule_reader
#define WRITE(of) .session = (of), .kind = ZKR__NAME_WRITE, .rule = zkr__rule_first
#define PERMIT(of) .session = (of), .kind = ZKR__NAME_LEASE, .rule = zkr__rule_permits, .rule_arg = 1
#define ALL (ZKP_CUTS | ZKP_LAPSES | ZKP_DELETIONS | ZKP_SWEEPS | ZKP_CHANGES)

static const struct zkp_story stories[] = {
    {.name = "one mutex each", .sessions = 2, .claims = 2, .alike = true, .ahead = true,
     .cast = {{LOCK(0)}, {LOCK(1)}}, .faults = 2, .kinds = ALL},
    {.name = "two mutexes each", .sessions = 2, .claims = 4, .alike = true, .ahead = true,
     .cast = {{LOCK(0)}, {LOCK(0)}, {LOCK(1)}, {LOCK(1)}}, .faults = 1, .kinds = ALL},
    {.name = "three in line", .sessions = 3, .claims = 3, .alike = true, .ahead = true,
     .cast = {{LOCK(0)}, {LOCK(1)}, {LOCK(2)}}, .faults = 1, .kinds = ALL},
    {.name = "one mutex each, news", .sessions = 2, .claims = 2, .alike = true, .ahead = true, .nearby = true,
     .cast = {{LOCK(0)}, {LOCK(1)}}, .faults = 2, .kinds = ALL},
    {.name = "three in line, news", .sessions = 3, .claims = 3, .alike = true, .ahead = true, .nearby = true,
     .cast = {{LOCK(0)}, {LOCK(1)}, {LOCK(2)}}, .faults = 1, .kinds = ALL},
    {.name = "two mutexes and one, news", .sessions = 2, .claims = 3, .ahead = true, .nearby = true,
     .cast = {{LOCK(0)}, {LOCK(0)}, {LOCK(1)}}, .faults = 1, .kinds = ALL},
    {.name = "none looks ahead", .sessions = 2, .claims = 3,
     .cast = {{LOCK(0)}, {LOCK(0)}, {LOCK(1)}}, .faults = 1, .kinds = ALL},
    {.name = "one that gives up", .sessions = 2, .claims = 3, .ahead = true,
     .cast = {{LOCK(0), .impatient = true}, {LOCK(0)}, {LOCK(1)}}, .faults = 1, .kinds = ALL},
    {.name = "all may give up", .sessions = 2, .claims = 4, .alike = true, .ahead = true,
     .cast = {{LOCK(0), .impatient = true}, {LOCK(0), .impatient = true},
              {LOCK(1), .impatient = true}, {LOCK(1), .impatient = true}}},
    {.name = "reader and writer each", .sessions = 2, .claims = 4, .alike = true, .ahead = true,
     .cast = {{WRITE(0)}, {READ(0)}, {WRITE(1)}, {READ(1)}}},
    {.name = "writer and two readers", .sessions = 2, .claims = 3, .ahead = true,
     .cast = {{WRITE(0)}, {READ(0)}, {READ(1)}}, .faults = 1, .kinds = ALL},
    {.name = "downgrade, four", .sessions = 2, .claims = 4, .ahead = true,
     .cast = {{WRITE(0), .downgrades = true}, {READ(0)}, {WRITE(1)}, {READ(1)}}},
    {.name = "downgrade behind a reader", .sessions = 2, .claims = 3, .ahead = true,
     .cast = {{READ(0)}, {WRITE(0), .downgrades = true}, {WRITE(1)}}, .faults = 1, .kinds = ALL},
    {.name = "downgrade, two faults", .sessions = 2, .claims = 2, .ahead = true,
     .cast = {{WRITE(0), .downgrades = true}, {WRITE(1)}}, .faults = 2, .kinds = ALL},
    {.name = "mutexes behind a downgrade", .sessions = 2, .claims = 3, .ahead = true,
     .cast = {{WRITE(0), .downgrades = true}, {LOCK(0), .impatient = true}, {LOCK(1)}}},
    {.name = "permits, 1 of 1, four", .sessions = 2, .claims = 4, .alike = true,
     .cast = {{PERMIT(0)}, {PERMIT(0)}, {PERMIT(1)}, {PERMIT(1)}}},
    {.name = "permits, 1 of 1", .sessions = 2, .claims = 2, .alike = true,
     .cast = {{PERMIT(0)}, {PERMIT(1)}}, .faults = 2, .kinds = ALL},
    {.name = "two paths beside a mutex", .sessions = 2, .claims = 3, .ahead = true,
     .cast = {{LOCK(0), .member = true}, {LOCK(0), .member = true, .dir = 1}, {LOCK(1)}},
     .faults = 2, .kinds = ALL},
};
// clang-format on

static struct zkt_trace *made; /* NULL: nothing is compared */

void zkp_record(const struct zkr__claim_state *before,
                const struct zkr__claim_event *e,
                const struct zkr__claim_state *after,
                unsigned todo)
{
    if (made) {
        zkt_trace_add(made, before, e, after, todo);
    }
}

/* Returns whether the worlds have made each step that tests have recorded. */
static bool compare(const char *made_file, const char *recorded_file)
{
    uint64_t steps, ignored;
    int different, here;
    const struct zkt_trace *worlds = zkt_trace_open(made_file, false);
    int outside = zkt_trace_compare(zkt_trace_open(recorded_file, false), worlds,
                                    &steps, &different);
    (void)zkt_trace_compare(worlds, worlds, &ignored, &here);
    printf("the worlds have %d different steps; of %llu recorded steps, %d are "
           "different, and "
           "%d of these are in no world\n",
           here, (unsigned long long)steps, different, outside);
    return outside == 0 && steps > 0;
}

static bool is_wanted(const char *name, bool quick, bool wide, int argc, char **argv)
{
    bool wanted = argc < 2 && (made || !wide);
    for (int i = 1; i < argc; i++) {
        wanted = wanted || strcmp(argv[i], name) == 0 ||
                 (quick && strcmp(argv[i], "--quick") == 0);
    }
    return wanted;
}

static void head(const char *of)
{
    printf("%-28s %6s %10s %10s %5s %7s\n", of, "faults", "states", "steps", "depth",
           "seconds");
}

static void explore(const struct zkp_model *model, unsigned faults)
{
    enum { MOST = 60000000 };
    struct zkp_result r = zkp_explore(model, MOST);
    printf("%-28s %6.0u %10llu %10llu %5u %7.1f\n", model->name, faults,
           (unsigned long long)r.states, (unsigned long long)r.steps, r.depth,
           r.seconds);
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--compare") == 0) {
        return compare(argv[2], argv[3]) ? 0 : 1;
    }
    if (argc > 2 && strcmp(argv[1], "--steps") == 0) {
        made = zkt_trace_open(argv[2], true);
        argc -= 2;
        argv += 2;
    }
    head("one claim");
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
        if (is_wanted(uses[i].name, uses[i].quick, uses[i].wide, argc, argv)) {
            explore(zkp_alone(&uses[i]), 0);
        }
    }
    head("claims of several clients");
    for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++) {
        if (is_wanted(stories[i].name, false, false, argc, argv)) {
            explore(zkp_told(&stories[i]), stories[i].faults);
        }
    }
    return 0;
}

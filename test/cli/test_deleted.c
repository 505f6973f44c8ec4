/* SPDX-License-Identifier: Apache-2.0 */
/*
 * If an administrator deletes a lock node, a server gives the lock to the next contender at once. zkr kills its command
 * when it learns of the deletion. With --lock-delay, no other command starts before that. Each hand-over in a queue is
 * measured.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"

enum { QUEUE = 12 };

struct scene {
    const char *verb, *option;
    int count;
    int longest_ms;         /* longest random time before a deletion */
    int64_t deleted[QUEUE]; /* when the server had deleted the node */
    struct cli_beat *beats;
    struct cli zkr[QUEUE];
};

static void begin(struct scene *s)
{
    s->beats = cli_beats(QUEUE);
    for (int i = 0; i < s->count; i++) {
        CLI_QUEUE(&s->zkr[i], s->verb, s->option, zkt_path(),
                  CLI_BEAT(&s->beats[i], "busy"));
    }
}

/* Deletes the node with the lowest number. */
static void delete_the_holder(zkt_raw *by)
{
    zkt_list list;
    char node[512];
    int first = 0;
    assert_int_equal(zkt_raw_children(by, zkt_path(), false, &list), 0);
    for (int i = 1; i < list.count; i++) {
        if (strcmp(strrchr(list.name[i], '-'), strrchr(list.name[first], '-')) < 0) {
            first = i;
        }
    }
    (void)snprintf(node, sizeof(node), "%s/%s", zkt_path(), list.name[first]);
    zkt_list_free(&list);
    assert_int_equal(zkt_raw_delete(by, node), 0);
}

/* Returns the least number of nanoseconds from the last sign of life of a command to the first of the next. */
static int64_t least_gap(const struct scene *s)
{
    int64_t least = INT64_MAX;
    for (int i = 1; i < s->count; i++) {
        int64_t gap = cli_gap(&s->beats[i - 1], &s->beats[i]);
        least = gap < least ? gap : least;
    }
    return least;
}

/* Returns the longest time for which a command showed a sign of life after its node was gone. */
static int64_t longest_life(const struct scene *s)
{
    int64_t most = INT64_MIN;
    for (int i = 0; i + 1 < s->count; i++) {
        int64_t life = atomic_load(&s->beats[i].last) - s->deleted[i];
        most = life > most ? life : most;
    }
    return most;
}

static void end(struct scene *s)
{
    int last = s->count - 1;
    assert_int_equal(kill(s->zkr[last].pid, SIGTERM), 0);
    for (int i = 0; i < s->count; i++) {
        assert_int_equal(cli_wait(&s->zkr[i]), i < last ? 79 : 143);
        if (i < last) {
            cli_assert_one_line(&s->zkr[i]);
        }
    }
}

static void delete_all_but_the_last(struct scene *s)
{
    unsigned seed = (unsigned)time(NULL);
    print_message("           seed %u\n", seed);
    zkt_raw *by = zkt_raw_open(zkt_servers(), 10000);
    for (int i = 0; i + 1 < s->count; i++) {
        cli_beat_wait(&s->zkr[i], &s->beats[i]);
        zkt_sleep_ms(s->longest_ms > 0 ? rand_r(&seed) % s->longest_ms : 0);
        delete_the_holder(by);
        s->deleted[i] = cli_now_ns();
    }
    cli_beat_wait(&s->zkr[s->count - 1], &s->beats[s->count - 1]);
    assert_int_equal(zkt_raw_close(by), 0);
}

/* Returns the least gap. */
static int64_t measure(struct scene *s)
{
    enum { NEWS_NS = 1000000000 }; /* limit for a busy machine */
    begin(s);
    delete_all_but_the_last(s);
    int64_t gap = least_gap(s), life = longest_life(s);
    print_message("           least gap %lld us, longest life %lld us\n",
                  (long long)gap / 1000, (long long)life / 1000);
    end(s);
    assert_true(life < NEWS_NS);
    return gap;
}

/* Young holds and old ones are deleted one after the other. */
ZKT_CASE(a_deleted_holder_is_killed_at_the_news)
{
    static struct scene s = {
        .verb = "lock", .option = "-x", .count = QUEUE, .longest_ms = 150};
    (void)measure(&s);
}

ZKT_CASE(a_deleted_leader_is_killed_at_the_news)
{
    static struct scene s = {
        .verb = "elect", .option = "--once", .count = 4, .longest_ms = 150};
    (void)measure(&s);
}

ZKT_CASE(with_a_delay_it_is_dead_before_the_next_command_starts)
{
    static struct scene s = {
        .verb = "lock", .option = "--lock-delay=.5", .count = QUEUE, .longest_ms = 150};
    assert_true(measure(&s) > 0);
}

/* A holder that was granted at once is watched from the start. */
ZKT_CASE(with_a_delay_a_young_holder_is_dead_in_time)
{
    enum { ROUNDS = 4 };
    static struct scene s = {.verb = "lock", .option = "--lock-delay=.5", .count = 2};
    for (int i = 0; i < ROUNDS; i++) {
        assert_true(measure(&s) > 0);
    }
}

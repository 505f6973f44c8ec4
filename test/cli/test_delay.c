/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock --lock-delay, and that nothing is held back without it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { QUEUE = 12 };

/* The least of eleven: a start takes a few ms, with sanitizers on a busy machine many more. */
#ifdef ZKT_SLOWED_DOWN
enum { START_MS = 500 };
#else
enum { START_MS = 50 };
#endif

/* --- none --- */

/* The least time from the end of a command to the start of the next, in ms. */
static int64_t least_gap(const char *verb, const char *option)
{
    struct cli zkr[QUEUE];
    char name[64], index[12];
    struct cli_beat *beats = cli_beats(QUEUE, name, sizeof(name));
    int64_t least = INT64_MAX; /* a busy machine may be late now and then */
    for (int i = 0; i < QUEUE; i++) {
        (void)snprintf(index, sizeof(index), "%d", i);
        CLI_START(&zkr[i], verb, option, zkt_path(),
                  CLI_BEAT(name, index, i == 0 ? "plain" : "brief"));
        ZKT_EVENTUALLY(cli_queue() == i + 1, CLI_PATIENCE_MS);
    }
    cli_beat_wait(&zkr[0], &beats[0]);
    assert_int_equal(kill(zkr[0].pid, SIGTERM), 0);
    for (int i = 0; i < QUEUE; i++) {
        assert_int_equal(cli_wait(&zkr[i]), i == 0 ? 143 : 0);
        cli_free(&zkr[i]);
    }
    for (int i = 1; i < QUEUE; i++) {
        int64_t gap =
            (atomic_load(&beats[i].first) - atomic_load(&beats[i - 1].last)) / 1000000;
        least = gap < least ? gap : least;
    }
    cli_beats_free(beats, QUEUE, name);
    return least;
}

static void nothing_is_held_back_by_default(void **state)
{
    (void)state;
    assert_in_range(least_gap("lock", "-x"), 0, START_MS - 1);
    assert_in_range(least_gap("elect", "--once"), 0, START_MS - 1);
}

static void a_free_lock_starts_at_once(void **state)
{
    (void)state;
    enum { TRIES = 3 };
    for (int i = 0; i < TRIES;
         i++) { /* on a path that is new, and on one that is not */
        int64_t started = zkt_now_ms();
        assert_int_equal(CLI("lock", "--lock-delay", "20", zkt_path(), "true"), 0);
        assert_true(zkt_now_ms() - started < 10000);
    }
}

/* --- one --- */

struct scene {
    struct cli holder, next;
};

/* A holder, and one behind it that prints its node, after the delay. */
static void begin(struct scene *s, const char *delay)
{
    CLI_START(&s->holder, "lock", zkt_path(), "sleep", "60");
    ZKT_EVENTUALLY(cli_queue() == 1, CLI_PATIENCE_MS);
    CLI_START(&s->next, "-t", "4000", "lock", "-w", "30", delay, zkt_path(), "sh", "-c",
              "echo $ZKR_LOCK_NODE");
    ZKT_EVENTUALLY(cli_queue() == 2, CLI_PATIENCE_MS);
}

static void let_go(struct scene *s)
{
    assert_int_equal(kill(s->holder.pid, SIGTERM), 0);
    assert_int_equal(cli_wait(&s->holder), 143);
    cli_free(&s->holder);
}

static void a_contended_lock_starts_after_the_delay(void **state)
{
    (void)state;
    enum { DELAY_MS = 1500, LATE_MS = 5000 };
    struct scene s;
    begin(&s, "--lock-delay=1.5");
    let_go(&s);
    int64_t free_since = zkt_now_ms(); /* for a moment at least */
    ZKT_EVENTUALLY(*cli_out(&s.next), CLI_PATIENCE_MS);
    int64_t took = zkt_now_ms() - free_since;
    assert_true(took > DELAY_MS - 500 && took < DELAY_MS + LATE_MS);
    assert_int_equal(cli_wait(&s.next), 0);
    cli_free(&s.next);
}

/* Full path of the one node. */
static void only_node(char *node, size_t size)
{
    zkt_list list;
    zkt_raw *s = zkt_raw_open(zkt_servers(), 5000);
    assert_int_equal(zkt_raw_children(s, zkt_path(), false, &list), 0);
    assert_int_equal(list.count, 1);
    (void)snprintf(node, size, "%s/%s", zkt_path(), list.name[0]);
    zkt_list_free(&list);
    assert_int_equal(zkt_raw_close(s), 0);
}

/* One that is lost meanwhile starts nothing: it queues again, and waits again. */
static void a_hold_lost_during_the_delay_starts_nothing(void **state)
{
    (void)state;
    char first[300], second[300];
    struct scene s;
    begin(&s, "--lock-delay=2");
    let_go(&s);
    only_node(first, sizeof(first));
    assert_int_equal(zkt_delete(zkt_servers(), first), 0);
    ZKT_EVENTUALLY(cli_queue() == 1, CLI_PATIENCE_MS);
    assert_string_equal(cli_out(&s.next), "");
    only_node(second, sizeof(second));
    assert_string_not_equal(first, second);
    assert_int_equal(cli_wait(&s.next), 0);
    assert_memory_equal(cli_out(&s.next), second, strlen(second));
    assert_string_equal(cli_out(&s.next) + strlen(second), "\n");
    cli_free(&s.next);
}

/* Nor does one that is told to stop, which goes at once. */
static void one_told_to_stop_during_the_delay_starts_nothing(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, "--lock-delay=60");
    let_go(&s);
    zkt_sleep_ms(200); /* so that it has been granted; before, it is as well */
    assert_int_equal(kill(s.next.pid, SIGTERM), 0);
    assert_int_equal(cli_wait(&s.next), 143);
    assert_string_equal(cli_out(&s.next), "");
    assert_int_equal(cli_queue(), 0);
    cli_free(&s.next);
}

/* Its session ends meanwhile, at a server that nobody can reach. */
static void a_session_lost_during_the_delay_starts_nothing(void **state)
{
    (void)state;
    struct cli holder, next;
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    CLI_START(&holder, "lock", zkt_path(), "sleep", "60");
    ZKT_EVENTUALLY(cli_queue() == 1, CLI_PATIENCE_MS);
    CLI_START(&next, "-z", zkt_proxy_host(proxy), "-t", "2000", "lock", "-w", "8", "-E",
              "3", "--lock-delay", "6", zkt_path(), "echo", "never");
    ZKT_EVENTUALLY(cli_queue() == 2, CLI_PATIENCE_MS);
    assert_int_equal(kill(holder.pid, SIGTERM), 0);
    assert_int_equal(cli_wait(&holder), 143);
    cli_free(&holder);
    zkt_proxy_blackhole(proxy);
    assert_int_equal(cli_wait(&next), 3);
    assert_string_equal(cli_out(&next), "");
    cli_assert_one_line(&next);
    cli_free(&next);
    zkt_proxy_stop(proxy);
    ZKT_EVENTUALLY(cli_queue() <= 0, CLI_PATIENCE_MS);
}

static void a_delay_is_a_number_of_seconds(void **state)
{
    (void)state;
    CLI_REFUSED(64, "lock", "--lock-delay", "soon", zkt_path(), "true");
    CLI_REFUSED(64, "lock", "--lock-delay", "-1", zkt_path(), "true");
    assert_int_equal(CLI("lock", "--lock-delay=.5", zkt_path(), "true"), 0);
}

int main(int argc, char **argv)
{
    int status;
    if (cli_main(argc, argv, &status)) {
        return status;
    }
    const struct CMUnitTest tests[] = {
        CLI_TEST(nothing_is_held_back_by_default),
        CLI_TEST(a_free_lock_starts_at_once),
        CLI_TEST(a_contended_lock_starts_after_the_delay),
        CLI_TEST(a_hold_lost_during_the_delay_starts_nothing),
        CLI_TEST(one_told_to_stop_during_the_delay_starts_nothing),
        CLI_TEST(a_session_lost_during_the_delay_starts_nothing),
        CLI_TEST(a_delay_is_a_number_of_seconds),
    };
    return cmocka_run_group_tests(tests, zkt_group_setup, zkt_group_teardown);
}

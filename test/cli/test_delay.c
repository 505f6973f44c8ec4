/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock --lock-delay. Without the option, nothing is delayed. */
#include <signal.h>
#include <string.h>

#include "cli.h"

enum { QUEUE = 12 };

/* The limit for the least of eleven gaps. A start takes a few ms, but many more on a busy machine. */
enum { START_MS = 500 };

/* --- none --- */

/* Returns the least time from the end of a command to the start of the next, in ms. */
static int64_t least_gap(const char *verb, const char *option)
{
    struct cli zkr[QUEUE];
    struct cli_beat *beats = cli_beats(QUEUE);
    int64_t least = INT64_MAX; /* on a busy machine some gaps are long */
    for (int i = 0; i < QUEUE; i++) {
        CLI_QUEUE(&zkr[i], verb, option, zkt_path(),
                  CLI_BEAT(&beats[i], i == 0 ? "plain" : "brief"));
    }
    cli_beat_wait(&zkr[0], &beats[0]);
    assert_int_equal(kill(zkr[0].pid, SIGTERM), 0);
    for (int i = 0; i < QUEUE; i++) {
        assert_int_equal(cli_wait(&zkr[i]), i == 0 ? 143 : 0);
    }
    for (int i = 1; i < QUEUE; i++) {
        int64_t gap = cli_gap(&beats[i - 1], &beats[i]) / 1000000;
        least = gap < least ? gap : least;
    }
    return least;
}

ZKT_CASE(nothing_is_held_back_by_default)
{
    ZKT_IN_RANGE(least_gap("lock", "-x"), 0, START_MS - 1);
    ZKT_IN_RANGE(least_gap("elect", "--once"), 0, START_MS - 1);
}

ZKT_CASE(a_free_lock_starts_at_once)
{
    enum { TRIES = 3 };
    for (int i = 0; i < TRIES; i++) { /* first on a new path, then on an existing one */
        int64_t started = zkt_now_ms();
        assert_int_equal(CLI("lock", "--lock-delay", "20", zkt_path(), "true"), 0);
        assert_true(zkt_now_ms() - started < 10000);
    }
}

/* --- one --- */

struct scene {
    struct cli holder, next;
};

/* Starts a holder, and a waiter that prints its node when its command starts after the delay. */
static void begin(struct scene *s, const char *delay)
{
    cli_hold(&s->holder);
    CLI_QUEUE(&s->next, "-t", "4000", "lock", "-w", "30", delay, zkt_path(), "sh", "-c",
              "echo $ZKR_LOCK_NODE");
    /*
     * The holder watches its own node. With a second watch, the waiter waits. Otherwise the lock may be free when the
     * waiter looks.
     */
    ZKT_EVENTUALLY(zkt_watches() >= 2, CLI_PATIENCE_MS);
}

ZKT_CASE(a_contended_lock_starts_after_the_delay)
{
    enum { DELAY_MS = 1500 };
    struct scene s;
    begin(&s, "--lock-delay=1.5");
    int64_t held_at = zkt_now_ms(); /* before the lock is free and the delay begins */
    cli_stop(&s.holder, SIGTERM);
    ZKT_EVENTUALLY(*cli_out(&s.next), CLI_PATIENCE_MS);
    int64_t took = zkt_now_ms() - held_at;
    assert_true(took >= DELAY_MS);
    assert_int_equal(cli_wait(&s.next), 0);
}

/*
 * If the hold is lost during the delay, zkr does not start the command. It queues again, and waits for the delay again.
 */
ZKT_CASE(a_hold_lost_during_the_delay_starts_nothing)
{
    char first[300], second[300];
    struct scene s;
    begin(&s, "--lock-delay=2");
    cli_stop(&s.holder, SIGTERM);
    zkt_lone_node(first, sizeof(first));
    assert_int_equal(zkt_delete(zkt_servers(), first), 0);
    ZKT_BECOMES(cli_queue(), 1, CLI_PATIENCE_MS);
    assert_string_equal(cli_out(&s.next), "");
    zkt_lone_node(second, sizeof(second));
    assert_string_not_equal(first, second);
    assert_int_equal(cli_wait(&s.next), 0);
    assert_memory_equal(cli_out(&s.next), second, strlen(second));
    assert_string_equal(cli_out(&s.next) + strlen(second), "\n");
}

/* A signal during the delay ends zkr at once, without starting the command. */
ZKT_CASE(one_told_to_stop_during_the_delay_starts_nothing)
{
    struct scene s;
    begin(&s, "--lock-delay=60");
    cli_stop(&s.holder, SIGTERM);
    zkt_sleep_ms(200); /* time for the grant; before it, the result is the same */
    cli_stop(&s.next, SIGTERM);
    assert_string_equal(cli_out(&s.next), "");
    assert_int_equal(cli_queue(), 0);
}

/* If the session ends during the delay, while no server is reachable, zkr does not start the command. */
ZKT_CASE(a_session_lost_during_the_delay_starts_nothing)
{
    struct cli holder, next;
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    cli_hold(&holder);
    CLI_QUEUE(&next, "-z", zkt_proxy_host(proxy), "-t", "2000", "lock", "-w", "5", "-E",
              "3", "--lock-delay", "4", zkt_path(), "echo", "never");
    cli_stop(&holder, SIGTERM);
    zkt_proxy_blackhole(proxy);
    assert_int_equal(cli_wait(&next), 3);
    assert_string_equal(cli_out(&next), "");
    cli_assert_one_line(&next);
    zkt_proxy_stop(proxy);
    ZKT_EVENTUALLY(cli_queue() <= 0, CLI_PATIENCE_MS);
}

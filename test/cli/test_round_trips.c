/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the round trips that zkr waits for. A proxy delays both directions, and notes when requests pass. A request
 * that waits for an answer passes at least a round trip after the request for that answer; any other request passes
 * much sooner. Requests therefore come in waves, each at least a round trip after the begin of the previous one.
 * Opening the session is one more round trip.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

#include "cli.h"

enum { ONE_WAY_MS = 250, TRIP_MS = 2 * ONE_WAY_MS, SLACK_MS = 20 };

/* So long that these servers do not count as slow; with slow servers zkr waits for a longer lease. */
#define SESSION "20000"

struct trips {
    zkt_proxy *proxy;
    int64_t begun;    /* begin of the last wave, in ms */
    atomic_int waves; /* number of waves so far */
};

static void note(void *trips, int n, int op)
{
    struct trips *t = trips;
    int64_t now = zkt_now_ms();
    (void)n;
    bool begins = now - t->begun >= TRIP_MS - SLACK_MS;
    t->begun = begins ? now : t->begun;
    atomic_fetch_add(&t->waves, begins);
    (void)printf("%s%d", begins ? " | " : " ", op);
}

/* Runs zkr with these arguments behind -z, and returns its round trips. */
static int count(const char *const *args)
{
    enum { MOST = 16 };
    struct trips t = {.proxy = zkt_proxy_start(zkt_servers())};
    struct cli zkr;
    const char *argv[MOST] = {cli_zkr(), "-t", SESSION, "-z", zkt_proxy_host(t.proxy)};
    enum { GIVEN = 5 };
    for (int i = 0; args[i]; i++) {
        assert_true(GIVEN + i < MOST - 1);
        argv[GIVEN + i] = args[i];
    }
    zkt_proxy_delay(t.proxy, ZKT_TO_SERVER, ONE_WAY_MS);
    zkt_proxy_delay(t.proxy, ZKT_TO_CLIENT, ONE_WAY_MS);
    zkt_proxy_on_request(t.proxy, note, &t);
    (void)printf("waves of operations:");
    cli_spawn(&zkr, false, argv);
    int status = cli_wait(&zkr);
    (void)printf("\n");
    assert_int_equal(status, 0);
    zkt_proxy_on_request(t.proxy, NULL, NULL);
    zkt_proxy_stop(t.proxy);
    return 1 + atomic_load(&t.waves);
}

#define COUNT(...) count((const char *const[]){__VA_ARGS__, NULL})

/* Open the session; create and list; delete and close the session. */
enum { LOCK_TRIPS = 3 };

ZKT_CASE(a_lock_takes_three_round_trips)
{
    const char *path = zkt_path();
    assert_int_equal(CLI("lock", path, "true"), 0); /* creates the path */
    assert_int_equal(COUNT("lock", path, "true"), LOCK_TRIPS);
    assert_int_equal(COUNT("lock", "--no-guardian", path, "true"), LOCK_TRIPS);
    assert_int_equal(COUNT("lock", "-n", path, "true"), LOCK_TRIPS);
    assert_int_equal(COUNT("lock", "--min-hold", "0.1", path, "true"), LOCK_TRIPS);
}

ZKT_CASE(readers_and_writers_take_three_round_trips)
{
    const char *path = zkt_path();
    assert_int_equal(CLI("lock", path, "true"), 0);
    assert_int_equal(COUNT("lock", "-s", path, "true"), LOCK_TRIPS);
    assert_int_equal(COUNT("lock", "--rw", path, "true"), LOCK_TRIPS);
}

ZKT_CASE(several_locks_take_three_round_trips)
{
    const char *path = zkt_child("a"), *other = zkt_child("b");
    assert_int_equal(CLI("lock", "--also", other, path, "true"), 0);
    assert_int_equal(COUNT("lock", "--also", other, path, "true"), LOCK_TRIPS);
}

ZKT_CASE(permits_take_three_round_trips)
{
    const char *path = zkt_path();
    assert_int_equal(CLI("lock", "--permits", "3", path, "true"), 0);
    assert_int_equal(COUNT("lock", "--permits", "2/3", path, "true"), LOCK_TRIPS);
}

/* zkr also reads the record and the lock node. It writes the record before the command and after it. */
ZKT_CASE(a_command_run_once_takes_three_more)
{
    enum { NOT_DUE = LOCK_TRIPS + 1, DUE = LOCK_TRIPS + 3 };
    const char *path = zkt_path();
    assert_int_equal(CLI("once", "--every", "0.001", path, "true"), 0);
    assert_int_equal(COUNT("once", "--every", "0.001", path, "true"), DUE);
    assert_int_equal(COUNT("once", "--every", "3600", path, "true"), NOT_DUE);
}

/*
 * Open the session; list; read the nodes or list what is below. The result is then known, and zkr closes the session.
 */
enum { STATUS_TRIPS = 4 };

ZKT_CASE(a_status_takes_three_round_trips_and_the_end_of_the_session)
{
    struct cli holder;
    const char *path = zkt_path();
    assert_int_equal(CLI("lock", path, "true"), 0);
    assert_int_equal(COUNT("status", path), STATUS_TRIPS);
    cli_hold(&holder);
    assert_int_equal(COUNT("status", path), STATUS_TRIPS);
    assert_int_equal(COUNT("status", "-q", path), STATUS_TRIPS);
    assert_int_equal(COUNT("status", "--json", path), STATUS_TRIPS);
    cli_stop(&holder, SIGTERM);
}

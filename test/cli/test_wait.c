/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock: conflicts, waiting and turns. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

ZKT_CASE(a_conflict_is_1_or_what_was_asked_for)
{
    struct cli holder;
    cli_hold(&holder);
    /* The limits leave room for a busy machine to connect. */
    CLI_EACH_REFUSED(1, "lock -n PATH true", "lock --nb PATH true",
                     "lock --nonblock PATH true", "lock --nonblocking PATH true",
                     "lock -w 0 PATH true", "lock -w2.5 PATH true");
    CLI_EACH_REFUSED(0, "lock -n -E 0 PATH true");
    CLI_EACH_REFUSED(255, "lock -n --conflict-exit-code=255 PATH true");
    CLI_EACH_REFUSED(42, "lock --timeout 2.5 -E42 PATH true");
    cli_stop(&holder, SIGTERM);
    assert_int_equal(cli_queue(), 0);
}

ZKT_CASE(a_wait_takes_as_long_as_asked_for)
{
    struct cli holder;
    cli_hold(&holder);
    int64_t started = zkt_now_ms();
    assert_int_equal(CLI("lock", "--wait", "2.4", zkt_path(), "true"), 1);
    int64_t took = zkt_now_ms() - started;
    assert_true(took >= 2400 && took < 8000);
    cli_stop(&holder, SIGTERM);
}

/* Told to stop, it leaves the queue at once. */
ZKT_CASE(a_waiter_told_to_stop_leaves_the_queue)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    struct cli holder;
    cli_hold(&holder);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        struct cli waiter;
        CLI_QUEUE(&waiter, "lock", zkt_path(), "echo", "never");
        cli_stop(&waiter, signals[i]);
        assert_int_equal(cli_queue(), 1);
        assert_string_equal(cli_out(&waiter), "");
    }
    cli_stop(&holder, SIGTERM);
}

/* While it still looks for a server as well. */
ZKT_CASE(one_that_connects_can_be_told_to_stop)
{
    struct cli c;
    CLI_START(&c, "-z", "127.0.0.1:1", "lock", zkt_path(), "true");
    zkt_sleep_ms(200);
    cli_stop(&c, SIGTERM);
}

ZKT_CASE(a_dozen_waiters_are_served_in_order)
{
    enum { WAITERS = 12 };
    struct cli holder, waiters[WAITERS];
    char name[32], text[160], expected[128] = "";
    int fd = cli_file(name);
    cli_hold(&holder);
    for (int i = 0; i < WAITERS; i++) {
        (void)snprintf(text, sizeof(text), "echo %d >> %s", i, name);
        CLI_QUEUE(&waiters[i], "lock", zkt_path(), "-c", text);
        (void)snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected),
                       "%d\n", i);
    }
    cli_stop(&holder, SIGTERM);
    for (int i = 0; i < WAITERS; i++) {
        assert_int_equal(cli_wait(&waiters[i]), 0);
    }
    assert_string_equal(cli_file_text(fd), expected);
}

/* Thirty take one each from a stock of a hundred; reading and writing take their time. */
ZKT_CASE(thirty_processes_leave_seventy)
{
    enum { TAKERS = 30 };
    struct cli takers[TAKERS];
    char name[32], text[160];
    int fd = cli_file(name);
    assert_int_equal(write(fd, "100\n", 4), 4);
    (void)snprintf(text, sizeof(text), "n=$(cat %s); sleep 0.01; echo $((n-1)) > %s",
                   name, name);
    for (int i = 0; i < TAKERS; i++) {
        CLI_START(&takers[i], "lock", zkt_path(), "-c", text);
    }
    for (int i = 0; i < TAKERS; i++) {
        assert_int_equal(cli_wait(&takers[i]), 0);
    }
    assert_string_equal(cli_file_text(fd), "70\n");
}

/* --- a bounded queue --- */

ZKT_CASE(a_full_queue_is_a_conflict)
{
    struct cli holder, waiter;
    cli_hold(&holder);
    CLI_QUEUE(&waiter, "lock", "--max-queue=1", zkt_path(), "echo", "mine");
    CLI_REFUSED(1, "lock", "--max-queue", "1", zkt_path(), "true");
    CLI_REFUSED(7, "lock", "--max-queue=1", "-E7", "-w", "60", zkt_path(), "true");
    assert_int_equal(cli_queue(), 2);
    cli_stop(&holder, SIGTERM);
    assert_int_equal(cli_wait(&waiter), 0);
    assert_string_equal(cli_out(&waiter), "mine\n");
}

/* With -v, by what the client knows. */
ZKT_CASE(the_place_in_the_queue_is_said)
{
    struct cli holder, first, second;
    cli_hold(&holder);
    CLI_QUEUE(&first, "lock", "-i", "first", zkt_path(), "sleep", "60");
    CLI_QUEUE(&second, "-v", "lock", zkt_path(), "true");
    ZKT_EVENTUALLY(
        strstr(cli_err(&second), ": 2 in front when last seen, behind first\n"),
        CLI_PATIENCE_MS);
    cli_stop(&holder, SIGTERM);
    ZKT_EVENTUALLY(
        strstr(cli_err(&second), ": 1 in front when last seen, held by first for "),
        CLI_PATIENCE_MS);
    cli_stop(&first, SIGTERM);
    assert_int_equal(cli_wait(&second), 0);
}

/* --- zkr wait: until it is free --- */

ZKT_CASE(wait_ends_when_nobody_is_there)
{
    struct cli holder, waiter, wait;
    assert_int_equal(CLI("wait", zkt_path()), 0);
    cli_hold(&holder);
    CLI_REFUSED(1, "wait", "-w", "0", zkt_path());
    CLI_REFUSED(1, "wait", "--wait=0.3", zkt_path());
    CLI_QUEUE(&waiter, "lock", zkt_path(), "true");
    CLI_START(&wait, "wait", zkt_path());
    cli_stop(&holder, SIGTERM);
    assert_int_equal(cli_wait(&waiter), 0);
    assert_int_equal(cli_wait(&wait), 0);
    assert_string_equal(cli_out(&wait), "");
    assert_string_equal(cli_err(&wait), "");
    assert_int_equal(CLI("wait", "-w0", zkt_path()), 0);
}

/* To connect is part of the wait; and who could not connect says so, not that servers are silent. */
ZKT_CASE(wait_connects_no_longer_than_it_may_wait)
{
    struct cli c;
    int64_t started = zkt_now_ms();
    CLI_START(&c, "-z", "127.0.0.1:1", "wait", "-w", "0.5", zkt_path());
    assert_int_equal(cli_wait(&c), 75);
    ZKT_IN_RANGE(zkt_now_ms() - started, 500, 10000);
    assert_non_null(strstr(cli_err(&c), "check -z or $ZKR_SERVERS"));
}

/* zkr distinguishes a server that closes connections, because this host has too many, from a silent one. */
ZKT_CASE(a_server_that_closes_connections_is_named)
{
    struct cli c;
    const zkt_server_options o = {.config = "maxClientCnxns=1\n"};
    const char *host = zkt_server_host(zkt_server_start(&o));
    zkt_raw *s = zkt_raw_open(host, 30000);
    assert_non_null(s);
    CLI_START(&c, "-z", host, "--connect-timeout", "2", "status", zkt_path());
    assert_int_equal(cli_wait(&c), 75);
    assert_non_null(strstr(cli_err(&c), "maxClientCnxns"));
    assert_non_null(strstr(cli_err(&c), host));
    (void)zkt_raw_close(s);
}

struct silence {
    zkt_proxy *proxy;
    int lists; /* that are answered */
    struct cli c;
};

static void fall_silent(void *ctx, int n, int op)
{
    enum { OP_CHILDREN = 8, OP_CHILDREN2 = 12 };
    struct silence *s = ctx;
    (void)n;
    if ((op == OP_CHILDREN || op == OP_CHILDREN2) && s->lists-- == 0) {
        zkt_proxy_blackhole(s->proxy);
    }
}

/*
 * Connecting, a list without an answer and the close together are no longer than what -w was given, and a second. When
 * the lists are answered, the status is 1, and that connecting took long gives no more time.
 */
ZKT_CASE(silent_servers_make_no_wait_longer)
{
    enum { CONNECT_MS = 4000, WAIT_MS = 6000, LATER_MS = CONNECT_MS + WAIT_MS + 2400 };
    static const char silent[] = "no answer from the servers in time";
    static const struct {
        const char *verb, *wait;
        int lists, status;
        const char *said;
    } rows[] = {{"wait", "6", 0, 75, silent},
                {"revoke", "6", 1, 75, silent},
                {"wait", "10", INT_MAX, 1, "is not free"}};
    enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
    struct silence s[ROWS];
    struct cli holder;
    CLI_QUEUE(&holder, "lock", "--on-revoke", "ignore", zkt_path(), "sleep", "60");
    int64_t started = zkt_now_ms();
    for (int i = 0; i < ROWS; i++) {
        s[i] = (struct silence){.proxy = zkt_proxy_start(zkt_servers()),
                                .lists = rows[i].lists};
        zkt_proxy_on_request(s[i].proxy, fall_silent, &s[i]);
        zkt_proxy_freeze(s[i].proxy, ZKT_TO_CLIENT);
        CLI_START(&s[i].c, "-z", zkt_proxy_host(s[i].proxy), "-t", "10000",
                  rows[i].verb, "-w", rows[i].wait, zkt_path());
    }
    zkt_sleep_ms(CONNECT_MS);
    for (int i = 0; i < ROWS; i++) {
        zkt_proxy_thaw(s[i].proxy, ZKT_TO_CLIENT);
    }
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(cli_wait(&s[i].c), rows[i].status);
        ZKT_IN_RANGE(zkt_now_ms() - started, WAIT_MS, LATER_MS + i * CONNECT_MS);
        cli_assert_one_line(&s[i].c);
        assert_non_null(strstr(cli_err(&s[i].c), rows[i].said));
        zkt_proxy_stop(s[i].proxy);
    }
    cli_stop(&holder, SIGTERM);
}

ZKT_CASE(wait_refuses_what_it_cannot_wait_for)
{
    struct cli holder;
    CLI_START(&holder, "lock", "--permits=2", zkt_path(), "sh", "-c",
              "echo held; exec sleep 60");
    ZKT_EVENTUALLY(strstr(cli_out(&holder), "held\n"), CLI_PATIENCE_MS);
    CLI_REFUSED(65, "wait", "-w0", zkt_path());
    cli_stop(&holder, SIGTERM);
}

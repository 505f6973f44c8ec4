/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock: conflicts, waiting and turns. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli.h"

static void hold(struct cli *c)
{
    cli_hold(c);
}

static void end(struct cli *c)
{
    cli_stop(c, SIGTERM);
}

ZKT_CASE(a_conflict_is_1_or_what_was_asked_for)
{
    struct cli holder;
    hold(&holder);
    /* The limits leave room for a busy machine to connect. */
    CLI_REFUSED(1, "lock", "-n", zkt_path(), "true");
    CLI_REFUSED(1, "lock", "--nb", zkt_path(), "true");
    CLI_REFUSED(1, "lock", "--nonblock", zkt_path(), "true");
    CLI_REFUSED(1, "lock", "-w", "0", zkt_path(), "true");
    CLI_REFUSED(1, "lock", "-w2.5", zkt_path(), "true");
    CLI_REFUSED(0, "lock", "-n", "-E", "0", zkt_path(), "true");
    CLI_REFUSED(255, "lock", "-n", "--conflict-exit-code=255", zkt_path(), "true");
    CLI_REFUSED(42, "lock", "--timeout", "2.5", "-E42", zkt_path(), "true");
    end(&holder);
    assert_int_equal(cli_queue(), 0);
}

ZKT_CASE(a_wait_takes_as_long_as_asked_for)
{
    struct cli holder;
    hold(&holder);
    int64_t started = zkt_now_ms();
    assert_int_equal(CLI("lock", "--wait", "2.4", zkt_path(), "true"), 1);
    int64_t took = zkt_now_ms() - started;
    assert_true(took >= 2400 && took < 8000);
    end(&holder);
}

ZKT_CASE(a_waiter_is_granted_when_the_holder_ends)
{
    struct cli holder, waiter;
    hold(&holder);
    CLI_QUEUE(&waiter, "lock", "-w", "30", zkt_path(), "echo", "mine");
    assert_string_equal(cli_out(&waiter), "");
    end(&holder);
    assert_int_equal(cli_wait(&waiter), 0);
    assert_string_equal(cli_out(&waiter), "mine\n");
}

/* Told to stop, it leaves the queue at once. */
ZKT_CASE(a_waiter_told_to_stop_leaves_the_queue)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    struct cli holder;
    hold(&holder);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        struct cli waiter;
        CLI_QUEUE(&waiter, "lock", zkt_path(), "echo", "never");
        assert_int_equal(kill(waiter.pid, signals[i]), 0);
        assert_int_equal(cli_wait(&waiter), 128 + signals[i]);
        assert_int_equal(cli_queue(), 1);
        assert_string_equal(cli_out(&waiter), "");
    }
    end(&holder);
}

/* While it still looks for a server as well. */
ZKT_CASE(one_that_connects_can_be_told_to_stop)
{
    struct cli c;
    CLI_START(&c, "-z", "127.0.0.1:1", "lock", zkt_path(), "true");
    zkt_sleep_ms(200);
    cli_stop(&c, SIGTERM);
}

/* A file that commands can open by @name, and that ends with this process. */
static int shared_file(char *name, size_t size)
{
    int fd = memfd_create("shared", MFD_CLOEXEC);
    assert_true(fd >= 0);
    (void)snprintf(name, size, "/proc/%d/fd/%d", (int)getpid(), fd);
    return fd;
}

ZKT_CASE(a_dozen_waiters_are_served_in_order)
{
    enum { WAITERS = 12 };
    struct cli holder, waiters[WAITERS];
    char name[32], text[160], expected[128] = "";
    int fd;
    fd = shared_file(name, sizeof(name));
    hold(&holder);
    for (int i = 0; i < WAITERS; i++) {
        (void)snprintf(text, sizeof(text), "echo %d >> %s", i, name);
        CLI_QUEUE(&waiters[i], "lock", zkt_path(), "-c", text);
        (void)snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected),
                       "%d\n", i);
    }
    end(&holder);
    for (int i = 0; i < WAITERS; i++) {
        assert_int_equal(cli_wait(&waiters[i]), 0);
    }
    ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    (void)close(fd);
    assert_string_equal(text, expected);
}

/* Thirty take one each from a stock of a hundred; reading and writing take their time. */
ZKT_CASE(thirty_processes_leave_seventy)
{
    enum { TAKERS = 30 };
    struct cli takers[TAKERS];
    char name[32], text[160];
    int fd = shared_file(name, sizeof(name));
    assert_int_equal(write(fd, "100\n", 4), 4);
    (void)snprintf(text, sizeof(text), "n=$(cat %s); sleep 0.01; echo $((n-1)) > %s",
                   name, name);
    for (int i = 0; i < TAKERS; i++) {
        CLI_START(&takers[i], "lock", zkt_path(), "-c", text);
    }
    for (int i = 0; i < TAKERS; i++) {
        assert_int_equal(cli_wait(&takers[i]), 0);
    }
    ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    (void)close(fd);
    assert_string_equal(text, "70\n");
}

/* --- a bounded queue --- */

ZKT_CASE(a_full_queue_is_a_conflict)
{
    struct cli holder, waiter;
    hold(&holder);
    CLI_QUEUE(&waiter, "lock", "--max-queue=1", zkt_path(), "echo", "mine");
    CLI_REFUSED(1, "lock", "--max-queue", "1", zkt_path(), "true");
    CLI_REFUSED(7, "lock", "--max-queue=1", "-E7", "-w", "60", zkt_path(), "true");
    CLI_REFUSED(64, "lock", "--max-queue=0", zkt_path(), "true");
    CLI_REFUSED(64, "lock", "--max-queue=1", "-s", zkt_path(), "true");
    CLI_REFUSED(64, "lock", "--max-queue=1", "--permits=3", zkt_path(), "true");
    assert_int_equal(cli_queue(), 2);
    end(&holder);
    assert_int_equal(cli_wait(&waiter), 0);
    assert_string_equal(cli_out(&waiter), "mine\n");
}

/* With -v, by what the client knows. */
ZKT_CASE(the_place_in_the_queue_is_said)
{
    struct cli holder, first, second;
    hold(&holder);
    CLI_QUEUE(&first, "lock", "-i", "first", zkt_path(), "sleep", "60");
    CLI_QUEUE(&second, "-v", "lock", zkt_path(), "true");
    ZKT_EVENTUALLY(
        strstr(cli_err(&second), ": 2 in front when last seen, behind first\n"),
        CLI_PATIENCE_MS);
    end(&holder);
    ZKT_EVENTUALLY(
        strstr(cli_err(&second), ": 1 in front when last seen, held by first for "),
        CLI_PATIENCE_MS);
    end(&first);
    assert_int_equal(cli_wait(&second), 0);
}

/* --- zkr wait: until it is free --- */

ZKT_CASE(wait_ends_when_nobody_is_there)
{
    struct cli holder, waiter, wait;
    assert_int_equal(CLI("wait", zkt_path()), 0);
    hold(&holder);
    CLI_REFUSED(1, "wait", "-w", "0", zkt_path());
    CLI_REFUSED(1, "wait", "--wait=0.3", zkt_path());
    CLI_QUEUE(&waiter, "lock", zkt_path(), "true");
    CLI_START(&wait, "wait", zkt_path());
    end(&holder);
    assert_int_equal(cli_wait(&waiter), 0);
    assert_int_equal(cli_wait(&wait), 0);
    assert_string_equal(cli_out(&wait), "");
    assert_string_equal(cli_err(&wait), "");
    assert_int_equal(CLI("wait", "-w0", zkt_path()), 0);
}

/* To connect is part of the wait. */
ZKT_CASE(wait_connects_no_longer_than_it_may_wait)
{
    int64_t started = zkt_now_ms();
    CLI_REFUSED(75, "-z", "127.0.0.1:1", "wait", "-w", "0.5", zkt_path());
    assert_in_range(zkt_now_ms() - started, 500, 10000);
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

/* Connecting, a list without an answer and the close together are no longer than what -w was given, and a second. */
ZKT_CASE(silent_servers_make_no_wait_longer)
{
    enum { CONNECT_MS = 4000, WAIT_MS = 6000, LATER_MS = CONNECT_MS + WAIT_MS + 2400 };
    static const char *const verbs[] = {"wait", "revoke"};
    struct silence s[2];
    struct cli holder;
    hold(&holder);
    int64_t started = zkt_now_ms();
    for (int i = 0; i < 2; i++) {
        s[i] = (struct silence){.proxy = zkt_proxy_start(zkt_servers()), .lists = i};
        zkt_proxy_on_request(s[i].proxy, fall_silent, &s[i]);
        zkt_proxy_freeze(s[i].proxy, ZKT_TO_CLIENT);
        CLI_START(&s[i].c, "-z", zkt_proxy_host(s[i].proxy), "-t", "10000", verbs[i],
                  "-w", "6", zkt_path());
    }
    zkt_sleep_ms(CONNECT_MS);
    for (int i = 0; i < 2; i++) {
        zkt_proxy_thaw(s[i].proxy, ZKT_TO_CLIENT);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cli_wait(&s[i].c), 75);
        assert_in_range(zkt_now_ms() - started, WAIT_MS, LATER_MS + i * CONNECT_MS);
        cli_assert_one_line(&s[i].c);
        assert_non_null(strstr(cli_err(&s[i].c), "no answer from the servers in time"));
        zkt_proxy_stop(s[i].proxy);
    }
    end(&holder);
}

ZKT_CASE(wait_refuses_what_it_cannot_wait_for)
{
    struct cli holder;
    CLI_START(&holder, "lock", "--permits=2", zkt_path(), "sh", "-c",
              "echo held; exec sleep 60");
    ZKT_EVENTUALLY(strstr(cli_out(&holder), "held\n"), CLI_PATIENCE_MS);
    CLI_REFUSED(65, "wait", "-w0", zkt_path());
    CLI_REFUSED(64, "wait");
    CLI_REFUSED(64, "wait", "-w", "soon", zkt_path());
    CLI_REFUSED(65, "wait", "here");
    CLI_REFUSED(75, "-z", "127.0.0.1:1", "wait", "-w", "0.2", zkt_path());
    end(&holder);
}

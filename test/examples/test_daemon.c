/* SPDX-License-Identifier: Apache-2.0 */
/* test_daemon PROGRAM: the daemons of examples/ on an event loop, as black boxes. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static void start(struct cli *c, const char *servers, const char *name)
{
    CLI_START(c, servers, name, zkt_path());
}

/* The token behind the last "NAME what", 0 = it has not said so. */
static int64_t last_said(struct cli *c, const char *what)
{
    const char *line = cli_out(c), *last = NULL;
    while ((line = strstr(line, what)) != NULL) {
        last = line++;
    }
    return last ? strtoll(last + strlen(what), NULL, 10) : 0;
}

static int64_t await_hold(struct cli *c)
{
    ZKT_EVENTUALLY(last_said(c, " holds ") != 0, CLI_PATIENCE_MS);
    return last_said(c, " holds ");
}

static void stop_by(struct cli *c, int number)
{
    assert_int_equal(kill(c->pid, number), 0);
    assert_int_equal(cli_wait(c), 0);
    assert_string_equal(cli_err(c), "");
}

/* It works under its token, and a signal ends it with nothing left behind. */
ZKT_CASE(it_works_until_a_signal_comes)
{
    static const int numbers[] = {SIGTERM, SIGINT};
    for (int i = 0; i < 2; i++) {
        struct cli c;
        start(&c, zkt_servers(), "a");
        int64_t token = await_hold(&c);
        ZKT_BECOMES(last_said(&c, " works "), token, CLI_PATIENCE_MS);
        stop_by(&c, numbers[i]);
        assert_int_equal(cli_queue(), 0);
    }
}

/* First come, first served; who waits does no work; the next token is higher. */
ZKT_CASE(the_next_one_takes_over)
{
    struct cli a, b;
    start(&a, zkt_servers(), "a");
    int64_t first = await_hold(&a);
    start(&b, zkt_servers(), "b");
    ZKT_BECOMES(cli_queue(), 2, CLI_PATIENCE_MS);
    zkt_sleep_ms(300); /* three of its ticks */
    assert_string_equal(cli_out(&b), "");
    stop_by(&a, SIGTERM);
    assert_true(await_hold(&b) > first);
    stop_by(&b, SIGTERM);
}

/* One that waits leaves the queue. */
ZKT_CASE(one_that_waits_can_be_stopped)
{
    struct cli a, b;
    start(&a, zkt_servers(), "a");
    (void)await_hold(&a);
    start(&b, zkt_servers(), "b");
    ZKT_BECOMES(cli_queue(), 2, CLI_PATIENCE_MS);
    stop_by(&b, SIGTERM);
    ZKT_BECOMES(cli_queue(), 1, CLI_PATIENCE_MS);
    stop_by(&a, SIGTERM);
}

/* It says which hold was lost, and works again under another one. */
ZKT_CASE(a_lost_hold_is_asked_for_again)
{
    struct cli c;
    start(&c, zkt_servers(), "a");
    int64_t first = await_hold(&c);
    assert_int_equal(zkt_delete_children(zkt_servers(), zkt_path()), 0);
    ZKT_EVENTUALLY(last_said(&c, " holds ") > first, CLI_PATIENCE_MS);
    assert_int_equal(last_said(&c, " lost "), first);
    int64_t second = last_said(&c, " holds ");
    ZKT_BECOMES(last_said(&c, " works "), second, CLI_PATIENCE_MS);
    stop_by(&c, SIGTERM);
}

static bool has_thread(const struct cli *c, const char *name)
{
    char names[64];
    (void)snprintf(names, sizeof(names), "/proc/%d/task/*/comm", (int)c->pid);
    return CLI_AS("sh", "-c", "grep -q \"^$0\" $1", name, names) == 0;
}

/* A signal ends it where no server answers, too. The thread is there when signals are caught. */
ZKT_CASE(it_can_be_stopped_without_a_server)
{
    struct cli c;
    start(&c, "127.0.0.1:1", "a");
    ZKT_EVENTUALLY(has_thread(&c, "zkr-service"), CLI_PATIENCE_MS);
    stop_by(&c, SIGTERM);
}

/* Its loop runs the callbacks: there is a service thread, and none that dispatches. */
ZKT_CASE(callbacks_have_no_thread)
{
    struct cli c;
    start(&c, zkt_servers(), "a");
    (void)await_hold(&c);
    assert_true(has_thread(&c, "zkr-service"));
    assert_false(has_thread(&c, "zkr-dispatch"));
    stop_by(&c, SIGTERM);
}

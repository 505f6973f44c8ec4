/* SPDX-License-Identifier: Apache-2.0 */
/* test_daemon PROGRAM: tests a daemon of examples/ that has an event loop, as a black box. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static void start(struct cli *c, const char *servers, const char *name)
{
    CLI_START(c, servers, name, zkt_path());
}

/* Returns the token after the last occurrence of @what in the output, or 0 if there is none. */
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

/* The daemon works under its token. A signal ends it, and no node remains. */
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

/* A second daemon does no work until the first one has ended. Then it gets a higher token. */
ZKT_CASE(the_next_one_takes_over)
{
    struct cli a, b;
    start(&a, zkt_servers(), "a");
    int64_t first = await_hold(&a);
    start(&b, zkt_servers(), "b");
    ZKT_BECOMES(cli_queue(), 2, CLI_PATIENCE_MS);
    zkt_sleep_ms(300); /* three ticks of the daemon */
    assert_string_equal(cli_out(&b), "");
    stop_by(&a, SIGTERM);
    assert_true(await_hold(&b) > first);
    stop_by(&b, SIGTERM);
}

/* A daemon that is stopped while it waits leaves the queue. */
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

/* The daemon reports which hold was lost, and works again under a new hold. */
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

/* A signal ends the daemon even if no server answers. When the service thread exists, the daemon catches signals. */
ZKT_CASE(it_can_be_stopped_without_a_server)
{
    struct cli c;
    start(&c, "127.0.0.1:1", "a");
    ZKT_EVENTUALLY(has_thread(&c, "zkr-service"), CLI_PATIENCE_MS);
    stop_by(&c, SIGTERM);
}

/* The event loop runs the callbacks, so the client has a service thread, but no dispatch thread. */
ZKT_CASE(callbacks_have_no_thread)
{
    struct cli c;
    start(&c, zkt_servers(), "a");
    (void)await_hold(&c);
    assert_true(has_thread(&c, "zkr-service"));
    assert_false(has_thread(&c, "zkr-dispatch"));
    stop_by(&c, SIGTERM);
}

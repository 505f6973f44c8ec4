/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zkr ends when its node is gone. While the line is cut it says that it waits, until the line is back,
 * the session over, or somebody tells it to stop.
 */
#include <signal.h>
#include <string.h>

#include "cli.h"

static const char waiting[] = "waiting for the servers to confirm";
static const char unconfirmed[] = "have not confirmed";

struct scene {
    zkt_proxy *proxy;
    struct cli zkr;
};

/* A command that ends with 7 when it reads a line; up when this returns. */
static void
begin(struct scene *s, const char *session, const char *verb, const char *option)
{
    s->proxy = zkt_proxy_start(zkt_servers());
    CLI_START_PIPED(&s->zkr, "-z", zkt_proxy_host(s->proxy), "-t", session, verb,
                    option, zkt_path(), "sh", "-c", "echo up; read x; exit 7");
    ZKT_EVENTUALLY(strstr(cli_out(&s->zkr), "up"), CLI_PATIENCE_MS);
}

/* The node that it left stands for as long as its session: none of our time is spent on that. */
static void clean_up(void)
{
    assert_int_equal(cli_queue(), 1);
    assert_int_equal(zkt_delete_children(zkt_servers(), zkt_path()), 0);
}

/* The command ends while the line is cut, and zkr says that it waits. */
static void end_the_command_in_the_dark(struct scene *s)
{
    zkt_proxy_cut(s->proxy);
    zkt_put_byte(s->zkr.in, '\n');
    ZKT_EVENTUALLY(strstr(cli_err(&s->zkr), waiting), CLI_PATIENCE_MS);
    assert_int_equal(cli_queue(), 1);
}

/* The session would have kept the node for longer than this test waits. */
static void its_node_is_gone_when(struct scene *s, int status)
{
    zkt_proxy_heal(s->proxy);
    assert_int_equal(cli_wait(&s->zkr), status);
    assert_int_equal(cli_queue(), 0);
}

static const char *const verbs[][2] = {{"lock", "-x"}, {"elect", "--once"}};

ZKT_CASE(a_command_that_ends_while_the_line_is_cut_leaves_no_node)
{
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        struct scene s;
        begin(&s, "10000", verbs[i][0], verbs[i][1]);
        end_the_command_in_the_dark(&s);
        its_node_is_gone_when(&s, 7);
        cli_assert_one_line(&s.zkr);
    }
}

/* Nobody comes back: it waits no longer than the session can last. */
ZKT_CASE(the_end_of_the_session_ends_the_wait)
{
    struct scene s;
    begin(&s, "3000", "lock", "-x");
    end_the_command_in_the_dark(&s);
    assert_int_equal(cli_wait(&s.zkr), 7);
    cli_assert_one_line(&s.zkr);
    ZKT_EVENTUALLY(cli_queue() <= 0, CLI_PATIENCE_MS);
}

ZKT_CASE(a_signal_ends_the_wait)
{
    struct scene s;
    begin(&s, "10000", "lock", "-x");
    end_the_command_in_the_dark(&s);
    cli_stop(&s.zkr, SIGTERM);
    assert_non_null(strstr(cli_err(&s.zkr), unconfirmed));
    clean_up();
}

/* --- told to stop --- */

static void lose_the_reply(void *ctx, int n, int op)
{
    enum { OP_CREATE2 = 15 };
    (void)n;
    if (op == OP_CREATE2) {
        zkt_proxy_freeze(ctx, ZKT_TO_CLIENT);
    }
}

/* Up to a create that is done, and whose reply is lost; then told to stop. */
static void stop_in_the_dark(struct scene *s, const char *verb, const char *option)
{
    assert_int_equal(CLI("lock", zkt_path(), "true"), 0); /* makes the path */
    s->proxy = zkt_proxy_start(zkt_servers());
    zkt_proxy_on_request(s->proxy, lose_the_reply, s->proxy);
    CLI_QUEUE(&s->zkr, "-z", zkt_proxy_host(s->proxy), "-t", "10000", verb, option,
              zkt_path(), "echo", "never");
    zkt_proxy_on_request(s->proxy, NULL, NULL);
    zkt_proxy_cut(s->proxy);
    assert_int_equal(kill(s->zkr.pid, SIGTERM), 0);
    ZKT_EVENTUALLY(strstr(cli_err(&s->zkr), waiting), CLI_PATIENCE_MS);
    assert_int_equal(cli_queue(), 1);
}

ZKT_CASE(a_waiter_told_to_stop_without_its_reply_leaves_no_node)
{
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        struct scene s;
        stop_in_the_dark(&s, verbs[i][0], verbs[i][1]);
        its_node_is_gone_when(&s, 143);
        assert_string_equal(cli_out(&s.zkr), "");
        cli_assert_one_line(&s.zkr);
    }
}

ZKT_CASE(a_waiter_told_twice_ends_at_once)
{
    struct scene s;
    stop_in_the_dark(&s, "lock", "-x");
    cli_stop(&s.zkr, SIGINT);
    assert_non_null(strstr(cli_err(&s.zkr), unconfirmed));
    clean_up();
}

/* As with nohup: it is not told anything. */
ZKT_CASE(an_ignored_signal_does_not_end_the_wait)
{
    struct scene s = {.proxy = zkt_proxy_start(zkt_servers())};
    cli_spawn(&s.zkr, true,
              (const char *const[]){"env", "--ignore-signal=HUP", cli_zkr(), "-z",
                                    zkt_proxy_host(s.proxy), "lock", zkt_path(), "sh",
                                    "-c", "echo up; read x; exit 7", NULL});
    ZKT_EVENTUALLY(strstr(cli_out(&s.zkr), "up"), CLI_PATIENCE_MS);
    end_the_command_in_the_dark(&s);
    assert_int_equal(kill(s.zkr.pid, SIGHUP), 0);
    its_node_is_gone_when(&s, 7);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock: which of the three it was when a lock is lost, and what the log says. */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

enum { SESSION_MS = 4000 };

/* Holds the lock, through @host. */
static void hold(struct cli *c, const char *host)
{
    char ms[16];
    (void)snprintf(ms, sizeof(ms), "%d", SESSION_MS);
    CLI_START(c, "-z", host, "-t", ms, "lock", zkt_path(), "sh", "-c",
              "echo held; sleep 60");
    ZKT_BECOMES(strcmp(cli_out(c), "held\n"), 0, CLI_PATIENCE_MS);
}

/* It ends with 79, and one line that has one of the reasons, and the remedy. */
static void
expect_either(struct cli *c, const char *why, const char *or_why, const char *remedy)
{
    assert_int_equal(cli_wait(c), 79);
    cli_assert_one_line(c);
    if ((!strstr(cli_err(c), why) && !strstr(cli_err(c), or_why)) ||
        !strstr(cli_err(c), remedy)) {
        zkt_fail("not '%s' or '%s' and '%s': %s", why, or_why, remedy, cli_err(c));
    }
}

static void expect(struct cli *c, const char *why, const char *remedy)
{
    expect_either(c, why, why, remedy);
}

/* zkr ends the command as its lock is in doubt. On a busy machine the lease can be over by then. */
static void expect_doubt(struct cli *c, const char *why)
{
    expect_either(c, why, " was lost: lease bound passed: ",
                  "; check the servers and the network; ");
}

ZKT_CASE(the_node_was_deleted)
{
    struct cli c;
    hold(&c, zkt_servers());
    assert_int_equal(zkt_delete_children(zkt_servers(), zkt_path()), 0);
    expect(&c, " was lost: somebody deleted its node; ",
           "; to free a lock 'zkr revoke'");
}

/* By servers that have lost their data; else nothing can end it before the bound but an administrator. */
ZKT_CASE(the_session_was_ended)
{
    struct cli c;
    zkt_server *server = zkt_server_start(NULL);
    hold(&c, zkt_server_host(server));
    zkt_server_restart(server, true);
    assert_int_equal(cli_wait(&c), 79);
    if (!strstr(cli_err(&c),
                " was lost: session expired: ") && /* or the start takes long: */
        !strstr(cli_err(&c), " was in doubt: ") &&
        !strstr(cli_err(&c), " was lost: lease bound passed: ")) {
        zkt_fail("why is not told: %s", cli_err(&c));
    }
}

/* What cannot be asked for is not to be asked for. */
ZKT_CASE(the_advice_fits_what_was_held)
{
    static const char *const ways[][4] = {{"lock", "--permits", "2", "/leases"},
                                          {"lock", "--also", "/t/other", ""},
                                          {"elect", "-i", "me", ""}};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct cli c;
        char path[300];
        CLI_START(&c, ways[i][0], ways[i][1], ways[i][2], zkt_path(), "sh", "-c",
                  "echo held; sleep 60");
        ZKT_EVENTUALLY(strstr(cli_out(&c), "held\n"), CLI_PATIENCE_MS);
        (void)snprintf(path, sizeof(path), "%s%s", zkt_path(), ways[i][3]);
        assert_int_equal(zkt_delete_children(zkt_servers(), path), 0);
        ZKT_EVENTUALLY(strstr(cli_err(&c), "deleted its node"), CLI_PATIENCE_MS);
        assert_null(strstr(cli_err(&c), "zkr revoke"));
        if (strcmp(ways[i][0], "elect") == 0) {
            assert_int_equal(kill(c.pid, SIGTERM), 0);
        }
        (void)cli_wait(&c);
        (void)zkt_delete_children(zkt_servers(), zkt_path());
    }
    (void)zkt_delete(zkt_servers(), "/t/other");
}

/* Out of descriptors: that is what is named. */
ZKT_CASE(what_has_run_out_is_named)
{
    enum { LEAST = 5, MOST = 16 };
    for (int i = LEAST; i <= MOST; i++) {
        struct cli c;
        char text[128];
        (void)snprintf(text, sizeof(text),
                       "ulimit -n %d; exec \"$0\" --connect-timeout 1 lock -n $1 true",
                       i);
        int status = CLI_RUN_AS(&c, "sh", "-c", text, cli_zkr(), zkt_path());
        if (status != 0 && strstr(cli_err(&c), "thread")) {
            zkt_fail("%d: %s", i, cli_err(&c));
        }
    }
}

ZKT_CASE(the_network_was_cut)
{
    struct cli c;
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    hold(&c, zkt_proxy_host(proxy));
    zkt_proxy_cut(proxy);
    expect_doubt(&c, " was in doubt: there is no connection to a server; the last "
                     "write that was answered");
}

/* Connected, which proves nothing. */
ZKT_CASE(the_servers_were_silent)
{
    struct cli c;
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    hold(&c, zkt_proxy_host(proxy));
    zkt_proxy_freeze(proxy, ZKT_TO_SERVER);
    expect_doubt(&c, " was in doubt: ");
}

ZKT_CASE(the_process_was_stopped)
{
    struct cli c;
    hold(&c, zkt_servers());
    assert_int_equal(kill(c.pid, SIGSTOP), 0);
    expect(&c, " was in doubt: zkr was stopped, or the machine was frozen; ",
           "; see what stopped it; ");
}

/* One line for each event, with UTC time. */
ZKT_CASE(the_log_has_a_line_for_each_event)
{
    struct cli c;
    hold(&c, zkt_servers());
    cli_stop(&c, SIGTERM);
    CLI_START(&c, "-v", "lock", zkt_path(), "sh", "-c", "echo held; sleep 60");
    ZKT_BECOMES(strcmp(cli_out(&c), "held\n"), 0, CLI_PATIENCE_MS);
    assert_int_equal(zkt_delete_children(zkt_servers(), zkt_path()), 0);
    assert_int_equal(cli_wait(&c), 79);
    const char *line = strstr(cli_err(&c), "zkr: warning: time=");
    assert_non_null(line);
    const char *time = line + strlen("zkr: warning: time=");
    for (const char *form = "dddd-dd-ddTdd:dd:dd.dddZ event=lost path=/"; *form;
         form++, time++) {
        assert_true(*form == 'd' && strchr("0123456789", *time) ? true
                                                                : *form == *time);
    }
    assert_non_null(strstr(line, " reason=\"node deleted\""));
}

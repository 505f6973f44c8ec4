/* SPDX-License-Identifier: Apache-2.0 */
/* With --warn-signal, the command can save its work before the lock is lost. */
#include <signal.h>
#include <string.h>

#include "cli.h"

enum { SESSION_MS = 8000 };

/* The command prints each signal that it gets. TERM ends it with status 7. */
static const char command[] =
    "trap 'echo warned' USR1; trap 'echo ended; exit 7' TERM; echo up; "
    "while :; do sleep 0.05; done";

static zkt_proxy *begin(struct cli *c, const char *subcommand)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    CLI_START(c, "-z", zkt_proxy_host(p), "-t", "8000", subcommand, "--warn-signal",
              "USR1", "--warn-before", "2", zkt_path(), "-c", command);
    ZKT_EVENTUALLY(strstr(cli_out(c), "up"), CLI_PATIENCE_MS);
    zkt_sleep_ms(SESSION_MS / 2); /* until three writes are answered */
    assert_null(strstr(cli_out(c), "warned"));
    zkt_proxy_blackhole(p);
    return p;
}

/* The command gets one warning, and is then killed. */
ZKT_CASE(a_command_is_warned_and_then_killed)
{
    struct cli c;
    zkt_proxy *p = begin(&c, "lock");
    assert_int_equal(cli_wait(&c), 79);
    assert_string_equal(cli_out(&c), "up\nwarned\nended\n");
    assert_non_null(strstr(cli_err(&c), "it may be lost soon; sending signal"));
    zkt_proxy_cut(p);
}

/* If the servers answer in time, the hold continues beyond the time at which it would have been lost. */
ZKT_CASE(a_warned_command_may_go_on)
{
    struct cli c;
    zkt_proxy *p = begin(&c, "elect");
    ZKT_EVENTUALLY(strstr(cli_out(&c), "warned"), CLI_PATIENCE_MS);
    zkt_proxy_heal(p);
    zkt_sleep_ms(SESSION_MS);
    assert_string_equal(cli_out(&c), "up\nwarned\n");
    (void)kill(c.pid, SIGTERM);
    assert_int_equal(cli_wait(&c), 7);
}

ZKT_CASE(a_warning_needs_its_signal_its_time_and_a_command)
{
    CLI_REFUSED(64, "lock", "--warn-signal", "USR1", "/p", "true");
    CLI_REFUSED(64, "lock", "--warn-signal", "KILL", "--warn-before", "1", "/p",
                "true");
    CLI_REFUSED(64, "elect", "--warn-signal", "STOP", "--warn-before", "1", "/p",
                "true");
    CLI_REFUSED(64, "lock", "--warn-signal", "USR1", "--warn-before", "0", "/p",
                "true");
    CLI_REFUSED(64, "lock", "--warn-before", "1", "/p", "true");
    CLI_REFUSED(64, "lock", "--warn-signal", "USR1", "--warn-before", "1", "/p");
    CLI_REFUSED(64, "lock", "--warn-signal", "NONE", "--warn-before", "1", "/p",
                "true");
    CLI_REFUSED(64, "elect", "--warn-before", "1", "/p", "true");
}

/*
 * A time that is too long for the lease is reduced, and zkr reports that. While the servers answer, there is no
 * warning.
 */
ZKT_CASE(a_time_that_is_too_long_is_reduced)
{
    struct cli c;
    assert_int_equal(CLI_RUN(&c, "lock", "--warn-signal", "USR1", "--warn-before",
                             "3600", zkt_path(), "-c",
                             "trap 'exit 1' USR1; sleep 3 & wait"),
                     0);
    assert_non_null(strstr(cli_err(&c), "--warn-before is reduced to "));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock --min-hold: the lock outlasts the command. */
#include <signal.h>
#include <string.h>

#include "cli.h"

/* The command has ended, and the lock is still held. */
static void start(struct cli *c)
{
    CLI_START(c, "lock", "--min-hold", "60", zkt_path(), "sh", "-c",
              "echo done; exit 7");
    ZKT_EVENTUALLY(strcmp(cli_out(c), "done\n") == 0, CLI_PATIENCE_MS);
    CLI_REFUSED(1, "lock", "-n", zkt_path(), "true");
}

/* What a clock that is late would make of a cron job. */
ZKT_CASE(who_comes_late_finds_it_held)
{
    struct cli c;
    int64_t began = cli_now_ns();
    CLI_QUEUE(&c, "lock", "--min-hold", "2.5", zkt_path(), "true");
    CLI_REFUSED(1, "lock", "-n", zkt_path(), "true");
    assert_int_equal(cli_wait(&c), 0);
    assert_true(cli_now_ns() - began >= 2500000000);
    assert_string_equal(cli_err(&c), "");
}

/* It counts from the grant, not from the end of the command. */
ZKT_CASE(the_time_of_the_command_counts)
{
    enum { HOLD_S = 4, LESS_MS = 7000 };
    int64_t began = cli_now_ns();
    assert_int_equal(CLI("lock", "--min-hold", "4", zkt_path(), "sleep", "4"), 0);
    int64_t took_ms = (cli_now_ns() - began) / 1000000;
    ZKT_IN_RANGE(took_ms, HOLD_S * 1000, LESS_MS);
}

ZKT_CASE(a_signal_ends_it_with_the_status_of_the_command)
{
    struct cli c;
    start(&c);
    assert_int_equal(kill(c.pid, SIGTERM), 0);
    assert_int_equal(cli_wait(&c), 7);
    assert_int_equal(cli_queue(), 0);
}

ZKT_CASE(a_wish_ends_it)
{
    struct cli c;
    start(&c);
    assert_int_equal(CLI("revoke", "-w", "20", zkt_path()), 0);
    assert_int_equal(cli_wait(&c), 7);
}

/* The command is not to blame. */
ZKT_CASE(a_loss_ends_it_and_is_told)
{
    struct cli c;
    start(&c);
    assert_int_equal(zkt_delete_children(zkt_servers(), zkt_path()), 0);
    assert_int_equal(cli_wait(&c), 7);
    cli_assert_one_line(&c);
    assert_non_null(strstr(cli_err(&c), "but --min-hold was not over"));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* If zkr is killed with SIGKILL, its command dies. Then the lock is free, long before the session times out. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* SOON_MS is less than the session timeout of zkr. */
enum { SOON_MS = 6000 };
#define SESSION "10000"

/* Checks that zkr has @count guardians. */
static void assert_guardians(const struct cli *c, const char *count)
{
    char pid[16];
    (void)snprintf(pid, sizeof(pid), "%d", (int)c->pid);
    assert_int_equal(CLI_SH("[ $(pgrep -c -x zkr-guardian -P $1) = $2 ]", pid, count),
                     0);
}

/*
 * Checks that the next contender soon gets the lock, and that its command starts when no process of the first is left,
 * although they ignore signals. The first zkr uses @servers.
 */
static void next_is_soon_at(const char *servers,
                            const char *verb,
                            const char *option,
                            const char *mode)
{
    struct cli_beat *beats = cli_beats(2);
    struct cli killed, next;
    CLI_START(&killed, "-z", servers, "-t", SESSION, verb, option, zkt_path(),
              CLI_BEAT(&beats[0], mode));
    cli_beat_wait(&killed, &beats[0]);
    CLI_QUEUE(&next, verb, option, zkt_path(), CLI_BEAT(&beats[1], "once"));
    const int64_t begin = zkt_now_ms(), begin_ns = cli_now_ns();
    cli_stop(&killed, SIGKILL);
    assert_int_equal(cli_wait(&next), 0);
    print_message("           next after %lld ms\n", (long long)(zkt_now_ms() - begin));
    assert_true(zkt_now_ms() - begin < SOON_MS);
    assert_true(cli_gap(&beats[0], &beats[1]) > 0);
    zkt_sleep_ms(100);
    assert_true(cli_gap(&beats[0], &beats[1]) > 0); /* it has not beaten since */
    assert_true(atomic_load(&beats[0].last) - begin_ns < 1000000000);
    assert_true(atomic_load(&beats[0].token) < atomic_load(&beats[1].token));
}

static void next_is_soon(const char *verb, const char *option, const char *mode)
{
    next_is_soon_at(zkt_servers(), verb, option, mode);
}

/* The command's child beats, and both ignore signals. */
ZKT_CASE(a_killed_lock_is_free_when_its_group_is_gone)
{
    next_is_soon("lock", "-x", "grand");
}

ZKT_CASE(a_killed_leader_has_a_successor_when_its_group_is_gone)
{
    next_is_soon("elect", "--once", "deaf");
}

/*
 * On such servers no other process can end the session. The node is deleted instead, but not before the group is
 * gone.
 */
ZKT_CASE(a_killed_lock_is_free_on_servers_that_replace_sessions)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkt_proxy_habits(p, ZKR_TEST_NEW_SESSIONS);
    next_is_soon_at(zkt_proxy_host(p), "lock", "-x", "grand");
}

/* The whole process group of zkr is killed. The guardian is not part of the group. */
ZKT_CASE(a_killed_group_of_zkr_frees_its_lock)
{
    struct cli_beat *beats = cli_beats(1);
    struct cli c;
    CLI_START(&c, "-t", SESSION, "lock", zkt_path(), CLI_BEAT(&beats[0], "deaf"));
    cli_beat_wait(&c, &beats[0]);
    assert_guardians(&c, "1");
    assert_int_equal(kill(-c.pid, SIGKILL), 0);
    assert_int_equal(cli_wait(&c), 128 + SIGKILL);
    ZKT_BECOMES(cli_queue(), 0, SOON_MS);
}

ZKT_CASE(a_killed_hold_without_a_command_is_free_soon)
{
    struct cli c;
    CLI_START_PIPED(&c, "-t", SESSION, "lock", zkt_path());
    ZKT_EVENTUALLY(strstr(cli_out(&c), "node="), CLI_PATIENCE_MS);
    assert_string_equal(cli_err(&c), "");
    cli_stop(&c, SIGKILL);
    ZKT_BECOMES(cli_queue(), 0, SOON_MS);
}

/* A waiter that is killed leaves the queue soon, too. */
ZKT_CASE(a_killed_waiter_is_gone_soon)
{
    struct cli holder, waiter;
    cli_hold(&holder);
    CLI_QUEUE(&waiter, "-t", SESSION, "lock", zkt_path(), "true");
    cli_stop(&waiter, SIGKILL);
    ZKT_BECOMES(cli_queue(), 1, SOON_MS);
    cli_stop(&holder, SIGTERM);
}

ZKT_CASE(who_wants_no_guardian_has_none)
{
    struct cli_beat *beats = cli_beats(2);
    struct cli c;
    CLI_START(&c, "-t", "2000", "lock", "--no-guardian", zkt_path(),
              CLI_BEAT(&beats[0], "plain"));
    cli_beat_wait(&c, &beats[0]);
    assert_guardians(&c, "0");
    cli_stop(&c, SIGKILL);
    CLI_START(&c, "-t", "2000", "elect", "--no-guardian", zkt_path(),
              CLI_BEAT(&beats[1], "plain"));
    cli_beat_wait(&c, &beats[1]);
    assert_guardians(&c, "0");
    cli_stop(&c, SIGTERM);
}

/* If the guardian's program is missing, zkr works without it. With -v it reports the reason. */
ZKT_CASE(a_missing_guardian_is_no_obstacle)
{
    struct cli c;
    (void)setenv("ZKR_GUARDIAN_PATH", "/nowhere/zkr-guardian", 1);
    assert_int_equal(CLI_RUN(&c, "lock", zkt_path(), "true"), 0);
    assert_string_equal(cli_err(&c), "");
    assert_int_equal(CLI_RUN(&c, "-v", "lock", zkt_path(), "true"), 0);
    assert_non_null(strstr(cli_err(&c), "/nowhere/zkr-guardian"));
}

/* zkr finds the guardian beside itself, and does not pass its path to the command. */
ZKT_CASE(the_command_has_the_environment_of_zkr)
{
    (void)unsetenv("ZKR_GUARDIAN_PATH");
    assert_string_equal(
        CLI_SAYS("lock", zkt_path(), "sh", "-c", "echo ${ZKR_GUARDIAN_PATH-unset}"),
        "unset\n");
    struct cli_beat *beats = cli_beats(1);
    struct cli c;
    CLI_START(&c, "lock", zkt_path(), CLI_BEAT(&beats[0], "plain"));
    cli_beat_wait(&c, &beats[0]);
    assert_guardians(&c, "1");
    cli_stop(&c, SIGTERM);
}

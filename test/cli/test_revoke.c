/* SPDX-License-Identifier: Apache-2.0 */
/* zkr revoke, and what becomes of the one that is asked. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* A command that says when it has begun; what it does when told to end is @script's. */
static void hold(struct cli *c, const char *option, const char *script)
{
    CLI_START(c, "lock", "--kill-after=3", "-i", "holder", option, zkt_path(), "sh",
              "-c", script);
    ZKT_EVENTUALLY(strstr(cli_out(c), "held\n"), CLI_PATIENCE_MS);
}

#define SLEEPS "echo held; exec sleep 60"

static void end(struct cli *c, int signo)
{
    cli_stop(c, signo);
}

static bool is_free(void)
{
    return cli_queue() <= 0;
}

/* The command is told to end, and the lock is free when it has. */
ZKT_CASE(a_holder_that_is_asked_lets_go)
{
    struct cli c;
    hold(&c, "-x", SLEEPS);
    assert_int_equal(CLI("revoke", "-w", "20", zkt_path()), 0);
    assert_true(is_free());
    assert_int_equal(cli_wait(&c), 143);
    cli_assert_one_line(&c);
    assert_non_null(strstr(cli_err(&c), "zkr: asked to release "));
}

/* Not before its group has gone; and who waits comes next. */
ZKT_CASE(the_lock_is_kept_until_the_command_has_ended)
{
    struct cli c, next;
    hold(&c, "-x", "trap 'echo told' TERM; echo held; while :; do sleep .1; done");
    CLI_QUEUE(&next, "lock", zkt_path(), "sh", "-c", SLEEPS);
    assert_int_equal(CLI("revoke", zkt_path()), 0); /* asked, and that is all */
    ZKT_EVENTUALLY(strstr(cli_out(&c), "told\n"), CLI_PATIENCE_MS);
    assert_int_equal(CLI("revoke", "-w", ".3", zkt_path()), 1);
    assert_int_equal(cli_queue(), 2);
    assert_string_equal(cli_out(&next), "");
    assert_int_equal(kill(c.pid, SIGUSR1), 0); /* of which its shell dies */
    assert_int_equal(cli_wait(&c), 128 + SIGUSR1);
    ZKT_BECOMES(strcmp(cli_out(&next), "held\n"), 0, CLI_PATIENCE_MS);
    end(&next, SIGTERM);
}

/* After --kill-after it is killed; and the signal is the one that was asked for. */
ZKT_CASE(a_command_that_does_not_end_is_killed)
{
    struct cli c;
    CLI_START(&c, "lock", "--kill-signal=INT", "--kill-after=.5", zkt_path(), "sh",
              "-c", "trap 'echo told' INT; echo held; while :; do sleep .1; done");
    ZKT_EVENTUALLY(strstr(cli_out(&c), "held\n"), CLI_PATIENCE_MS);
    int64_t before = zkt_now_ms();
    assert_int_equal(CLI("revoke", "-w", "20", zkt_path()), 0);
    assert_int_equal(cli_wait(&c), 128 + SIGKILL);
    assert_true(zkt_now_ms() - before >= 400);
    assert_non_null(strstr(cli_out(&c), "told\n"));
}

/* Without a command it ends with 0, and a line says why. */
ZKT_CASE(one_that_just_holds_ends)
{
    struct cli c;
    cli_spawn(&c, true, (const char *const[]){cli_zkr(), "lock", zkt_path(), NULL});
    ZKT_EVENTUALLY(strstr(cli_out(&c), "node="), CLI_PATIENCE_MS);
    assert_int_equal(CLI("revoke", "-w20", zkt_path()), 0);
    assert_int_equal(cli_wait(&c), 0);
    cli_assert_one_line(&c);
}

/* One that ignores it goes on; --force takes the lock away, and says what that means. */
ZKT_CASE(force_takes_the_lock_away)
{
    struct cli c, r;
    hold(&c, "--on-revoke=ignore", SLEEPS);
    assert_int_equal(CLI_RUN(&r, "revoke", "-w", ".3", zkt_path()), 1);
    cli_assert_one_line(&r);
    assert_string_equal(cli_err(&c), "");
    assert_int_equal(CLI_RUN(&r, "revoke", "--force", "-w", ".3", zkt_path()), 0);
    cli_assert_one_line(&r);
    assert_non_null(strstr(cli_err(&r), "holder"));
    assert_non_null(strstr(cli_err(&r), "two may hold"));
    assert_int_equal(cli_wait(&c), 79);
}

/* All readers that hold are asked, and not the writer that waits. */
ZKT_CASE(readers_are_asked_together)
{
    struct cli one, two, writer;
    hold(&one, "-s", SLEEPS);
    hold(&two, "-s", SLEEPS);
    CLI_QUEUE(&writer, "lock", zkt_path(), "sh", "-c", SLEEPS);
    assert_int_equal(CLI("revoke", "-w", "20", zkt_path()), 0);
    assert_int_equal(cli_wait(&one), 143);
    assert_int_equal(cli_wait(&two), 143);
    ZKT_BECOMES(strcmp(cli_out(&writer), "held\n"), 0, CLI_PATIENCE_MS);
    end(&writer, SIGTERM);
    hold(&one, "--rw", SLEEPS);
    assert_int_equal(CLI("revoke", "-w", "20", zkt_path()), 0);
    assert_int_equal(cli_wait(&one), 143);
}

/* A wish that comes before the command has started: it is not started. */
ZKT_CASE(one_that_has_not_started_does_not)
{
    struct cli first, c;
    hold(&first, "-x", SLEEPS);
    CLI_QUEUE(&c, "lock", "--lock-delay=60", zkt_path(), "echo", "started");
    end(&first, SIGTERM);
    ZKT_BECOMES(cli_queue(), 1, CLI_PATIENCE_MS);
    assert_int_equal(CLI("revoke", "-w", "20", zkt_path()), 0);
    assert_int_equal(cli_wait(&c), 1);
    assert_string_equal(cli_out(&c), "");
    cli_assert_one_line(&c);
}

/* Others still see whose it is, and that of one who cannot say so, that it was asked. */
ZKT_CASE(status_keeps_the_owner)
{
    struct cli c, s;
    hold(&c, "--on-revoke=ignore", SLEEPS);
    assert_int_equal(CLI("revoke", zkt_path()), 0);
    bool shown = false;
    for (int i = 0; i < 500 && !shown; i++) {
        assert_int_equal(CLI_RUN(&s, "status", zkt_path()), 0);
        shown = strstr(cli_out(&s), "\n1    holder ") != NULL;
    }
    assert_true(shown);
    end(&c, SIGTERM);
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/a-lock-0000000009", zkt_path());
    assert_int_equal(zkt_create_path(zkt_servers(), path), 0);
    assert_int_equal(CLI("revoke", zkt_path()), 0);
    assert_int_equal(CLI_RUN(&s, "status", zkt_path()), 0);
    assert_non_null(strstr(cli_out(&s), "(asked to release)"));
    assert_int_equal(CLI_RUN(&s, "status", "--json", zkt_path()), 0);
    assert_non_null(strstr(cli_out(&s), "\"asked\":true"));
    assert_int_equal(zkt_delete_children(zkt_servers(), zkt_path()), 0);
}

ZKT_CASE(what_cannot_be_asked_says_so)
{
    CLI_REFUSED(1, "revoke", zkt_path());
    CLI_REFUSED(1, "revoke", "-w", "5", "--force", zkt_path());
    CLI_REFUSED(64, "revoke");
    CLI_REFUSED(64, "revoke", "/a", "/b");
    CLI_REFUSED(64, "revoke", "--force", "/a");
    CLI_REFUSED(64, "revoke", "-w", "soon", "/a");
    CLI_REFUSED(65, "revoke", "relative");
    CLI_REFUSED(75, "-z", "127.0.0.1:1", "--connect-timeout", "0.2", "revoke", "/a");
    CLI_REFUSED(77, "--auth", "nosuch:x", "revoke", "/a");
    struct cli c;
    assert_int_equal(CLI_RUN(&c, "revoke", "--help"), 0);
    assert_non_null(strstr(cli_out(&c), "--force"));
}

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
    assert_int_equal(kill(c->pid, signo), 0);
    assert_int_equal(cli_wait(c), 128 + signo);
    cli_free(c);
}

static bool is_free(void)
{
    return cli_queue() <= 0;
}

/* The command is told to end, and the lock is free when it has. */
static void a_holder_that_is_asked_lets_go(void **state)
{
    (void)state;
    struct cli c;
    hold(&c, "-x", SLEEPS);
    assert_int_equal(CLI("revoke", "-w", "20", zkt_path()), 0);
    assert_true(is_free());
    assert_int_equal(cli_wait(&c), 143);
    cli_assert_one_line(&c);
    assert_non_null(strstr(cli_err(&c), "zkr: asked to let go of "));
    cli_free(&c);
}

/* Not before its group has gone; and who waits comes next. */
static void the_lock_is_kept_until_the_command_has_ended(void **state)
{
    (void)state;
    struct cli c, next;
    hold(&c, "-x", "trap 'echo told' TERM; echo held; while :; do sleep .1; done");
    CLI_START(&next, "lock", zkt_path(), "sh", "-c", SLEEPS);
    ZKT_EVENTUALLY(cli_queue() == 2, CLI_PATIENCE_MS);
    assert_int_equal(CLI("revoke", zkt_path()), 0); /* asked, and that is all */
    ZKT_EVENTUALLY(strstr(cli_out(&c), "told\n"), CLI_PATIENCE_MS);
    assert_int_equal(CLI("revoke", "-w", ".3", zkt_path()), 1);
    assert_int_equal(cli_queue(), 2);
    assert_string_equal(cli_out(&next), "");
    assert_int_equal(kill(c.pid, SIGUSR1), 0); /* of which its shell dies */
    assert_int_equal(cli_wait(&c), 128 + SIGUSR1);
    cli_free(&c);
    ZKT_EVENTUALLY(strcmp(cli_out(&next), "held\n") == 0, CLI_PATIENCE_MS);
    end(&next, SIGTERM);
}

/* After --kill-after it is killed; and the signal is the one that was asked for. */
static void a_command_that_does_not_end_is_killed(void **state)
{
    (void)state;
    struct cli c;
    CLI_START(&c, "lock", "--kill-signal=INT", "--kill-after=.5", zkt_path(), "sh",
              "-c", "trap 'echo told' INT; echo held; while :; do sleep .1; done");
    ZKT_EVENTUALLY(strstr(cli_out(&c), "held\n"), CLI_PATIENCE_MS);
    int64_t before = zkt_now_ms();
    assert_int_equal(CLI("revoke", "-w", "20", zkt_path()), 0);
    assert_int_equal(cli_wait(&c), 128 + SIGKILL);
    assert_true(zkt_now_ms() - before >= 400);
    assert_non_null(strstr(cli_out(&c), "told\n"));
    cli_free(&c);
}

/* Without a command it ends with 0, and a line says why. */
static void one_that_just_holds_ends(void **state)
{
    (void)state;
    struct cli c;
    cli_spawn(&c, true, (const char *const[]){cli_zkr(), "lock", zkt_path(), NULL});
    ZKT_EVENTUALLY(strstr(cli_out(&c), "node="), CLI_PATIENCE_MS);
    assert_int_equal(CLI("revoke", "-w20", zkt_path()), 0);
    assert_int_equal(cli_wait(&c), 0);
    cli_assert_one_line(&c);
    cli_free(&c);
}

/* One that ignores it goes on; --force takes the lock away, and says what that means. */
static void force_takes_the_lock_away(void **state)
{
    (void)state;
    struct cli c, r;
    hold(&c, "--on-revoke=ignore", SLEEPS);
    assert_int_equal(CLI_RUN(&r, "revoke", "-w", ".3", zkt_path()), 1);
    cli_assert_one_line(&r);
    cli_free(&r);
    assert_string_equal(cli_err(&c), "");
    assert_int_equal(CLI_RUN(&r, "revoke", "--force", "-w", ".3", zkt_path()), 0);
    cli_assert_one_line(&r);
    assert_non_null(strstr(cli_err(&r), "holder"));
    assert_non_null(strstr(cli_err(&r), "two may hold"));
    cli_free(&r);
    assert_int_equal(cli_wait(&c), 79);
    cli_free(&c);
}

/* All readers that hold are asked, and not the writer that waits. */
static void readers_are_asked_together(void **state)
{
    (void)state;
    struct cli one, two, writer;
    hold(&one, "-s", SLEEPS);
    hold(&two, "-s", SLEEPS);
    CLI_START(&writer, "lock", zkt_path(), "sh", "-c", SLEEPS);
    ZKT_EVENTUALLY(cli_queue() == 3, CLI_PATIENCE_MS);
    assert_int_equal(CLI("revoke", "-w", "20", zkt_path()), 0);
    assert_int_equal(cli_wait(&one), 143);
    assert_int_equal(cli_wait(&two), 143);
    cli_free(&one);
    cli_free(&two);
    ZKT_EVENTUALLY(strcmp(cli_out(&writer), "held\n") == 0, CLI_PATIENCE_MS);
    end(&writer, SIGTERM);
    hold(&one, "--rw", SLEEPS);
    assert_int_equal(CLI("revoke", "-w", "20", zkt_path()), 0);
    assert_int_equal(cli_wait(&one), 143);
    cli_free(&one);
}

/* A wish that comes before the command has started: it is not started. */
static void one_that_has_not_started_does_not(void **state)
{
    (void)state;
    struct cli first, c;
    hold(&first, "-x", SLEEPS);
    CLI_START(&c, "lock", "--lock-delay=60", zkt_path(), "echo", "started");
    ZKT_EVENTUALLY(cli_queue() == 2, CLI_PATIENCE_MS);
    end(&first, SIGTERM);
    ZKT_EVENTUALLY(cli_queue() == 1, CLI_PATIENCE_MS);
    assert_int_equal(CLI("revoke", "-w", "20", zkt_path()), 0);
    assert_int_equal(cli_wait(&c), 1);
    assert_string_equal(cli_out(&c), "");
    cli_assert_one_line(&c);
    cli_free(&c);
}

/* Others still see whose it is, and that of one who cannot say so, that it was asked. */
static void status_keeps_the_owner(void **state)
{
    (void)state;
    struct cli c, s;
    hold(&c, "--on-revoke=ignore", SLEEPS);
    assert_int_equal(CLI("revoke", zkt_path()), 0);
    bool shown = false;
    for (int i = 0; i < 500 && !shown; i++) {
        assert_int_equal(CLI_RUN(&s, "status", zkt_path()), 0);
        shown = strstr(cli_out(&s), "\n1    holder ") != NULL;
        cli_free(&s);
    }
    assert_true(shown);
    end(&c, SIGTERM);
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/a-lock-0000000009", zkt_path());
    assert_int_equal(zkt_create_path(zkt_servers(), path), 0);
    assert_int_equal(CLI("revoke", zkt_path()), 0);
    assert_int_equal(CLI_RUN(&s, "status", zkt_path()), 0);
    assert_non_null(strstr(cli_out(&s), "(asked to let go)"));
    cli_free(&s);
    assert_int_equal(CLI_RUN(&s, "status", "--json", zkt_path()), 0);
    assert_non_null(strstr(cli_out(&s), "\"asked\":true"));
    cli_free(&s);
    assert_int_equal(zkt_delete_children(zkt_servers(), zkt_path()), 0);
}

static void what_cannot_be_asked_says_so(void **state)
{
    (void)state;
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
    cli_free(&c);
}

int main(int argc, char **argv)
{
    int status;
    if (cli_main(argc, argv, &status)) {
        return status;
    }
    const struct CMUnitTest tests[] = {
        CLI_TEST(a_holder_that_is_asked_lets_go),
        CLI_TEST(the_lock_is_kept_until_the_command_has_ended),
        CLI_TEST(a_command_that_does_not_end_is_killed),
        CLI_TEST(one_that_just_holds_ends),
        CLI_TEST(force_takes_the_lock_away),
        CLI_TEST(readers_are_asked_together),
        CLI_TEST(one_that_has_not_started_does_not),
        CLI_TEST(status_keeps_the_owner),
        CLI_TEST(what_cannot_be_asked_says_so),
    };
    return cmocka_run_group_tests(tests, zkt_group_setup, zkt_group_teardown);
}

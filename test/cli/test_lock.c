/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock: exit codes, each spelling of each option, what it says. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "fourlw.h"

/* --- exit codes --- */

/* The command's own status comes through, all of them. */
ZKT_CASE(the_status_of_the_command_is_passed_on)
{
    assert_int_equal(CLI("lock", zkt_path(), "true"), 0);
    assert_int_equal(CLI("lock", zkt_path(), "sh", "-c", "exit 1"), 1);
    assert_int_equal(CLI("lock", zkt_path(), "sh", "-c", "exit 75"), 75);
    assert_int_equal(CLI("lock", zkt_path(), "sh", "-c", "exit 255"), 255);
    assert_int_equal(CLI("lock", zkt_path(), "-c", "exit 7"), 7);
    assert_int_equal(CLI("lock", zkt_path(), "--command", "exit 8"), 8);
    assert_int_equal(CLI("lock", "-c", "exit 9", zkt_path()), 9);
    assert_int_equal(CLI("lock", zkt_path(), "sh", "-c", "kill -9 $$"), 137);
    assert_int_equal(CLI("lock", zkt_path(), "sh", "-c", "kill -TERM $$"), 143);
    assert_int_equal(CLI("lock", zkt_path(), "sh", "-c", "kill -SEGV $$"), 139);
}

/* As long as ZooKeeper takes it; a word of a command line or an environment has 128 KiB at most. */
ZKT_CASE(a_path_may_be_long)
{
    enum { LONGEST = 130000 };
    static const size_t lengths[] = {1015, 8200, LONGEST};
    static char path[LONGEST + 1], out[3 * LONGEST];
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        int start = snprintf(path, sizeof(path), "%s/", zkt_path());
        memset(path + start, 'x', lengths[i] - (size_t)start);
        path[lengths[i]] = '\0';
        struct cli c;
        int status = CLI_RUN(&c, "lock", path, "sh", "-c", "echo \"$ZKR_LOCK_NODE\"");
        if (status != 0) {
            zkt_fail("%zu bytes: status %d: %s", lengths[i], status, cli_err(&c));
        }
        assert_true(pread(c.out, out, sizeof(out), 0) > (ssize_t)lengths[i]);
        assert_memory_equal(out, path, lengths[i]);
        assert_memory_equal(out + lengths[i], "/_c_", 4);
        assert_int_equal(CLI("elect", "--once", path, "true"), 0);
        assert_int_equal(CLI("status", path), 0);
        assert_int_equal(zkt_delete(zkt_servers(), path), 0);
    }
}

/* --- options --- */

/* Accepted, and without effect on a command that runs. */
ZKT_CASE(options_have_two_spellings)
{
    static const char *const options[] = {"--exclusive",
                                          "-x",
                                          "-e",
                                          "--shared",
                                          "-s",
                                          "--rw",
                                          "--on-revoke=ignore",
                                          "--on-revoke=term",
                                          "--close",
                                          "-o",
                                          "--nb",
                                          "-n",
                                          "--wait=5",
                                          "-w5",
                                          "--timeout=5.5",
                                          "-w5.5",
                                          "--conflict-exit-code=3",
                                          "-E3",
                                          "--id=me",
                                          "-ime",
                                          "--kill-signal=SIGINT",
                                          "--kill-signal=2",
                                          "--kill-signal=WINCH",
                                          "--kill-signal=28",
                                          "--kill-after=.1",
                                          "--session-timeout=4000",
                                          "-t4000",
                                          "--connect-timeout=9",
                                          "--auth=digest:me:x"};
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        struct cli c;
        int status = CLI_RUN(&c, "lock", options[i], zkt_path(), "sh", "-c", "exit 7");
        if (status != 7 || *cli_err(&c)) {
            zkt_fail("%s: status %d: %s", options[i], status, cli_err(&c));
        }
    }
}

/* Before the subcommand or after it, the last one wins. */
ZKT_CASE(servers_can_be_told_in_two_places)
{
    const char *servers = zkt_servers(), *nobody = "127.0.0.1:1";
    assert_int_equal(CLI("-z", nobody, "lock", "-z", servers, zkt_path(), "true"), 0);
    assert_int_equal(
        CLI("--servers", nobody, "lock", "--servers", servers, zkt_path(), "true"), 0);
}

/* Where nobody says otherwise it is this host. */
ZKT_CASE(the_default_is_a_server_on_this_host)
{
    static const char script[] =
        "unset ZKR_SERVERS; \"$0\" -vv --connect-timeout .1 status $1 2>&1 | "
        "grep -q 'host=127.0.0.1:2181 '";
    assert_int_equal(CLI_SH(script, "/p"), 0);
}

/* At whichever server it is. */
static bool any_session_shows(const char *text)
{
    bool shown = false;
    for (const char *host = zkt_servers(); host && !shown;) {
        char *sessions = zkt_4lw_text(host, "cons", 2000);
        shown = sessions && strstr(sessions, text);
        free(sessions);
        host = strchr(host, ',');
        host = host ? host + 1 : NULL;
    }
    return shown;
}

ZKT_CASE(the_session_time_out_is_asked_for)
{
    static const char *const options[] = {"-t4321", "--session-timeout=4321"};
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        struct cli c;
        CLI_QUEUE(&c, "lock", options[i], zkt_path(), "sleep", "60");
        assert_true(any_session_shows(",to=4321,"));
        cli_stop(&c, SIGTERM);
    }
}

/* One -v tells of the session, two of what libzookeeper says as well; both tell what --verbose tells. */
ZKT_CASE(each_v_says_more)
{
    struct cli c;
    assert_int_equal(CLI_RUN(&c, "-v", "lock", zkt_path(), "true"), 0);
    assert_non_null(strstr(cli_err(&c), " event=state session=0x"));
    assert_non_null(strstr(cli_err(&c), "zkr: got the lock on "));
    assert_null(strstr(cli_err(&c), "zkr: debug: "));
    assert_null(strstr(cli_err(&c), "ZOO_"));
    assert_string_equal(cli_out(&c), "");
    assert_int_equal(CLI_RUN(&c, "lock", "-vv", zkt_path(), "true"), 0);
    assert_non_null(strstr(cli_err(&c), "Z ZOO_INFO@")); /* behind one time */
    assert_string_equal(cli_out(&c), "");
}

/* As with flock: $SHELL, or /bin/sh where there is none. */
ZKT_CASE(the_shell_is_the_users)
{
    static const char *const cases[][3] = {
        {"SHELL=/bin/echo", "text $0", "-c text $0\n"},
        {"SHELL=", "echo $0", "/bin/sh\n"}};
    for (size_t i = 0; i < 2; i++) {
        struct cli c;
        assert_int_equal(CLI_RUN_AS(&c, "env", cases[i][0], cli_zkr(), "lock",
                                    zkt_path(), "-c", cases[i][1]),
                         0);
        assert_string_equal(cli_out(&c), cases[i][2]);
    }
}

/* --- what is said --- */

ZKT_CASE(help_and_version_go_to_stdout)
{
    static const char *const cases[][3] = {{"-h", NULL, ""},
                                           {"--help", NULL, ""},
                                           {"lock", "-h", ""},
                                           {"lock", "--help", ""},
                                           {"elect", "-h", ""},
                                           {"status", "--help", "--watch"},
                                           {"revoke", "--help", "--force"},
                                           {"-V", NULL, ""},
                                           {"--version", NULL, ""},
                                           {"lock", "-V", ""},
                                           {"lock", "--version", ""}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cli c;
        assert_int_equal(CLI_RUN(&c, cases[i][0], cases[i][1]), 0);
        assert_true(strlen(cli_out(&c)) > 5 && strstr(cli_out(&c), cases[i][2]));
        assert_string_equal(cli_err(&c), "");
    }
}

ZKT_CASE(verbose_says_how_long_and_what)
{
    struct cli c;
    assert_int_equal(CLI_RUN(&c, "lock", "--verbose", zkt_path(), "true"), 0);
    cli_assert_one_line(&c);
    assert_non_null(strstr(cli_err(&c), " s: node=/"));
    assert_non_null(strstr(cli_err(&c), " token="));
}

/* More than the lease has room for is cut, and not in silence. */
ZKT_CASE(a_long_kill_after_is_cut_aloud)
{
    static const struct {
        const char *value, *said;
    } cases[] = {{"9", "reduced to 1.000 s"}, {"1", ""}, {"auto", ""}, {"0", ""}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cli c;
        assert_int_equal(CLI_RUN(&c, "-t", "3000", "lock", "--kill-after",
                                 cases[i].value, zkt_path(), "true"),
                         0);
        assert_true(*cases[i].said ? strstr(cli_err(&c), cases[i].said) != NULL
                                   : *cli_err(&c) == '\0');
    }
}

/* Without a command the line is printed and the lock kept until the input ends. */
ZKT_CASE(without_a_command_it_holds_until_the_input_ends)
{
    struct cli c;
    CLI_START_PIPED(&c, "lock", zkt_path());
    ZKT_EVENTUALLY(strchr(cli_out(&c), '\n'), CLI_PATIENCE_MS);
    char node[200];
    long long token;
    unsigned long long session;
    assert_int_equal(sscanf(cli_out(&c), "node=%199s token=%lld session=0x%llx\n", node,
                            &token, &session),
                     3);
    zkt_stat st;
    char owner[100];
    assert_int_equal(zkt_get(zkt_servers(), node, owner, sizeof(owner), &st), 0);
    assert_true(st.czxid == token && st.ephemeral_owner == (int64_t)session);
    zkt_put_byte(c.in, 'x');
    assert_int_equal(CLI("lock", "-n", zkt_path(), "true"), 1);
    (void)close(c.in);
    c.in = -1;
    assert_int_equal(cli_wait(&c), 0);
    assert_int_equal(cli_queue(), 0);
}

ZKT_CASE(without_a_command_it_holds_until_a_signal)
{
    struct cli c;
    CLI_START_PIPED(&c, "lock", zkt_path());
    ZKT_EVENTUALLY(strchr(cli_out(&c), '\n'), CLI_PATIENCE_MS);
    cli_stop(&c, SIGINT);
    assert_int_equal(cli_queue(), 0);
}

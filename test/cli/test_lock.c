/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock: options, exit codes, what the command sees, signals. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

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

/* Every mistake on the command line is 64 and one line. */
ZKT_CASE(wrong_usage_is_64)
{
    cli_refused(64, (const char *const[]){cli_zkr(), NULL});
    CLI_REFUSED(64, "frob");
    CLI_REFUSED(64, "-q", "lock", "/p", "true");
    CLI_REFUSED(64, "-z");
    CLI_REFUSED(64, "-t", "0", "lock", "/p", "true");
    CLI_REFUSED(64, "-t", "1.5", "lock", "/p", "true");
    CLI_REFUSED(64, "--connect-timeout", "0", "lock", "/p", "true");
    CLI_REFUSED(64, "--connect-timeout", "x", "lock", "/p", "true");
    CLI_REFUSED(64, "--auth", "nocolon", "lock", "/p", "true");
    CLI_REFUSED(64, "--nosuch", "lock", "/p", "true");
    CLI_REFUSED(64, "-z", "", "lock", "/p", "true");
    CLI_REFUSED(64, "-z", "127.0.0.1:99999", "lock", "/p", "true");
    CLI_REFUSED(64, "-z", "127.0.0.1:2181/a//b", "lock", "/p", "true");
    CLI_REFUSED(64, "lock");
    CLI_REFUSED(64, "lock", "-n");
    CLI_REFUSED(64, "lock", "-q", "/p", "true");
    CLI_REFUSED(64, "lock", "--nosuch", "/p", "true");
    CLI_REFUSED(64, "lock", "--exclusive=1", "/p", "true");
    CLI_REFUSED(64, "lock", "-w");
    CLI_REFUSED(64, "lock", "-w", "x", "/p", "true");
    CLI_REFUSED(64, "lock", "-w", "-1", "/p", "true");
    CLI_REFUSED(64, "lock", "-w", "1e3", "/p", "true");
    CLI_REFUSED(64, "lock", "-w", ".", "/p", "true");
    CLI_REFUSED(64, "lock", "-w", "", "/p", "true");
    CLI_REFUSED(64, "lock", "-w", "99999999999999999999", "/p", "true");
    CLI_REFUSED(64, "lock", "-w", "nan", "/p", "true");
    CLI_REFUSED(64, "lock", "-E", "256", "/p", "true");
    CLI_REFUSED(64, "lock", "-E", "-1", "/p", "true");
    CLI_REFUSED(64, "lock", "-E", "", "/p", "true");
    CLI_REFUSED(64, "lock", "--kill-signal", "NOPE", "/p", "true");
    CLI_REFUSED(64, "lock", "--kill-signal", "0", "/p", "true");
    CLI_REFUSED(64, "lock", "--kill-after", "soon", "/p", "true");
    CLI_REFUSED(64, "lock", "-u", "/p");
    CLI_REFUSED(64, "lock", "-F", "/p", "true");
    CLI_REFUSED(64, "lock", "/p", "-c");
    CLI_REFUSED(64, "lock", "/p", "-c", "true", "true");
    CLI_REFUSED(64, "lock", "-c", "true", "/p", "true");
}

ZKT_CASE(a_bad_path_is_65)
{
    CLI_REFUSED(65, "lock", "relative", "true");
    CLI_REFUSED(65, "lock", "", "true");
    CLI_REFUSED(65, "lock", "/", "true");
    CLI_REFUSED(65, "lock", "/a/", "true");
    CLI_REFUSED(65, "lock", "/a//b", "true");
    CLI_REFUSED(65, "lock", "/a/../b", "true");
    CLI_REFUSED(65, "lock", "-n", "/a\nb", "true");
}

ZKT_CASE(a_missing_chroot_is_65)
{
    char servers[256];
    (void)snprintf(servers, sizeof(servers), "%s%s/none", zkt_servers(), zkt_path());
    CLI_REFUSED(65, "-z", servers, "lock", "/p", "true");
    CLI_REFUSED(65, "-z", servers, "lock", "-n", "/p", "true");
    CLI_REFUSED(65, "-z", servers, "elect", "/p", "true");
    CLI_REFUSED(65, "-z", servers, "elect", "-l", "/p");
    CLI_REFUSED(65, "-z", servers, "status", "/p");
    CLI_REFUSED(65, "-z", servers, "status", "-q", "/p");
    CLI_REFUSED(65, "-z", servers, "status", "--json", "/p");
    CLI_REFUSED(65, "-z", servers, "revoke", "/p");
    CLI_REFUSED(65, "-z", servers, "ls");
    CLI_REFUSED(65, "-z", servers, "ls", "-r", "/p");
}

ZKT_CASE(a_command_that_cannot_start_is_69)
{
    CLI_REFUSED(69, "lock", zkt_path(), "/no/such/command");
    CLI_REFUSED(69, "lock", zkt_path(), "no-such-command-in-the-path");
    CLI_REFUSED(69, "lock", zkt_path(), "/etc/passwd");
    CLI_REFUSED(69, "lock", zkt_path(), "/tmp");
    CLI_REFUSED(69, "lock", zkt_path(), "");
    assert_int_equal(CLI("lock", "-n", zkt_path(), "true"), 0);
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

/* Nobody listens there: with any kind of waiting, and no later than asked for. */
ZKT_CASE(no_server_is_75)
{
    const char *nobody = "127.0.0.1:1";
    int64_t started = zkt_now_ms();
    CLI_REFUSED(75, "-z", nobody, "--connect-timeout", "0.3", "lock", "/p", "true");
    CLI_REFUSED(75, "-z", nobody, "--connect-timeout", "0.3", "lock", "-n", "/p",
                "true");
    CLI_REFUSED(75, "-z", nobody, "--connect-timeout", ".3", "lock", "-w", "9", "/p",
                "true");
    CLI_REFUSED(75, "-z", nobody, "--connect-timeout", "0.3", "lock", "-E", "3", "-w",
                "0.1", "/p", "true");
    assert_true(zkt_now_ms() - started < 4 * 300 + 4000);
}

ZKT_CASE(refused_credentials_are_77)
{
    CLI_REFUSED(77, "--auth", "nosuchscheme:x", "lock", zkt_path(), "true");
}

ZKT_CASE(a_refusing_acl_is_77)
{
    const char *servers = zkt_servers();
    assert_int_equal(zkt_create_path(servers, "/t"), 0);
    zkt_raw *s = zkt_raw_open(servers, 5000);
    const struct zkt_node node = {.path = zkt_path(), .perms = ZKT_READ};
    assert_int_equal(zkt_raw_create(s, &node, NULL, 0), 0);
    assert_int_equal(zkt_raw_close(s), 0);
    CLI_REFUSED(77, "lock", zkt_path(), "true");
    CLI_REFUSED(77, "lock", "-n", zkt_path(), "true");
    assert_int_equal(zkt_delete(servers, zkt_path()), 0);
}

/* --- what is said --- */

ZKT_CASE(help_and_version_go_to_stdout)
{
    static const char *const cases[][4] = {
        {"-h", NULL},         {"--help", NULL},
        {"lock", "-h", NULL}, {"lock", "--help"},
        {"-V", NULL},         {"--version", NULL},
        {"lock", "-V", NULL}, {"lock", "--version", NULL}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cli c;
        assert_int_equal(CLI_RUN(&c, cases[i][0], cases[i][1]), 0);
        assert_true(strlen(cli_out(&c)) > 5);
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
    assert_int_equal(CLI_RUN(&c, "lock", "-x", "-e", "-o", zkt_path(), "true"), 0);
    assert_string_equal(cli_err(&c), "");
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
    const char *const argv[] = {cli_zkr(), "lock", zkt_path(), NULL};
    cli_spawn(&c, true, argv);
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
    const char *const argv[] = {cli_zkr(), "lock", zkt_path(), NULL};
    cli_spawn(&c, true, argv);
    ZKT_EVENTUALLY(strchr(cli_out(&c), '\n'), CLI_PATIENCE_MS);
    cli_stop(&c, SIGINT);
    assert_int_equal(cli_queue(), 0);
}

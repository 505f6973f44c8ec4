/* SPDX-License-Identifier: Apache-2.0 */
/* zkr: each spelling of each option, and what the options do. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "fourlw.h"

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

/* SPDX-License-Identifier: Apache-2.0 */
/* zkr: what is refused, by which status, in one line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Every mistake on the command line. */
ZKT_CASE(wrong_usage_is_64)
{
    CLI_EACH_REFUSED(64, "", "frob", "-q lock /p true", "-z", "-t 0 lock /p true",
                     "-t 1.5 lock /p true", "--connect-timeout 0 lock /p true",
                     "--connect-timeout x lock /p true", "--auth nocolon lock /p true",
                     "--nosuch lock /p true", "-z '' lock /p true",
                     "-z 127.0.0.1:99999 lock /p true",
                     "-z 127.0.0.1:2181/a//b lock /p true");
    /* Whether libzookeeper has no TLS or the files are missing: before any connection. */
    CLI_EACH_REFUSED(64, "--tls /none,/none,/none lock PATH true");
    CLI_EACH_REFUSED(
        64, "lock", "lock -n", "lock -q /p true", "lock --nosuch /p true",
        "lock --exclusive=1 /p true", "lock -E 256 /p true", "lock -E -1 /p true",
        "lock -E '' /p true", "lock /p -c", "lock /p -c true true",
        "lock -c true /p true", "lock --kill-signal NOPE /p true",
        "lock --kill-signal 0 /p true", "lock --kill-after soon /p true",
        "lock --min-hold x PATH true", "lock --lock-delay soon PATH true",
        "lock --lock-delay -1 PATH true", "lock --stats /nosuch/x.prom PATH true",
        "lock --stats /tmp PATH true");
    CLI_EACH_REFUSED(64, "lock -w", "lock -w x /p true", "lock -w -1 /p true",
                     "lock -w 1e3 /p true", "lock -w . /p true", "lock -w '' /p true",
                     "lock -w 99999999999999999999 /p true", "lock -w nan /p true");
    /* What flock has and zkr has not. */
    CLI_EACH_REFUSED(64, "lock -u /p", "lock -u /p true", "lock -F /p true",
                     "lock --no-fork /p true", "lock --unlock /p true");
    CLI_EACH_REFUSED(64, "status", "status /a /b", "status --nosuch /a",
                     "status -q --json PATH", "wait", "wait -w soon PATH",
                     "ls --nosuch", "ls /a -r", "revoke", "revoke /a /b",
                     "revoke --force /a", "revoke -w soon /a", "revoke --token x PATH");
    assert_false(zkt_exists(zkt_servers(), zkt_path()));
}

/* Kinds of locks, and what is told of them. */
ZKT_CASE(what_does_not_go_together_is_64)
{
    CLI_EACH_REFUSED(
        64, "lock --also", "lock --also /b -s /a true", "lock --also /b --rw /a true",
        "lock --also /b --permits 2 /a true", "lock --permits 2 -s /a true",
        "lock --permits 2 --rw /a true", "lock --permits 0 /a true",
        "lock --permits 3/2 /a true", "lock --permits 0/2 /a true",
        "lock --permits /2 /a true", "lock --permits 1/ /a true",
        "lock --permits 2147483648 /a true", "lock --permits 1001/2000 /a true",
        "lock --permits -1 /a true", "lock --on-revoke never /a true",
        "lock --on-revoke term --permits 2 /a true",
        "lock --on-revoke ignore --also /b /a true");
    CLI_EACH_REFUSED(64, "lock --max-queue=0 PATH true",
                     "lock --max-queue=1 -s PATH true",
                     "lock --max-queue=1 --permits=3 PATH true");
    CLI_EACH_REFUSED(64, "lock --any PATH /b true", "lock --any PATH -n /b -- true",
                     "lock --any --also /b PATH -- true",
                     "lock --any -s PATH /b -- true",
                     "lock --any --permits=2 PATH /b -- true",
                     "lock --any --max-queue=2 PATH /b -- true");
    CLI_EACH_REFUSED(
        64, "once PATH true", "once --every=0 PATH true", "once --every=1w PATH true",
        "once --every= PATH true", "once --every=9000000000000000000d PATH true",
        "once --every=1h PATH", "once --every=1h -s PATH true",
        "once --every=1h --permits=2 PATH true", "once --every=1h --also=/b PATH true",
        "once --every=1h --any PATH -- true", "lock --every=1h PATH true");
    assert_false(zkt_exists(zkt_servers(), zkt_path()));
}

ZKT_CASE(an_election_that_cannot_be_is_64)
{
    CLI_EACH_REFUSED(64, "elect", "elect /a", "elect --json /a true",
                     "elect -l /a true", "elect -l --once /a", "elect --nosuch /a true",
                     "elect -l --no-guardian PATH");
    /* Health. */
    CLI_EACH_REFUSED(64, "elect --every 1 /a true", "elect --failures 1 /a true",
                     "elect --health true --every 0 /a true",
                     "elect --health true --failures=0 /a true",
                     "elect -l --health true /a");
    /* Requests. */
    CLI_EACH_REFUSED(64, "elect --yield", "elect --yield /a true",
                     "elect --yield /a --to b true", "elect --yield -c true /a",
                     "elect --yield --json /a", "elect --yield -l /a",
                     "elect --yield --once /a", "elect --to b /a true",
                     "elect -w 1 /a true", "elect -l --to b /a");
}

/* For more, by their words, see test_conf.c. */
ZKT_CASE(a_bad_path_is_65)
{
    CLI_EACH_REFUSED(65, "lock '' true", "lock /a//b true", "lock /a/../b true",
                     "lock -n /a\nb true", "lock --also /a /a true",
                     "lock --also /a/b /a true", "lock --any -- true",
                     "lock --any PATH /b/ -- true", "status relative", "wait here",
                     "ls /a/");
    char servers[256]; /* with a chroot that is not there */
    (void)snprintf(servers, sizeof(servers), "%s%s/none", zkt_servers(), zkt_path());
    assert_int_equal(setenv("ZKR_SERVERS", servers, 1), 0);
    CLI_EACH_REFUSED(65, "lock /p true", "lock -n /p true", "elect /p true",
                     "elect -l /p", "status /p", "status -q /p", "status --json /p",
                     "revoke /p", "wait /p", "wait -w 1 /p", "ls", "ls -r /p");
}

ZKT_CASE(a_command_that_cannot_start_is_69)
{
    CLI_EACH_REFUSED(69, "lock PATH /no/such/command",
                     "lock PATH no-such-command-in-the-path", "lock PATH /etc/passwd",
                     "lock PATH /tmp", "lock PATH ''", "elect PATH /no/such/command");
    /* Nothing was done, so another host may try. */
    CLI_EACH_REFUSED(69, "lock --min-hold 60 PATH /nosuch");
    assert_int_equal(CLI("lock", "-n", zkt_path(), "true"), 0);
}

/* What has no code of its own, such as a full disk. */
ZKT_CASE(what_cannot_be_written_is_70)
{
    static const char *const words[] = {"status", "lock", "--help"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        CLI_REFUSED_AS(70, "sh", "-c", "\"$0\" $1 $2 >/dev/full", cli_zkr(), words[i],
                       zkt_path());
    }
}

/* Nobody listens there: with any kind of waiting, and no later than asked for. See also test_time.c. */
ZKT_CASE(no_server_is_75)
{
    int64_t started = zkt_now_ms();
    CLI_EACH_REFUSED(75, "-z 127.0.0.1:1 --connect-timeout .3 lock /p true",
                     "-z 127.0.0.1:1 --connect-timeout 0.3 lock -n /p true",
                     "-z 127.0.0.1:1 --connect-timeout 0.3 lock -w 9 /p true",
                     "-z 127.0.0.1:1 --connect-timeout 0.3 lock -E 3 -w 0.1 /p true",
                     "-z 127.0.0.1:1 --connect-timeout 0.3 elect /p true",
                     "-z 127.0.0.1:1 --connect-timeout 0.3 status /p",
                     "-z 127.0.0.1:1 --connect-timeout 0.3 revoke /p");
    assert_true(zkt_now_ms() - started < 7 * 300 + 4000);
}

ZKT_CASE(refused_credentials_are_77)
{
    CLI_EACH_REFUSED(77, "--auth nosuch:x lock PATH true",
                     "--auth nosuch:x elect PATH true", "--auth nosuch:x status /a",
                     "--auth nosuch:x revoke /a");
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_READ), 0);
    CLI_EACH_REFUSED(77, "lock PATH true", "lock -n PATH true");
}

/* Servers that refuse clients without credentials. A session without credentials lives on there. */
ZKT_CASE(servers_that_demand_credentials_are_77)
{
    zkt_server_options so = {
        .config = "enforce.auth.enabled=true\nenforce.auth.schemes=digest\n"};
    const char *host = zkt_server_host(zkt_server_start(&so));
    const char *const calls[][6] = {
        {"lock", "/p", "true"},
        {"lock", "-n", "/p", "true"},
        {"lock", "--permits=2", "/p", "true"},
        {"lock", "--also=/q", "/p", "true"},
        {"lock", "/p"},
        {"elect", "--once", "/p", "true"},
        {"elect", "-l", "/p"},
        {"once", "--every=1h", "/p", "true"},
        {"status", "/p"},
        {"ls", "/"},
        {"revoke", "/p"},
        {"wait", "/p"},
    };
    struct cli c;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        const char *const *call = calls[i];
        CLI_REFUSED(77, "-z", host, call[0], call[1], call[2], call[3]);
    }
    assert_int_equal(CLI_RUN(&c, "-z", host, "lock", "/p", "true"), 77);
    assert_non_null(strstr(cli_err(&c), "--auth"));
    assert_int_equal(CLI("-z", host, "--auth", "digest:a:b", "lock", "/p", "true"), 0);
}

/* Servers whose sessions may not own ephemeral nodes: the leader and a follower say so with different codes. */
ZKT_CASE(local_sessions_that_are_not_upgraded_are_77)
{
    zkt_server_options so = {
        .config = "localSessionsEnabled=true\nlocalSessionsUpgradingEnabled=false\n"};
    zkt_ensemble *e = zkt_ensemble_start(3, &so);
    int leader = zkt_ensemble_wait(e, CLI_PATIENCE_MS);
    const char *const calls[][7] = {
        {"lock", "/p", "true"},
        {"lock", "-n", "/p", "true"},
        {"lock", "--permits=2", "/p", "true"},
        {"lock", "--also=/q", "/p", "true"},
        {"lock", "-n", "--also=/q", "/p", "true"},
        {"lock", "--permits=2/3", "/p", "true"},
        {"lock", "--any", "/p", "/q", "--", "true"},
        {"lock", "/p"},
        {"elect", "--once", "/p", "true"},
        {"once", "--every=1h", "/p", "true"},
    };
    struct cli c;
    for (size_t i = 0; i < 2 * sizeof(calls) / sizeof(calls[0]); i++) {
        const char *const *call = calls[i / 2];
        const char *host =
            zkt_server_host(zkt_ensemble_server(e, (leader + (int)i % 2) % 3));
        CLI_START(&c, "-z", host, call[0], call[1], call[2], call[3], call[4], call[5]);
        assert_int_equal(cli_wait(&c), 77);
        cli_assert_one_line(&c);
        assert_non_null(strstr(cli_err(&c), "localSessionsUpgradingEnabled"));
    }
    assert_int_equal(CLI("-z", zkt_ensemble_hosts(e), "status", "/p"), 0);
}

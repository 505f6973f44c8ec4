/* SPDX-License-Identifier: Apache-2.0 */
/* zkr: settings from a file, the environment and the command line; paths and options that are refused. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* --- files --- */

/* One that is gone with the case. Returns its name, up to the next one. */
static const char *make_file(mode_t mode, const char *text)
{
    static char name[32];
    int fd = cli_file(name);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    return name;
}

/* Runs `sh -c SCRIPT` with the file as $1, zkr as $0 and the path of the test as $2. */
static int run_with(const char *file, const char *script)
{
    return CLI_SH(script, file, zkt_path());
}

/* The same, refused in one line that has @words in it, and no secret. */
static void
refused_with(int status, const char *file, const char *words, const char *script)
{
    struct cli c;
    assert_int_equal(CLI_RUN_AS(&c, "sh", "-c", script, cli_zkr(), file, zkt_path()),
                     status);
    cli_assert_one_line(&c);
    if (!strstr(cli_err(&c), words) || strstr(cli_err(&c), "secret")) {
        zkt_fail("not about '%s': %s", words, cli_err(&c));
    }
}

/* --- where settings come from --- */

/* A file, else the environment, else the command line; the later counts. */
ZKT_CASE(the_nearest_setting_counts)
{
    const char *f = make_file(0644, "# nobody is there\n\n ZKR_SERVERS = 127.0.0.1:1 \n"
                                    "ZKR_CONNECT_TIMEOUT=2\n");
    assert_int_equal(run_with(f, "ZKR_SERVERS= ZKR_CONFIG=$1 \"$0\" status $2"), 75);
    assert_int_equal(
        run_with(f, "ZKR_CONNECT_TIMEOUT=20 ZKR_CONFIG=$1 \"$0\" status $2"), 0);
    assert_int_equal(
        run_with(f, "s=$ZKR_SERVERS; ZKR_SERVERS=127.0.0.1:1 "
                    "ZKR_CONFIG=$1 \"$0\" status -z $s --connect-timeout 20 $2"),
        0);
}

/* What is overridden is not even looked at: it may not be for us. */
ZKT_CASE(what_is_overridden_is_not_looked_at)
{
    const char *f = make_file(0644, "ZKR_AUTH_FILE=/no/such/file\n"
                                    "ZKR_SESSION_TIMEOUT=soon\nZKR_ACL=nonsense\n");
    static const char none[] = "ZKR_CONFIG=$1 exec \"$0\" status -t 5000 --acl open $2";
    refused_with(64, f, ":1: ZKR_AUTH_FILE names a file that cannot be read", none);
    static const char *const ways[] = {
        "ZKR_CONFIG=$1 \"$0\" --auth digest:a:b -t 5000 --acl open status $2",
        "ZKR_CONFIG=$1 \"$0\" ls --auth digest:a:b -t 5000 --acl open",
        "ZKR_AUTH=digest:a:b ZKR_SESSION_TIMEOUT=5000 ZKR_ACL=open ZKR_CONFIG=$1 "
        "\"$0\" status $2",
        "ZKR_AUTH=nonsense ZKR_SESSION_TIMEOUT=soon ZKR_ACL= ZKR_CONFIG=$1 "
        "\"$0\" lock -t 5000 --auth digest:a:b --acl open $2 true"};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        assert_int_equal(run_with(f, ways[i]), 0);
    }
}

/* A list of servers that is none is named like any other setting. */
ZKT_CASE(a_bad_server_list_is_named)
{
    const char *f = make_file(0644, "\nZKR_SERVERS=host:port:x\n");
    refused_with(64, f, ":2: 'host:port:x' is not host:port",
                 "ZKR_SERVERS= ZKR_CONFIG=$1 exec \"$0\" status $2");
    refused_with(64, f, "is not host:port[,host:port][/chroot] in the environment",
                 "ZKR_SERVERS=a:b:c exec \"$0\" status $2");
}

/* As little as may be seen of them: neither in what is said nor in the list of processes. */
ZKT_CASE(secrets_are_not_repeated)
{
    static const char *const texts[][2] = {
        {"ZKR_AUTH digest:me:secret\n", ":1: "},
        {"digest:me:secret\n", ":1: "},
        {"digest:me:secret=\n", ":1: "},
        {"ZKR_TLS=ca,cert,key,secret\n",
         ":1: others may read the password in ZKR_TLS"}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *f = make_file(0644, texts[i][0]);
        refused_with(64, f, texts[i][1], "ZKR_CONFIG=$1 exec \"$0\" status $2");
    }
    refused_with(64, "", "", "exec \"$0\" status --auht=digest:me:secret $2");
    refused_with(64, "", "", "exec \"$0\" status $2 --auth=digest:me:secret");
}

/* --- pipes, which nobody may ever write to --- */

ZKT_CASE(no_pipe_is_waited_for)
{
    char f[32];
    (void)snprintf(f, sizeof(f), "/tmp/zkt-pipe-%d", (int)getpid());
    assert_int_equal(mkfifo(f, 0600), 0);
    refused_with(64, f, "nor a pipe", "exec \"$0\" --auth-file $1 lock -w 1 $2 true");
    assert_int_equal(run_with(f, "ZKR_CONFIG=$1 \"$0\" status $2"), 0);
    assert_int_equal(unlink(f), 0);
}

/* It names the file and the line, and help is to be had all the same. */
ZKT_CASE(a_mistake_in_a_file_is_named)
{
    static const char *const texts[][2] = {
        {"\nZKR_SERVER=x\n", ":2: unknown setting 'ZKR_SERVER'"},
        {"ZKR_SERVERS\n", ":1: this line is not ZKR_NAME=value"},
        {"ZKR_SESSION_TIMEOUT=10s\n", ":1: ZKR_SESSION_TIMEOUT needs milliseconds"},
        {"ZKR_AUTH=digest:me:x\n", ":1: others may read ZKR_AUTH here"}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *f = make_file(0644, texts[i][0]);
        refused_with(64, f, texts[i][1], "ZKR_CONFIG=$1 exec \"$0\" status $2");
        assert_int_equal(run_with(f, "ZKR_CONFIG=$1 \"$0\" lock --help"), 0);
    }
    refused_with(64, "/nosuch", "cannot read", "ZKR_CONFIG=$1 exec \"$0\" status $2");
    refused_with(64, "", "ZKR_CONNECT_TIMEOUT needs seconds",
                 "ZKR_CONNECT_TIMEOUT=x exec \"$0\" status $2");
}

/* --- credentials and access --- */

/* The path of the test is open, what is made below it may be closed: that goes one by one. */
static void open_path(void)
{
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
}

static void remove_below(const char *name)
{
    assert_int_equal(zkt_delete(zkt_servers(), zkt_child(name)), 0);
}

/* Several to a file; one that others may use, or the group write, is refused. */
ZKT_CASE(credentials_come_from_a_file)
{
    open_path();
    const char *f = make_file(0600, "# two\ndigest:you:other\ndigest:me:secret\n");
    /* Only me:secret may, whose digest this is. */
    assert_int_equal(
        run_with(
            f,
            "\"$0\" --auth-file $1 --acl digest:me:016djjlksVQS5RgX3M7biBGyYwY=:crdwa "
            "lock $2/a \"$0\" status $2/a >/dev/null 2>&1"),
        77);
    assert_int_equal(
        run_with(f, "ZKR_AUTH_FILE=$1 \"$0\" --acl creator lock $2/b true"), 0);
    static const struct {
        int status;
        const char *script;
    } of_b[] = {
        {77, "\"$0\" lock -n $2/b true"},
        {77, "\"$0\" status $2/b"},
        {0, "\"$0\" --auth digest:me:secret lock $2/b true"},
        {0, "\"$0\" --auth digest:me:secret status $2/b"},
        {0, "ZKR_AUTH=digest:me:secret \"$0\" lock $2/b true"},
        {77, "ZKR_AUTH=digest:me:secret \"$0\" lock --auth digest:me:wrong $2/b true"}};
    for (size_t i = 0; i < sizeof(of_b) / sizeof(of_b[0]); i++) {
        if (run_with(f, of_b[i].script) != of_b[i].status) {
            zkt_fail("not %d: %s", of_b[i].status, of_b[i].script);
        }
    }
    static const mode_t bad[] = {0644, 0604, 0602, 0601, 0620, 0660};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(chmod(f, bad[i]), 0);
        refused_with(64, f, "others may use", "exec \"$0\" --auth-file $1 status $2");
    }
    assert_int_equal(chmod(f, 0640), 0); /* of a service with a group of its own */
    assert_int_equal(run_with(f, "\"$0\" --auth-file $1 status $2"), 0);
    remove_below("a");
    remove_below("b");
}

/* Parents that are made get it as well. */
ZKT_CASE(the_access_of_what_is_made_is_told)
{
    open_path();
    assert_int_equal(run_with("", "\"$0\" --acl world:anyone:rd lock $2/a true"), 77);
    assert_int_equal(run_with("", "\"$0\" --acl world:anyone:crdwa lock $2/x/y true"),
                     0);
    refused_with(64, "", "needs open, creator",
                 "exec \"$0\" lock --acl world:anyone $2 true");
    refused_with(64, "", "needs credentials", "exec \"$0\" lock --acl creator $2 true");
    refused_with(77, "", "check --acl",
                 "exec \"$0\" lock --acl nosuch:x:crdwa $2/z true");
    remove_below("a");
    remove_below("x/y");
    remove_below("x");
}

/* --- PATH --- */

ZKT_CASE(a_path_that_cannot_be_meant_is_named)
{
    static const char *const cases[][2] = {
        {"jobs", "a path starts with /"},
        {"/", "/ cannot be a lock"},
        {"/jobs/", "leave out the / at the end of '/jobs/'"},
        {"/zookeeper/x", "belong to the servers"}};
    refused_with(65, "", "belong to the servers",
                 "exec \"$0\" -z 127.0.0.1:1/ lock /zookeeper/x true");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        refused_with(65, cases[i][0], cases[i][1], "exec \"$0\" lock $1 true");
        refused_with(65, cases[i][0], cases[i][1], "exec \"$0\" elect $1 true");
        refused_with(65, cases[i][0], cases[i][1], "exec \"$0\" revoke $1");
        refused_with(65, cases[i][0], cases[i][1],
                     "exec \"$0\" lock --also $1 $2 true");
    }
}

ZKT_CASE(options_come_before_the_path)
{
    static const char words[] = "options come before PATH: '-";
    refused_with(64, "", words, "exec \"$0\" lock $2 -n true");
    refused_with(64, "", words, "exec \"$0\" elect $2 --once true");
    refused_with(64, "", words, "exec \"$0\" status $2 -q");
    refused_with(64, "", words, "exec \"$0\" revoke $2 -w 3");
    assert_int_equal(run_with("", "\"$0\" lock $2 -c 'exit 5'"), 5);
    assert_int_equal(run_with("", "\"$0\" lock $2 -- sh -c 'exit 6'"), 6);
}

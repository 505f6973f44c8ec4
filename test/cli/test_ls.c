/* SPDX-License-Identifier: Apache-2.0 */
/* zkr ls, and what status says where nobody is. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"

/* A node that nobody's session owns, made with those above it. */
static void put(const char *name, const char *data)
{
    const char *path = zkt_child(name);
    assert_int_equal(zkt_create_path(zkt_servers(), path), 0);
    assert_int_equal(zkt_set(zkt_servers(), path, data), 0);
}

/* Of each line the part below the path of the test, words apart by one space, without the columns of time. */
static const char *summary(const char *text)
{
    static char all[4096];
    char line[512], *save, *word;
    all[0] = '\0';
    size_t prefix = strlen(zkt_path());
    for (; *text; text += strcspn(text, "\n") + 1) {
        if (strncmp(text, zkt_path(), prefix) != 0) {
            continue;
        }
        (void)snprintf(line, sizeof(line), "%.*s", (int)(strcspn(text, "\n") - prefix),
                       text + prefix);
        for (word = strtok_r(line, " ", &save); word;
             word = strtok_r(NULL, " ", &save)) {
            bool age = strchr("<0123456789", *word) && word[strlen(word) - 1] == 's';
            (void)strcat(strcat(all, age ? "T" : word), " ");
        }
        (void)strcat(all, "\n");
    }
    return all;
}

/* As an operator meets it: every kind, at whatever depth, with who holds and how many wait. */
ZKT_CASE(every_kind_is_listed)
{
    put("a/x-lock-0000000003", "first\nuser=u");
    put("a/x-lock-0000000004", "second");
    put("a/not a lock", "");
    put("b/deep/y-__READ__0000000001", "reader");
    put("b/deep/y-__READ__0000000002", "reader");
    put("b/deep/y-__WRIT__0000000003", "writer");
    put("c/leases/z-lease-0000000000", "p\nmax=3");
    put("c/leases/z-lease-0000000001", "p\nmax=3");
    put("c/locks/z-lock-0000000007", "q");
    put("d/locks/v-lock-0000000000", "no semaphore");
    put("e/w-latch-0000000000", "leads");
    put("f/leases/u-lock-0000000000", "none either");
    put("g/leases/other", "");
    put("g/locks/t-lock-0000000000", "of one who has other leases");
    put("h/leases", "");
    put("h/locks/s-lock-0000000000", "waits for permits");
    struct cli c;
    assert_int_equal(CLI_RUN(&c, "ls", "-r", zkt_path()), 0);
    assert_string_equal(summary(cli_out(&c)),
                        "/a lock first T 1 T \n"
                        "/b/deep read reader and 1 more T 1 T \n"
                        "/c permit 2/3 p T 1 T \n"
                        "/d/locks lock no semaphore T 0 - \n"
                        "/e leader leads T 0 - \n"
                        "/f/leases lock none either T 0 - \n"
                        "/g/locks lock of one who has other leases T 0 - \n"
                        "/h permit 0 - - 1 T \n");
    assert_string_equal(cli_err(&c), "");
    assert_string_equal(summary(CLI_SAYS("ls", zkt_path())), "/a lock first T 1 T \n"
                                                             "/c permit 2/3 p T 1 T \n"
                                                             "/e leader leads T 0 - \n"
                                                             "/h permit 0 - - 1 T \n");
    assert_string_equal(summary(CLI_SAYS("ls", zkt_child("a"))),
                        "/a lock first T 1 T \n");
    const char *said = CLI_SAYS("ls", "--json", zkt_child("c"));
    assert_non_null(strstr(said, "/c\",\"kind\":\"permit\",\"owner\":\"p\","));
    assert_non_null(strstr(said, ",\"permits\":2,\"max\":3,\"maker\":null}\n"));
    assert_non_null(strstr(CLI_SAYS("ls", "--json", zkt_child("a")),
                           "\"user\":\"u\",\"host\":null,"));
}

/* A hold is as old as it says, whenever its node was made; who waits is as old as its node. */
ZKT_CASE(ages_are_those_of_the_nodes)
{
    enum { HOURS = 3, HOUR_MS = 3600 * 1000 };
    char data[100], field[100];
    long long now = (long long)time(NULL) * 1000, since = now - HOURS * HOUR_MS;
    (void)snprintf(data, sizeof(data), "x\nheld_since_ms=%lld", since);
    put("a/x-lock-0000000003", data);
    put("a/x-lock-0000000004", "second");
    put("a/x-lock-0000000005", "third");
    assert_string_equal(summary(CLI_SAYS("ls", zkt_child("a"))),
                        "/a lock x 3h00m 2 T \n");
    const char *said = CLI_SAYS("ls", "--json", zkt_child("a"));
    (void)snprintf(field, sizeof(field), "\"held_since\":%lld,", since);
    assert_non_null(strstr(said, field));
    const char *waiting = strstr(said, "\"waiting_since\":");
    assert_non_null(waiting);
    long long oldest = strtoll(strchr(waiting, ':') + 1, NULL, 10);
    ZKT_IN_RANGE(oldest, now, now + 60000);
    /* status says when each was made: the second is the one that waits longest. */
    said =
        strstr(CLI_SAYS("status", "--json", zkt_child("a")), "\"owner\":\"second\",");
    const char *made = strstr(said, "\"created_ms\":");
    assert_int_equal(strtoll(strchr(made, ':') + 1, NULL, 10), oldest);
    assert_non_null(strstr(CLI_SAYS("status", zkt_child("a")), "  3h00m  "));
}

/* Neither is a path without locks, nor one that may not be read. */
ZKT_CASE(what_is_not_there_is_said)
{
    CLI_REFUSED(1, "ls", zkt_child("nosuch"));
    /* It only begins like a path of the servers. */
    CLI_REFUSED(1, "ls", "/zookeepers");
    put("here", "");
    static const char none[] = "no lock at or right below /";
    assert_memory_equal(CLI_SAYS("ls", zkt_path()), none, strlen(none));
    assert_string_equal(CLI_SAYS("ls", "--json", "-r", zkt_path()), "");
    assert_null(strstr(CLI_SAYS("ls"), "/zookeeper")); /* of the root */
}

/* The root may have children with numbers, a chroot may be a lock, and below it /zookeeper is a name like others. */
ZKT_CASE(the_root_may_be_a_lock)
{
    struct cli c;
    char servers[512];
    put("job-lock-0000000003", "first");
    put("job-lock-0000000004", "second");
    put("a/x-lock-0000000000", "below");
    put("zookeeper/x-lock-0000000000", "ours");
    (void)snprintf(servers, sizeof(servers), "%s%s", zkt_servers(), zkt_path());
    assert_int_equal(CLI_RUN(&c, "-z", servers, "ls", "-r", "/"), 0);
    assert_non_null(strstr(cli_out(&c), "\n/           lock         first"));
    assert_non_null(strstr(cli_out(&c), "\n/a          lock         below"));
    assert_non_null(strstr(cli_out(&c), "\n/zookeeper  lock         ours"));
    assert_string_equal(cli_err(&c), "");
    assert_int_equal(CLI("-z", servers, "ls"), 0);
}

/* A status of a directory says so; one with nobody in it says no more. */
ZKT_CASE(status_points_to_what_is_below)
{
    put("a/x-lock-0000000003", "first");
    put("b/x-lock-0000000003", "first");
    assert_string_equal(CLI_SAYS("status", zkt_path()),
                        "no lock; 2 below, see zkr ls\n");
    assert_int_equal(zkt_delete_children(zkt_servers(), zkt_path()), 0);
    assert_string_equal(CLI_SAYS("status", zkt_path()), "nobody\n");
}

/* By their owner text, unless -i hides it. */
ZKT_CASE(who_runs_what_is_told)
{
    struct cli a, b;
    CLI_START(&a, "lock", zkt_child("a"), "sh", "-c", "echo; sleep 60 # \t\001");
    CLI_START(&b, "lock", "-i", "me", zkt_child("b"), "sh", "-c", "echo; sleep 60");
    ZKT_EVENTUALLY(*cli_out(&a) && *cli_out(&b), CLI_PATIENCE_MS);
    const char *said = CLI_SAYS("status", "-v", zkt_child("a"));
    assert_non_null(strstr(said, ", command echo; sleep 60 #   \n"));
    assert_non_null(strstr(said, "user "));
    assert_non_null(strstr(said, ", session served by "));
    said = strstr(CLI_SAYS("ls", "--json", zkt_path()), "\"owner\":\"me\"");
    assert_non_null(said);
    assert_null(strstr(said, "sleep"));
    cli_stop(&a, SIGTERM);
    cli_stop(&b, SIGTERM);
}

/* On a line that takes 50 ms each way: one after the other would take two minutes. */
ZKT_CASE(many_locks_take_a_few_round_trips)
{
    enum { LOCKS = 1000, DELAY_MS = 50 };
    char name[64];
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    zkt_raw *s = zkt_raw_open(zkt_servers(), 5000);
    assert_non_null(s);
    for (int i = 0; i < LOCKS; i++) {
        (void)snprintf(name, sizeof(name), "%04d", i);
        assert_int_equal(
            zkt_raw_create(s, &(zkt_node){.path = zkt_child(name)}, NULL, 0), 0);
        (void)snprintf(name, sizeof(name), "%04d/x-lock-0000000000", i);
        assert_int_equal(
            zkt_raw_create(s, &(zkt_node){.path = zkt_child(name)}, NULL, 0), 0);
    }
    assert_int_equal(zkt_raw_close(s), 0);
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    zkt_proxy_delay(proxy, ZKT_TO_SERVER, DELAY_MS);
    int64_t began = zkt_now_ms();
    assert_int_equal(
        CLI_SH("[ $(\"$0\" -z $1 ls --json $2 | grep -c '\"held\\|lock\"') = 1000 ]",
               zkt_proxy_host(proxy), zkt_path()),
        0);
    assert_true(zkt_now_ms() - began < 5000);
    int64_t requests = zkt_proxy_counters(proxy).requests;
    assert_true(requests >= 2 * LOCKS && requests < 2 * LOCKS + 20);
    zkt_proxy_stop(proxy);
}

/* Those that may not be read are left out, and counted: a path with what is below it; a node, but not its lock. */
ZKT_CASE(what_may_not_be_read_is_counted)
{
    put("half", "");
    put("open/x-lock-0000000000", "o");
    zkt_raw *s = zkt_raw_open(zkt_servers(), 5000);
    static const char *const closed[] = {"closed", "half/x-lock-0000000000"};
    for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++) {
        const zkt_node node = {.path = zkt_child(closed[i]),
                               .perms = ZKT_ALL,
                               .scheme = "digest",
                               .id = "me:016djjlksVQS5RgX3M7biBGyYwY="};
        assert_int_equal(zkt_raw_create(s, &node, NULL, 0), 0);
    }
    assert_int_equal(zkt_raw_close(s), 0);
    struct cli c, json;
    assert_int_equal(CLI_RUN(&c, "ls", zkt_path()), 0);
    assert_string_equal(summary(cli_out(&c)), "/half lock - - 0 - \n"
                                              "/open lock o T 0 - \n");
    cli_assert_one_line(&c);
    assert_non_null(strstr(cli_err(&c), "2 of the nodes may not be read"));
    assert_int_equal(CLI_RUN(&json, "ls", "--json", zkt_path()), 0);
    assert_null(strstr(cli_out(&json), "/closed"));
    assert_string_equal(cli_err(&json), cli_err(&c));
    CLI_REFUSED(77, "ls", zkt_child("closed"));
    for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++) {
        assert_int_equal(zkt_delete(zkt_servers(), zkt_child(closed[i])), 0);
    }
}

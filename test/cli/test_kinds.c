/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock: readers and writers, permits, several paths; and what status makes of them. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

enum { QUIET_MS = 300 };

/* Lines of "status" that show @owner with a token, at @path. */
static bool shows(const char *path, const char *text)
{
    return strstr(CLI_SAYS("status", path), text) != NULL;
}

static bool json_shows(const char *path, const char *text)
{
    return strstr(CLI_SAYS("status", "--json", path), text) != NULL;
}

/* Says so when it has begun, and then sleeps. */
#define CLI_HOLD(c, ...)                                                               \
    CLI_START((c), "lock", __VA_ARGS__, "sh", "-c", "echo held; sleep 60")

static bool held(struct cli *c)
{
    return strcmp(cli_out(c), "held\n") == 0;
}

static void wait_held(struct cli *c)
{
    ZKT_EVENTUALLY(held(c), CLI_PATIENCE_MS);
}

/* And wait for that. */
#define CLI_HELD(c, ...) (CLI_HOLD((c), __VA_ARGS__), wait_held(c))

/* Readers run together while a writer waits; one that comes later waits behind it. First come, first served. */
ZKT_CASE(readers_run_together_and_a_writer_alone)
{
    struct cli one, two, writer, late;
    const char *path = zkt_path();
    CLI_HELD(&one, "-s", "-i", "one", path);
    CLI_HELD(&two, "--shared", "-i", "two", path);
    CLI_HOLD(&writer, "-x", "-i", "writer", path);
    ZKT_BECOMES(cli_queue(), 3, CLI_PATIENCE_MS);
    CLI_HOLD(&late, "-s", "-i", "late", path);
    ZKT_BECOMES(cli_queue(), 4, CLI_PATIENCE_MS);
    assert_int_equal(CLI("lock", "-n", "-s", path, "true"), 1);
    zkt_sleep_ms(QUIET_MS);
    assert_false(held(&writer) || held(&late));
    assert_true(shows(path, "\n1    two "));
    assert_true(shows(path, "\n3    writer "));
    assert_true(shows(path, "  read     _c_"));
    assert_true(
        json_shows(path, "\"kind\":\"read\",\"owner\":\"one\",\"session\":\"0x"));
    assert_true(json_shows(path, "\"waiting\":2,\"permits\":null,\"max\":null,"));
    assert_true(json_shows(path, "\"position\":2,\"holder\":true,"));
    assert_true(json_shows(path, "\"position\":3,\"holder\":false,"));
    cli_stop(&one, SIGTERM);
    zkt_sleep_ms(QUIET_MS);
    assert_false(held(&writer));
    cli_stop(&two, SIGTERM);
    wait_held(&writer);
    assert_false(held(&late));
    assert_int_equal(CLI("lock", "-n", "-s", path, "true"), 1);
    cli_stop(&writer, SIGTERM);
    wait_held(&late);
    cli_stop(&late, SIGTERM);
}

/* With --rw the exclusive side is a writer, which Curator's read-write locks see; without, a mutex. */
ZKT_CASE(rw_chooses_the_name_of_the_node)
{
    static const char *const cases[][3] = {
        {"-x", "-x", "-lock-"},      {"--rw", "-x", "-__WRIT__"},
        {"-x", "--rw", "-__WRIT__"}, {"--rw", "-s", "-__READ__"},
        {"-s", "-s", "-__READ__"},   {"-s", "-x", "-lock-"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_non_null(strstr(CLI_SAYS("lock", cases[i][0], cases[i][1], zkt_path(),
                                        "-c", "echo $ZKR_LOCK_NODE"),
                               cases[i][2]));
    }
}

/* So many run at once, and no more. */
ZKT_CASE(permits_are_counted)
{
    struct cli one, two, third;
    const char *path = zkt_path();
    CLI_HELD(&one, "--permits", "2/3", "-i", "one", path);
    CLI_HELD(&two, "--permits=3", "-i", "two", path);
    assert_int_equal(CLI("lock", "-n", "--permits=3", path, "true"), 1);
    ZKT_EVENTUALLY(shows(path, "3 of 3 permits held, 0 wait\n"), CLI_PATIENCE_MS);
    assert_true(shows(path, "\n1    one "));
    assert_true(shows(path, "  2 permits  _c_"));
    CLI_HOLD(&third, "--permits=2/3", "-i", "third", path);
    ZKT_EVENTUALLY(shows(path, "3 of 3 permits held, 1 wait\n"), CLI_PATIENCE_MS);
    assert_true(shows(path, "\n3    third "));
    assert_true(json_shows(path, "\"kind\":\"permit\",\"owner\":\"one\""));
    assert_true(json_shows(path, "\"waiting\":1,\"permits\":3,\"max\":3,"));
    cli_stop(&two, SIGTERM);
    zkt_sleep_ms(QUIET_MS);
    assert_false(held(&third));
    cli_stop(&one, SIGTERM);
    wait_held(&third);
    assert_true(shows(path, "2 of 3 permits held, 0 wait\n"));
    cli_stop(&third, SIGTERM);
    assert_true(shows(path, "nobody\n"));
}

/* Each counts with its own maximum: a line says that they differ. */
ZKT_CASE(another_maximum_is_pointed_out)
{
    struct cli one, other;
    CLI_HELD(&one, "--permits=2", zkt_path());
    assert_int_equal(CLI_RUN(&other, "lock", "--permits=4", zkt_path(), "true"), 0);
    cli_assert_one_line(&other);
    assert_non_null(strstr(cli_err(&other), "a maximum of 2, this one counts with 4"));
    assert_int_equal(CLI_RUN(&other, "lock", "--permits=2", zkt_path(), "true"), 0);
    assert_string_equal(cli_err(&other), "");
    assert_string_equal(cli_err(&one), "");
    cli_stop(&one, SIGTERM);
}

/* What ls says of the path of the test. */
static bool lists(const char *text)
{
    return strstr(CLI_SAYS("ls", zkt_path()), text) != NULL;
}

/* Whoever looks: the permits of one who waits are not held, and how long its command is does not matter. */
ZKT_CASE(who_waits_for_permits_does_not_hold_them)
{
    static const char text[] = "echo held; exec sleep 60 # a long command line, "
                               "as people write them, with all that they want to be "
                               "done on one line, so that the owner text is more than "
                               "two hundred and fifty-six bytes long: here they are. ";
    struct cli one, two, third;
    const char *path = zkt_path();
    CLI_START(&one, "lock", "--permits", "1/2", path, "-c", text);
    wait_held(&one);
    CLI_START(&two, "lock", "--permits", "2/2", path, "-c", text);
    ZKT_BECOMES(zkt_children_count(zkt_servers(), zkt_child("leases")), 3,
                CLI_PATIENCE_MS);
    ZKT_EVENTUALLY(shows(path, "1 of 2 permits held, 1 wait\n"), CLI_PATIENCE_MS);
    assert_true(json_shows(path, "\"waiting\":1,\"permits\":1,\"max\":2,"));
    assert_int_equal(CLI("status", "-q", path), 0);
    assert_true(lists("permit 1/2"));
    CLI_REFUSED(65, "revoke", path);
    CLI_REFUSED(65, "revoke", "-w", "1", "--force", path);

    /* A lower maximum frees nothing. */
    cli_stop(&two, SIGTERM);
    CLI_START(&two, "lock", "--permits", "2/3", path, "-c", text);
    wait_held(&two);
    CLI_START(&third, "lock", "--permits", "1", path, "-c", text);
    ZKT_BECOMES(zkt_children_count(zkt_servers(), zkt_child("leases")), 4,
                CLI_PATIENCE_MS);
    ZKT_EVENTUALLY(shows(path, "3 of 1 permits held, 1 wait\n"), CLI_PATIENCE_MS);
    assert_int_equal(CLI("status", "-q", path), 0);
    assert_true(lists("permit 3/1"));
    cli_stop(&third, SIGTERM);
    cli_stop(&two, SIGTERM);
    cli_stop(&one, SIGTERM);
}

/* Those of Curator tell no maximum. */
ZKT_CASE(who_waits_for_permits_of_curator_does_not_hold_them)
{
    const char *path = zkt_path();
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_child("leases")), 0);
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_child("locks")), 0);
    zkt_raw *holder = zkt_raw_open(zkt_servers(), 30000),
            *waiter = zkt_raw_open(zkt_servers(), 30000);
    const struct {
        zkt_raw *s;
        const char *name, *data;
    } nodes[] = {{holder, "leases/_c_0-lease-0000000000", "holder"},
                 {waiter, "locks/_c_1-lock-0000000001", "waiter"},
                 {waiter, "leases/_c_2-lease-0000000001", "waiter"}};
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        const zkt_node node = {.path = zkt_child(nodes[i].name),
                               .data = nodes[i].data,
                               .data_len = strlen(nodes[i].data),
                               .flags = ZKT_EPHEMERAL};
        assert_int_equal(zkt_raw_create(nodes[i].s, &node, NULL, 0), 0);
    }
    assert_true(shows(path, "1 permits held, 1 wait\n"));
    assert_true(shows(path, "\n1    holder "));
    assert_true(shows(path, "\n2    waiter "));
    assert_true(lists("permit 1 "));
    assert_int_equal(zkt_raw_close(holder), 0);
    assert_int_equal(CLI("status", "-q", path), 1);
    assert_int_equal(zkt_raw_close(waiter), 0);
}

/* Plain locks whose names are those of the parts of a semaphore. */
ZKT_CASE(locks_below_make_no_semaphore)
{
    static const char *const names[] = {"locks", "leases"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct cli c;
        CLI_HELD(&c, zkt_child(names[i]));
        assert_true(shows(zkt_path(), "no lock; 1 below, see zkr ls\n"));
        assert_int_equal(CLI("status", "-q", zkt_path()), 1);
        assert_true(json_shows(zkt_path(), "\"kind\":null,"));
        CLI_REFUSED(1, "revoke", zkt_path());
        cli_stop(&c, SIGTERM);
    }
}

/* All of several paths or none; each is an ordinary lock. */
ZKT_CASE(several_paths_are_locked_at_once)
{
    struct cli all, one, other;
    const char *a = zkt_child("a"), *b = zkt_child("b"), *c = zkt_child("c");
    CLI_HELD(&one, b);
    CLI_HOLD(&all, "--also", b, "--also", c, "-i", "all", a);
    ZKT_EVENTUALLY(shows(a, "all"), CLI_PATIENCE_MS);
    assert_int_equal(CLI("lock", "-n", "--also", b, a, "true"), 1);
    assert_false(held(&all));
    CLI_HOLD(&other, c);
    ZKT_BECOMES(zkt_children_count(zkt_servers(), c), 2, CLI_PATIENCE_MS);
    cli_stop(&one, SIGTERM);
    wait_held(&all);
    assert_false(held(&other));
    cli_stop(&all, SIGTERM);
    wait_held(&other);
    assert_true(shows(a, "nobody\n"));
    cli_stop(&other, SIGTERM);
}

/* A server that gets a request longer than its limit closes the connection without an answer. */
ZKT_CASE(a_request_that_is_too_long_is_explained)
{
    enum { PATHS = 12 };
    struct cli c;
    const zkt_server_options o = {.jvm_arguments = "-Djute.maxbuffer=1500"};
    const char *host = zkt_server_host(zkt_server_start(&o));
    const char *argv[2 * PATHS + 12] = {cli_zkr(), "-z", host, "lock", "-w", "3"};
    char paths[PATHS][16];
    int count = 6;
    for (int i = 1; i < PATHS; i++) {
        (void)snprintf(paths[i], sizeof(paths[i]), "/%d", i);
        argv[count++] = "--also";
        argv[count++] = paths[i];
    }
    argv[count++] = "/0";
    argv[count] = "true";
    cli_spawn(&c, false, argv);
    assert_int_equal(cli_wait(&c), 1);
    assert_non_null(strstr(cli_err(&c), "jute.maxbuffer"));
}

/* Nested zkr commands take locks one after the other: the first is held while the second is waited for. */
ZKT_CASE(one_lock_is_taken_under_another)
{
    struct cli other, both;
    const char *a = zkt_child("a"), *b = zkt_child("b");
    CLI_HELD(&other, b);
    CLI_START(&both, "lock", "-i", "both", a, cli_zkr(), "lock", "-i", "both", b,
              "sleep", "60");
    ZKT_BECOMES(zkt_children_count(zkt_servers(), b), 2, CLI_PATIENCE_MS);
    assert_true(shows(a, "both"));
    cli_stop(&other, SIGTERM);
    ZKT_BECOMES(zkt_children_count(zkt_servers(), b), 1, CLI_PATIENCE_MS);
    assert_true(shows(b, "both"));
    assert_int_equal(CLI("lock", "-n", a, "true"), 1);
    cli_stop(&both, SIGTERM);
    assert_true(shows(a, "nobody\n") && shows(b, "nobody\n"));
}

/* Whichever of them it is. */
ZKT_CASE(the_path_that_is_refused_is_named)
{
    enum { PATHS = 3, ADMIN = 16 };
    static const char *const names[PATHS] = {"a", "b", "c"};
    char paths[PATHS][256];
    for (int i = 0; i < PATHS; i++) {
        (void)snprintf(paths[i], sizeof(paths[i]), "%s", zkt_child(names[i]));
        assert_int_equal(zkt_create_path(zkt_servers(), paths[i]), 0);
    }
    for (int i = 0; i < PATHS; i++) {
        static const char *const kinds[] = {"--also", "--any"};
        assert_int_equal(zkt_set_acl(zkt_servers(), paths[i], ADMIN), 0);
        for (int any = 0; any < 2; any++) {
            struct cli c;
            int status = any ? CLI_RUN(&c, "lock", kinds[1], paths[0], paths[1],
                                       paths[2], "--", "true")
                             : CLI_RUN(&c, "lock", kinds[0], paths[1], kinds[0],
                                       paths[2], paths[0], "true");
            /* Those before it are tried first, and one is enough. */
            assert_int_equal(status, any && i > 0 ? 0 : 77);
            assert_true(status == 0 || strstr(cli_err(&c), paths[i]));
        }
        assert_int_equal(zkt_set_acl(zkt_servers(), paths[i], ZKT_ALL), 0);
    }
}

ZKT_CASE(the_command_knows_what_it_holds_by)
{
    static const char script[] =
        "case $ZKR_LOCK_NODE in $ZKR_LOCK_PATH/*) ;; *) exit 1 ;; esac; "
        "[ $ZKR_FENCING_TOKEN -gt 0 ]";
    assert_int_equal(CLI("lock", "--permits=2/2", zkt_child("s"), "sh", "-c", script),
                     0);
    assert_int_equal(
        CLI("lock", "--also", zkt_child("b"), zkt_child("a"), "sh", "-c", script), 0);
    assert_int_equal(CLI("lock", "-s", zkt_child("r"), "sh", "-c", script), 0);
}

/* While a Curator writer becomes a reader, it briefly has two nodes with one number; neither is a waiter. */
ZKT_CASE(a_downgrade_is_no_wait)
{
    static const char *const names[] = {"_c_0-__WRIT__0000000000",
                                        "_c_0-__READ__0000000000",
                                        "_c_1-__READ__0000000001"};
    zkt_raw *s = zkt_raw_open(zkt_servers(), 30000);
    assert_non_null(s);
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    for (int i = 0; i < 3; i++) {
        const zkt_node node = {.path = zkt_child(names[i]), .flags = ZKT_EPHEMERAL};
        assert_int_equal(zkt_raw_create(s, &node, NULL, 0), 0);
        const char *waiting = i < 2 ? "\"waiting\":0" : "\"waiting\":1";
        assert_non_null(strstr(CLI_SAYS("ls", "--json", zkt_path()), waiting));
        assert_non_null(strstr(CLI_SAYS("status", "--json", zkt_path()), waiting));
    }
    (void)zkt_raw_close(s);
}

/* Held or not, in one word. */
ZKT_CASE(status_can_be_quiet)
{
    struct cli c, q;
    assert_int_equal(CLI("status", "-q", zkt_path()), 1);
    CLI_HELD(&c, "-s", zkt_path());
    assert_int_equal(CLI_RUN(&q, "status", "-q", zkt_path()), 0);
    assert_string_equal(cli_out(&q), "");
    assert_string_equal(cli_err(&q), "");
    cli_stop(&c, SIGTERM);
    assert_int_equal(CLI("status", "-q", zkt_path()), 1);
}

/* Nodes of others are shown, and a line says what to think of them. */
ZKT_CASE(strangers_are_pointed_out)
{
    const zkt_node node = {.path = zkt_child("a-lock-0000000001"),
                           .flags = ZKT_EPHEMERAL};
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    zkt_raw *s = zkt_raw_open(zkt_servers(), 30000);
    assert_non_null(s);
    assert_int_equal(zkt_raw_create(s, &node, NULL, 0), 0);
    struct cli c;
    assert_int_equal(CLI_RUN(&c, "status", zkt_path()), 0);
    assert_string_equal(cli_err(&c), "");
    static const char *const cases[][2] = {
        {"x__lock__0000000002", "belongs to kazoo"},
        {"_c_0-latch-0000000002", "leaders and locks"},
        {"leases/_c_0-lease-0000000000", "also a semaphore"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(zkt_create_path(zkt_servers(), zkt_child(cases[i][0])), 0);
        assert_int_equal(CLI_RUN(&c, "status", zkt_path()), 0);
        cli_assert_one_line(&c);
        assert_non_null(strstr(cli_err(&c), cases[i][1]));
        assert_int_equal(zkt_delete(zkt_servers(), zkt_child(cases[i][0])), 0);
    }
    (void)zkt_raw_close(s);
}

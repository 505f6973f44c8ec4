/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock --any: one lock of several. */
#include <signal.h>
#include <string.h>

#include "cli.h"

static const char *a, *b, *c;

static void name_paths(void)
{
    a = zkt_child("a");
    b = zkt_child("b");
    c = zkt_child("c");
}

static int queue(const char *path)
{
    return zkt_children_count(zkt_servers(), path);
}

/* Says which lock it has got, and sleeps. */
#define TELL "--", "sh", "-c", "echo $ZKR_LOCK_PATH; exec sleep 60"
#define CLI_ANY(p, ...) CLI_START((p), "lock", __VA_ARGS__, TELL)

static bool has(struct cli *p, const char *path)
{
    const char *out = cli_out(p);
    size_t length = strlen(path);
    return strncmp(out, path, length) == 0 && strcmp(out + length, "\n") == 0;
}

static void wait_has(struct cli *p, const char *path)
{
    ZKT_EVENTUALLY(has(p, path), CLI_PATIENCE_MS);
}

/* In the order given, and what comes behind is not touched. */
ZKT_CASE(the_first_that_is_free_is_taken)
{
    struct cli one, two;
    name_paths();
    CLI_ANY(&one, "--any", a, b, c);
    wait_has(&one, a);
    assert_false(zkt_exists(zkt_servers(), b));
    CLI_ANY(&two, "-n", "--any", a, b, c);
    wait_has(&two, b);
    assert_false(zkt_exists(zkt_servers(), c));
    assert_int_equal(queue(a), 1);
    CLI_REFUSED(1, "lock", "-n", "--any", a, b, "--", "true");
    CLI_REFUSED(9, "lock", "-E9", "-w2.3", "--any", a, b, "--", "true");
    assert_int_equal(queue(a) + queue(b), 2);
    cli_stop(&one, SIGTERM);
    cli_stop(&two, SIGTERM);
}

/* All are held: the first that is released, by who had come before in that queue. The others are left. */
ZKT_CASE(the_first_that_is_granted_is_taken)
{
    struct cli one, two, ahead, waiter;
    name_paths();
    CLI_ANY(&one, "--any", a, b);
    wait_has(&one, a);
    CLI_ANY(&two, "--any", a, b);
    wait_has(&two, b);
    CLI_ANY(&ahead, "--any", b);
    ZKT_BECOMES(queue(b), 2, CLI_PATIENCE_MS);
    CLI_ANY(&waiter, "--any", a, b);
    ZKT_BECOMES(queue(a), 2, CLI_PATIENCE_MS);
    ZKT_BECOMES(queue(b), 3, CLI_PATIENCE_MS);
    cli_stop(&two, SIGTERM);
    wait_has(&ahead, b);
    cli_stop(&ahead, SIGTERM);
    wait_has(&waiter, b);
    ZKT_BECOMES(queue(a), 1, CLI_PATIENCE_MS);
    assert_int_equal(queue(b), 1);
    cli_stop(&one, SIGTERM);
    cli_stop(&waiter, SIGTERM);
}

/* As many as there are locks run at once, each with its own, however they meet. */
ZKT_CASE(each_gets_one)
{
    enum { ALL = 3 };
    struct cli all[ALL];
    name_paths();
    for (int i = 0; i < ALL; i++) {
        CLI_ANY(&all[i], "--any", a, b, c);
    }
    for (int i = 0; i < ALL; i++) {
        ZKT_EVENTUALLY(has(&all[i], a) || has(&all[i], b) || has(&all[i], c),
                       CLI_PATIENCE_MS);
    }
    ZKT_BECOMES(queue(a) * 100 + queue(b) * 10 + queue(c), 111, CLI_PATIENCE_MS);
    for (int i = 0; i < ALL; i++) {
        cli_stop(&all[i], SIGTERM);
    }
}

/* One that is told to stop. */
ZKT_CASE(a_waiter_leaves_all_queues)
{
    struct cli one, waiter;
    name_paths();
    CLI_START(&one, "lock", "--also", b, a, "sleep", "60");
    ZKT_BECOMES(queue(a) + queue(b), 2, CLI_PATIENCE_MS);
    CLI_ANY(&waiter, "--any", a, b);
    ZKT_BECOMES(queue(a) + queue(b), 4, CLI_PATIENCE_MS);
    cli_stop(&waiter, SIGTERM);
    assert_int_equal(queue(a) + queue(b), 2);
    cli_stop(&one, SIGTERM);
}

/* It is a hold as any other: it can be revoked, and is lost with its node. */
ZKT_CASE(what_it_got_can_be_revoked_and_lost)
{
    struct cli holder;
    name_paths();
    CLI_ANY(&holder, "--any", a, b);
    wait_has(&holder, a);
    assert_int_equal(CLI("revoke", "-w10", a), 0);
    assert_int_equal(cli_wait(&holder), 128 + SIGTERM);
    CLI_ANY(&holder, "--any", b, a);
    wait_has(&holder, b);
    assert_int_equal(zkt_delete_children(zkt_servers(), b), 0);
    assert_int_equal(cli_wait(&holder), 79);
    assert_non_null(strstr(cli_err(&holder), b));
}

/* Without a command, and by -c. */
ZKT_CASE(paths_end_at_two_dashes)
{
    name_paths();
    assert_non_null(strstr(CLI_SAYS("lock", "--any", a, b), a));
    assert_string_equal(CLI_SAYS("lock", "--any", "-c", "echo hi", a, b), "hi\n");
    assert_string_equal(CLI_SAYS("lock", "--any", a, b, "-c", "echo hi"), "hi\n");
}

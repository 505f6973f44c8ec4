/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "clean.h"
#include "fourlw.h"
#include "proxy.h"
#include "raw.h"
#include "runner.h"
#include "server.h"
#include "util.h"

enum { SESSION_MS = 4000 };

static zkt_raw *open_session(const char *hosts)
{
    zkt_raw *s = zkt_raw_open(hosts, SESSION_MS);
    assert_non_null(s);
    return s;
}

static int make(zkt_raw *s, const char *path, int flags)
{
    return zkt_raw_create(s, &(zkt_node){.path = path, .flags = flags}, NULL, 0);
}

static const char *child(const char *path, const char *name)
{
    static char text[4][256];
    static int turn;
    char *out = text[turn++ % 4];
    (void)snprintf(out, sizeof text[0], "%s/%s", path, name);
    return out;
}

/* ---- util -------------------------------------------------------------------------- */

static int child_status(void *arg)
{
    return *(int *)arg;
}

static int child_asserts(void *arg)
{
    (void)arg;
    (void)close(2);
    assert_true(false);
    return 0;
}

static int child_hangs(void *arg)
{
    (void)arg;
    zkt_sleep_ms(60000);
    return 0;
}

/* A forked function hands back its status, an abort, or is killed at the deadline. */
static void forked_function_reports_how_it_ended(void **state)
{
    (void)state;
    int status = 7;
    assert_int_equal(zkt_join(zkt_fork(child_status, &status), 5000), 7);
    assert_int_equal(zkt_join(zkt_fork(child_asserts, NULL), 5000), 128 + SIGABRT);

    pid_t pid = zkt_fork(child_hangs, NULL);
    assert_int_equal(zkt_child_count(), 1);
    const int64_t start = zkt_now_ms();
    assert_int_equal(zkt_join(pid, 50), -1);
    assert_true(zkt_now_ms() - start >= 50);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(zkt_child_count(), 0);
}

/* ---- raw and four-letter words ----------------------------------------------------- */

/* Watches, ephemeral nodes and packets are counted by the server. */
static void server_counts_are_read(void **state)
{
    (void)state;
    const char *hosts = zkt_servers();
    const char *path = zkt_unique_path("counts");
    char text[16];
    assert_true(zkt_4lw(hosts, "ruok", text, sizeof text) == 4);
    assert_string_equal(text, "imok");
    assert_true(zkt_mode(hosts) != ZKT_MODE_NONE);
    assert_int_equal(zkt_mntr(hosts, "zk_no_such_key"), -1);
    assert_int_equal(zkt_create_path(hosts, path), ZKT_OK);

    zkt_raw *s = open_session(hosts);
    const int64_t received = zkt_cons_received(hosts, zkt_raw_id(s));
    const int64_t watches = zkt_watch_count(hosts);
    assert_int_equal(received, 1);
    assert_int_equal(make(s, child(path, "e"), ZKT_EPHEMERAL), ZKT_OK);
    assert_int_equal(zkt_raw_exists(s, child(path, "e"), true, NULL), ZKT_OK);
    assert_int_equal(zkt_cons_received(hosts, zkt_raw_id(s)), received + 2);
    assert_true(zkt_cons_sent(hosts, zkt_raw_id(s)) >= 2);
    assert_int_equal(zkt_watch_count(hosts), watches + 1);
    assert_int_equal(zkt_watches_under(hosts, path), 1);
    assert_int_equal(zkt_watches_under(hosts, child(path, "e")), 1);
    assert_int_equal(zkt_watches_under(hosts, child(path, "")), 1);
    assert_int_equal(zkt_watches_under(hosts, "/t/none"), 0);
    assert_int_equal(zkt_ephemerals_under(hosts, path), 1);
    assert_true(zkt_ephemerals(hosts) >= 1);
    assert_true(zkt_connections(hosts) >= 1);

    assert_int_equal(zkt_delete(hosts, child(path, "e")), ZKT_OK);
    assert_true(zkt_raw_wait_event(s, 5000));
    assert_int_equal(zkt_raw_events(s), 1);
    const int64_t id = zkt_raw_id(s);
    assert_int_equal(zkt_raw_close(s), ZKT_OK);
    ZKT_BECOMES(zkt_cons_received(hosts, id), -1, 5000);
}

/* ---- clean ------------------------------------------------------------------------- */

static void *wait_for_byte(void *arg)
{
    (void)zkt_get_byte(*(int *)arg, 10000);
    return NULL;
}

static bool says(const char *path, const char *words)
{
    char why[4096];
    return !zkt_is_clean(zkt_servers(), path, why, sizeof why) &&
           strstr(why, words) != NULL;
}

/* A thread, a descriptor and a process left over are reported, and only while there. */
static void what_a_process_leaves_is_reported(void **state)
{
    (void)state;
    const char *path = zkt_unique_path("left");
    pthread_t thread;
    int fd[2];

    zkt_pipe(fd);
    assert_true(says(path, "descriptors: "));
    assert_true(says(path, "(pipe:["));
    assert_false(says(path, "threads: "));
    assert_int_equal(pthread_create(&thread, NULL, wait_for_byte, &fd[0]), 0);
    assert_true(says(path, "threads: "));
    zkt_put_byte(fd[1], 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    ZKT_EVENTUALLY(!says(path, "threads: "), 5000);
    zkt_pipe_close(fd);

    pid_t pid = zkt_fork(child_hangs, NULL);
    assert_true(says(path, "child processes: "));
    assert_int_equal(zkt_join(pid, 0), -1);
    zkt_check_clean(path);
}

/* A child, a watch and an ephemeral node left over are reported. */
static void what_a_session_leaves_is_reported(void **state)
{
    (void)state;
    const char *path = zkt_unique_path("left");
    assert_int_equal(zkt_create_path(zkt_servers(), path), ZKT_OK);
    zkt_check_clean(path);
    assert_int_equal(zkt_create(zkt_servers(), child(path, "kept"), "", 0), ZKT_OK);
    assert_true(says(path, "1: kept"));
    assert_int_equal(zkt_delete_children(zkt_servers(), path), ZKT_OK);
    zkt_check_clean(path);

    zkt_raw *s = open_session(zkt_servers());
    assert_int_equal(zkt_raw_exists(s, child(path, "e"), true, NULL), ZKT_NONODE);
    assert_true(says(path, "watches: 1"));
    assert_int_equal(make(s, child(path, "e"), ZKT_EPHEMERAL), ZKT_OK);
    assert_true(says(path, "ephemeral nodes: 1"));
    assert_int_equal(zkt_raw_close(s), ZKT_OK);
}

static int child_leaks(void *arg)
{
    int fd[2];
    (void)close(2);
    zkt_baseline();
    zkt_pipe(fd);
    zkt_check_clean(arg);
    return 0;
}

/* The check itself fails the test, after its deadline. */
static void check_fails_a_test_that_leaks(void **state)
{
    (void)state;
    assert_int_equal(zkt_join(zkt_fork(child_leaks, NULL), 15000), 128 + SIGABRT);
}

static int after_each(void **state)
{
    (void)state;
    zkt_check_clean("/none");
    return 0;
}

#define TEST(f) cmocka_unit_test_teardown(f, after_each)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(forked_function_reports_how_it_ended),
        TEST(server_counts_are_read),
        TEST(what_a_process_leaves_is_reported),
        TEST(what_a_session_leaves_is_reported),
        TEST(check_fails_a_test_that_leaks),
    };
    return zkt_run(argc, argv, tests, zkt_group_setup, zkt_group_teardown);
}

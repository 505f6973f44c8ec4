/* SPDX-License-Identifier: Apache-2.0 */
/* zkr once: a command runs once in a period. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Runs leave a byte each in here; RUN is a command that does. */
static char run_it[64];
static int runs_fd;

#define RUN "-c", run_it

static void begin(void)
{
    char name[32];
    runs_fd = cli_file(name);
    (void)snprintf(run_it, sizeof(run_it), "printf . >>%s", name);
}

static int runs(void)
{
    return (int)strlen(cli_file_text(runs_fd));
}

/* A number of the record at @path; 0 = it has none. */
static int64_t recorded_at(const char *path, const char *name)
{
    char text[256] = "";
    (void)zkt_get(zkt_servers(), path, text, sizeof(text), NULL);
    const char *at = strstr(text, name);
    return at ? strtoll(at + strlen(name), NULL, 10) : 0;
}

static int64_t recorded(const char *name)
{
    return recorded_at(zkt_path(), name);
}

/* --- once in a period --- */

ZKT_CASE(of_many_at_once_one_runs)
{
    enum { HOSTS = 5 };
    struct cli hosts[HOSTS];
    begin();
    for (int i = 0; i < HOSTS; i++) {
        CLI_START(&hosts[i], "--verbose", "once", "--every=1d", zkt_path(), RUN);
    }
    int said = 0;
    for (int i = 0; i < HOSTS; i++) {
        assert_int_equal(cli_wait(&hosts[i]), 0);
        said += strstr(cli_err(&hosts[i]), "not due: ") != NULL;
    }
    assert_int_equal(runs(), 1);
    assert_int_equal(said, HOSTS - 1);
    assert_int_equal(CLI("once", "-n", "--every", "1h", zkt_path(), RUN), 0);
    assert_int_equal(runs(), 1);
}

/* By the servers' clock, from start to start, with a tenth to spare. */
ZKT_CASE(after_the_period_it_runs_again)
{
    begin();
    assert_int_equal(CLI("once", "--every=2s", zkt_path(), RUN), 0);
    int64_t first = recorded("\nasked_ms="), token = recorded("\ntoken=");
    int64_t until = zkt_now_ms() + CLI_PATIENCE_MS;
    assert_true(first > 0 && token > 0);
    while (runs() < 2 && zkt_now_ms() < until) {
        assert_int_equal(CLI("once", "--every=2s", zkt_path(), RUN), 0);
    }
    assert_int_equal(runs(), 2);
    assert_true(recorded("\nasked_ms=") - first >= 1800);
    assert_true(recorded("\ntoken=") > token);
}

/* The record of a success @ago_ms before the present of the servers. */
static void put_record(int64_t ago_ms)
{
    char text[128];
    zkt_stat st;
    assert_int_equal(zkt_set(zkt_servers(), zkt_path(), "zkr once\n"), 0);
    assert_int_equal(zkt_get(zkt_servers(), zkt_path(), text, sizeof(text), &st), 0);
    (void)snprintf(text, sizeof(text), "zkr once\nasked_ms=%" PRId64 "\ntoken=1\n",
                   st.mtime - ago_ms);
    assert_int_equal(zkt_set(zkt_servers(), zkt_path(), text), 0);
}

/* Units, and both sides of the bound; a record of the future counts only when clocks may differ by so much. */
ZKT_CASE(what_is_due)
{
    static const struct {
        const char *every;
        int64_t ago_s;
        bool due;
    } all[] = {{"100", 80, false},   {"100", 91, true},     {"10m", 530, false},
               {"10m", 541, true},   {"1.5h", 4800, false}, {"1.5h", 4861, true},
               {"1d", 77700, false}, {"1d", 77761, true},   {"100s", -90, false},
               {"100s", -120, true}};
    int expected = 0;
    begin();
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        put_record(all[i].ago_s * 1000);
        assert_int_equal(CLI("once", "--every", all[i].every, zkt_path(), RUN), 0);
        expected += all[i].due;
        if (runs() != expected) {
            zkt_fail("--every %s, %" PRId64 " s ago: %d runs instead of %d",
                     all[i].every, all[i].ago_s, runs(), expected);
        }
    }
}

/* A server's clock was ahead: the next period begins now, not when the record says, and that is said. */
ZKT_CASE(a_record_of_the_future_is_set_to_the_present)
{
    zkt_stat st;
    struct cli host;
    begin();
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    put_record(-90000);
    CLI_START(&host, "once", "--every=100s", zkt_path(), RUN);
    assert_int_equal(cli_wait(&host), 0);
    assert_non_null(strstr(cli_err(&host), " s in the future, "));
    assert_int_equal(zkt_get(zkt_servers(), zkt_path(), (char[64]){0}, 64, &st), 0);
    ZKT_IN_RANGE(st.mtime - recorded("\nasked_ms="), 0, CLI_PATIENCE_MS);
    assert_int_equal(recorded("\ntoken="), 1);
    CLI_START(&host, "once", "--every=100s", zkt_path(), RUN);
    assert_int_equal(cli_wait(&host), 0);
    assert_string_equal(cli_err(&host), "");
    assert_int_equal(runs(), 0);
}

/* --- what is no success --- */

ZKT_CASE(what_fails_is_run_again)
{
    struct cli host;
    begin();
    assert_int_equal(CLI("once", "--every=1d", zkt_path(), "sh", "-c", "exit 5"), 5);
    CLI_START(&host, "once", "--every=1d", zkt_path(), "sh", "-c",
              "trap 'exit 0' TERM; echo runs; sleep 60 & wait");
    ZKT_EVENTUALLY(strstr(cli_out(&host), "runs\n"), CLI_PATIENCE_MS);
    CLI_REFUSED(7, "once", "-E7", "-n", "--every=1d", zkt_path(), "true");
    assert_int_equal(kill(host.pid, SIGTERM), 0);
    assert_int_equal(cli_wait(&host), 0); /* it was told to end */
    CLI_START(&host, "once", "--every=1d", zkt_path(), "sh", "-c",
              "echo runs; sleep 60");
    ZKT_EVENTUALLY(strstr(cli_out(&host), "runs\n"), CLI_PATIENCE_MS);
    assert_int_equal(kill(host.pid, SIGKILL), 0);
    assert_int_equal(cli_wait(&host), 128 + SIGKILL);
    assert_int_equal(recorded("\nasked_ms="), 0);
    assert_int_equal(CLI("once", "--every=1d", zkt_path(), RUN), 0);
    assert_int_equal(runs(), 1);
    assert_true(recorded("\nasked_ms=") > 0);
}

/* Whatever request or answer is lost: it runs once, and that is recorded. */
static void lose_one(void (*lose)(zkt_proxy *p, int n), const char *kind)
{
    for (struct zkt_strikes s = {.least = 6}; zkt_next_strike(&s);) {
        char name[32];
        (void)snprintf(name, sizeof(name), "%s-%d", kind, s.n);
        const char *path = zkt_child(name);
        zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
        int ran = runs();
        lose(proxy, s.n);
        assert_int_equal(
            CLI("-z", zkt_proxy_host(proxy), "once", "--every=1d", path, RUN), 0);
        assert_int_equal(runs(), ran + 1);
        assert_true(recorded_at(path, "\nasked_ms=") > 0);
        s.struck = zkt_proxy_triggered(proxy);
        zkt_proxy_stop(proxy);
    }
}

ZKT_CASE(a_lost_request_or_answer_costs_no_record)
{
    begin();
    lose_one(zkt_proxy_cut_before_request, "request");
    lose_one(zkt_proxy_cut_after_request, "answer");
}

/* --- paths that cannot have a record: the command is not run --- */

ZKT_CASE(a_path_without_room_is_refused)
{
    char text[64];
    begin();
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    assert_int_equal(zkt_set(zkt_servers(), zkt_path(), "other data"), 0);
    CLI_REFUSED(65, "once", "--every=1d", zkt_path(), RUN);
    (void)zkt_get(zkt_servers(), zkt_path(), text, sizeof(text), NULL);
    assert_string_equal(text, "other data");
    /* It may be a container, which nobody can tell. */
    assert_int_equal(zkt_set(zkt_servers(), zkt_path(), ""), 0);
    CLI_REFUSED(65, "once", "--every=1d", zkt_path(), RUN);
    assert_int_equal(runs(), 0);
}

ZKT_CASE(a_path_that_may_not_be_written_is_refused)
{
    begin();
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL & ~ZKT_WRITE), 0);
    CLI_REFUSED(77, "once", "--every=1d", zkt_path(), RUN);
    assert_int_equal(runs(), 0);
}

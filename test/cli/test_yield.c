/* SPDX-License-Identifier: Apache-2.0 */
/* zkr elect --yield: a planned change of the leader. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "../recipes/latches.h"
#include "cli.h"

/* A candidate that says so when it leads, in one file for all of them. */
struct candidates {
    char log[32];
    int fd; /* of the log */
    struct cli all[4];
    int count;
};

static void begin(struct candidates *s)
{
    s->count = 0;
    s->fd = cli_file(s->log);
}

static void add(struct candidates *s, const char *id)
{
    char script[128];
    (void)snprintf(script, sizeof(script), "printf %s >>%s; exec sleep 60", id, s->log);
    CLI_QUEUE(&s->all[s->count], "elect", "-i", id, zkt_path(), "-c", script);
    s->count++;
}

/* The leaders so far. */
static const char *leaders(const struct candidates *s)
{
    return cli_file_text(s->fd);
}

static void wait_leaders(const struct candidates *s, const char *expected)
{
    ZKT_EVENTUALLY(strcmp(leaders(s), expected) == 0, CLI_PATIENCE_MS);
}

static void end(struct candidates *s)
{
    for (int i = 0; i < s->count; i++) {
        assert_int_equal(kill(s->all[i].pid, SIGTERM), 0);
    }
    for (int i = 0; i < s->count; i++) {
        assert_int_equal(cli_wait(&s->all[i]), 128 + SIGTERM);
    }
}

/* One of a client that knows nothing of requests, such as one of Curator. Kept. */
static zkr_leader_latch *start_latch(const char *id)
{
    zkr_leader_latch *l = zkt_latch(zkt_client(zkt_servers(), 10000), id, NULL);
    ZKT_MUST(zkr_leader_latch_start(l));
    return l;
}

/* --- the leader yields --- */

/* The command of the next starts when that of the last has ended; who has yielded is the last in the queue. */
ZKT_CASE(the_next_leads)
{
    struct cli_beat *beats = cli_beats(2);
    struct cli a, b, ask;
    CLI_START(&a, "elect", "-i", "a", zkt_path(), CLI_BEAT(&beats[0], "plain"));
    cli_beat_wait(&a, &beats[0]);
    CLI_QUEUE(&b, "elect", "-i", "b", zkt_path(), CLI_BEAT(&beats[1], "plain"));
    assert_int_equal(CLI_RUN(&ask, "elect", "--yield", zkt_path()), 0);
    assert_int_equal(strncmp(cli_out(&ask), "asked a, token ", 15), 0);
    assert_non_null(strstr(cli_out(&ask), "\nleads: b, token "));
    cli_beat_wait(&b, &beats[1]);
    assert_true(cli_gap(&beats[0], &beats[1]) > 0);
    ZKT_BECOMES(cli_queue(), 2, CLI_PATIENCE_MS);
    cli_assert_one_line(&a);
    assert_non_null(strstr(cli_err(&a), "asked to let another lead at "));
    cli_stop(&b, SIGTERM);
    ZKT_EVENTUALLY(atomic_load(&beats[0].token) > atomic_load(&beats[1].token),
                   CLI_PATIENCE_MS);
    cli_stop(&a, SIGTERM);
}

/* A request that stays for long asks nobody but the leader whom it names. */
ZKT_CASE(a_request_is_for_one_term)
{
    struct candidates s;
    char id[80];
    int64_t token;
    begin(&s);
    zkr_leader_latch *first = start_latch("first");
    ZKT_MUST(zkr_leader_latch_await(first, CLI_PATIENCE_MS));
    ZKT_MUST(zkr_leader_latch_fencing_token(first, &token));
    add(&s, "a");
    (void)snprintf(id, sizeof(id), "zkr elect --yield\nyield_token=%lld",
                   (long long)token);
    (void)start_latch(id);
    ZKT_BECOMES(cli_queue(), 3, CLI_PATIENCE_MS);
    ZKT_MUST(zkr_leader_latch_stop(first, ZKR_LATCH_SILENT));
    wait_leaders(&s, "a");
    assert_string_equal(cli_err(&s.all[0]), "");
    end(&s);
}

/* All others let it pass, and start no command meanwhile; nor does a request stay behind. */
ZKT_CASE(the_one_that_is_named_leads)
{
    struct candidates s;
    begin(&s);
    add(&s, "a");
    wait_leaders(&s, "a");
    add(&s, "b");
    add(&s, "c");
    add(&s, "d");
    assert_int_equal(CLI("elect", "--yield", "--to", "d", zkt_path()), 0);
    wait_leaders(&s, "ad");
    ZKT_BECOMES(cli_queue(), 4, CLI_PATIENCE_MS);
    assert_non_null(strstr(CLI_SAYS("elect", "--yield", "--to=d", zkt_path()),
                           "leads already: d, token "));
    assert_int_equal(CLI("elect", "--yield", zkt_path(), "--to", "b"), 0);
    wait_leaders(&s, "adb");
    ZKT_BECOMES(cli_queue(), 4, CLI_PATIENCE_MS);
    end(&s);
}

/* A latch leads when it is its turn. */
ZKT_CASE(who_does_not_yield_keeps_its_turn)
{
    struct candidates s;
    struct cli ask;
    begin(&s);
    add(&s, "a");
    wait_leaders(&s, "a");
    zkr_leader_latch *plain = start_latch("plain");
    ZKT_BECOMES(cli_queue(), 2, CLI_PATIENCE_MS);
    add(&s, "b");
    CLI_START(&ask, "elect", "--yield", "--to=b", zkt_path());
    ZKT_MUST(zkr_leader_latch_await(plain, CLI_PATIENCE_MS));
    ZKT_BECOMES(cli_queue(), 4, CLI_PATIENCE_MS);
    assert_int_equal(CLI("elect", "--yield", "-w", "0.7", zkt_path()), 1);
    assert_string_equal(leaders(&s), "a");
    assert_true(zkr_leader_latch_has_leadership(plain));
    ZKT_MUST(zkr_leader_latch_stop(plain, ZKR_LATCH_SILENT));
    wait_leaders(&s, "ab");
    assert_int_equal(cli_wait(&ask), 0);
    end(&s);
}

static void delete_node_of(zkr_leader_latch *any, const char *id)
{
    zkr_contenders *list;
    char node[300] = "";
    ZKT_MUST(zkr_leader_latch_participants(any, &list));
    for (size_t i = 0; i < zkr_contenders_count(list); i++) {
        const zkr_contender *one = zkr_contenders_get(list, i);
        if (strcmp(one->owner, id) == 0) {
            (void)snprintf(node, sizeof(node), "%s/%s", zkt_path(), one->node);
        }
    }
    zkr_contenders_free(list);
    assert_int_equal(zkt_delete(zkt_servers(), node), 0);
}

/* The one to lead has lost its place, and stands behind the request: the request goes behind it. */
ZKT_CASE(a_request_is_never_in_the_way)
{
    struct candidates s;
    struct cli ask;
    begin(&s);
    zkr_leader_latch *plain = start_latch("plain");
    ZKT_MUST(zkr_leader_latch_await(plain, CLI_PATIENCE_MS));
    add(&s, "a");
    add(&s, "b");
    CLI_QUEUE(&ask, "elect", "--yield", "--to", "b", zkt_path());
    assert_int_equal(kill(s.all[1].pid, SIGSTOP), 0);
    delete_node_of(plain, "b");
    zkt_sleep_ms(200); /* for the request to see that it is not there */
    assert_int_equal(kill(s.all[1].pid, SIGCONT), 0);
    ZKT_BECOMES(cli_queue(), 4, CLI_PATIENCE_MS);
    ZKT_MUST(zkr_leader_latch_stop(plain, ZKR_LATCH_SILENT));
    assert_int_equal(cli_wait(&ask), 0);
    wait_leaders(&s, "b");
    ZKT_BECOMES(cli_queue(), 2, CLI_PATIENCE_MS);
    end(&s);
}

/* --- nobody yields --- */

ZKT_CASE(what_cannot_be_asked_is_said)
{
    struct candidates s;
    struct cli ask;
    begin(&s);
    CLI_REFUSED(1, "elect", "--yield", zkt_path());
    add(&s, "a");
    wait_leaders(&s, "a");
    CLI_REFUSED(1, "elect", "--yield", zkt_path());
    CLI_REFUSED(1, "elect", "--yield", "--to", "b", zkt_path());
    assert_int_equal(cli_queue(), 1);
    /* The one to lead goes away while others wait. */
    zkr_leader_latch *plain = start_latch("plain");
    ZKT_BECOMES(cli_queue(), 2, CLI_PATIENCE_MS);
    add(&s, "b");
    CLI_QUEUE(&ask, "elect", "--yield", "--to", "b", zkt_path());
    ZKT_MUST(zkr_leader_latch_await(plain, CLI_PATIENCE_MS));
    cli_stop(&s.all[1], SIGTERM);
    assert_int_equal(cli_wait(&ask), 1);
    s.count = 1;
    ZKT_BECOMES(cli_queue(), 2, CLI_PATIENCE_MS);
    CLI_QUEUE(&ask, "elect", "--yield", zkt_path());
    cli_stop(&ask, SIGTERM);
    assert_int_equal(cli_queue(), 2);
    ZKT_MUST(zkr_leader_latch_stop(plain, ZKR_LATCH_SILENT));
    wait_leaders(&s, "aa");
    end(&s);
}

/* --- whatever request of a candidate is lost, it leads once --- */

ZKT_CASE(a_lost_request_costs_no_term)
{
    void (*const lose[])(zkt_proxy * p, int n) = {zkt_proxy_cut_before_request,
                                                  zkt_proxy_cut_after_request};
    for (size_t kind = 0; kind < 2; kind++) {
        for (struct zkt_strikes s = {.least = 5}; zkt_next_strike(&s);) {
            zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
            struct cli c;
            lose[kind](proxy, s.n);
            assert_int_equal(CLI_RUN(&c, "-z", zkt_proxy_host(proxy), "elect", "--once",
                                     zkt_path(), "echo", "leads"),
                             0);
            assert_string_equal(cli_out(&c), "leads\n");
            s.struck = zkt_proxy_triggered(proxy);
            zkt_proxy_stop(proxy);
        }
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock: -w and -n limit every wait, whatever the servers do. */
#include <signal.h>
#include <string.h>

#include "cli.h"

/* A margin for a busy machine. If zkr used several deadlines, all times measured here would exceed it. */
enum { LATE_MS = 3400 };

struct run {
    int64_t started;
    struct cli zkr;
};

#define BEGIN(r, servers, path, ...)                                                   \
    do {                                                                               \
        (r)->started = zkt_now_ms();                                                   \
        CLI_START(&(r)->zkr, "-z", (servers), "-t", "4000", "lock", "-E", "3",         \
                  __VA_ARGS__, (path), "true");                                        \
    } while (0)

/* Checks that zkr exits with @status and one line, not before @least ms and not long after. */
static void end(struct run *r, int status, int64_t least)
{
    int got = cli_wait(&r->zkr);
    int64_t took = zkt_now_ms() - r->started;
    if (got != status || took < least || took > least + LATE_MS) {
        zkt_fail("status %d after %lld ms: %s", got, (long long)took, cli_err(&r->zkr));
    }
    cli_assert_one_line(&r->zkr);
    assert_null(strstr(cli_err(&r->zkr), "held by another"));
}

/* The limit is the lesser of -w and --connect-timeout. With -n it is 5 s by default. */
ZKT_CASE(without_a_server_it_is_75_in_time)
{
    static const char nobody[] = "127.0.0.1:1";
    zkt_server *server = zkt_server_start(NULL);
    zkt_server_freeze(server);
    struct run r[6];
    BEGIN(&r[0], nobody, "/p", "-w1");
    BEGIN(&r[1], nobody, "/p", "-n");
    BEGIN(&r[2], nobody, "/p", "-n", "--connect-timeout", "1");
    BEGIN(&r[3], nobody, "/p", "-w9", "--connect-timeout", "1");
    BEGIN(&r[4], zkt_server_host(server), "/p", "-w", "1");
    BEGIN(&r[5], zkt_server_host(server), "/p", "-w0");
    end(&r[0], 75, 1000);
    end(&r[2], 75, 1000);
    end(&r[3], 75, 1000);
    end(&r[4], 75, 1000);
    end(&r[1], 75, 5000);
    end(&r[5], 75, 5000);
    zkt_server_thaw(server);
}

/* --- while it waits --- */

/* The waiter's node does not stay in the queue: the server gets the delete, or ends the session. */
ZKT_CASE(a_server_that_freezes_during_a_wait_is_left_in_time)
{
    zkt_server *server = zkt_server_start(NULL);
    const char *host = zkt_server_host(server);
    struct cli holder;
    struct run r;
    CLI_START(&holder, "-z", host, "-t", "10000", "lock", "/p", "sleep", "60");
    ZKT_BECOMES(zkt_children_count(host, "/p"), 1, CLI_PATIENCE_MS);
    BEGIN(&r, host, "/p", "-w1");
    ZKT_BECOMES(zkt_children_count(host, "/p"), 2, CLI_PATIENCE_MS);
    zkt_server_freeze(server);
    end(&r, 3, 1000);
    zkt_server_thaw(server);
    ZKT_EVENTUALLY(zkt_children_count(host, "/p") <= 1, CLI_PATIENCE_MS);
    assert_int_equal(kill(holder.pid, SIGTERM), 0);
    (void)cli_wait(&holder);
}

ZKT_CASE(a_line_that_is_cut_during_a_wait_is_left_in_time)
{
    struct cli holder;
    struct run r[2];
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    cli_hold(&holder);
    BEGIN(&r[0], zkt_proxy_host(proxy), zkt_path(), "-w2");
    BEGIN(&r[1], zkt_proxy_host(proxy), zkt_path(),
          "-w5"); /* longer than the session */
    ZKT_BECOMES(cli_queue(), 3, CLI_PATIENCE_MS);
    zkt_proxy_cut(proxy);
    end(&r[0], 3, 2000);
    end(&r[1], 3, 5000);
    zkt_proxy_stop(proxy);
    cli_stop(&holder, SIGTERM);
}

/* --- silence on a connection that still counts as one --- */

struct silence {
    zkt_proxy *proxy;
    zkt_server *server; /* server to freeze; NULL: the network falls silent */
    struct run run;
};

/* Falls silent at the create request. */
static void fall_silent(void *ctx, int n, int op)
{
    enum { OP_CREATE2 = 15 };
    struct silence *s = ctx;
    (void)n;
    if (op == OP_CREATE2 && s->server) {
        zkt_server_freeze(s->server);
    } else if (op == OP_CREATE2) {
        zkt_proxy_blackhole(s->proxy);
    }
}

static void begin_silence(struct silence *s, const char *servers, const char *option)
{
    s->proxy = zkt_proxy_start(servers);
    zkt_proxy_on_request(s->proxy, fall_silent, s);
    BEGIN(&s->run, zkt_proxy_host(s->proxy), zkt_path(), option);
}

static void end_silence(struct silence *s, int status, int64_t least)
{
    end(&s->run, status, least);
    zkt_proxy_stop(s->proxy);
}

/* A try gets no answer, so -n does not report a conflict. It may give up before its 5 s are over. */
ZKT_CASE(no_answer_is_not_called_a_conflict)
{
    enum { TRY_MS = 4000 / 3 };
    zkt_server *server = zkt_server_start(NULL);
    struct silence network[2] = {{.server = NULL}, {.server = NULL}};
    struct silence frozen = {.server = server};
    begin_silence(&network[0], zkt_servers(), "-w1");
    begin_silence(&network[1], zkt_servers(), "-n");
    begin_silence(&frozen, zkt_server_host(server), "-w1");
    end_silence(&network[0], 3, 1000);
    end_silence(&network[1], 75, TRY_MS);
    end_silence(&frozen, 3, 1000);
    zkt_server_thaw(server);
}

/* Connecting and trying together take at most the time given to -n. */
ZKT_CASE(a_try_has_one_deadline)
{
    struct silence s = {.server = NULL};
    s.proxy = zkt_proxy_start(zkt_servers());
    zkt_proxy_on_request(s.proxy, fall_silent, &s);
    zkt_proxy_freeze(s.proxy, ZKT_TO_CLIENT);
    BEGIN(&s.run, zkt_proxy_host(s.proxy), zkt_path(), "-n", "--connect-timeout", "2");
    zkt_sleep_ms(1500); /* of the two seconds */
    zkt_proxy_thaw(s.proxy, ZKT_TO_CLIENT);
    end_silence(&s, 75, 2000);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SIGURG moves the session of zkr to another server, whatever zkr is doing. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "fourlw.h"

/* A move begins within 10 s, and tries each server for an eighth of the session timeout. */
enum { SERVERS = 3, SESSION_MS = 40000, PATIENCE_MS = 60000 };

static zkt_ensemble *ensemble;

static bool is_at(int server, int64_t session)
{
    const char *host = zkt_server_host(zkt_ensemble_server(ensemble, server));
    return zkt_cons_received(host, session) >= 0;
}

/* A zkr that runs with -v, so that its log shows its session. */
struct mover {
    struct cli cli;
    int64_t session;
    int home; /* the server of the session; -1: unknown */
};

static void find_home(struct mover *m)
{
    static const char mark[] = "event=state session=";
    const char *at = strstr(cli_err(&m->cli), mark);
    m->session = at ? (int64_t)strtoull(at + strlen(mark), NULL, 16) : 0;
    m->home = -1;
    for (int i = 0; m->session != 0 && i < SERVERS; i++) {
        m->home = is_at(i, m->session) ? i : m->home;
    }
}

/* Returns whether the session's connection is at another server, and only there. */
static bool has_moved(const struct mover *m)
{
    bool elsewhere = false;
    for (int i = 0; i < SERVERS; i++) {
        elsewhere = elsewhere || (i != m->home && is_at(i, m->session));
    }
    return elsewhere && !is_at(m->home, m->session);
}

static void expect_move(struct mover *m)
{
    int64_t until = zkt_now_ms() + PATIENCE_MS;
    while (!has_moved(m)) {
        if (zkt_now_ms() > until) {
            zkt_fail("it has not moved: %s", cli_err(&m->cli));
        }
        zkt_sleep_ms(10);
    }
}

/* Starts zkr with @arguments, and waits until it has a session. */
static void begin(struct mover *m, const char *const *arguments)
{
    enum { MOST = 16 };
    const char *argv[MOST] = {cli_zkr(), "-v",   "-z", zkt_ensemble_hosts(ensemble),
                              "-t",      "40000"};
    for (int i = 6; i < MOST - 1 && *arguments; i++) {
        argv[i] = *arguments++;
    }
    cli_spawn(&m->cli, true, argv);
    ZKT_EVENTUALLY((find_home(m), m->home >= 0), PATIENCE_MS);
}

/* Reads the name of the first node in the queue. */
static void read_first(const char *path, char *node, size_t size)
{
    zkr_client *c = zkt_client(zkt_ensemble_hosts(ensemble), PATIENCE_MS);
    zkr_contenders *list = zkt_contenders(zkt_mutex_at(c, path, NULL));
    (void)snprintf(node, size, "%s/%s", path, zkr_contenders_get(list, 0)->node);
}

/* Moves each subcommand that lasts, in each kind of wait. The first two hold the locks that others wait for. */
ZKT_CASE(sessions_move_by_a_signal)
{
    enum { MOST = 12 };
    static const char command[] = "trap 'echo got URG' URG; echo $ZKR_LOCK_NODE; "
                                  "read line; echo $line";
    static const char *const verbs[][MOST] = {
        {"lock", "/idle"},
        {"lock", "/held", "-c", command},
        {"lock", "/held", "true"},
        {"lock", "--any", "/held", "/idle", "--", "true"},
        {"wait", "/held"},
        {"status", "--watch", "/held"},
        {"once", "--every=1h", "/once", "cat"},
        {"once", "--every=1h", "/once", "true"},
        {"lock", "--min-hold=60", "/lingering", "true"},
        {"elect", "/led", "cat"},
        {"elect", "/led", "cat"},
        {"elect", "-l", "/led"},
    };
    enum {
        HOLDERS = 2,
        HOLDER = 1,
        WAIT = 4,
        VERBS = sizeof(verbs) / sizeof(verbs[0])
    };
    struct mover movers[VERBS];
    struct cli *holder = &movers[HOLDER].cli;
    char node[300], text[310];
    const zkt_server_options o = {.max_session_ms = SESSION_MS};
    ensemble = zkt_ensemble_start(SERVERS, &o);
    for (int i = 0; i < VERBS; i++) {
        begin(&movers[i], verbs[i]);
        if (i < HOLDERS) {
            ZKT_EVENTUALLY(strchr(cli_out(&movers[i].cli), '\n'), PATIENCE_MS);
        }
    }
    read_first("/held", node, sizeof(node));
    for (int i = 0; i < VERBS; i++) {
        assert_int_equal(kill(movers[i].cli.pid, SIGURG), 0);
    }
    for (int i = 0; i < VERBS; i++) {
        expect_move(&movers[i]);
    }
    read_first("/held", text, sizeof(text));
    assert_string_equal(text, node);
    zkt_put_byte(holder->in, '!');
    zkt_put_byte(holder->in, '\n');
    for (int i = HOLDER; i <= WAIT; i++) { /* including the waiters for /held */
        assert_int_equal(cli_wait(&movers[i].cli), 0);
    }
    (void)snprintf(text, sizeof(text), "%s\n!\n", node);
    assert_string_equal(cli_out(holder), text);
    cli_stop(&movers[0].cli, SIGTERM);
    for (int i = WAIT + 1; i < VERBS; i++) {
        assert_int_equal(kill(movers[i].cli.pid, SIGTERM), 0);
        (void)cli_wait(&movers[i].cli);
    }
}

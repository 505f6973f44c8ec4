/* SPDX-License-Identifier: Apache-2.0 */
/* zkr as a service: what it tells $NOTIFY_SOCKET. */
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli.h"
#include "fourlw.h"

/* --- the other side --- */

struct ear {
    int fd;
    char variable[160]; /* NOTIFY_SOCKET=... */
    char file[64];      /* "" = abstract */
    /* When WATCHDOG=1 came last, 0 = never; not among what is heard. */
    int64_t alive_at;
};

static void ear_open(struct ear *e, bool abstract)
{
    static int count;
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char name[64];
    (void)snprintf(name, sizeof(name), "%s/tmp/zkt-ear-%d-%d", abstract ? "@" : "",
                   (int)getpid(), count++);
    size_t length = strlen(name);
    memcpy(a.sun_path, name, length);
    if (abstract) {
        a.sun_path[0] = '\0';
    }
    *e = (struct ear){.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    assert_true(e->fd >= 0);
    assert_int_equal(bind(e->fd, (struct sockaddr *)&a,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)),
                     0);
    (void)snprintf(e->variable, sizeof(e->variable), "NOTIFY_SOCKET=%s", name);
    (void)snprintf(e->file, sizeof(e->file), "%s", abstract ? "" : name);
}

static void ear_close(struct ear *e)
{
    (void)close(e->fd);
    if (*e->file) {
        (void)unlink(e->file);
    }
}

/* The next message that is no sign of life, for as long as one may come; "" when there is none. */
static const char *hear(struct ear *e, int patience_ms)
{
    static char text[512];
    int64_t until = zkt_now_ms() + patience_ms;
    for (;;) {
        struct pollfd fd = {.fd = e->fd, .events = POLLIN};
        int64_t left = until - zkt_now_ms();
        if (poll(&fd, 1, left > 0 ? (int)left : 0) <= 0) {
            return "";
        }
        ssize_t n = recv(e->fd, text, sizeof(text) - 1, 0);
        text[n > 0 ? n : 0] = '\0';
        if (strcmp(text, "WATCHDOG=1") != 0) {
            return text;
        }
        e->alive_at = zkt_now_ms();
    }
}

/* The next message begins so, and goes on about the path of the test. */
static void expect(struct ear *e, const char *start)
{
    const char *text = hear(e, CLI_PATIENCE_MS);
    if (strncmp(text, start, strlen(start)) != 0 || !strstr(text, zkt_path())) {
        zkt_fail("'%s' instead of '%s'", text, start);
    }
}

static void expect_alive(struct ear *e)
{
    int64_t before = e->alive_at;
    int64_t until = zkt_now_ms() + CLI_PATIENCE_MS;
    while (e->alive_at == before && zkt_now_ms() < until) {
        assert_string_equal(hear(e, 20), "");
    }
    assert_true(e->alive_at != before);
}

/* --- tests --- */

/* The whole life of a service that has to wait; the socket is an abstract one, as in containers. */
ZKT_CASE(a_service_is_ready_when_it_holds)
{
    struct ear ear;
    struct cli other, c;
    ear_open(&ear, true);
    CLI_START(&other, "lock", zkt_path(), "sleep", "60");
    ZKT_BECOMES(cli_queue(), 1, CLI_PATIENCE_MS);
    cli_spawn(&c, false,
              (const char *const[]){"env", ear.variable, "WATCHDOG_USEC=100000",
                                    cli_zkr(), "lock", zkt_path(), "sleep", "60",
                                    NULL});
    expect(&ear, "STATUS=waiting for the lock on ");
    expect_alive(&ear);
    ZKT_BECOMES(cli_queue(), 2, CLI_PATIENCE_MS);
    expect_alive(&ear);
    cli_stop(&other, SIGTERM);
    expect(&ear, "READY=1\nSTATUS=holding the lock on ");
    expect_alive(&ear);
    assert_int_equal(kill(c.pid, SIGTERM), 0);
    expect(&ear, "STOPPING=1\nSTATUS=releasing the lock on ");
    assert_int_equal(cli_wait(&c), 143);
    assert_string_equal(cli_err(&c), "");
    ear_close(&ear);
}

/* Two signs of life in each period; on a busy machine, at best. */
ZKT_CASE(there_are_two_signs_in_a_period)
{
    enum { PERIOD_MS = 2000, SIGNS = 6 };
    struct ear ear;
    struct cli c;
    int64_t least = INT64_MAX;
    ear_open(&ear, false);
    cli_spawn(&c, false,
              (const char *const[]){"env", ear.variable, "WATCHDOG_USEC=2000000",
                                    cli_zkr(), "lock", zkt_path(), "sleep", "60",
                                    NULL});
    expect(&ear, "STATUS=waiting for the lock on ");
    expect(&ear, "READY=1\nSTATUS=holding the lock on ");
    expect_alive(&ear);
    for (int i = 0; i < SIGNS && least > PERIOD_MS * 3 / 4; i++) {
        int64_t before = ear.alive_at;
        expect_alive(&ear);
        least = ear.alive_at - before < least ? ear.alive_at - before : least;
    }
    assert_in_range(least, 0, PERIOD_MS * 3 / 4);
    cli_stop(&c, SIGTERM);
    ear_close(&ear);
}

/* One that holds and does not start yet waits, too. */
ZKT_CASE(a_delayed_start_is_alive)
{
    struct ear ear;
    struct cli other, c;
    ear_open(&ear, true);
    cli_hold(&other);
    cli_spawn(&c, false,
              (const char *const[]){"env", ear.variable, "WATCHDOG_USEC=100000",
                                    cli_zkr(), "lock", "--lock-delay=60", zkt_path(),
                                    "true", NULL});
    expect(&ear, "STATUS=waiting for the lock on ");
    ZKT_BECOMES(cli_queue(), 2, CLI_PATIENCE_MS);
    cli_stop(&other, SIGTERM);
    ZKT_BECOMES(cli_queue(), 1, CLI_PATIENCE_MS);
    for (int i = 0; i < 5; i++) {
        expect_alive(&ear);
    }
    cli_stop(&c, SIGTERM);
    ear_close(&ear);
}

/* A sign of life says that the bound is ample: none comes when the servers have fallen silent. */
ZKT_CASE(signs_of_life_end_before_the_lock_does)
{
    struct ear ear;
    struct cli c;
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    ear_open(&ear, false);
    cli_spawn(&c, false,
              (const char *const[]){"env", ear.variable, "WATCHDOG_USEC=40000",
                                    cli_zkr(), "-z", zkt_proxy_host(proxy), "-t",
                                    "4000", "lock", zkt_path(), "sleep", "60", NULL});
    expect(&ear, "STATUS=");
    expect(&ear, "READY=1\n");
    expect_alive(&ear);
    zkt_proxy_cut(proxy);
    expect(&ear, "STOPPING=1\n");
    assert_true(zkt_now_ms() - ear.alive_at >= 4000 / 3 - 4000 / 12 - 4000 / 30 - 400);
    assert_int_equal(cli_wait(&c), 79);
    ear_close(&ear);
}

/* All is measured by the session timeout of now: at a server with a fourth of it the bound is ample again soon. */
ZKT_CASE(a_shorter_session_is_as_alive)
{
    enum { LONG_MS = 120000, SHORT_MS = 30000, SIGNS = 20 };
    const zkt_server_options o = {.tick_ms = 500, .max_session_ms = LONG_MS};
    zkt_ensemble *e = zkt_ensemble_start(3, &o);
    int leader = zkt_ensemble_wait(e, CLI_PATIENCE_MS);
    zkt_server *strict = zkt_ensemble_server(e, (leader + 1) % 3);
    struct ear ear;
    struct cli c;
    zkt_server_kill(strict);
    zkt_server_limits(strict, SHORT_MS, SHORT_MS);
    zkt_server_restart(strict, false);
    zkt_proxy *proxy = zkt_proxy_start(zkt_server_host(zkt_ensemble_server(e, leader)));
    ear_open(&ear, false);
    cli_spawn(&c, false,
              (const char *const[]){"env", ear.variable, "WATCHDOG_USEC=100000",
                                    cli_zkr(), "-z", zkt_proxy_host(proxy), "-t",
                                    "120000", "lock", zkt_path(), "sleep", "60", NULL});
    expect(&ear, "STATUS=");
    expect(&ear, "READY=1\n");
    expect_alive(&ear);
    zkt_proxy_target(proxy, zkt_server_host(strict));
    zkt_proxy_drop_connections(proxy);
    ZKT_BECOMES(zkt_connections(zkt_server_host(strict)) > 0, true, CLI_PATIENCE_MS);
    for (int i = 0; i < SIGNS; i++) {
        expect_alive(&ear);
    }
    assert_int_equal(kill(c.pid, SIGTERM), 0);
    expect(&ear, "STOPPING=1\n");
    assert_int_equal(cli_wait(&c), 143);
    ear_close(&ear);
}

/* An election has several terms, and is ready in each; it stops once. */
ZKT_CASE(an_election_waits_again)
{
    struct ear ear;
    struct cli c;
    ear_open(&ear, false);
    cli_spawn(&c, false,
              (const char *const[]){"env", ear.variable, cli_zkr(), "elect", zkt_path(),
                                    "-c", "sleep .1", NULL});
    for (int i = 0; i < 2; i++) {
        expect(&ear, "STATUS=waiting for the leadership of ");
        expect(&ear, "READY=1\nSTATUS=holding the leadership of ");
        expect(&ear, "STATUS=releasing the leadership of ");
    }
    assert_int_equal(ear.alive_at, 0);
    cli_stop(&c, SIGTERM);
    ear_close(&ear);
}

/* Meant for another process, or for nobody. */
ZKT_CASE(what_is_not_for_us_is_left_alone)
{
    struct ear ear;
    ear_open(&ear, false);
    assert_int_equal(cli_status((const char *const[]){
                         "env", ear.variable, "WATCHDOG_USEC=1000", "WATCHDOG_PID=1",
                         cli_zkr(), "lock", zkt_path(), "sleep", ".1", NULL}),
                     0);
    expect(&ear, "STATUS=");
    expect(&ear, "READY=1\n");
    expect(&ear, "STOPPING=1\n");
    assert_int_equal(ear.alive_at, 0);
    ear_close(&ear);
    static const char *const variables[] = {"NOTIFY_SOCKET=", "NOTIFY_SOCKET=nonsense",
                                            "NOTIFY_SOCKET=/nosuch/socket"};
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        assert_int_equal(
            cli_status((const char *const[]){"env", variables[i], cli_zkr(), "lock",
                                             zkt_path(), "true", NULL}),
            0);
    }
}

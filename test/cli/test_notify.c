/* SPDX-License-Identifier: Apache-2.0 */
/* zkr as a service: the messages that it sends to $NOTIFY_SOCKET. */
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli.h"
#include "fourlw.h"
#include "keep.h"

/* --- the other side --- */

static struct {
    int fd;
    char variable[160]; /* NOTIFY_SOCKET=... */
    char file[64];      /* "" = abstract */
    /* When the last WATCHDOG=1 came; 0 = never. hear() does not return this message. */
    int64_t alive_at;
} ear;

static void ear_close(void *unused)
{
    (void)unused;
    (void)close(ear.fd);
    if (*ear.file) {
        (void)unlink(ear.file);
    }
}

/* Kept: closed at the end of the case. */
static void ear_open(bool abstract)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char name[64];
    (void)snprintf(name, sizeof(name), "%s/tmp/zkt-ear-%d", abstract ? "@" : "",
                   (int)getpid());
    size_t length = strlen(name);
    memcpy(a.sun_path, name, length);
    if (abstract) {
        a.sun_path[0] = '\0';
    }
    ear.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(ear.fd >= 0);
    assert_int_equal(bind(ear.fd, (struct sockaddr *)&a,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)),
                     0);
    (void)snprintf(ear.variable, sizeof(ear.variable), "NOTIFY_SOCKET=%s", name);
    (void)snprintf(ear.file, sizeof(ear.file), "%s", abstract ? "" : name);
    zkt_keep(&ear, ear_close);
}

/* Returns the next message other than WATCHDOG=1, or "" if none comes in time. */
static const char *hear(int patience_ms)
{
    static char text[512];
    int64_t until = zkt_now_ms() + patience_ms;
    for (;;) {
        struct pollfd fd = {.fd = ear.fd, .events = POLLIN};
        int64_t left = until - zkt_now_ms();
        if (poll(&fd, 1, left > 0 ? (int)left : 0) <= 0) {
            return "";
        }
        ssize_t n = recv(ear.fd, text, sizeof(text) - 1, 0);
        text[n > 0 ? n : 0] = '\0';
        if (strcmp(text, "WATCHDOG=1") != 0) {
            return text;
        }
        ear.alive_at = zkt_now_ms();
    }
}

/* Checks that the next message begins with @start and contains the path of the test. */
static void expect(const char *start)
{
    const char *text = hear(CLI_PATIENCE_MS);
    if (strncmp(text, start, strlen(start)) != 0 || !strstr(text, zkt_path())) {
        zkt_fail("'%s' instead of '%s'", text, start);
    }
}

static void expect_alive(void)
{
    int64_t before = ear.alive_at;
    int64_t until = zkt_now_ms() + CLI_PATIENCE_MS;
    while (ear.alive_at == before && zkt_now_ms() < until) {
        assert_string_equal(hear(20), "");
    }
    assert_true(ear.alive_at != before);
}

/* --- tests --- */

/* The whole life of a service that has to wait. The socket is abstract, as in containers. */
ZKT_CASE(a_service_is_ready_when_it_holds)
{
    struct cli other, c;
    ear_open(true);
    cli_hold(&other);
    CLI_START_AS(&c, "env", ear.variable, "WATCHDOG_USEC=100000", cli_zkr(), "lock",
                 zkt_path(), "sleep", "60");
    expect("STATUS=waiting for the lock on ");
    expect_alive();
    ZKT_BECOMES(cli_queue(), 2, CLI_PATIENCE_MS);
    expect_alive();
    cli_stop(&other, SIGTERM);
    expect("READY=1\nSTATUS=holding the lock on ");
    expect_alive();
    assert_int_equal(kill(c.pid, SIGTERM), 0);
    expect("STOPPING=1\nSTATUS=releasing the lock on ");
    assert_int_equal(cli_wait(&c), 143);
    assert_string_equal(cli_err(&c), "");
}

/* zkr sends at least two signs of life in each period. On a busy machine, the best of several gaps shows that. */
ZKT_CASE(there_are_two_signs_in_a_period)
{
    enum { PERIOD_MS = 2000, SIGNS = 6 };
    struct cli c;
    int64_t least = INT64_MAX;
    ear_open(false);
    CLI_START_AS(&c, "env", ear.variable, "WATCHDOG_USEC=2000000", cli_zkr(), "lock",
                 zkt_path(), "sleep", "60");
    expect("STATUS=waiting for the lock on ");
    expect("READY=1\nSTATUS=holding the lock on ");
    expect_alive();
    for (int i = 0; i < SIGNS && least > PERIOD_MS * 3 / 4; i++) {
        int64_t before = ear.alive_at;
        expect_alive();
        least = ear.alive_at - before < least ? ear.alive_at - before : least;
    }
    ZKT_IN_RANGE(least, 0, PERIOD_MS * 3 / 4);
    cli_stop(&c, SIGTERM);
}

/* While zkr delays the start of its command, it sends signs of life, too. */
ZKT_CASE(a_delayed_start_is_alive)
{
    struct cli other, c;
    ear_open(true);
    cli_hold(&other);
    CLI_START_AS(&c, "env", ear.variable, "WATCHDOG_USEC=100000", cli_zkr(), "lock",
                 "--lock-delay=60", zkt_path(), "true");
    expect("STATUS=waiting for the lock on ");
    ZKT_BECOMES(cli_queue(), 2, CLI_PATIENCE_MS);
    cli_stop(&other, SIGTERM);
    ZKT_BECOMES(cli_queue(), 1, CLI_PATIENCE_MS);
    for (int i = 0; i < 5; i++) {
        expect_alive();
    }
    cli_stop(&c, SIGTERM);
}

/* A sign of life means that the lease is ample. zkr sends none while the servers are silent. */
ZKT_CASE(signs_of_life_end_before_the_lock_does)
{
    struct cli c;
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    ear_open(false);
    CLI_START_AS(&c, "env", ear.variable, "WATCHDOG_USEC=40000", cli_zkr(), "-z",
                 zkt_proxy_host(proxy), "-t", "4000", "lock", zkt_path(), "sleep",
                 "60");
    expect("STATUS=");
    expect("READY=1\n");
    expect_alive();
    zkt_proxy_cut(proxy);
    expect("STOPPING=1\n");
    const int64_t last = ear.alive_at;
    assert_true(zkt_now_ms() - last >= 4000 / 3 - 4000 / 12 - 4000 / 30 - 400);
    assert_int_equal(cli_wait(&c), 79);
    assert_string_equal(hear(0), "");
    assert_true(ear.alive_at == last);
}

/*
 * The lease is measured against the present session timeout. At a server that grants a fourth of the timeout, the lease
 * is ample again soon.
 */
ZKT_CASE(a_shorter_session_is_as_alive)
{
    enum { LONG_MS = 120000, SHORT_MS = 30000, SIGNS = 20 };
    const zkt_server_options o = {.tick_ms = 500, .max_session_ms = LONG_MS};
    zkt_ensemble *e = zkt_ensemble_start(3, &o);
    int leader = zkt_ensemble_wait(e, CLI_PATIENCE_MS);
    zkt_server *strict = zkt_ensemble_server(e, (leader + 1) % 3);
    struct cli c;
    zkt_server_kill(strict);
    zkt_server_limits(strict, SHORT_MS, SHORT_MS);
    zkt_server_restart(strict, false);
    zkt_proxy *proxy = zkt_proxy_start(zkt_server_host(zkt_ensemble_server(e, leader)));
    ear_open(false);
    CLI_START_AS(&c, "env", ear.variable, "WATCHDOG_USEC=100000", cli_zkr(), "-z",
                 zkt_proxy_host(proxy), "-t", "120000", "lock", zkt_path(), "sleep",
                 "60");
    expect("STATUS=");
    expect("READY=1\n");
    expect_alive();
    zkt_proxy_target(proxy, zkt_server_host(strict));
    zkt_proxy_drop_connections(proxy);
    ZKT_BECOMES(zkt_connections(zkt_server_host(strict)) > 0, true, CLI_PATIENCE_MS);
    for (int i = 0; i < SIGNS; i++) {
        expect_alive();
    }
    assert_int_equal(kill(c.pid, SIGTERM), 0);
    expect("STOPPING=1\n");
    assert_int_equal(cli_wait(&c), 143);
}

/* An election has several terms. zkr is ready in each term, and stops once. */
ZKT_CASE(an_election_waits_again)
{
    struct cli c;
    ear_open(false);
    CLI_START_AS(&c, "env", ear.variable, cli_zkr(), "elect", zkt_path(), "-c",
                 "sleep .1");
    for (int i = 0; i < 2; i++) {
        expect("STATUS=waiting for the leadership of ");
        expect("READY=1\nSTATUS=holding the leadership of ");
        expect("STATUS=releasing the leadership of ");
    }
    assert_int_equal(ear.alive_at, 0);
    cli_stop(&c, SIGTERM);
}

/* WATCHDOG_PID names another process, or the socket is unusable. */
ZKT_CASE(what_is_not_for_us_is_left_alone)
{
    ear_open(false);
    assert_int_equal(CLI_AS("env", ear.variable, "WATCHDOG_USEC=1000", "WATCHDOG_PID=1",
                            cli_zkr(), "lock", zkt_path(), "sleep", ".1"),
                     0);
    expect("STATUS=");
    expect("READY=1\n");
    expect("STOPPING=1\n");
    assert_int_equal(ear.alive_at, 0);
    static const char *const variables[] = {"NOTIFY_SOCKET=", "NOTIFY_SOCKET=nonsense",
                                            "NOTIFY_SOCKET=/nosuch/socket"};
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        assert_int_equal(
            CLI_AS("env", variables[i], cli_zkr(), "lock", zkt_path(), "true"), 0);
    }
}

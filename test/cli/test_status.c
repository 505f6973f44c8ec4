/* SPDX-License-Identifier: Apache-2.0 */
/* zkr status. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli.h"
#include "fourlw.h"

/* --- a strict reader of JSON, which shares nothing with the writer --- */

static const char *json_value(const char *s, int depth);

static const char *json_string(const char *s)
{
    if (*s++ != '"') {
        return NULL;
    }
    while (*s != '"') {
        if ((unsigned char)*s < 0x20) {
            return NULL;
        }
        if (*s == '\\' && s[1] == 'u') {
            if (strspn(s + 2, "0123456789abcdefABCDEF") < 4) {
                return NULL;
            }
            s += 6;
        } else if (*s == '\\') {
            if (!s[1] || !strchr("\"\\/bfnrt", s[1])) {
                return NULL;
            }
            s += 2;
        } else {
            s++;
        }
    }
    return s + 1;
}

static const char *json_members(const char *s, char end, int depth)
{
    if (*s == end) {
        return s + 1;
    }
    for (;;) {
        if (end == '}') {
            s = json_string(s);
            if (!s || *s++ != ':') {
                return NULL;
            }
        }
        s = json_value(s, depth + 1);
        if (!s || (*s != ',' && *s != end)) {
            return NULL;
        }
        if (*s++ == end) {
            return s;
        }
    }
}

/* What follows the value at @s, or NULL: it is none. */
static const char *json_value(const char *s, int depth)
{
    if (depth > 9) {
        return NULL;
    }
    if (*s == '{' || *s == '[') {
        return json_members(s + 1, *s == '{' ? '}' : ']', depth);
    }
    if (*s == '"') {
        return json_string(s);
    }
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strncmp(s, words[i], strlen(words[i])) == 0) {
            return s + strlen(words[i]);
        }
    }
    const char *digits = s + (*s == '-');
    size_t n = strspn(digits, "0123456789");
    return n > 0 ? digits + n : NULL;
}

static void assert_json_line(const char *text)
{
    const char *end = json_value(text, 0);
    if (!end || strcmp(end, "\n") != 0) {
        zkt_fail("not one line of JSON: %s", text);
    }
}

/* UTF-8 in the shape that RFC 3629 allows. */
static void assert_utf8(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    while (*s) {
        int more = *s < 0x80                 ? 0
                   : *s >= 0xc2 && *s < 0xe0 ? 1
                   : *s >= 0xe0 && *s < 0xf0 ? 2
                   : *s >= 0xf0 && *s < 0xf5 ? 3
                                             : -1;
        assert_true(more >= 0);
        for (s++; more > 0; more--, s++) {
            assert_true((*s & 0xc0) == 0x80);
        }
    }
}

/* --- fixtures --- */

static void put(const char *name, const void *data, size_t size)
{
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    zkt_raw *s = zkt_raw_open(zkt_servers(), 5000);
    assert_non_null(s);
    const struct zkt_node node = {
        .path = zkt_child(name), .data = data, .data_len = size};
    assert_int_equal(zkt_raw_create(s, &node, NULL, 0), 0);
    assert_int_equal(zkt_raw_close(s), 0);
}

static void hold(struct cli *c, const char *id)
{
    CLI_QUEUE(c, "lock", "-i", id, zkt_path(), "sleep", "60");
}

/* Such a line or member is in it. */
static void expect(const char *in, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void expect(const char *in, const char *format, ...)
{
    char text[700];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (!strstr(in, text)) {
        zkt_fail("no '%s' in: %s", text, in);
    }
}

/* --- tests --- */

ZKT_CASE(a_path_that_does_not_exist_has_nobody)
{
    char expected[400];
    (void)snprintf(expected, sizeof(expected), "nobody; there is no %s\n", zkt_path());
    assert_string_equal(CLI_SAYS("status", zkt_path()), expected);
    (void)snprintf(
        expected, sizeof(expected),
        "{\"path\":\"%s\",\"kind\":null,\"owner\":null,\"session\":null,"
        "\"held_since\":null,\"user\":null,\"host\":null,\"command\":null,"
        "\"session_timeout_ms\":null,\"waiting\":0,\"permits\":null,"
        "\"max\":null,\"exists\":false,\"contenders\":[],\"servers\":null}\n",
        zkt_path());
    assert_string_equal(CLI_SAYS("status", "--json", zkt_path()), expected);
}

ZKT_CASE(the_table_is_in_queue_order)
{
    struct cli a, b;
    hold(&a, "first");
    hold(&b, "second one");
    char text[2000], *save;
    (void)snprintf(text, sizeof(text), "%s", CLI_SAYS("status", zkt_path()));
    const char *head = strtok_r(text, "\n", &save);
    const char *one = strtok_r(NULL, "\n", &save);
    const char *two = strtok_r(NULL, "\n", &save);
    const char *more = strtok_r(NULL, "\n", &save);
    /* Once it has held for a while it says since when. */
    static const char since[] = "holder first: since ";
    assert_true(!more || strncmp(more, since, strlen(since)) == 0);
    assert_non_null(two);
    assert_int_equal(strncmp(head, "POS  OWNER       SESSION", 24), 0);
    assert_int_equal(strncmp(one, "1    first       0x", 19), 0);
    assert_int_equal(strncmp(two, "2    second one  0x", 19), 0);
    assert_non_null(strstr(one, "s  "));
    assert_non_null(strstr(one, "-lock-0000000000"));
    cli_stop(&b, SIGTERM);
    cli_stop(&a, SIGTERM);
}

/* Whatever others write there, it is JSON and harms no terminal. */
ZKT_CASE(hostile_owners_are_harmless)
{
    static const char evil[] =
        "q\"\\\n\x1b[31m\x80\xff\xc2\x9b\xed\xa0\x80\xe2\x80\xae\xf8\x88\x7f";
    put("a-lock-0000000001", evil, sizeof(evil) - 1);
    put("b-lock-0000000002", "", 0);
    put("c-lock-0000000003", "\0\0x", 3);
    put("no sequence", "y", 1);
    put("x-00-0000000004", "z", 1);
    const char *said = CLI_SAYS("status", "--json", zkt_path());
    assert_json_line(said);
    assert_utf8(said);
    assert_non_null(strstr(said, "q\\\"\\\\?"));
    said = CLI_SAYS("status", zkt_path());
    for (const char *s = said; *s; s++) {
        assert_true((unsigned char)*s >= ' ' || *s == '\n');
    }
    assert_utf8(said);
    assert_null(strstr(said, "\xc2\x9b"));
    assert_null(strstr(said, "\xe2\x80\xae"));
}

ZKT_CASE(json_agrees_with_the_server)
{
    struct cli a;
    hold(&a, "me");
    zkt_stat st;
    char node[300], owner[256], expected[300];
    zkt_lone_node(node, sizeof(node));
    assert_int_equal(zkt_get(zkt_servers(), node, owner, sizeof(owner), &st), 0);
    const char *said = CLI_SAYS("status", "--json", zkt_path());
    (void)snprintf(
        expected, sizeof(expected),
        "{\"path\":\"%s\",\"kind\":\"lock\",\"owner\":\"me\",\"session\":\"0x%llx\","
        "\"held_since\":", /* null, until it has held for a while */
        zkt_path(), (unsigned long long)st.ephemeral_owner);
    assert_int_equal(strncmp(said, expected, strlen(expected)), 0);
    expect(said, ",\"user\":null,\"host\":null,\"command\":null,"
                 "\"session_timeout_ms\":");
    expect(
        said,
        ",\"waiting\":0,\"permits\":null,\"max\":null,\"exists\":true,\"contenders\":["
        "{\"position\":1,\"holder\":true,\"node\":\"%s\",\"owner\":\"me\",\"session\":"
        "\"0x%llx\",\"created_ms\":%lld,\"age_ms\":",
        strrchr(node, '/') + 1, (unsigned long long)st.ephemeral_owner,
        (long long)st.ctime);
    expect(said,
           ",\"fencing_token\":%lld,\"sequence\":0,\"kind\":\"lock\","
           "\"asked\":false,",
           (long long)st.czxid);
    assert_json_line(said);
    cli_stop(&a, SIGTERM);
}

static bool shows(struct cli *c, const char *text)
{
    const char *out = cli_out(c);
    size_t n = strlen(text), m = strlen(out);
    return m >= n && strcmp(out + m - n, text) == 0;
}

/* By a watch: between the changes the servers hear pings at most. */
ZKT_CASE(watching_shows_permits)
{
    struct cli w, a, b;
    CLI_START(&w, "status", "--watch", zkt_path());
    ZKT_EVENTUALLY(shows(&w, "-t\n\n"), CLI_PATIENCE_MS); /* there is no such path */
    CLI_START(&a, "lock", "--permits", "1", zkt_path(), "sleep", "60");
    ZKT_EVENTUALLY(strstr(cli_out(&w), "\n1 of 1 permits held, 0 wait\n"),
                   CLI_PATIENCE_MS);
    CLI_START(&b, "lock", "--permits", "1", zkt_path(), "sleep", "60");
    ZKT_EVENTUALLY(strstr(cli_out(&w), "\n1 of 1 permits held, 1 wait\n"),
                   CLI_PATIENCE_MS);
    cli_stop(&b, SIGTERM);
    cli_stop(&a, SIGTERM);
    ZKT_EVENTUALLY(shows(&w, "nobody\n\n"), CLI_PATIENCE_MS);
    cli_stop(&w, SIGTERM);
}

ZKT_CASE(watching_shows_each_change)
{
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    struct cli w, j, a;
    CLI_START(&w, "-z", zkt_proxy_host(proxy), "status", "--watch", zkt_path());
    ZKT_EVENTUALLY(shows(&w, "-t\n\n"), CLI_PATIENCE_MS); /* there is no such path */
    CLI_START(&j, "status", "--watch", "--json", zkt_path());
    ZKT_EVENTUALLY(strstr(cli_out(&j), "\"exists\":false"), CLI_PATIENCE_MS);
    hold(&a, "watched");
    ZKT_EVENTUALLY(strstr(cli_out(&w), "-lock-0000000000\n"), CLI_PATIENCE_MS);
    ZKT_EVENTUALLY(strstr(cli_out(&j), "\"exists\":true"), CLI_PATIENCE_MS);
    zkt_sleep_ms(300);
    int64_t before = zkt_proxy_counters(proxy).requests;
    zkt_sleep_ms(700);
    assert_true(zkt_proxy_counters(proxy).requests == before);
    cli_stop(&a, SIGTERM);
    ZKT_EVENTUALLY(shows(&w, "nobody\n\n"), CLI_PATIENCE_MS);
    cli_stop(&j, SIGTERM);
    cli_stop(&w, SIGTERM);
}

/* Over a lost connection as well; what was missed is shown. */
ZKT_CASE(watching_survives_a_reconnect)
{
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    struct cli w, a;
    CLI_START(&w, "-z", zkt_proxy_host(proxy), "status", "--watch", "--json",
              zkt_path());
    ZKT_EVENTUALLY(shows(&w, "[],\"servers\":null}\n"), CLI_PATIENCE_MS);
    zkt_proxy_cut(proxy);
    hold(&a, "unseen");
    zkt_proxy_heal(proxy);
    ZKT_EVENTUALLY(strstr(cli_out(&w), "unseen"), CLI_PATIENCE_MS);
    assert_true(zkt_proxy_counters(proxy).connections > 1);
    cli_stop(&a, SIGTERM);
    ZKT_EVENTUALLY(shows(&w, "[],\"servers\":null}\n"), CLI_PATIENCE_MS);
    cli_stop(&w, SIGTERM);
}

/* --- what servers say of themselves --- */

/* The word that all servers allow by default is enough, and one that is down is named. */
ZKT_CASE(versions_are_named_by_default)
{
    const zkt_server_options o = {.config = "4lw.commands.whitelist=srvr\n"};
    const char *host = zkt_server_host(zkt_server_start(&o));
    char servers[80], said[1024], version[16];
    struct cli c;
    (void)snprintf(servers, sizeof(servers), "%s,127.0.0.1:1", host);
    assert_true(zkt_4lw(host, "srvr", said, sizeof(said)) > 0);
    assert_int_equal(sscanf(said, "Zookeeper version: %15[0-9.]", version), 1);
    assert_int_equal(CLI_RUN(&c, "-z", servers, "status", "-v", zkt_path()), 0);
    expect(cli_out(&c), "\nserver %s: version %s\nserver 127.0.0.1:1 does not answer\n",
           host, version);
    assert_non_null(strstr(cli_err(&c), "does not allow cons"));
    assert_int_equal(CLI_RUN(&c, "-z", servers, "status", "-v", "--json", zkt_path()),
                     0);
    assert_json_line(cli_out(&c));
    expect(cli_out(&c), "\"servers\":[{\"server\":\"%s\",\"version\":\"%s\",", host,
           version);
    expect(cli_out(&c), ",{\"server\":\"127.0.0.1:1\",\"version\":null,"
                        "\"note\":\"does not answer\"}]}\n");
    assert_null(strstr(CLI_SAYS("-z", servers, "status", zkt_path()), "server"));
}

/* Says one thing to "srvr", and nothing to whoever wants a session. */
struct sham {
    const char *version, *warning, *says; /* .says NULL: as ZooKeeper */
    char host[32];
    int listens;
    pthread_t thread;
};

static void *answer(void *arg)
{
    const struct sham *s = arg;
    char word[4], text[128];
    int length = snprintf(text, sizeof(text), "%s%s-0, built\n",
                          s->says ? s->says : "Zookeeper version: ", s->version);
    struct pollfd in = {.fd = s->listens, .events = POLLIN};
    for (int fd; poll(&in, 1, -1) == 1 && (fd = accept(in.fd, NULL, NULL)) >= 0;
         (void)close(fd)) {
        if (recv(fd, word, sizeof(word), MSG_WAITALL) == sizeof(word) &&
            memcmp(word, "srvr", sizeof(word)) == 0) {
            (void)send(fd, text, (size_t)length, MSG_NOSIGNAL);
        }
    }
    return NULL;
}

ZKT_CASE(bad_versions_are_warned_of)
{
    static struct sham all[] = {
        {.version = "3.4.14",
         .warning = "lacks containers: parents of locks stay: run 3.9.4 or later"},
        {.version = "3.5.10", .warning = "gets no fixes any more: run 3.9.4 or later"},
        {.version = "3.7.2", .warning = "gets no fixes any more: run 3.9.4 or later"},
        {.version = "3.8.0",
         .warning = "(ZOOKEEPER-4394, ZOOKEEPER-4712): run 3.9.4 or later"},
        {.version = "3.8.6",
         .warning = "(ZOOKEEPER-4394, ZOOKEEPER-4712): run 3.9.4 or later"},
        {.version = "3.8.7"},
        {.version = "3.9.2",
         .warning = "(ZOOKEEPER-4394, ZOOKEEPER-4712): run 3.9.4 or later"},
        {.version = "3.9.3",
         .warning = "can lose data (ZOOKEEPER-4925): run 3.9.4 or later"},
        {.version = "3.9.4"},
        {.version = "3.10.0"},
        {.version = "26.8.1.1",
         .says = "ClickHouse Keeper version: v",
         .warning = "loses each lock when a connection breaks"},
    };
    enum { SHAMS = sizeof(all) / sizeof(all[0]) };
    char servers[400];
    int length = snprintf(servers, sizeof(servers), "%s", zkt_servers()), port;
    for (int i = 0; i < SHAMS; i++) {
        all[i].listens = zkt_listen(&port);
        (void)snprintf(all[i].host, sizeof(all[i].host), "127.0.0.1:%d", port);
        length += snprintf(servers + length, sizeof(servers) - (size_t)length, ",%s",
                           all[i].host);
        assert_int_equal(pthread_create(&all[i].thread, NULL, answer, &all[i]), 0);
    }
    struct cli c;
    assert_int_equal(CLI_RUN(&c, "-z", servers, "status", "-v", zkt_path()), 0);
    for (int i = 0; i < SHAMS; i++) {
        (void)shutdown(all[i].listens, SHUT_RDWR);
        assert_int_equal(pthread_join(all[i].thread, NULL), 0);
        (void)close(all[i].listens);
        expect(cli_out(&c), "\nserver %s: version %s%s\n", all[i].host,
               all[i].says ? "ClickHouse Keeper " : "", all[i].version);
        const char *err = cli_err(&c);
        char line[80];
        (void)snprintf(line, sizeof(line), "server %s has version %s%s, which ",
                       all[i].host, all[i].says ? "ClickHouse Keeper " : "",
                       all[i].version);
        if (!strstr(err, line) != !all[i].warning) {
            zkt_fail("of %s: %s", all[i].version, err);
        }
        if (all[i].warning) {
            err = strstr(err, line);
            assert_true(strstr(err, all[i].warning) < strchr(err, '\n'));
            assert_non_null(strstr(err, all[i].warning));
        }
    }
}

/* One that accepts and says nothing, as a frozen one does. */
ZKT_CASE(a_silent_server_is_not_waited_for)
{
    char servers[80];
    int port, fd = zkt_listen(&port);
    struct cli c;
    (void)snprintf(servers, sizeof(servers), "%s,127.0.0.1:%d", zkt_servers(), port);
    CLI_START(&c, "-z", servers, "status", "-v", zkt_path());
    ZKT_EVENTUALLY(strstr(cli_out(&c), " does not answer\n"), CLI_PATIENCE_MS);
    assert_int_equal(cli_wait(&c), 0);
    expect(cli_out(&c), "\nserver 127.0.0.1:%d does not answer\n", port);
    (void)close(fd);
}

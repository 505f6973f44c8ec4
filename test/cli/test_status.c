/* SPDX-License-Identifier: Apache-2.0 */
/* zkr status. */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

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
            for (int i = 2; i < 6; i++) {
                if (!isxdigit((unsigned char)s[i])) {
                    return NULL;
                }
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

static void put(const char *name, const void *data, size_t size, int flags)
{
    char path[300];
    (void)snprintf(path, sizeof(path), "%s/%s", zkt_path(), name);
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    zkt_raw *s = zkt_raw_open(zkt_servers(), 5000);
    assert_non_null(s);
    const struct zkt_node node = {
        .path = path, .data = data, .data_len = size, .flags = flags};
    assert_int_equal(zkt_raw_create(s, &node, NULL, 0), 0);
    assert_int_equal(zkt_raw_close(s), 0);
}

static void empty(void)
{
    assert_int_equal(zkt_delete_children(zkt_servers(), zkt_path()), 0);
}

static void hold(struct cli *c, const char *id)
{
    int before = cli_queue();
    CLI_START(c, "lock", "-i", id, zkt_path(), "sleep", "60");
    ZKT_BECOMES(cli_queue(), (before > 0 ? before : 0) + 1, CLI_PATIENCE_MS);
}

static void end(struct cli *c, int status)
{
    assert_int_equal(kill(c->pid, SIGTERM), 0);
    assert_int_equal(cli_wait(c), status);
}

/* --- tests --- */

ZKT_CASE(a_path_that_does_not_exist_has_nobody)
{
    char expected[400];
    (void)snprintf(expected, sizeof(expected), "nobody; there is no %s\n", zkt_path());
    assert_string_equal(CLI_SAYS("status", zkt_path()), expected);
    (void)snprintf(expected, sizeof(expected),
                   "{\"path\":\"%s\",\"kind\":null,\"owner\":null,\"session\":null,"
                   "\"held_since\":null,\"user\":null,\"host\":null,\"command\":null,"
                   "\"session_timeout_ms\":null,\"waiting\":0,\"permits\":null,"
                   "\"max\":null,\"exists\":false,\"contenders\":[]}\n",
                   zkt_path());
    assert_string_equal(CLI_SAYS("status", "--json", zkt_path()), expected);
}

ZKT_CASE(mistakes_have_the_codes_of_the_table)
{
    assert_int_equal(CLI("status"), 64);
    assert_int_equal(CLI("status", "/a", "/b"), 64);
    assert_int_equal(CLI("status", "--nosuch", "/a"), 64);
    assert_int_equal(CLI("status", "relative"), 65);
    assert_int_equal(
        CLI("-z", "127.0.0.1:1", "--connect-timeout", "0.2", "status", "/a"), 75);
    assert_int_equal(CLI("--auth", "nosuch:x", "status", "/a"), 77);
    struct cli c;
    assert_int_equal(CLI_RUN(&c, "status", "--help"), 0);
    assert_non_null(strstr(cli_out(&c), "--watch"));
}

ZKT_CASE(the_table_is_in_queue_order)
{
    struct cli a, b, c;
    hold(&a, "first");
    hold(&b, "second one");
    assert_int_equal(CLI_RUN(&c, "status", zkt_path()), 0);
    char text[2000];
    (void)snprintf(text, sizeof(text), "%s", cli_out(&c));
    char *save;
    const char *head = strtok_r(text, "\n", &save);
    const char *one = strtok_r(NULL, "\n", &save);
    const char *two = strtok_r(NULL, "\n", &save);
    assert_non_null(two);
    assert_null(strtok_r(NULL, "\n", &save));
    assert_int_equal(strncmp(head, "POS  OWNER       SESSION", 24), 0);
    assert_int_equal(strncmp(one, "1    first       0x", 19), 0);
    assert_int_equal(strncmp(two, "2    second one  0x", 19), 0);
    assert_non_null(strstr(one, "s  "));
    assert_non_null(strstr(one, "-lock-0000000000"));
    end(&b, 143);
    end(&a, 143);
}

/* Whatever others write there, it is JSON and harms no terminal. */
ZKT_CASE(hostile_owners_are_harmless)
{
    static const char evil[] =
        "q\"\\\n\x1b[31m\x80\xff\xc2\x9b\xed\xa0\x80\xe2\x80\xae\xf8\x88\x7f";
    put("a-lock-0000000001", evil, sizeof(evil) - 1, 0);
    put("b-lock-0000000002", "", 0, 0);
    put("c-lock-0000000003", "\0\0x", 3, 0);
    put("no sequence", "y", 1, 0);
    put("x-00-0000000004", "z", 1, 0);
    struct cli c;
    assert_int_equal(CLI_RUN(&c, "status", "--json", zkt_path()), 0);
    assert_json_line(cli_out(&c));
    assert_utf8(cli_out(&c));
    assert_non_null(strstr(cli_out(&c), "q\\\"\\\\?"));
    assert_int_equal(CLI_RUN(&c, "status", zkt_path()), 0);
    for (const char *s = cli_out(&c); *s; s++) {
        assert_true((unsigned char)*s >= ' ' || *s == '\n');
    }
    assert_utf8(cli_out(&c));
    assert_null(strstr(cli_out(&c), "\xc2\x9b"));
    assert_null(strstr(cli_out(&c), "\xe2\x80\xae"));
    empty();
}

ZKT_CASE(json_agrees_with_the_server)
{
    struct cli a, c;
    hold(&a, "me");
    zkt_stat st;
    char node[300], owner[64], expected[700];
    zkt_lone_node(node, sizeof(node));
    assert_int_equal(zkt_get(zkt_servers(), node, owner, sizeof(owner), &st), 0);
    assert_int_equal(CLI_RUN(&c, "status", "--json", zkt_path()), 0);
    (void)snprintf(
        expected, sizeof(expected),
        "{\"path\":\"%s\",\"kind\":\"lock\",\"owner\":\"me\",\"session\":\"0x%llx\","
        "\"held_since\":null,\"user\":null,\"host\":null,\"command\":null,"
        "\"session_timeout_ms\":null,\"waiting\":0,\"permits\":null,\"max\":null,"
        "\"exists\":true,\"contenders\":[{\"position\":1,\"holder\":true,"
        "\"node\":\"%s\",\"owner\":\"me\",\"session\":\"0x%llx\",\"created_ms\":"
        "%lld,\"age_ms\":",
        zkt_path(), (unsigned long long)st.ephemeral_owner, strrchr(node, '/') + 1,
        (unsigned long long)st.ephemeral_owner, (long long)st.ctime);
    assert_int_equal(strncmp(cli_out(&c), expected, strlen(expected)), 0);
    (void)snprintf(expected, sizeof(expected),
                   ",\"fencing_token\":%lld,\"sequence\":0,\"kind\":\"lock\","
                   "\"asked\":false,",
                   (long long)st.czxid);
    assert_non_null(strstr(cli_out(&c), expected));
    assert_json_line(cli_out(&c));
    end(&a, 143);
}

/* All data is asked for at once: as many requests as nodes, two round trips. */
ZKT_CASE(a_long_queue_is_read_whole)
{
    enum { NODES = 200 };
    char name[32], last[64];
    for (int i = 0; i < NODES; i++) {
        (void)snprintf(name, sizeof(name), "n-lock-%010d", i);
        put(name, "x", 1, 0);
    }
    (void)snprintf(last, sizeof(last), "\"position\":%d,", NODES);
    struct cli c;
    assert_int_equal(cli_status((const char *const[]){
                         "sh", "-c", "\"$0\" status --json $1 | grep -q \"$2\"",
                         cli_zkr(), zkt_path(), last, NULL}),
                     0);
    assert_int_equal(CLI_RUN(&c, "status", zkt_path()), 0);
    empty();
}

static bool shows(struct cli *c, const char *text)
{
    const char *out = cli_out(c);
    size_t n = strlen(text), m = strlen(out);
    return m >= n && strcmp(out + m - n, text) == 0;
}

/* By a watch: between the changes the servers hear pings at most. */
ZKT_CASE(watching_shows_each_change)
{
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    struct cli w, a;
    CLI_START(&w, "-z", zkt_proxy_host(proxy), "status", "--watch", zkt_path());
    ZKT_EVENTUALLY(shows(&w, "-t\n\n"), CLI_PATIENCE_MS); /* there is no such path */
    hold(&a, "watched");
    ZKT_EVENTUALLY(shows(&w, "-lock-0000000000\n\n"), CLI_PATIENCE_MS);
    zkt_sleep_ms(300);
    int64_t before = zkt_proxy_counters(proxy).requests;
    zkt_sleep_ms(700);
    assert_true(zkt_proxy_counters(proxy).requests == before);
    end(&a, 143);
    ZKT_EVENTUALLY(shows(&w, "nobody\n\n"), CLI_PATIENCE_MS);
    end(&w, 143);
}

/* Over a lost connection as well; what was missed is shown. */
ZKT_CASE(watching_survives_a_reconnect)
{
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    struct cli w, a;
    CLI_START(&w, "-z", zkt_proxy_host(proxy), "status", "--watch", "--json",
              zkt_path());
    ZKT_EVENTUALLY(shows(&w, "[]}\n"), CLI_PATIENCE_MS);
    zkt_proxy_cut(proxy);
    hold(&a, "unseen");
    zkt_proxy_heal(proxy);
    ZKT_EVENTUALLY(strstr(cli_out(&w), "unseen"), CLI_PATIENCE_MS);
    assert_true(zkt_proxy_counters(proxy).connections > 1);
    end(&a, 143);
    ZKT_EVENTUALLY(shows(&w, "[]}\n"), CLI_PATIENCE_MS);
    end(&w, 143);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "peers.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"
#include "json.h"
#include "parse.h"
#include "text.h"

/* --- one question --- */

/* Returns a connection, or -1. The server may already have closed it. */
static int dial(const struct addrinfo *at, int64_t until)
{
    int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    struct pollfd out = {.fd = fd, .events = POLLOUT};
    int fault = 0;
    socklen_t size = sizeof(fault);
    /* A reset that arrives at once is reported here, and is not a failure. */
    if ((connect(fd, at->ai_addr, at->ai_addrlen) != 0 && errno != EINPROGRESS) ||
        poll(&out, 1, clock_left_ms(until)) <= 0 ||
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &fault, &size) != 0 ||
        (fault != 0 && fault != ECONNRESET && fault != EPIPE)) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* Reads until the server closes the connection. Returns false if it did not close it in time. */
static bool read_all(int fd, FILE *to, int64_t until)
{
    struct pollfd in = {.fd = fd, .events = POLLIN};
    char part[4096];
    while (poll(&in, 1, clock_left_ms(until)) > 0) {
        ssize_t n = read(fd, part, sizeof(part));
        if (n <= 0) {
            return n == 0 || errno == ECONNRESET;
        }
        (void)fwrite(part, 1, (size_t)n, to);
    }
    return false;
}

/* Sends the question. Returns the whole answer in new memory, or NULL. */
static char *converse(int fd, const char *question, int64_t until)
{
    char *text = NULL;
    size_t size, length = strlen(question);
    FILE *to = open_memstream(&text, &size);
    bool asked =
        length == 0 || send(fd, question, length, MSG_NOSIGNAL) == (ssize_t)length;
    bool whole = to && asked && read_all(fd, to, until);
    whole = to && fclose(to) == 0 && whole;
    if (!whole) {
        free(text);
        text = NULL;
    }
    return text;
}

static char *
ask(const char *host, const char *port, const char *question, int64_t until)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *all = NULL;
    char *text = NULL;
    if (getaddrinfo(host, port, &hints, &all) != 0) {
        return NULL;
    }
    for (const struct addrinfo *at = all; at && !text; at = at->ai_next) {
        int fd = dial(at, until);
        if (fd >= 0) {
            text = converse(fd, question, until);
            (void)close(fd);
        }
    }
    freeaddrinfo(all);
    return text;
}

/* --- one server --- */

/*
 * Returns @text if @mark shows that it lists sessions. Otherwise @text is a refusal, so this frees it and returns NULL.
 */
static char *keep_if(char *text, const char *mark)
{
    if (text && strstr(text, mark)) {
        return text;
    }
    free(text);
    return NULL;
}

/* Requests the list of sessions. @port NULL = the server takes no commands there. */
static char *ask_sessions(const char *host, const char *port, int64_t until)
{
    static const char admin_port[] = "8080";
    static const char get[] = "GET /commands/connections HTTP/1.0\r\n\r\n";
    char *text = port ? keep_if(ask(host, port, "cons", until), "[") : NULL;
    return text ? text : keep_if(ask(host, admin_port, get, until), "\"session_id\"");
}

/* Returns what is wrong with a version, or NULL. */
static const char *fault_of(const char *version)
{
#define REMEDY "; run 3.9.4 or later"
    static const char stale[] = "can keep nodes of sessions that have ended "
                                "(ZOOKEEPER-4394, ZOOKEEPER-4712)" REMEDY;
    static const char old[] = "is no longer maintained" REMEDY;
    static const char lacks[] = "is no longer maintained and lacks containers, so "
                                "parents of locks remain" REMEDY;
    static const char loss[] = "can lose data (ZOOKEEPER-4925)" REMEDY;
    static const struct {
        const char *release;
        int first, last;
        const char *fault;
    } bad[] = {
        {"3.4.", 0, INT32_MAX, lacks}, {"3.5.", 0, INT32_MAX, old},
        {"3.6.", 0, INT32_MAX, old},   {"3.7.", 0, INT32_MAX, old},
        {"3.8.", 0, 6, stale},         {"3.9.", 0, 2, stale},
        {"3.9.", 3, 3, loss},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        size_t length = strlen(bad[i].release);
        int64_t patch;
        if (strncmp(version, bad[i].release, length) == 0 &&
            parse_int(version + length, 0, INT32_MAX, &patch) &&
            bad[i].first <= patch && patch <= bad[i].last) {
            return bad[i].fault;
        }
    }
    return NULL;
}

/* Takes the version from the answer to "srvr". @answer NULL = no answer. */
static void take_version(struct peer *p, const char *answer)
{
    static const char *const keys[] = {"Zookeeper version: ",
                                       "ClickHouse Keeper version: v"};
    static const char *const names[] = {"", "ClickHouse Keeper "};
    p->note = answer ? "does not report its version" : "does not answer";
    for (size_t i = 0; answer && i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *at = strstr(answer, keys[i]);
        at = at ? at + strlen(keys[i]) : "";
        int length = (int)strspn(at, "0123456789.");
        if (length > 0) {
            (void)snprintf(p->version, sizeof(p->version), "%s%.*s", names[i], length,
                           at);
            p->note = *names[i] ? "loses every lock when a connection breaks"
                                : fault_of(p->version);
        }
    }
}

/* Splits "host:port", "[::1]:port" or "host". Returns the host. Sets *port to NULL if there is none. */
static char *split(char *address, char **port)
{
    char *close_at = address[0] == '[' ? strchr(address, ']') : NULL;
    char *colon = strrchr(close_at ? close_at : address, ':');
    *port = colon ? colon + 1 : NULL;
    if (colon) {
        *colon = '\0';
    }
    if (close_at) {
        *close_at = '\0';
        address++;
    }
    return address;
}

/*
 * Takes the next server from *rest, which it cuts into pieces. Returns the server's name in new memory, and sets its
 * host and port. Returns NULL if no server is left.
 */
static char *next_server(char **rest, const char **host, char **port)
{
    static char usual[] = "2181";
    char *address = NULL;
    while (*rest && (!address || *address == '\0')) {
        address = strsep(rest, ", ");
    }
    char *name = address && *address ? strdup(address) : NULL;
    if (name) {
        *host = split(address, port);
        *port = *port ? *port : usual;
    }
    return name;
}

/* Copies a list of servers without its chroot. */
static char *copy_servers(const char *servers)
{
    return strndup(servers, strcspn(servers, "/"));
}

static void ask_peer(struct peer *p, const char *host, const char *port, bool tls)
{
    enum { PATIENCE_MS = 2000 };
    int64_t until = clock_now_ms() + PATIENCE_MS;
    if (tls) {
        p->note = "not queried, because its port is a TLS port";
        p->sessions = ask_sessions(host, NULL, until);
        return;
    }
    char *answer = ask(host, port, "srvr", until);
    take_version(p, answer);
    p->sessions = answer ? ask_sessions(host, port, until) : NULL;
    free(answer);
}

/* --- all servers --- */

void peers_ask(struct peers *p, const char *servers, bool tls)
{
    char *copy = copy_servers(servers), *rest = copy, *name, *port;
    const char *host;
    p->list = calloc(strlen(servers) + 1, sizeof(*p->list));
    while (p->list && (name = next_server(&rest, &host, &port))) {
        struct peer *one = &p->list[p->count++];
        one->name = name;
        ask_peer(one, host, port, tls);
    }
    free(copy);
}

char *peers_closing(const char *servers)
{
    enum { PATIENCE_MS = 500 }; /* some servers wait for a request before they act */
    char *copy = copy_servers(servers), *rest = copy, *found = NULL, *name, *port;
    const char *host;
    while (!found && (name = next_server(&rest, &host, &port))) {
        char *answer = *host ? ask(host, port, "", clock_now_ms() + PATIENCE_MS) : NULL;
        if (answer) {
            found = name;
        } else {
            free(name);
        }
        free(answer);
    }
    free(copy);
    return found;
}

const char *peers_find(const struct peers *p, int64_t session_id)
{
    char id[24];
    int length = snprintf(id, sizeof(id), "0x%" PRIx64, (uint64_t)session_id);
    for (size_t i = 0; i < p->count; i++) {
        const char *at = p->list[i].sessions;
        while (at && (at = strstr(at, id))) {
            at += length;
            if (!isxdigit((unsigned char)*at)) {
                return p->list[i].name;
            }
        }
    }
    return NULL;
}

/* --- showing --- */

void peers_print(const struct peers *p, FILE *out)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct peer *one = &p->list[i];
        (void)fputs("server ", out);
        text_print(out, one->name, 0);
        (void)fprintf(out, *one->version ? ": version %s\n" : " %s\n",
                      *one->version ? one->version : one->note);
    }
}

void peers_json(const struct peers *p, struct json *j)
{
    if (!p->list) {
        json_text(j, "servers", NULL);
        return;
    }
    json_open(j, "servers", '[');
    for (size_t i = 0; i < p->count; i++) {
        const struct peer *one = &p->list[i];
        json_open(j, NULL, '{');
        json_text(j, "server", one->name);
        json_text(j, "version", *one->version ? one->version : NULL);
        json_text(j, "note", one->note);
        json_close(j, '}');
    }
    json_close(j, ']');
}

void peers_warn(struct peers *p)
{
    const struct peer *mute = NULL;
    for (size_t i = 0; i < p->count && !p->warned; i++) {
        const struct peer *one = &p->list[i];
        if (*one->version && one->note) {
            cli_note("server %.200s has version %s, which %s", one->name, one->version,
                     one->note);
        }
        mute = mute || one->sessions || !*one->version ? mute : one;
    }
    if (mute) {
        cli_note("server %.200s does not report which sessions it serves, because "
                 "4lw.commands.whitelist does not allow cons",
                 mute->name);
    }
    p->warned = p->warned || p->count > 0;
}

void peers_end(struct peers *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->list[i].name);
        free(p->list[i].sessions);
    }
    free(p->list);
    *p = (struct peers){.warned = p->warned};
}

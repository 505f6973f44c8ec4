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

/* --- one question --- */

/* A connection, or -1. */
static int dial(const struct addrinfo *at, int64_t until)
{
    int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    struct pollfd out = {.fd = fd, .events = POLLOUT};
    int fault = 0;
    socklen_t size = sizeof(fault);
    if ((connect(fd, at->ai_addr, at->ai_addrlen) != 0 && errno != EINPROGRESS) ||
        poll(&out, 1, cli_until(until)) <= 0 ||
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &fault, &size) != 0 || fault != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* All that it says until it hangs up. False: it does not in time. */
static bool read_all(int fd, FILE *to, int64_t until)
{
    struct pollfd in = {.fd = fd, .events = POLLIN};
    char part[4096];
    while (poll(&in, 1, cli_until(until)) > 0) {
        ssize_t n = read(fd, part, sizeof(part));
        if (n <= 0) {
            return n == 0;
        }
        (void)fwrite(part, 1, (size_t)n, to);
    }
    return false;
}

/* Allocated, or NULL. */
static char *converse(int fd, const char *question, int64_t until)
{
    char *text = NULL;
    size_t size, length = strlen(question);
    FILE *to = open_memstream(&text, &size);
    bool whole = to && send(fd, question, length, MSG_NOSIGNAL) == (ssize_t)length &&
                 read_all(fd, to, until);
    whole = to && fclose(to) == 0 && whole;
    if (!whole) {
        free(text);
        text = NULL;
    }
    return text;
}

static char *ask(const char *host, const char *port, const char *question)
{
    enum { PATIENCE_MS = 1000 };
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *all = NULL;
    int64_t until = cli_now_ms() + PATIENCE_MS;
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

/* Of either way: a list that has our own session in it, or any; not a refusal. */
static char *keep_if(char *text, const char *mark)
{
    if (text && strstr(text, mark)) {
        return text;
    }
    free(text);
    return NULL;
}

static char *ask_server(const char *host, const char *port)
{
    static const char admin_port[] = "8080";
    char *text = keep_if(ask(host, port, "cons"), "[");
    return text ? text
                : keep_if(ask(host, admin_port,
                              "GET /commands/connections HTTP/1.0\r\n\r\n"),
                          "\"session_id\"");
}

/* Splits "host:port", "[::1]:port" or "host"; *port is NULL when there is none. */
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

static void ask_peer(struct peer *p, const char *address)
{
    static char usual[] = "2181";
    char *copy = strdup(address), *port;
    p->name = strdup(address);
    if (copy && p->name) {
        const char *host = split(copy, &port);
        p->text = ask_server(host, port ? port : usual);
    }
    free(copy);
}

/* --- all --- */

void peers_ask(struct peers *p, const char *servers)
{
    char *copy = strndup(servers, strcspn(servers, "/"));
    *p = (struct peers){.mute = NULL};
    p->list = calloc(strlen(servers) + 1, sizeof(*p->list));
    for (char *rest = copy; rest && p->list;) {
        const char *address = strsep(&rest, ", ");
        if (*address) {
            struct peer *one = &p->list[p->count++];
            ask_peer(one, address);
            p->mute = p->mute || one->text ? p->mute : one->name;
        }
    }
    free(copy);
}

const char *peers_find(const struct peers *p, int64_t session_id)
{
    char id[24];
    int length = snprintf(id, sizeof(id), "0x%" PRIx64, (uint64_t)session_id);
    for (size_t i = 0; i < p->count; i++) {
        const char *at = p->list[i].text;
        while (at && (at = strstr(at, id))) {
            at += length;
            if (!isxdigit((unsigned char)*at)) {
                return p->list[i].name;
            }
        }
    }
    return NULL;
}

void peers_end(struct peers *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->list[i].name);
        free(p->list[i].text);
    }
    free(p->list);
    *p = (struct peers){.list = NULL};
}

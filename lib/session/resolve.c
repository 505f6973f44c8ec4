/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* for getaddrinfo() */

#include "session/resolve.h"

#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"

enum { HOST_MAX = 256, PORT_MAX = 8, ADDRESS_MAX = 80, LIST_MAX = 16384 };

struct server {
    char host[HOST_MAX];
    char port[PORT_MAX];
};

static bool port_valid(const char *port)
{
    size_t len = strlen(port);
    return len > 0 && len <= 5 && strspn(port, "0123456789") == len &&
           strtol(port, NULL, 10) >= 1 && strtol(port, NULL, 10) <= 65535;
}

/* Parse "host:port", "host", "[v6]:port" or "[v6]" of @len bytes. */
static bool parse_server(const char *text, size_t len, struct server *out)
{
    const char *host = text;
    const char *end = text + len;
    const char *colon = NULL;
    size_t host_len;
    if (len > 0 && *text == '[') {
        const char *close = memchr(text, ']', len);
        if (!close || (close + 1 != end && close[1] != ':')) {
            return false;
        }
        host = text + 1;
        host_len = (size_t)(close - host);
        colon = close + 1 == end ? NULL : close + 1;
    } else {
        colon = memchr(text, ':', len);
        host_len = colon ? (size_t)(colon - text) : len;
    }
    size_t port_len = colon ? (size_t)(end - colon - 1) : 4;
    if (host_len == 0 || host_len >= HOST_MAX || port_len >= PORT_MAX) {
        return false;
    }
    (void)snprintf(out->host, sizeof(out->host), "%.*s", (int)host_len, host);
    (void)snprintf(out->port, sizeof(out->port), "%.*s", (int)port_len,
                   colon ? colon + 1 : "2181");
    return strpbrk(out->host, " \t\r\n") == NULL && port_valid(out->port);
}

/* Take one server off the list at *@at. Sets *@bad if the server is malformed. Returns false at the end of the list. */
static bool next_server(const char **at, struct server *out, bool *bad)
{
    if (**at == '\0' || **at == '/') {
        return false;
    }
    size_t len = strcspn(*at, ",/");
    *bad = !parse_server(*at, len, out);
    *at += len;
    if (**at == ',') {
        (*at)++;
        *bad = *bad || **at == '\0' || **at == '/';
    }
    return true;
}

int zkr__servers_check(const char *servers)
{
    if (!servers || *servers == '\0' || *servers == '/') {
        return zkr__fail(ZKR_EINVAL, NULL,
                         "the server list is empty; give host:port[,host:port]");
    }
    if (strlen(servers) > LIST_MAX) {
        return zkr__fail(ZKR_EINVAL, NULL, "the server list is longer than %d bytes",
                         LIST_MAX);
    }
    struct server server;
    bool bad = false;
    const char *at = servers;
    while (next_server(&at, &server, &bad)) {
        if (bad) {
            return zkr__fail(ZKR_EINVAL, NULL,
                             "'%.100s' is not host:port[,host:port][/chroot]", servers);
        }
    }
    const char *fault = *at == '/' && at[1] != '\0' ? zkr__path_fault(at) : NULL;
    if (fault) {
        return zkr__fail(ZKR_EINVAL, at, "the chroot %s", fault);
    }
    return ZKR_OK;
}

/* Append to a list, which is NULL at first. Returns false if memory runs out. */
static bool append(char **list, const char *separator, const char *text)
{
    const char *before = *list ? *list : "";
    size_t size = strlen(before) + strlen(separator) + strlen(text) + 1;
    char *longer = zkr__mem_alloc(size);
    if (longer) {
        (void)snprintf(longer, size, "%s%s%s", before, separator, text);
        zkr__mem_free(*list);
        *list = longer;
    }
    return longer != NULL;
}

bool zkr__servers_has(const char *servers, const char *address, size_t len)
{
    for (const char *p = servers; p && *p && *p != '/';) {
        size_t n = strcspn(p, ",/");
        if (n == len && memcmp(p, address, n) == 0) {
            return true;
        }
        p += n + (p[n] == ',');
    }
    return false;
}

bool zkr__servers_include(const char *list, const char *addresses)
{
    for (const char *p = addresses; *p && *p != '/';) {
        size_t n = strcspn(p, ",/");
        if (!zkr__servers_has(list, p, n)) {
            return false;
        }
        p += n + (p[n] == ',');
    }
    return true;
}

bool zkr__servers_same(const char *one, const char *other)
{
    return zkr__servers_include(one, other) && zkr__servers_include(other, one);
}

char *zkr__servers_odd(const char *servers, unsigned pick)
{
    size_t all = strcspn(servers, "/"), count = 1;
    for (size_t i = 0; i < all; i++) {
        count += servers[i] == ',';
    }
    if (count % 2 == 1) {
        return zkr__mem_string(servers);
    }
    const char *twice = servers;
    for (size_t skip = pick % count; skip > 0; skip--) {
        twice += strcspn(twice, ",") + 1;
    }
    size_t len = strcspn(twice, ",/"), size = strlen(servers) + len + 2;
    char *odd = zkr__mem_alloc(size);
    if (odd) {
        (void)snprintf(odd, size, "%.*s,%.*s%s", (int)all, servers, (int)len, twice,
                       servers + all);
    }
    return odd;
}

static int look_up(const struct server *server, int flags, struct addrinfo **found)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = flags | AI_NUMERICSERV};
    return getaddrinfo(server->host, server->port, &hints, found);
}

bool zkr__servers_takes(enum zkr__ip ip)
{
    static const struct server loopback[] = {
        [ZKR__IPV4] = {"127.0.0.1", "9"}, [ZKR__IPV6] = {"::1", "9"}};
    struct addrinfo *found = NULL;
    int rc = look_up(&loopback[ip], AI_NUMERICHOST | AI_ADDRCONFIG, &found);
    if (found) {
        freeaddrinfo(found);
    }
    return rc == 0;
}

/*
 * Write one address of a server in libzookeeper's format. IPv6 addresses have no brackets, because libzookeeper splits
 * at the last colon. Writes "" if the host cannot reach the address. Returns a code of getaddrinfo().
 */
static int put_address(char text[ADDRESS_MAX],
                       const struct addrinfo *a,
                       const char *port,
                       bool numeric,
                       bool ipv4)
{
    static const char loopback[] = "127.";
    char host[ADDRESS_MAX - PORT_MAX - sizeof("::ffff:")];
    int rc = getnameinfo(a->ai_addr, a->ai_addrlen, host, sizeof(host), NULL, 0,
                         NI_NUMERICHOST);
    bool mapped = rc == 0 && a->ai_family == AF_INET && !ipv4;
    bool left_out =
        mapped && !numeric && strncmp(host, loopback, strlen(loopback)) != 0;
    text[0] = '\0';
    if (rc == 0 && !left_out) {
        (void)snprintf(text, ADDRESS_MAX, "%s%s:%s", mapped ? "::ffff:" : "", host,
                       port);
    }
    return rc;
}

/*
 * Append all addresses of one server. With @ask, also resolve a name. @ipv4 is true if libzookeeper accepts IPv4.
 * Returns a code of getaddrinfo(), for example EAI_MEMORY.
 *
 * On a host whose only IPv4 addresses are loopback, AI_ADDRCONFIG leaves out all IPv4 addresses, including loopback.
 * But servers and tunnels on loopback work on such a host, too.
 */
static int resolve_one(const struct server *server, char **list, bool ask, bool ipv4)
{
    struct addrinfo *found = NULL;
    int rc = look_up(server, AI_NUMERICHOST, &found);
    const bool numeric = rc == 0;
    if (rc == EAI_NONAME && ask) {
        rc = look_up(server, ipv4 ? AI_ADDRCONFIG : 0, &found);
    }
    for (struct addrinfo *a = found; rc == 0 && a; a = a->ai_next) {
        char address[ADDRESS_MAX];
        rc = put_address(address, a, server->port, numeric, ipv4);
        if (rc == 0 && *address) {
            bool known = zkr__servers_has(*list, address, strlen(address));
            rc = known || append(list, *list ? "," : "", address) ? 0 : EAI_MEMORY;
        }
    }
    if (found) {
        freeaddrinfo(found);
    }
    return rc;
}

bool zkr__servers_numeric(const char *servers)
{
    struct server server;
    bool bad = false;
    bool numeric = true;
    const char *at = servers;
    while (numeric && next_server(&at, &server, &bad)) {
        struct addrinfo *found = NULL;
        numeric = look_up(&server, AI_NUMERICHOST, &found) == 0;
        if (found) {
            freeaddrinfo(found);
        }
    }
    return numeric;
}

const char *zkr__servers_chroot(const char *servers)
{
    const char *chroot = servers + strcspn(servers, "/");
    return strcmp(chroot, "/") == 0 ? "" : chroot;
}

int zkr__servers_resolve(const char *servers,
                         bool ask,
                         char **out,
                         char *why,
                         size_t why_size)
{
    char *list = NULL;
    struct server server;
    bool bad = false;
    const char *at = servers;
    const bool ipv4 = zkr__servers_takes(ZKR__IPV4);
    int rc = 0;
    (void)snprintf(why, why_size, "out of memory");
    while (rc != EAI_MEMORY && next_server(&at, &server, &bad)) {
        rc = resolve_one(&server, &list, ask, ipv4);
        if (rc != 0) {
            (void)snprintf(why, why_size, "cannot resolve %.120s: %s", server.host,
                           gai_strerror(rc));
        }
    }
    if (rc != EAI_MEMORY && list && !append(&list, "", zkr__servers_chroot(at))) {
        rc = EAI_MEMORY;
    }
    if (rc == EAI_MEMORY) {
        zkr__mem_free(list);
        list = NULL;
    }
    *out = list;
    return list ? ZKR_OK : rc == EAI_MEMORY ? ZKR_ENOMEM : ZKR_ECONNLOSS;
}

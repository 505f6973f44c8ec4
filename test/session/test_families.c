/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts with addresses of only one family apart from loopback, where getaddrinfo() hides the other family. */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.h"

enum { PATIENCE_MS = 20000, SOME_MS = 500, NOT_PERMITTED = 77 };

/* A copy of the struct in <linux/ipv6.h>, which conflicts with <netinet/in.h> on some systems. */
struct ipv6_request {
    struct in6_addr address;
    uint32_t prefix;
    int index;
};

/* --- a host in a network namespace of its own --- */

static bool add_ipv4(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq r = {.ifr_name = "lo:1"};
    struct sockaddr_in *in = (struct sockaddr_in *)(void *)&r.ifr_addr;
    in->sin_family = AF_INET;
    bool done = inet_pton(AF_INET, "192.0.2.1", &in->sin_addr) == 1 &&
                ioctl(fd, SIOCSIFADDR, &r) == 0;
    (void)close(fd);
    return done;
}

static bool add_ipv6(void)
{
    int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ipv6_request r = {.prefix = 128, .index = (int)if_nametoindex("lo")};
    bool done = inet_pton(AF_INET6, "2001:db8::1", &r.address) == 1 &&
                ioctl(fd, SIOCSIFADDR, &r) == 0;
    (void)close(fd);
    return done;
}

static bool raise_loopback(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq r = {.ifr_name = "lo"};
    bool done = ioctl(fd, SIOCGIFFLAGS, &r) == 0;
    r.ifr_flags = (short)(r.ifr_flags | IFF_UP);
    done = done && ioctl(fd, SIOCSIFFLAGS, &r) == 0;
    (void)close(fd);
    return done;
}

struct host {
    bool (*add)(void);   /* adds the address beside the loopback addresses */
    const char *name;    /* the server's host name, before its port */
    int family;          /* the family in which the server listens on loopback */
    const char *refused; /* why there is no connection; NULL = there is a connection */
};

/* Returns the port, or -1 if listening is impossible. */
static int listen_at_loopback(const struct host *h, int *fd)
{
    struct sockaddr_in in = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    bool v4 = h->family == AF_INET;
    struct sockaddr *at = v4 ? (struct sockaddr *)&in : (struct sockaddr *)&in6;
    socklen_t size = v4 ? sizeof(in) : sizeof(in6);
    *fd = socket(h->family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool done = bind(*fd, at, size) == 0 && listen(*fd, 8) == 0 &&
                getsockname(*fd, at, &size) == 0;
    return done ? ntohs(v4 ? in.sin_port : in6.sin6_port) : -1;
}

/* Exit code 0: a client connects to the server, or fails with the expected message. */
static int connects(void *arg)
{
    const struct host *h = arg;
    char servers[128];
    zkr_client *c = NULL;
    struct pollfd server = {.events = POLLIN};
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
        return NOT_PERMITTED;
    }
    int port = raise_loopback() && h->add() ? listen_at_loopback(h, &server.fd) : -1;
    if (port < 0) {
        return NOT_PERMITTED;
    }
    (void)snprintf(servers, sizeof(servers), "%s:%d", h->name, port);
    if (zkr_client_open(&c, servers, NULL) != ZKR_OK) {
        return 1;
    }
    if (poll(&server, 1, h->refused ? SOME_MS : PATIENCE_MS) == 1) {
        return h->refused ? 3 : 0;
    }
    const char *why = zkr_client_wait_connected(c, SOME_MS) == ZKR_ETIMEDOUT
                          ? zkr_last_error()->message
                          : "";
    return h->refused && strstr(why, h->refused) ? 0 : 2;
}

static void expect_connection(struct host h)
{
    int status = zkt_join(zkt_fork(connects, &h), 2 * PATIENCE_MS);
    if (status == NOT_PERMITTED) {
        zkt_skip("network namespaces are not permitted");
    }
    assert_int_equal(status, 0);
}

/* The server may be the end of a tunnel, for instance. */
ZKT_CASE(loopback_of_ipv4_is_reached_from_a_host_of_ipv6)
{
    static const char *const names[] = {"127.0.0.1", "localhost",
                                        "[2001:db8::1]:9,127.0.0.1"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        expect_connection((struct host){add_ipv6, names[i], AF_INET, NULL});
    }
}

ZKT_CASE(a_host_of_ipv4_alone_connects_as_before)
{
    static const char *const names[] = {"127.0.0.1", "localhost",
                                        "192.0.2.1:9,127.0.0.1"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        expect_connection((struct host){add_ipv4, names[i], AF_INET, NULL});
    }
}

ZKT_CASE(a_host_of_ipv6_alone_connects_as_before)
{
    expect_connection((struct host){add_ipv6, "[::1]", AF_INET6, NULL});
}

/* The libzookeeper of Debian 12 refuses [::1] here, and no other spelling of the address works. */
ZKT_CASE(loopback_of_ipv6_from_a_host_of_ipv4_is_refused_in_words)
{
    static const char why[] = "this host has no IPv6 address except loopback";
    expect_connection((struct host){add_ipv4, "[::1]", AF_INET6, why});
}

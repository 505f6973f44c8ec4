/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "keep.h"
#include "proxy_impl.h"
#include "util.h"

/* ---- the thread -------------------------------------------------------------------- */

static void add_conn(zkt_proxy *p, int client)
{
    conn *c = calloc(1, sizeof *c);

    if (c == NULL) {
        (void)close(client);
        return;
    }
    (void)setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    c->fd[0] = client;
    c->fd[1] = -1;
    c->opaque = !p->framed;
    c->next = p->conns;
    p->conns = c;
    p->counts.connections++;
    zkt_conn_connect(p, c);
}

static void accept_all(zkt_proxy *p)
{
    int fd;
    while ((fd = accept4(p->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        if (p->cut || p->orphan) {
            const struct linger now = {.l_onoff = 1, .l_linger = 0};
            (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
            (void)close(fd);
        } else {
            add_conn(p, fd);
        }
    }
}

static bool is_over(const conn *c)
{
    if (c->orphan) {
        return false;
    }
    if (c->fd[0] < 0) {
        return c->fd[1] < 0 || (c->flow[0].shut && c->flow[1].eof);
    }
    return c->flow[0].shut && c->flow[1].shut;
}

/* Carry out what was asked for, and remove what is over. */
static void apply(zkt_proxy *p)
{
    conn **at = &p->conns;

    if (p->cut || p->drop_all) {
        accept_all(p); /* who waits for accept() is connected, too */
    }
    while (*at != NULL) {
        conn *c = *at;
        if (p->orphan && !c->orphan) {
            c->orphan = true;
            zkt_conn_reset(c, 0);
        }
        if (c->reset || p->cut || p->drop_all || (c->orphan && !p->orphan)) {
            zkt_conn_reset(c, 0);
            zkt_conn_reset(c, 1);
            c->orphan = false;
        } else if (c->retry_at > 0 && zkt_now_ms() >= c->retry_at) {
            zkt_conn_connect(p, c);
        }
        if (is_over(c)) {
            *at = c->next;
            zkt_conn_free(c);
        } else {
            at = &c->next;
        }
    }
    p->drop_all = false;
}

static int count_conns(const zkt_proxy *p)
{
    int n = 0;
    for (const conn *c = p->conns; c != NULL; c = c->next) {
        n++;
    }
    return n;
}

/* Fill @fds, two for each connection, and return how long poll() may sleep. */
static int plan(const zkt_proxy *p, struct pollfd *fds)
{
    const int64_t now = zkt_now_ms();
    int64_t sleep = 60000;

    fds[0] = (struct pollfd){.fd = p->wake, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = p->listener, .events = POLLIN};
    fds += 2;
    for (const conn *c = p->conns; c != NULL; c = c->next) {
        if (c->reset) {
            sleep = 0;
        } else if (c->retry_at > 0 && c->retry_at - now < sleep) {
            sleep = c->retry_at > now ? c->retry_at - now : 0;
        }
        for (int side = 0; side < 2; side++) {
            short events = 0;
            if (zkt_flow_wants_input(p, c, side)) {
                events |= POLLIN;
            }
            if (zkt_flow_wants_room(p, c, 1 - side, now)) {
                events |= POLLOUT;
            }
            const chunk *k = c->flow[side].head;
            if (k != NULL && k->due > now && k->due - now < sleep) {
                sleep = k->due - now;
            }
            *fds++ =
                (struct pollfd){.fd = events != 0 ? c->fd[side] : -1, .events = events};
        }
    }
    return (int)sleep;
}

static void serve(zkt_proxy *p, const struct pollfd *fds)
{
    uint64_t drained;

    if ((fds[0].revents & POLLIN) != 0) {
        (void)!read(p->wake, &drained, sizeof drained);
    }
    const struct pollfd *f = fds + 2;
    for (conn *c = p->conns; c != NULL; c = c->next, f += 2) {
        for (int d = 0; d < 2; d++) {
            if (f[d].revents != 0) {
                zkt_flow_read(p, c, d);
            }
        }
        for (int d = 0; d < 2 && !c->reset && !p->cut && !p->drop_all; d++) {
            zkt_flow_send(p, c, d);
        }
    }
    if (fds[1].revents != 0) {
        accept_all(p);
    }
}

static void *run(void *arg)
{
    zkt_proxy *p = arg;
    struct pollfd *fds = NULL;

    (void)pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        apply(p);
        p->turns = p->asked;
        (void)pthread_cond_broadcast(&p->turned);
        const size_t n = 2 + 2 * (size_t)count_conns(p);
        struct pollfd *grown = realloc(fds, n * sizeof *fds);
        if (grown == NULL) {
            break;
        }
        fds = grown;
        const int sleep = plan(p, fds);
        (void)pthread_mutex_unlock(&p->lock);
        (void)poll(fds, n, sleep);
        (void)pthread_mutex_lock(&p->lock);
        serve(p, fds);
    }
    (void)pthread_mutex_unlock(&p->lock);
    free(fds);
    return NULL;
}

/* ---- control ----------------------------------------------------------------------- */

static void begin(zkt_proxy *p)
{
    (void)pthread_mutex_lock(&p->lock);
}

/* Let go of the lock once the thread has acted on what was changed under it. */
static void commit(zkt_proxy *p)
{
    if (!pthread_equal(pthread_self(), p->thread)) {
        const uint64_t mine = ++p->asked;
        (void)!write(p->wake, &(uint64_t){1}, sizeof(uint64_t));
        while (p->turns < mine) {
            (void)pthread_cond_wait(&p->turned, &p->lock);
        }
    }
    (void)pthread_mutex_unlock(&p->lock);
}

static struct sockaddr_in resolve(const char *target)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    struct sockaddr_in address;
    char host[256];
    char *colon = NULL;

    if (zkt_host_at(target, 0, host, sizeof host)) {
        colon = strrchr(host, ':');
    }
    if (colon == NULL) {
        zkt_fail("proxy: bad target %s", target);
    }
    *colon = '\0';
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0 ||
        found->ai_addrlen != sizeof address) {
        zkt_fail("proxy: unknown target %s", target);
    }
    memcpy(&address, found->ai_addr, sizeof address);
    freeaddrinfo(found);
    return address;
}

static zkt_proxy *allocate(void)
{
    zkt_proxy *p = calloc(1, sizeof *p);
    if (p == NULL) {
        zkt_fail("out of memory");
    }
    return p;
}

static void end_kept(void *p)
{
    zkt_proxy_stop(p);
}

static zkt_proxy *start(zkt_proxy *p, const char *target)
{
    sigset_t every;
    sigset_t before;

    p->target = resolve(target);
    p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->turned, NULL);
    (void)sigfillset(&every);
    (void)pthread_sigmask(SIG_SETMASK, &every, &before);
    begin(p);
    int rc = pthread_create(&p->thread, NULL, run, p);
    (void)pthread_mutex_unlock(&p->lock);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (p->wake < 0 || rc != 0) {
        zkt_fail("proxy: cannot start");
    }
    zkt_keep(p, end_kept);
    return p;
}

static zkt_proxy *start_anywhere(const char *target, bool framed)
{
    zkt_proxy *p = allocate();
    p->framed = framed;
    p->listener = zkt_listen(&p->port);
    (void)snprintf(p->host, sizeof p->host, "127.0.0.1:%d", p->port);
    return start(p, target);
}

zkt_proxy *zkt_proxy_start(const char *target)
{
    return start_anywhere(target, true);
}

zkt_proxy *zkt_proxy_start_raw(const char *target)
{
    return start_anywhere(target, false);
}

zkt_proxy *zkt_proxy_start_at(const char *address, int port, const char *target)
{
    zkt_proxy *p = allocate();
    p->framed = true;
    p->port = port;
    p->listener = zkt_listen_at(address, port);
    (void)snprintf(p->host, sizeof p->host, "%s:%d", address, port);
    return start(p, target);
}

void zkt_proxy_stop(zkt_proxy *p)
{
    if (p == NULL) {
        return;
    }
    zkt_unkeep(p);
    begin(p);
    p->stop = true;
    (void)!write(p->wake, &(uint64_t){1}, sizeof(uint64_t));
    (void)pthread_mutex_unlock(&p->lock);
    (void)pthread_join(p->thread, NULL);
    while (p->conns != NULL) {
        conn *next = p->conns->next;
        zkt_conn_free(p->conns);
        p->conns = next;
    }
    (void)close(p->listener);
    (void)close(p->wake);
    (void)pthread_cond_destroy(&p->turned);
    (void)pthread_mutex_destroy(&p->lock);
    free(p);
}

const char *zkt_proxy_host(const zkt_proxy *p)
{
    return p->host;
}

int zkt_proxy_port(const zkt_proxy *p)
{
    return p->port;
}

void zkt_proxy_target(zkt_proxy *p, const char *target)
{
    const struct sockaddr_in address = resolve(target);
    begin(p);
    p->target = address;
    commit(p);
}

void zkt_proxy_cut(zkt_proxy *p)
{
    begin(p);
    p->cut = true;
    commit(p);
}

void zkt_proxy_drop_connections(zkt_proxy *p)
{
    begin(p);
    p->drop_all = true;
    commit(p);
}

void zkt_proxy_orphan(zkt_proxy *p)
{
    begin(p);
    p->orphan = true;
    commit(p);
}

void zkt_proxy_freeze(zkt_proxy *p, int direction)
{
    begin(p);
    p->frozen[direction] = true;
    commit(p);
}

void zkt_proxy_thaw(zkt_proxy *p, int direction)
{
    begin(p);
    p->frozen[direction] = false;
    commit(p);
}

void zkt_proxy_blackhole(zkt_proxy *p)
{
    begin(p);
    p->frozen[ZKT_TO_SERVER] = true;
    p->frozen[ZKT_TO_CLIENT] = true;
    commit(p);
}

void zkt_proxy_delay(zkt_proxy *p, int direction, int64_t ms)
{
    begin(p);
    p->delay_ms[direction] = ms;
    commit(p);
}

void zkt_proxy_heal(zkt_proxy *p)
{
    begin(p);
    p->cut = false;
    p->orphan = false;
    for (int d = 0; d < 2; d++) {
        p->frozen[d] = false;
        p->delay_ms[d] = 0;
    }
    p->before = 0;
    p->after = 0;
    p->drop = 0;
    commit(p);
}

void zkt_proxy_cut_before_request(zkt_proxy *p, int n)
{
    begin(p);
    p->before = n;
    commit(p);
}

void zkt_proxy_cut_after_request(zkt_proxy *p, int n)
{
    begin(p);
    p->after = n;
    commit(p);
}

void zkt_proxy_drop_reply(zkt_proxy *p, int n)
{
    begin(p);
    p->drop = n;
    commit(p);
}

int zkt_proxy_triggered(zkt_proxy *p)
{
    begin(p);
    int n = p->triggered;
    (void)pthread_mutex_unlock(&p->lock);
    return n;
}

zkt_proxy_counts zkt_proxy_counters(zkt_proxy *p)
{
    begin(p);
    zkt_proxy_counts counts = p->counts;
    for (const conn *c = p->conns; c != NULL; c = c->next) {
        counts.open += c->fd[0] >= 0;
    }
    (void)pthread_mutex_unlock(&p->lock);
    return counts;
}

void zkt_proxy_on_request(zkt_proxy *p,
                          void (*hook)(void *ctx, int n, int op),
                          void *ctx)
{
    begin(p);
    p->hook = hook;
    p->hook_ctx = ctx;
    commit(p);
}

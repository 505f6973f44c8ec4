/* SPDX-License-Identifier: Apache-2.0 */
#include "testing/proxy.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "testing/net.h"

static void add_conn(zkr_test_proxy *p, int client)
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
    zkr__test_conn_connect(p, c);
}

static void accept_all(zkr_test_proxy *p)
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
    if (c->closing && !c->flow[0].eof) {
        /* The client is still sending. Closing now would reset it before it has read everything. */
        return false;
    }
    return c->flow[0].shut && c->flow[1].shut;
}

/* Applies the requested faults, and removes connections that are over. */
static void apply(zkr_test_proxy *p)
{
    conn **at = &p->conns;

    if (p->cut || p->drop_all) {
        accept_all(p); /* includes connections that wait for accept() */
    }
    while (*at != NULL) {
        conn *c = *at;
        if (p->orphan && !c->orphan) {
            c->orphan = true;
            zkr__test_conn_reset(c, 0);
        }
        if (c->reset || p->cut || p->drop_all || (c->orphan && !p->orphan)) {
            zkr__test_conn_reset(c, 0);
            zkr__test_conn_reset(c, 1);
            c->orphan = false;
        } else if (c->retry_at > 0 && zkr__test_now_ms() >= c->retry_at) {
            zkr__test_conn_connect(p, c);
        }
        if (is_over(c)) {
            *at = c->next;
            zkr__test_conn_free(c);
        } else {
            at = &c->next;
        }
    }
    p->drop_all = false;
}

static int count_conns(const zkr_test_proxy *p)
{
    int n = 0;
    for (const conn *c = p->conns; c != NULL; c = c->next) {
        n++;
    }
    return n;
}

/* Fills @fds, two for each connection, and returns how long poll() may sleep. */
static int plan(const zkr_test_proxy *p, struct pollfd *fds)
{
    const int64_t now = zkr__test_now_ms();
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
            if (zkr__test_flow_wants_input(p, c, side)) {
                events |= POLLIN;
            }
            if (zkr__test_flow_wants_room(p, c, 1 - side, now)) {
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

static void serve(zkr_test_proxy *p, const struct pollfd *fds)
{
    uint64_t drained;

    if ((fds[0].revents & POLLIN) != 0) {
        (void)!read(p->wake, &drained, sizeof drained);
    }
    const struct pollfd *f = fds + 2;
    for (conn *c = p->conns; c != NULL; c = c->next, f += 2) {
        for (int d = 0; d < 2; d++) {
            if (f[d].revents != 0) {
                zkr__test_flow_read(p, c, d);
            }
        }
        for (int d = 0; d < 2 && !c->reset && !p->cut && !p->drop_all; d++) {
            zkr__test_flow_send(p, c, d);
        }
    }
    if (fds[1].revents != 0) {
        accept_all(p);
    }
}

void *zkr__test_proxy_run(void *arg)
{
    zkr_test_proxy *p = arg;
    struct pollfd *fds = NULL;

    (void)pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        apply(p);
        p->turns = p->asked;
        (void)pthread_cond_broadcast(&p->turned);
        const size_t n = 2 + 2 * (size_t)count_conns(p);
        struct pollfd *grown = realloc(fds, n * sizeof *fds);
        if (grown == NULL) {
            (void)pthread_mutex_unlock(&p->lock);
            zkr__test_sleep_ms(1);
            (void)pthread_mutex_lock(&p->lock);
            continue;
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

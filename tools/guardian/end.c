/* SPDX-License-Identifier: Apache-2.0 */
/* The end of the sessions of a dead parent, all at the same time. */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include "guardian.h"

/* ZooKeeper's header declares it only beside headers of OpenSSL. Weak, as most libraries do not have it. */
zhandle_t *zookeeper_init_ssl(const char *host,
                              const char *cert,
                              watcher_fn watcher,
                              int recv_timeout,
                              const clientid_t *clientid,
                              void *context,
                              int flags) __attribute__((weak));

enum link_state { CONNECTING, CONNECTED, EXPIRED };

/* One session on its way to its end. */
struct ending {
    const struct ward *ward;
    zhandle_t *zh;
    _Atomic(enum link_state) state; /* set by libzookeeper's thread */
    int64_t again_at;               /* when to connect next */
    int closes;
    bool over;
};

static int news = -1; /* eventfd: the state of an ending has changed */

static void
on_session(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    (void)zh;
    (void)path;
    struct ending *e = context;
    if (type != ZOO_SESSION_EVENT) {
        return;
    }
    if (state == ZOO_CONNECTED_STATE) {
        atomic_store(&e->state, CONNECTED);
    } else if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) {
        atomic_store(&e->state, EXPIRED);
    }
    (void)eventfd_write(news, 1);
}

static void drop_line(const char *line)
{
    (void)line;
}

static void attach(struct ending *e)
{
    const struct ward *w = e->ward;
    clientid_t id = {.client_id = w->session};
    memcpy(id.passwd, w->password, sizeof(id.passwd));
    atomic_store(&e->state, CONNECTING);
    if (w->tls[0] == '\0') {
        e->zh = zookeeper_init2(w->servers, on_session, w->timeout_ms, &id, e,
                                ZOO_NO_LOG_CLIENTENV, drop_line);
    } else if (zookeeper_init_ssl) {
        e->zh = zookeeper_init_ssl(w->servers, w->tls, on_session, w->timeout_ms, &id,
                                   e, ZOO_NO_LOG_CLIENTENV);
    }
}

/*
 * One step. A connected handle closes the session, and that may be lost on its way: the next connection shows whether
 * the session has ended.
 */
static void step(struct ending *e)
{
    enum { AGAIN_MS = 20 };
    enum link_state state = atomic_load(&e->state);
    if (!e->zh) {
        if (now_ms() >= e->again_at) {
            attach(e);
            e->again_at = now_ms() + AGAIN_MS;
        }
    } else if (state != CONNECTING) {
        (void)zookeeper_close(e->zh);
        e->zh = NULL;
        e->over = state == EXPIRED;
        e->again_at = now_ms() + (int64_t)e->closes++ * AGAIN_MS;
    }
}

static bool has_group(const struct wards *w, uint64_t client)
{
    for (struct group *g = w->groups; g; g = g->next) {
        if (g->client == client && !group_is_gone(g)) {
            return true;
        }
    }
    return false;
}

static struct ending *begin(const struct wards *w, size_t *count)
{
    size_t n = 0;
    for (const struct ward *ward = w->wards; ward; ward = ward->next) {
        n++;
    }
    struct ending *all = calloc(n + 1, sizeof(*all));
    *count = all ? n : 0;
    n = 0;
    for (const struct ward *ward = w->wards; all && ward; ward = ward->next) {
        all[n++].ward = ward;
    }
    return all;
}

void wards_end(const struct wards *w, int64_t deadline)
{
    enum { REST_MS = 2, LONG_REST_MS = 20, SOON_MS = 500 };
    size_t count, left;
    struct ending *all = begin(w, &count);
    int64_t soon = now_ms() + SOON_MS;
    zoo_set_debug_level((ZooLogLevel)0);
    news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    do {
        left = 0;
        for (size_t i = 0; i < count; i++) {
            struct ending *e = &all[i];
            if (!e->over &&
                (e->zh || e->closes > 0 || !has_group(w, e->ward->client))) {
                step(e);
            }
            left += !e->over;
        }
        struct pollfd p = {.fd = news, .events = POLLIN};
        eventfd_t unused;
        if (left > 0) {
            (void)poll(&p, 1, now_ms() < soon ? REST_MS : LONG_REST_MS);
            (void)eventfd_read(news, &unused);
        }
    } while (left > 0 && now_ms() < deadline);
    free(all);
}

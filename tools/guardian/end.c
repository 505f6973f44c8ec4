/* SPDX-License-Identifier: Apache-2.0 */
/* The end of sessions, all at the same time, beside whatever else goes on. */
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
    zhandle_t *zh;
    _Atomic(enum link_state) state; /* set by libzookeeper's thread */
    bool after_group;               /* the group of the client has to be gone first */
    int64_t again_at;               /* when to connect next */
    int64_t soon;                   /* until then, look often */
    int64_t give_up_at; /* nobody has kept the session alive for its timeout */
    int closes;
};

int wards_news(void)
{
    static int news = -1;
    if (news < 0) {
        zoo_set_debug_level((ZooLogLevel)0);
        news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    }
    return news;
}

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
    (void)eventfd_write(wards_news(), 1);
}

static void drop_line(const char *line)
{
    (void)line;
}

static void attach(const struct ward *w)
{
    struct ending *e = w->ending;
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

bool ward_begin_end(struct ward *w, bool after_group)
{
    enum { SOON_MS = 500 };
    w->ending = calloc(1, sizeof(*w->ending));
    if (w->ending) {
        w->ending->after_group = after_group;
        w->ending->soon = now_ms() + SOON_MS;
        w->ending->give_up_at = now_ms() + w->timeout_ms;
    }
    return w->ending != NULL;
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

static void detach(struct ending *e)
{
    if (e->zh) {
        (void)zookeeper_close(e->zh);
        e->zh = NULL;
    }
}

/*
 * A connected handle closes the session, and that may be lost on its way: the next connection shows whether the session
 * has ended. Has it?
 */
static bool step(const struct ward *w)
{
    enum { AGAIN_MS = 20 };
    struct ending *e = w->ending;
    enum link_state state = atomic_load(&e->state);
    if (!e->zh && now_ms() >= e->again_at) {
        attach(w);
        e->again_at = now_ms() + AGAIN_MS;
    } else if (e->zh && state != CONNECTING) {
        detach(e);
        e->again_at = now_ms() + (int64_t)e->closes++ * AGAIN_MS;
        return state == EXPIRED;
    }
    return false;
}

/* Has the session ended, or may it be left to the servers? */
static bool is_over(const struct wards *all, const struct ward *w)
{
    struct ending *e = w->ending;
    if (now_ms() >= e->give_up_at) {
        detach(e);
        return true;
    }
    bool began = e->zh || e->closes > 0;
    bool has_to_wait = !began && e->after_group && has_group(all, w->client);
    return !has_to_wait && step(w);
}

int wards_step(struct wards *w)
{
    enum { REST_MS = 2, LONG_REST_MS = 20 };
    int rest = 0;
    eventfd_t unused;
    struct ward *next;
    (void)eventfd_read(wards_news(), &unused);
    for (struct ward *ward = w->wards; ward; ward = next) {
        struct ending *e = ward->ending;
        next = ward->next;
        if (e && is_over(w, ward)) {
            wards_drop(w, ward->session);
            free(e);
        } else if (e && rest != REST_MS) {
            rest = now_ms() < e->soon ? REST_MS : LONG_REST_MS;
        }
    }
    return rest;
}

void wards_forget_handles(const struct wards *w)
{
    for (const struct ward *ward = w->wards; ward; ward = ward->next) {
        if (ward->ending) {
            ward->ending->zh = NULL;
        }
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends the sessions of a dead parent, all at the same time.
 *
 * Each connection renews the session. If the guardian repeated a connection that cannot end the session, the session
 * would outlive its timeout. So it does not repeat such a connection.
 *
 * If the servers refuse the session even to the first connection, then either the session has ended, or the servers
 * give each connection a new session. The guardian cannot distinguish these cases. So it deletes the nodes in a new
 * session.
 */
#include "end.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "clock.h"
#include "group.h"
#include "sweep.h"

/*
 * ZooKeeper's header declares this function only together with OpenSSL's headers. The symbol is weak, because most
 * builds of libzookeeper lack it.
 */
zhandle_t *zookeeper_init_ssl(const char *host,
                              const char *cert,
                              watcher_fn watcher,
                              int recv_timeout,
                              const clientid_t *clientid,
                              void *context,
                              int flags) __attribute__((weak));

enum { AGAIN_MS = 20 }; /* pause between attempts */

/*
 * EXPIRED: the session has ended, or the servers have given the connection a new session. OVER: nothing is left to do,
 * or nothing more can be done.
 */
enum link_state { CONNECTING, CONNECTED, ANSWERED, EXPIRED, OVER };

/* A session that the guardian is ending. */
struct ending {
    const struct ward *ward;
    zhandle_t *zh;
    _Atomic(enum link_state) state; /* set by libzookeeper's threads */
    int64_t again_at;               /* when to connect next */
    /* When to try another server if this one does not answer. */
    int64_t leave_at;
    unsigned first; /* index of the first server */
    /* Number of complete rounds through all servers. */
    unsigned rounds;
    int closes;
    bool asked;
    bool over;
    bool sweeps;         /* the handle has a new session, which deletes the nodes */
    _Atomic(bool) heard; /* the sweep has received an answer */
    const struct directory *directories; /* directories of all clients */
    struct sweep sweep;
};

static int news = -1; /* an eventfd: the state of an ending has changed */

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
    } else if (state == ZOO_EXPIRED_SESSION_STATE) {
        atomic_store(&e->state, EXPIRED);
    } else if (state == ZOO_AUTH_FAILED_STATE) {
        atomic_store(&e->state, OVER);
    }
    (void)eventfd_write(news, 1);
}

static void on_answer(int rc, const struct Stat *stat, const void *context)
{
    struct ending *e = (void *)(uintptr_t)context;
    enum link_state connected = CONNECTED;
    (void)stat;
    (void)atomic_compare_exchange_strong(
        &e->state, &connected, rc == ZSESSIONCLOSEDREQUIRESASLAUTH ? OVER : ANSWERED);
    (void)eventfd_write(news, 1);
}

static void on_progress(void *context)
{
    struct ending *e = context;
    atomic_store(&e->heard, true);
    (void)eventfd_write(news, 1);
}

static void on_swept(void *context, bool whole)
{
    struct ending *e = context;
    enum link_state connected = CONNECTED;
    (void)atomic_compare_exchange_strong(&e->state, &connected,
                                         whole ? OVER : ANSWERED);
    (void)eventfd_write(news, 1);
}

static void drop_line(const char *line)
{
    (void)line;
}

/* --- servers --- */

static size_t address_len(const char *at)
{
    return strcspn(at, ",/");
}

static unsigned count_servers(const char *servers)
{
    unsigned n = 0;
    for (const char *at = servers; *at != '\0' && *at != '/'; n++) {
        at += address_len(at);
        at += *at == ',';
    }
    return n;
}

static const char *nth_server(const char *servers, unsigned n)
{
    const char *at = servers;
    while (n-- > 0) {
        at += address_len(at) + 1;
    }
    return at;
}

/*
 * Returns all servers once, beginning with @first, with the chroot, or NULL if memory runs out. If their number is
 * even, one server is repeated, because after the first round libzookeeper would try only every second server.
 */
static char *order_servers(const char *servers, unsigned first)
{
    const unsigned n = count_servers(servers), all = n + (n % 2 == 0);
    char *list = calloc(2, strlen(servers) + 1), *to = list;
    for (unsigned i = 0; list && n > 0 && i < all; i++) {
        const char *at = nth_server(servers, (first + i) % n);
        to = mempcpy(to, at, address_len(at));
        *to++ = i + 1 < all ? ',' : '\0';
    }
    if (list && n > 0) {
        (void)stpcpy(to - 1, servers + strcspn(servers, "/"));
    }
    return list;
}

/* --- one session --- */

/* Returns how long a server may be silent. The time is short in the first round, because other servers may answer. */
static int64_t patience_ms(const struct ending *e)
{
    enum { PART = 12, LEAST_MS = 20, MOST_ROUNDS = 3 };
    int64_t ms = e->ward->timeout_ms / PART;
    ms <<= e->rounds < MOST_ROUNDS ? e->rounds : MOST_ROUNDS;
    return ms > LEAST_MS ? ms : LEAST_MS;
}

static void attach(struct ending *e)
{
    const struct ward *w = e->ward;
    clientid_t id = {.client_id = w->session};
    const clientid_t *session = e->sweeps ? NULL : &id;
    char *servers = order_servers(w->servers, e->first);
    memcpy(id.passwd, w->password, sizeof(id.passwd));
    atomic_store(&e->state, CONNECTING);
    e->asked = false;
    if (servers && w->tls[0] == '\0') {
        e->zh = zookeeper_init2(servers, on_session, w->timeout_ms, session, e,
                                ZOO_NO_LOG_CLIENTENV, drop_line);
    } else if (servers && zookeeper_init_ssl) {
        e->zh = zookeeper_init_ssl(servers, w->tls, on_session, w->timeout_ms, session,
                                   e, ZOO_NO_LOG_CLIENTENV);
    }
    free(servers);
    e->leave_at = now_ms() + patience_ms(e);
}

/* Close the handle. If there is a connection, this ends the session, too. */
static void detach(struct ending *e)
{
    (void)zookeeper_close(e->zh);
    e->zh = NULL;
}

/* Leave a silent server, and start again with the next one. */
static void move_on(struct ending *e)
{
    detach(e);
    e->first = e->first + 1 < count_servers(e->ward->servers) ? e->first + 1 : 0;
    e->rounds += e->first == 0;
    e->again_at = now_ms();
}

/*
 * Servers that demand credentials refuse even the close of a session without them. Other servers need none, and may
 * refuse those that are given.
 */
static void hand_in_credentials(const struct ending *e)
{
    const char *at = e->ward->credentials, *scheme, *cert;
    uint32_t len;
    while ((scheme = ward_credential(e->ward, &at, &cert, &len))) {
        (void)zoo_add_auth(e->zh, scheme, cert, (int)len, NULL, NULL);
    }
}

/* If a close had no effect, it was lost or refused. The answer to another request shows which of the two happened. */
static void ask(struct ending *e)
{
    if (zoo_aexists(e->zh, "/", 0, on_answer, e) != ZOK) {
        atomic_store(&e->state, ANSWERED);
    }
}

static void sweep(struct ending *e)
{
    e->sweep = (struct sweep){.zh = e->zh,
                              .ward = e->ward,
                              .next = e->directories,
                              .progress = on_progress,
                              .done = on_swept,
                              .context = e};
    sweep_begin(&e->sweep);
}

static bool has_nodes(const struct ending *e)
{
    return wards_directory(e->directories, e->ward->client) != NULL;
}

/* A close may get lost on the way, so the next connection shows whether the session has ended. */
static void finish(struct ending *e, enum link_state state)
{
    detach(e);
    if (state == EXPIRED && !e->sweeps) {
        e->sweeps = e->closes == 0 && has_nodes(e);
        e->over = !e->sweeps;
    } else {
        e->over = state == OVER;
    }
    e->again_at = now_ms() + (int64_t)e->closes++ * AGAIN_MS;
}

static void step(struct ending *e)
{
    enum link_state state = atomic_load(&e->state);
    if (atomic_exchange(&e->heard, false)) {
        e->leave_at = now_ms() + patience_ms(e);
    }
    if (!e->zh) {
        if (now_ms() >= e->again_at) {
            attach(e);
            e->again_at = now_ms() + AGAIN_MS;
        }
    } else if (state == CONNECTED && e->closes > 0 && !e->asked) {
        e->asked = true;
        hand_in_credentials(e);
        if (e->sweeps) {
            sweep(e);
        } else {
            ask(e);
        }
    } else if (state != CONNECTING && (state != CONNECTED || !e->asked)) {
        finish(e, state);
    } else if (now_ms() >= e->leave_at) {
        move_on(e);
    }
}

/* Kill the process groups of a client. Returns true while any of them is left. */
static bool kill_groups(const struct wards *w, uint64_t client)
{
    for (struct group *g = w->groups; g; g = g->next) {
        if (g->client == client && !group_end(g)) {
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
        all[n].ward = ward;
        all[n++].directories = w->directories;
    }
    return all;
}

void end_sessions(const struct wards *w, int64_t deadline)
{
    enum { REST_MS = 2, LONG_REST_MS = 20, SOON_MS = 500 };
    size_t count, left;
    struct ending *all = begin(w, &count);
    int64_t soon = now_ms() + SOON_MS;
    zoo_set_debug_level((ZooLogLevel)0);
    zoo_deterministic_conn_order(1);
    news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    do {
        left = 0;
        for (size_t i = 0; i < count; i++) {
            struct ending *e = &all[i];
            if (!e->over &&
                (e->zh || e->closes > 0 || !kill_groups(w, e->ward->client))) {
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

/* SPDX-License-Identifier: Apache-2.0 */
/* One server of the fake: connections, requests in order, and messages from the leader. */
#include <string.h>

#include "fake_impl.h"

static struct zkf__server *server_of(const struct zkf__conn *conn)
{
    return &zkf__w.servers[conn->server];
}

/* --- connections --- */

void zkf__conn_close_at_server(struct zkf__conn *conn)
{
    if (!conn->at_server) {
        return;
    }
    struct zkf__server *server = server_of(conn);
    struct zkf__conn **at = &server->conns;
    while (*at != conn) {
        at = &(*at)->next;
    }
    *at = conn->next;
    conn->at_server = false;
    conn->inbox = NULL;
    conn->inbox_tail = &conn->inbox;
    zkf__drop_watches(server, conn);
    zkf__channel_end(&conn->up);
    zkf__channel_put(&conn->down, (struct zkf__item){.kind = ZKF__END});
}

/* The session has a new connection here, so the old connection no longer counts. */
static void close_older(const struct zkf__conn *conn, int64_t session)
{
    struct zkf__conn *next;
    for (struct zkf__conn *other = server_of(conn)->conns; other; other = next) {
        next = other->next;
        if (other != conn && other->session == session) {
            zkf__conn_close_at_server(other);
        }
    }
}

/* --- requests --- */

static bool needs_leader(const struct zkf__req *req)
{
    switch (req->kind) {
    case ZKR__OP_CREATE:
    case ZKR__OP_PARENT:
    case ZKR__OP_DELETE:
    case ZKR__OP_SET:
    case ZKR__OP_CHECK:
    case ZKR__OP_MULTI:
    case ZKR__OP_CREATES:
    case ZKR__OP_SYNC:
    case ZKF__CONNECT:
    case ZKF__CLOSE:
        return true;
    default:
        return false;
    }
}

void zkf__touch(struct zkf__server *server, struct zkf__touch touch)
{
    if (server->id == zkf__w.leader) {
        struct zkf__session *s = zkf__session_find(touch.session);
        if (s && s->until == SIZE_MAX) {
            s->touched = zkf__w.now;
            s->timeout = touch.timeout;
            s->slack = zkf_chance(50) ? 0 : zkf_below(zkf__w.config.tick);
            zkf__rearm_expiry();
        }
        return;
    }
    for (size_t i = 0; i < server->touched_count; i++) {
        if (server->touched[i].session == touch.session) {
            server->touched[i] = touch;
            return;
        }
    }
    if (server->touched_count < ZKF__TOUCHED) {
        server->touched[server->touched_count++] = touch;
    }
}

static void reply(struct zkf__conn *conn, struct zkf__req *req)
{
    struct zkf__server *server = server_of(conn);
    if (req->kind == ZKF__SET_WATCHES) {
        zkf__set_watches(server, req);
    } else if (req->kind == ZKF__PING) {
        req->zxid = server->tree.zxid;
    } else if (!needs_leader(req) && !req->unread) {
        zkf__read(server, req);
    }
    if (req->kind == ZKF__CONNECT && req->rc == ZKF__OK) {
        conn->session = req->session;
    }
    if (req->rc == ZKF__MOVED) {
        zkf__conn_close_at_server(conn);
        return;
    }
    zkf__channel_put(&conn->down, (struct zkf__item){.kind = ZKF__REPLY, .p = req});
    if (req->kind == ZKF__CONNECT && req->rc != ZKF__OK) {
        zkf__conn_close_at_server(conn);
    }
}

/* Answers are sent in the order of the requests, so a read behind a write waits for the write. */
void zkf__server_pump(struct zkf__conn *conn)
{
    while (conn->at_server && conn->inbox &&
           (conn->inbox->ready || !needs_leader(conn->inbox))) {
        struct zkf__req *req = conn->inbox;
        conn->inbox = req->inbox_next;
        if (!conn->inbox) {
            conn->inbox_tail = &conn->inbox;
        }
        reply(conn, req);
    }
}

static bool welcome(struct zkf__conn *conn, const struct zkf__req *req)
{
    if (req->seen > server_of(conn)->tree.zxid) {
        zkf__did.too_new++;
        return false; /* the client knows more than this server */
    }
    if (req->session != 0) {
        close_older(conn, req->session);
    }
    return true;
}

/* Behaves like ClickHouse Keeper. libzookeeper does not report the new session, and closes the connection. */
static bool is_renewed(struct zkf__conn *conn, struct zkf__req *req)
{
    bool renewed = zkf__w.config.renews && req->session != 0;
    if (renewed) {
        zkf__did.renewed++;
        req->rc = ZKF__EXPIRED;
        zkf__channel_put(&conn->down, (struct zkf__item){.kind = ZKF__REPLY, .p = req});
        zkf__conn_close_at_server(conn);
    }
    return renewed;
}

void zkf_renew(bool on)
{
    zkf__w.config.renews = on;
}

static void grant_timeout(struct zkf__conn *conn, struct zkf__req *req)
{
    const struct zkf__server *server = server_of(conn);
    int64_t wanted = req->timeout;
    req->timeout = req->timeout < server->least ? server->least : req->timeout;
    req->timeout = req->timeout > server->most ? server->most : req->timeout;
    conn->timeout = req->timeout;
    zkf__did.clamped += req->session == 0 && req->timeout != wanted;
}

/* Credentials overtake requests that wait for the leader. If they are accepted, the client gets no answer. */
static void take_credentials(struct zkf__conn *conn, struct zkf__req *req)
{
    if (req->rc != ZKF__OK) {
        zkf__channel_put(&conn->down, (struct zkf__item){.kind = ZKF__REPLY, .p = req});
        zkf__conn_close_at_server(conn);
    }
}

/* Returns whether all watches in one request, as libzookeeper packs them, are too long. */
static bool is_too_long(const struct zkf__req *req)
{
    int64_t bytes = 0;
    for (const struct zkf__watch *w = req->watches; w; w = w->next) {
        bytes += (int64_t)strlen(w->path) + 4;
    }
    return req->kind == ZKF__SET_WATCHES && zkf__w.most_watches > 0 &&
           bytes > zkf__w.most_watches;
}

static bool lacks(const struct zkf__req *req)
{
    const unsigned lacks = zkf__w.config.lacks;
    return (req->kind == ZKR__OP_CREATE && (lacks & ZKF_LACKS_CREATE2)) ||
           (req->kind == ZKR__OP_PARENT && req->container &&
            (lacks & ZKF_LACKS_CONTAINERS));
}

/*
 * The refusal overtakes the answers to earlier requests. libzookeeper then does not recognize it as an answer, and
 * closes the connection itself.
 */
static void refuse_lacking(struct zkf__conn *conn, struct zkf__req *req)
{
    zkf__did.lacked++;
    if ((zkf__w.config.lacks & ZKF_REFUSES) && !conn->inbox) {
        req->rc = ZKF__UNIMPLEMENTED;
        zkf__channel_put(&conn->down, (struct zkf__item){.kind = ZKF__REPLY, .p = req});
    }
    zkf__conn_close_at_server(conn);
}

/*
 * A standalone server refuses requests queued behind the end of the session, and drops later ones (3.5 and later:
 * SessionTrackerImpl.checkSession(), ZooKeeperServer.touch()).
 */
static void take_of_orphan(struct zkf__conn *conn, struct zkf__req *req)
{
    conn->deaf = conn->deaf || req->kind >= ZKF__PING || zkf_chance(30);
    if (conn->deaf) {
        return;
    }
    zkf__did.unknown_session++;
    req->ready = req->unread = true;
    req->rc = ZKF__UNKNOWN_SESSION;
    *conn->inbox_tail = req;
    conn->inbox_tail = &req->inbox_next;
    zkf__server_pump(conn);
}

void zkf__server_request(void *ctx, const struct zkf__item *item)
{
    struct zkf__conn *conn = ctx;
    struct zkf__server *server = server_of(conn);
    struct zkf__req *req = item->p;
    if (!conn->at_server) { /* no server was listening when the connection was opened */
        zkf__channel_put(&conn->down, (struct zkf__item){.kind = ZKF__END});
        return;
    }
    if (item->kind == ZKF__REQUEST && req->kind == ZKF__CONNECT &&
        is_renewed(conn, req)) {
        return;
    }
    if (item->kind == ZKF__END || (req->kind == ZKF__CONNECT && !welcome(conn, req))) {
        zkf__conn_close_at_server(conn);
        return;
    }
    if (conn->orphan) {
        take_of_orphan(conn, req);
        return;
    }
    if (is_too_long(req)) {
        zkf__did.too_many_watches++;
        zkf__conn_close_at_server(conn);
        return;
    }
    if (req->kind == ZKF__AUTH) {
        take_credentials(conn, req);
        return;
    }
    if (lacks(req)) {
        refuse_lacking(conn, req);
        return;
    }
    if (req->kind == ZKF__CONNECT) {
        grant_timeout(conn, req);
    } else {
        req->session = conn->session;
        zkf__touch(server, (struct zkf__touch){conn->session, conn->timeout});
    }
    *conn->inbox_tail = req;
    conn->inbox_tail = &req->inbox_next;
    bool may_wait = req->kind < ZKF__PING; /* only a request of the library may wait */
    if (may_wait && zkf__fails(zkf__w.door.throttle)) {
        zkf_trace("fault: server %d is too busy for %d", server->id, req->kind);
        zkf__did.throttled++;
        req->ready = req->unread = true;
        req->rc = ZKF__THROTTLED;
    } else if (needs_leader(req)) {
        zkf__forward(server, req);
    }
    zkf__server_pump(conn);
}

/* --- messages from the leader --- */

static void answer(struct zkf__req *req)
{
    req->ready = true;
    /* Servers before 3.8.1 may forget a write until another message arrives (ZOOKEEPER-4537). */
    if (!zkf__w.config.stalls || zkf_below(64) != 0 || req->kind == ZKF__CONNECT) {
        zkf__server_pump(req->conn);
    }
}

/*
 * Close the connections of a session that has ended. On a single server, unless `calm`, each connection stays open in
 * half of the cases if no client requested the end.
 */
static void close_session_here(struct zkf__server *server, int64_t session, bool by_us)
{
    bool may_stay = zkf__w.config.servers == 1 && !zkf__w.config.calm && !by_us;
    struct zkf__conn *next;
    for (struct zkf__conn *conn = server->conns; conn; conn = next) {
        next = conn->next;
        if (conn->session != session) {
            continue;
        }
        conn->orphan = may_stay && zkf_chance(50);
        if (!conn->orphan) {
            zkf__conn_close_at_server(conn);
        }
    }
}

void zkf__server_apply(struct zkf__server *server, size_t upto)
{
    while (server->applied < upto) {
        const struct zkf__txn *txn = zkf__w.log[server->applied++];
        zkf__apply(&server->tree, txn, server);
        struct zkf__req *req = txn->req;
        if (req && req->conn && req->conn->at_server &&
            req->conn->server == server->id) {
            answer(req);
        }
        if (txn->kind == ZKF__T_CLOSE) {
            close_session_here(server, txn->session, req != NULL);
        }
    }
}

static void tell_touched(struct zkf__server *server)
{
    size_t size = server->touched_count * sizeof(server->touched[0]);
    zkf__channel_put(&server->to_leader,
                     (struct zkf__item){.kind = ZKF__TOUCHES,
                                        .p = zkf__copy(server->touched, size),
                                        .n = (int64_t)server->touched_count});
    server->touched_count = 0;
}

void zkf__from_leader(void *ctx, const struct zkf__item *item)
{
    struct zkf__server *server = ctx;
    struct zkf__req *req = item->p;
    switch (item->kind) {
    case ZKF__COMMIT:
        zkf__server_apply(server, (size_t)item->n);
        break;
    case ZKF__LEADER_PING:
        tell_touched(server);
        break;
    default: /* this is ZKF__DONE */
        if (req->conn->at_server) {
            req->zxid = server->tree.zxid;
            answer(req);
        }
        break;
    }
}

/* --- stopping and starting --- */

/* The server has lost its leader or has crashed. Its connections and all messages on their way are gone. */
void zkf__server_reset(struct zkf__server *server)
{
    while (server->conns) {
        struct zkf__conn *conn = server->conns;
        zkf__conn_close_at_server(conn);
        if (zkf_chance(50)) { /* a reset overtakes answers */
            size_t count = zkf__channel_count(&conn->down);
            zkf__channel_truncate(&conn->down, (size_t)zkf_below((int64_t)count));
            zkf__channel_put(&conn->down, (struct zkf__item){.kind = ZKF__END});
        }
    }
    zkf__channel_truncate(&server->from_leader, 0);
    zkf__channel_truncate(&server->to_leader, 0);
    server->touched_count = 0;
    server->serving = false;
}

void zkf_limits(int id, int64_t least, int64_t most)
{
    zkf__w.servers[id].least = least;
    zkf__w.servers[id].most = most;
    zkf_trace("servers: %d grants %.0f to %.0f ms", id, (double)least / 1e6,
              (double)most / 1e6);
}

static void begin_server(struct zkf__server *server, int id)
{
    *server = (struct zkf__server){.id = id, .serving = true};
    zkf_limits(id, 2 * zkf__w.config.tick, 20 * zkf__w.config.tick);
    static const struct zkf_node root = {.path = "/"};
    struct zkf_node *node = zkf__copy(&root, sizeof(root));
    node->hash = zkf_hash("/");
    server->tree.first = node;
    zkf__channel_init(&server->from_leader, zkf__from_leader, server);
    zkf__channel_init(&server->to_leader, zkf__to_leader, server);
    server->timer =
        (struct zkf_actor){.due = ZKR__NEVER, .act = zkf__server_timer, .ctx = server};
    zkf_actor_add(&server->timer);
}

void zkf__servers_begin(void)
{
    for (int i = 0; i < zkf__w.config.servers; i++) {
        begin_server(&zkf__w.servers[i], i);
    }
    zkf__w.head.first =
        zkf__copy(zkf__w.servers[0].tree.first, sizeof(struct zkf_node));
    zkf__leader_begin();
}

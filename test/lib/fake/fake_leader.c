/* SPDX-License-Identifier: Apache-2.0 */
/* The fake's leader: the log, sessions and their expiry. */
#include <stdlib.h>

#include "fake_impl.h"
#include "util.h"

static struct zkf__server *the_leader(void)
{
    return &zkf__w.servers[zkf__w.leader];
}

bool zkf__has_quorum(void)
{
    return zkf__w.leader >= 0 && !the_leader()->isolated;
}

bool zkf__leads(const struct zkf__server *server)
{
    return server->id == zkf__w.leader || server->id == zkf__w.old_leader;
}

/* --- the log --- */

static void put_into_log(struct zkf__txn *txn)
{
    struct zkf__world *w = &zkf__w;
    if (w->log_len == w->log_room) {
        w->log_room = w->log_room * 2 + 256;
        w->log = realloc(w->log, w->log_room * sizeof(struct zkf__txn *));
        if (!w->log) {
            zkt_fail("out of memory");
        }
    }
    w->log[w->log_len++] = txn;
}

void zkf__log_append(struct zkf__txn *txn)
{
    struct zkf__world *w = &zkf__w;
    txn->zxid = ++w->zxid;
    if (txn->req) {
        txn->req->zxid = txn->zxid;
        txn->req->czxid = txn->zxid;
    }
    put_into_log(txn);
    zkf__apply(&w->head, txn, NULL);
    for (int i = 0; i < w->config.servers; i++) {
        struct zkf__server *server = &w->servers[i];
        if (server->serving && !zkf__leads(server)) {
            zkf__channel_put(
                &server->from_leader,
                (struct zkf__item){.kind = ZKF__COMMIT, .n = (int64_t)w->log_len});
        }
    }
    zkf__server_apply(the_leader(), w->log_len);
}

/* --- sessions --- */

struct zkf__session *zkf__session_find(int64_t id)
{
    struct zkf__session *s = zkf__w.sessions;
    while (s && s->id != id) {
        s = s->next;
    }
    return s;
}

static bool alive(const struct zkf__session *s)
{
    return s && s->until == SIZE_MAX;
}

void zkf__rearm_expiry(void)
{
    int64_t due = ZKR__NEVER;
    for (const struct zkf__session *s = zkf__w.sessions; s; s = s->next) {
        int64_t at = s->touched + s->timeout + s->slack;
        if (alive(s) && at < due) {
            due = at;
        }
    }
    zkf__w.expiry.due = zkf__has_quorum() ? due : ZKR__NEVER;
}

static void end_session(struct zkf__session *s, struct zkf__req *req)
{
    struct zkf__txn *txn = zkf__alloc(sizeof(*txn));
    txn->kind = ZKF__T_CLOSE;
    txn->session = s->id;
    txn->req = req;
    s->until = zkf__w.log_len;
    zkf__log_append(txn);
}

static void expire(void *ctx)
{
    for (struct zkf__session *s = zkf__w.sessions; s; s = s->next) {
        if (alive(s) && s->touched + s->timeout + s->slack <= zkf__w.now) {
            zkf_trace("servers: session %lld expires", (long long)s->id);
            if (zkf__w.config.hooks.on_expired) {
                zkf__w.config.hooks.on_expired(s->id);
            }
            end_session(s, NULL);
        }
    }
    zkf__rearm_expiry();
}

static void begin_session(struct zkf__req *req)
{
    struct zkf__session *s = zkf__alloc(sizeof(*s));
    s->id = ++zkf__w.next_session;
    s->timeout = s->created_with = req->timeout;
    s->touched = zkf__w.now;
    s->owner = req->conn;
    s->from = zkf__w.log_len;
    s->until = SIZE_MAX;
    s->next = zkf__w.sessions;
    zkf__w.sessions = s;
    req->session = s->id;
    struct zkf__txn *txn = zkf__alloc(sizeof(*txn));
    txn->req = req;
    zkf__log_append(txn);
    zkf__rearm_expiry();
}

void zkf__log_wipe(void)
{
    struct zkf__world *w = &zkf__w;
    struct zkf__txn *txn = zkf__alloc(sizeof(*txn));
    txn->kind = ZKF__T_WIPE;
    txn->zxid = w->zxid;
    for (struct zkf__session *s = w->sessions; s; s = s->next) {
        s->until = s->until == SIZE_MAX ? w->log_len : s->until;
    }
    put_into_log(txn);
    zkf__apply(&w->head, txn, NULL);
}

/* --- requests that reach the leader --- */

static void done(struct zkf__server *from, struct zkf__req *req)
{
    if (zkf__leads(from)) {
        req->ready = true; /* its server will send the answer */
        req->zxid = from->tree.zxid;
    } else {
        zkf__channel_put(&from->from_leader,
                         (struct zkf__item){.kind = ZKF__DONE, .p = req});
    }
}

static void revalidate(struct zkf__server *from, struct zkf__req *req)
{
    struct zkf__session *s = zkf__session_find(req->session);
    req->rc = alive(s) ? ZKF__OK : ZKF__EXPIRED;
    if (alive(s)) {
        zkf__did.lengthened += req->timeout > s->timeout;
        zkf__did.shortened += req->timeout < s->timeout;
        if (req->timeout < s->timeout && zkf__w.config.hooks.on_shortened) {
            zkf__w.config.hooks.on_shortened(req->conn->handle->client, s->id,
                                             req->timeout);
        }
        s->touched = zkf__w.now;
        s->timeout = req->timeout;
        s->owner = req->conn;
        zkf__rearm_expiry();
    }
    done(from, req);
}

static int session_code(const struct zkf__req *req)
{
    const struct zkf__session *s = zkf__session_find(req->session);
    return !alive(s) ? ZKF__EXPIRED : s->owner != req->conn ? ZKF__MOVED : ZKF__OK;
}

static void commit_write(struct zkf__req *req, int code)
{
    struct zkf__session *s = zkf__session_find(req->session);
    req->rc = alive(s) ? code : ZKF__EXPIRED;
    if (req->rc != ZKF__OK) {
        struct zkf__txn *txn = zkf__alloc(sizeof(*txn));
        txn->req = req;
        zkf__log_append(txn);
    } else if (req->kind == ZKF__CLOSE) {
        end_session(s, req);
    } else {
        zkf__log_append(zkf__prepare(req));
    }
}

/* --- writes of a leader that is cut off --- */

static void pend(struct zkf__req *req)
{
    struct zkf__world *w = &zkf__w;
    if (w->pending_len == w->pending_room) {
        w->pending_room = w->pending_room * 2 + 64;
        w->pending = realloc(w->pending, w->pending_room * sizeof(struct zkf__pending));
        if (!w->pending) {
            zkt_fail("out of memory");
        }
    }
    int code = req->kind == ZKF__CONNECT ? ZKF__OK : session_code(req);
    w->pending[w->pending_len++] = (struct zkf__pending){req, code};
    w->pending_of = w->leader;
}

void zkf__commit_pending(void)
{
    struct zkf__world *w = &zkf__w;
    size_t count = w->pending_len;
    zkf__did.late_writes += (long)count;
    w->pending_len = 0;
    w->pending_of = -1;
    for (size_t i = 0; i < count; i++) {
        struct zkf__pending *p = &w->pending[i];
        zkf_trace("servers: %d %s commits late", p->req->kind,
                  p->req->path ? p->req->path : "");
        if (p->req->kind == ZKF__CONNECT) {
            begin_session(p->req);
        } else {
            commit_write(p->req, p->rc);
        }
    }
}

void zkf__drop_pending(void)
{
    struct zkf__world *w = &zkf__w;
    zkf__did.cut_off_writes += (long)w->pending_len;
    w->pending_len = 0;
    w->pending_of = -1;
}

/*
 * A leader that has lost its followers, but has not noticed it yet, answers all requests that need no quorum. If it is
 * not replaced, its view of sessions stays valid, and the writes in its log may be committed.
 */
static void take_alone(struct zkf__server *from, struct zkf__req *req)
{
    const struct zkf__session *s = zkf__session_find(req->session);
    if (req->kind == ZKR__OP_SYNC) {
        done(from, req);
    } else if (req->kind == ZKF__CONNECT && req->session != 0 &&
               from->id == zkf__w.leader) {
        revalidate(from, req);
    } else if (req->kind == ZKF__CONNECT && req->session != 0) {
        bool known = s && s->from < from->applied && s->until >= from->applied;
        req->rc = known ? ZKF__OK : ZKF__EXPIRED;
        done(from, req);
    } else if (from->id == zkf__w.leader) {
        pend(req);
    }
}

static void leader_take(struct zkf__server *from, struct zkf__req *req)
{
    if (from->id == zkf__w.old_leader || !zkf__has_quorum()) {
        take_alone(from, req);
    } else if (req->kind == ZKR__OP_SYNC) {
        done(from, req);
    } else if (req->kind == ZKF__CONNECT) {
        if (req->session == 0) {
            begin_session(req);
        } else {
            revalidate(from, req);
        }
    } else {
        commit_write(req, session_code(req));
    }
}

void zkf__forward(struct zkf__server *server, struct zkf__req *req)
{
    if (zkf__leads(server)) {
        leader_take(server, req);
    } else {
        zkf__channel_put(&server->to_leader,
                         (struct zkf__item){.kind = ZKF__FORWARD, .p = req});
    }
}

void zkf__to_leader(void *ctx, const struct zkf__item *item)
{
    if (zkf__w.leader < 0) {
        return;
    }
    if (item->kind == ZKF__FORWARD) {
        leader_take(ctx, item->p);
        return;
    }
    const struct zkf__touch *touched = item->p;
    for (int64_t i = 0; i < item->n; i++) {
        zkf__touch(the_leader(), touched[i]);
    }
}

static void ping_followers(void *ctx)
{
    struct zkf__world *w = &zkf__w;
    w->leader_ping.due = w->now + w->config.tick / 2;
    if (!w->config.calm) {
        w->leader_ping.due += zkf_below(w->config.tick / 64);
    }
    for (int i = 0; i < w->config.servers && w->leader >= 0; i++) {
        struct zkf__server *server = &w->servers[i];
        if (server->serving && !zkf__leads(server)) {
            zkf__channel_put(&server->from_leader,
                             (struct zkf__item){.kind = ZKF__LEADER_PING});
        }
    }
}

int zkf_leader(void)
{
    return zkf__w.leader;
}

void zkf__leader_begin(void)
{
    struct zkf__world *w = &zkf__w;
    w->leader = w->config.servers - 1;
    w->old_leader = w->pending_of = -1;
    w->epoch = w->config.epoch;
    w->zxid = w->epoch << 32;
    w->leader_ping = (struct zkf_actor){.due = w->now, .act = ping_followers};
    w->expiry = (struct zkf_actor){.due = ZKR__NEVER, .act = expire};
    w->election = (struct zkf_actor){.due = ZKR__NEVER, .act = zkf__elect};
    zkf_actor_add(&w->leader_ping);
    zkf_actor_add(&w->expiry);
    zkf_actor_add(&w->election);
}

void zkf_expire(int64_t id)
{
    struct zkf__session *s = zkf__session_find(id);
    if (alive(s) && zkf__has_quorum()) {
        zkf_trace("fault: session %lld is ended", (long long)id);
        end_session(s, NULL);
    }
}

bool zkf_session_alive(int64_t id)
{
    return alive(zkf__session_find(id));
}

size_t zkf_session_count(void)
{
    size_t n = 0;
    for (const struct zkf__session *s = zkf__w.sessions; s; s = s->next) {
        n += alive(s);
    }
    return n;
}

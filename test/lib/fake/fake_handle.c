/* SPDX-License-Identifier: Apache-2.0 */
/* libzookeeper's part of a session: connecting, timeouts, watches, and the calls to the client. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "fake_impl.h"
#include "session/zk_value.h"
#include "util.h"

/* --- calls to the library --- */

static void hand_answer(const struct zkf__handle *h, const struct zkf__req *req, int rc)
{
    struct zkr__answer a = {
        .code = zkr__zk_code(rc), .zk_rc = rc, .failed_at = SIZE_MAX};
    char *copies[2] = {NULL, NULL};
    const char **names = NULL;
    if (rc == ZKF__OK) {
        /* The copies are freed after the call, because the answer is only borrowed. */
        copies[0] = req->out_path ? strdup(req->out_path) : NULL;
        copies[1] = req->out_len > 0 ? malloc(req->out_len) : NULL;
        if (copies[1]) {
            memcpy(copies[1], req->out_data, req->out_len);
        }
        names = malloc((req->name_count + 1) * sizeof(*names));
        if (names && req->name_count > 0) {
            memcpy(names, req->names, req->name_count * sizeof(*names));
        }
        a.path = req->kind == ZKR__OP_CREATE ? copies[0] : NULL;
        a.names = req->name_count > 0 ? names : NULL;
        a.name_count = req->name_count;
        a.made = req->made;
        a.data = copies[1];
        a.data_len = req->out_len;
        if (req->kind == ZKR__OP_CREATE || req->kind == ZKR__OP_GET ||
            req->kind == ZKR__OP_EXISTS || req->kind == ZKR__OP_CHILDREN) {
            a.czxid = req->czxid;
            a.owner = req->owner;
            a.created_ms = req->created_ms;
            a.version = req->out_version;
        }
        if (req->kind == ZKR__OP_ACL) {
            a.acl = req->out_open ? &ZOO_OPEN_ACL_UNSAFE : &ZOO_READ_ACL_UNSAFE;
            a.empty = req->out_empty;
            a.version = req->out_version;
        }
    }
    if (rc == req->rc && rc != ZKF__OK) {
        a.failed_at = req->failed_at;
    }
    void *results = zkf__is_multi(req) ? zkf__multi_answer(req, rc, &a) : NULL;
    zkf__lie(h, req, &a);
    req->asker->answer(req->asker, &a);
    free(results);
    free(copies[0]);
    free(copies[1]);
    free(names);
}

static const char *const session_words[] = {"up", "down", "over", "auth failed"};

static void hand_over(void *ctx, const struct zkf__item *item)
{
    struct zkf__handle *h = ctx;
    const struct zkf__req *req = item->kind == ZKF__ANSWERED ? item->p : NULL;
    zkf_enter(h->client);
    switch (item->kind) {
    case ZKF__ANSWERED:
        zkf_trace("client %d: answer %d to %d %s", h->client, item->code, req->kind,
                  req->path ? req->path : "");
        hand_answer(h, req, item->code);
        break;
    case ZKF__NODE_EVENT:
        zkf_trace("client %d: event %d %s", h->client, item->code, item->path);
        h->owner->node(h->owner, item->path,
                       item->code == ZKF__EV_DELETED ? ZKR__NODE_DELETED
                       : item->code == ZKF__EV_CHILD ? ZKR__NODE_CHILDREN
                                                     : ZKR__NODE_CHANGED);
        break;
    default:
        zkf_trace("client %d: session %s", h->client, session_words[item->code]);
        h->told = item->p;
        h->owner->session(h->owner, (enum zkr__session_event)item->code);
        break;
    }
}

static void finish(struct zkf__handle *h, struct zkf__req *req, int rc)
{
    if (req->asker) {
        zkf__channel_put(
            &h->done, (struct zkf__item){.kind = ZKF__ANSWERED, .code = rc, .p = req});
    }
}

static void tell_session(struct zkf__handle *h, enum zkr__session_event event)
{
    zkf__channel_put(
        &h->done,
        (struct zkf__item){.kind = ZKF__SESSION, .code = (int)event, .p = h->conn});
}

/* --- timers --- */

void zkf__handle_rearm(struct zkf__handle *h)
{
    int64_t due = ZKR__NEVER;
    if (h->state == ZKF__DOWN) {
        due = h->attempt_at;
    } else if (h->state == ZKF__CONNECTING || h->state == ZKF__UP) {
        int64_t ping = h->last_sent + h->timeout / 3;
        due = h->last_heard + h->timeout * 2 / 3;
        if (h->state == ZKF__UP && !h->sent && ping < due) {
            due = ping;
        }
    }
    h->timer.due = due;
}

void zkf__handle_send(struct zkf__handle *h, struct zkf__req *req)
{
    req->conn = h->conn;
    req->next = NULL;
    if (req->kind != ZKF__PING && req->kind != ZKF__SET_WATCHES &&
        req->kind != ZKF__CONNECT && req->kind != ZKF__AUTH) {
        *h->sent_tail = req;
        h->sent_tail = &req->next;
    }
    h->last_sent = zkf__w.now;
    zkf__channel_put(&h->conn->up, (struct zkf__item){.kind = ZKF__REQUEST, .p = req});
}

static void fail_all(struct zkf__handle *h, int rc)
{
    struct zkf__req *next;
    struct zkf__req *lists[] = {h->sent, h->unsent};
    h->sent = h->unsent = NULL;
    h->sent_tail = &h->sent;
    h->unsent_tail = &h->unsent;
    for (size_t i = 0; i < 2; i++) {
        for (struct zkf__req *req = lists[i]; req; req = next) {
            next = req->next;
            finish(h, req, rc);
        }
    }
}

void zkf__handle_drop(struct zkf__handle *h)
{
    struct zkf__conn *conn = h->conn;
    h->conn = NULL;
    if (conn) {
        conn->at_client = false;
        zkf__channel_end(&conn->down);
        zkf__channel_put(&conn->up, (struct zkf__item){.kind = ZKF__END});
    }
}

/* The connection is lost. All pending requests fail, and none is sent again. */
void zkf__handle_lost(struct zkf__handle *h, int rc)
{
    bool was_up = h->state == ZKF__UP;
    zkf__handle_drop(h);
    h->state = ZKF__DOWN;
    h->attempt_at = zkf__w.now + zkf__delay() + (was_up ? 0 : h->timeout / 60);
    if (was_up) {
        tell_session(h, ZKR__SESSION_DOWN);
    }
    fail_all(h, rc);
    zkf__handle_rearm(h);
}

/* The handle ends for good, because the session has expired or the credentials are refused. */
static void ended(struct zkf__handle *h, enum zkr__session_event event, int rc)
{
    zkf__handle_drop(h);
    h->state = ZKF__DEAD;
    h->refused = rc == ZKF__AUTHFAILED;
    tell_session(h, event);
    fail_all(h, rc);
    zkf__handle_rearm(h);
}

/* If the handle has credentials, each connection begins with them. */
void zkf__handle_send_auth(struct zkf__handle *h)
{
    if (h->credentials > 0) {
        struct zkf__req *req = zkf__alloc(sizeof(*req));
        req->kind = ZKF__AUTH;
        req->rc = h->bad_auth ? ZKF__AUTHFAILED : ZKF__OK;
        h->unsure = true;
        zkf__handle_send(h, req);
    }
}

/* --- connecting --- */

static void attempt(struct zkf__handle *h)
{
    int direct = zkf__client_of(h)->direct;
    int id = direct > 0 ? direct - 1 : (int)zkf_below(zkf__w.config.servers);
    struct zkf__server *server = &zkf__w.servers[id];
    bool blackhole = zkf__client_of(h)->blackhole;
    if (!server->serving && !blackhole) {
        fail_all(h, ZKF__CONNLOSS);
        h->attempt_at = zkf__w.now + h->timeout / 60 + zkf__delay();
        zkf__handle_rearm(h);
        return;
    }
    struct zkf__conn *conn = zkf__alloc(sizeof(*conn));
    conn->handle = h;
    conn->server = id;
    conn->at_client = true;
    conn->previous = zkf__client_of(h)->conns;
    zkf__client_of(h)->conns = conn;
    conn->inbox_tail = &conn->inbox;
    zkf__channel_init(&conn->up, zkf__server_request, conn);
    zkf__channel_init(&conn->down, zkf__handle_receive, conn);
    conn->down.actor.stopped = &zkf__client_of(h)->stopped;
    zkf__channel_block(&conn->up, blackhole);
    zkf__channel_block(&conn->down, blackhole);
    if (server->serving) {
        conn->at_server = true;
        conn->next = server->conns;
        server->conns = conn;
    }
    h->conn = conn;
    h->state = ZKF__CONNECTING;
    h->last_heard = zkf__w.now;
    struct zkf__req *req = zkf__alloc(sizeof(*req));
    req->kind = ZKF__CONNECT;
    req->session = h->session;
    req->timeout = h->timeout;
    req->seen = h->seen;
    zkf_trace("client %d: connects to server %d, session %lld", h->client, id,
              (long long)h->session);
    zkf__handle_send(h, req);
    zkf__handle_rearm(h);
}

static void connected(struct zkf__handle *h, const struct zkf__req *req)
{
    if (req->rc != ZKF__OK) {
        ended(h, ZKR__SESSION_OVER, ZKF__EXPIRED);
        return;
    }
    h->state = ZKF__UP;
    h->session = req->session;
    h->timeout = req->timeout;
    zkf__lie_of_session(h);
    if (h->credentials > 0 && !h->bad_auth) {
        h->bad_auth = zkf__fails(zkf__w.door.refuse_auth);
        zkf__did.auths_refused += h->bad_auth;
    }
    zkf__handle_send_auth(h); /* before all other requests */
    if (h->watches) {
        struct zkf__req *set = zkf__alloc(sizeof(*set));
        set->kind = ZKF__SET_WATCHES;
        set->seen = h->seen;
        for (const struct zkf__watch *w = h->watches; w; w = w->next) {
            struct zkf__watch *copy = zkf__copy(w, sizeof(*w));
            /* The watches are in the order of a hash table, which is arbitrary. */
            struct zkf__watch **at = &set->watches;
            while (*at && zkf_chance(50)) {
                at = &(*at)->next;
            }
            copy->next = *at;
            *at = copy;
        }
        zkf__handle_send(h, set);
    }
    tell_session(h, ZKR__SESSION_UP);
    while (h->unsent) {
        struct zkf__req *next = h->unsent->next;
        zkf__handle_send(h, h->unsent);
        h->unsent = next;
    }
    h->unsent_tail = &h->unsent;
}

static void on_timer(void *ctx)
{
    struct zkf__handle *h = ctx;
    if (h->state == ZKF__DOWN) {
        attempt(h);
    } else if (zkf__w.now >= h->last_heard + h->timeout * 2 / 3) {
        zkf_trace("client %d: no answer, disconnects", h->client);
        zkf__handle_lost(h, ZKF__TIMEOUT);
    } else {
        struct zkf__req *ping = zkf__alloc(sizeof(*ping));
        ping->kind = ZKF__PING;
        zkf__handle_send(h, ping);
        zkf__handle_rearm(h);
    }
}

/* --- messages from the server --- */

static void set_watch(struct zkf__handle *h, const struct zkf__req *req)
{
    enum zkf__watch_type type = req->kind == ZKR__OP_CHILDREN ? ZKF__CHILD : ZKF__DATA;
    if (!req->watch || (req->rc != ZKF__OK && req->kind != ZKR__OP_EXISTS)) {
        return;
    }
    if (req->rc != ZKF__OK) {
        type = ZKF__EXIST;
    }
    struct zkf__watch *w;
    for (w = h->watches; w; w = w->next) {
        if (w->type == type && w->hash == req->hash &&
            strcmp(w->path, req->path) == 0) {
            return;
        }
    }
    w = h->spare ? h->spare : zkf__alloc(sizeof(*w));
    h->spare = w->next;
    *w = (struct zkf__watch){.path = req->path, .hash = req->hash, .type = type};
    w->next = h->watches;
    h->watches = w;
}

static bool concerns(const struct zkf__watch *w, int event)
{
    switch (event) {
    case ZKF__EV_DELETED:
        return true;
    case ZKF__EV_CHILD:
        return w->type == ZKF__CHILD;
    default:
        return w->type != ZKF__CHILD;
    }
}

/* All watches of @path have one owner, which is notified once. */
static void on_event(struct zkf__handle *h, int event, const char *path)
{
    uint32_t hash = zkf_hash(path);
    bool watched = false;
    struct zkf__watch **at = &h->watches;
    while (*at) {
        struct zkf__watch *w = *at;
        if (w->hash != hash || !concerns(w, event) || strcmp(w->path, path) != 0) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        watched = true;
        w->next = h->spare;
        h->spare = w;
    }
    if (watched) {
        zkf__channel_put(
            &h->done,
            (struct zkf__item){.kind = ZKF__NODE_EVENT, .code = event, .path = path});
    }
}

static void on_reply(struct zkf__handle *h, struct zkf__req *req)
{
    if (req->kind == ZKF__CONNECT) { /* the only answer without a zxid */
        connected(h, req);
        return;
    }
    if (req->kind == ZKF__AUTH) {
        ended(h, ZKR__SESSION_AUTH_FAILED, ZKF__AUTHFAILED);
        return;
    }
    h->unsure = false;
    h->seen = req->zxid > h->seen ? req->zxid : h->seen;
    if (req->kind == ZKF__PING || req->kind == ZKF__SET_WATCHES) {
        return;
    }
    if (h->sent != req) {
        zkt_fail("the fake answers out of order");
    }
    h->sent = req->next;
    if (!h->sent) {
        h->sent_tail = &h->sent;
    }
    set_watch(h, req);
    finish(h, req, req->rc);
}

void zkf__handle_receive(void *ctx, const struct zkf__item *item)
{
    struct zkf__conn *conn = ctx;
    struct zkf__handle *h = conn->handle;
    if (item->kind == ZKF__END) {
        zkf__handle_lost(h, zkf_chance(20) ? ZKF__RUNTIME : ZKF__CONNLOSS);
        return;
    }
    h->last_heard = zkf__w.now;
    if (item->kind == ZKF__EVENT) {
        on_event(h, item->code, item->path);
    } else {
        on_reply(h, item->p);
    }
    zkf__handle_rearm(h);
}

/* --- opening a handle --- */

static struct zkf__handle *begin(const struct zkr__open_args *args)
{
    struct zkf__handle *h = zkf__alloc(sizeof(*h));
    h->client = zkf__w.current;
    h->owner = args->owner;
    h->timeout = args->timeout_ms * ZKR__MS;
    h->sent_tail = &h->sent;
    h->unsent_tail = &h->unsent;
    h->attempt_at = zkf__w.now + zkf__delay();
    zkf__channel_init(&h->done, hand_over, h);
    h->done.actor.stopped = &zkf__client_of(h)->stopped;
    h->done.actor.library = h->client + 1;
    h->timer = (struct zkf_actor){.act = on_timer, .ctx = h};
    h->timer.stopped = &zkf__client_of(h)->stopped;
    zkf_actor_add(&h->timer);
    zkf__handle_rearm(h);
    zkf__client_of(h)->handle = h;
    return h;
}

void *zkf__handle_open(const struct zkr__open_args *args)
{
    int client = zkf__w.current;
    if (zkf__fails(zkf__w.door.open)) {
        zkf_trace("fault: client %d: no handle", client);
        zkf__did.opens_failed++;
        errno = EMFILE;
        return NULL;
    }
    struct zkf__handle *h = begin(args);
    zkf__take_time(client);
    return h;
}

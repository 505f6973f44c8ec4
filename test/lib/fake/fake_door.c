/* SPDX-License-Identifier: Apache-2.0 */
/* The door of the fake, which the library calls. */
#include <string.h>

#include "fake_impl.h"

/* Requests that were sent still go out, unless the reset that follows overtakes them. */
static void say_goodbye(struct zkf__handle *h)
{
    struct zkf__conn *conn = h->conn;
    if (h->state == ZKF__UP && !zkf__client_of(h)->killed) {
        struct zkf__req *req = zkf__alloc(sizeof(*req));
        req->kind = ZKF__CLOSE;
        zkf__handle_send(h, req);
    }
    if (conn && (zkf__client_of(h)->killed || zkf__channel_count(&conn->down) > 0)) {
        size_t count = zkf__channel_count(&conn->up);
        zkf__channel_truncate(&conn->up, (size_t)zkf_below((int64_t)count + 1));
    }
}

bool zkf_calls(const void *zh)
{
    return ((const struct zkf__handle *)zh)->done.actor.busy;
}

static void close_handle(void *zh)
{
    struct zkf__handle *h = zh;
    say_goodbye(h);
    zkf__handle_drop(h);
    h->state = ZKF__CLOSED;
    zkf__channel_end(&h->done);
    zkf_actor_remove(&h->timer);
    if (zkf__client_of(h)->handle == h) {
        zkf__client_of(h)->handle = NULL;
    }
    zkf__take_time(h->client);
}

static void copy_paths(struct zkf__req *req, const struct zkr__op *op)
{
    const char **paths = zkf__alloc((op->path_count + 1) * sizeof(*paths));
    for (size_t i = 0; i < op->path_count; i++) {
        paths[i] = zkf__string(op->paths[i]);
    }
    req->paths = paths;
    req->path_count = op->path_count;
}

static int submit(void *zh,
                  const struct zkr__op *op,
                  struct zkr__asker *asker,
                  struct zkr__handle_owner *owner)
{
    struct zkf__handle *h = zh;
    if (h->state == ZKF__DEAD) {
        return h->refused ? ZKF__AUTHFAILED : ZKF__INVALIDSTATE;
    }
    bool is_multi = op->kind == ZKR__OP_CHECK || op->kind == ZKR__OP_MULTI ||
                    op->kind == ZKR__OP_CREATES;
    /* The library cannot know that there is already another connection. */
    zkf__did.hasty += is_multi && h->unsure && h->told == h->conn;
    if (zkf__fails(zkf__w.door.submit)) {
        static const int codes[] = {ZKF__SYSTEM, ZKF__MARSHALLING, ZKF__BADARG};
        zkf__did.submits_failed++;
        zkf_trace("fault: client %d cannot send %d", h->client, (int)op->kind);
        return codes[zkf_below(3)];
    }
    struct zkf__req *req = zkf__alloc(sizeof(*req));
    req->kind = (int)op->kind;
    req->path = op->path ? zkf__string(op->path) : NULL;
    req->hash = op->path ? zkf_hash(op->path) : 0;
    req->data = zkf__copy(op->data, op->data_len);
    req->data_len = op->data_len;
    req->container = op->container;
    req->ephemeral = req->sequential = op->kind == ZKR__OP_CREATE;
    req->version = op->kind == ZKR__OP_SET ? op->version : -1;
    req->watch = op->watch;
    req->asker = asker;
    req->failed_at = SIZE_MAX;
    copy_paths(req, op);
    if (zkf__w.config.hooks.on_submit) {
        req->label = zkf__w.config.hooks.on_submit(h->client, op);
    }
    if (op->kind == ZKR__OP_MULTI || op->edits) {
        req->kind = ZKR__OP_MULTI;
        zkf__multi_take(req, op);
    } else if (op->kind == ZKR__OP_CREATES) {
        zkf__creates_take(req, h->client, op);
    }
    zkf_trace("client %d: sends %d %s", h->client, req->kind,
              req->path ? req->path : "");
    if (h->state == ZKF__UP) {
        zkf__handle_send(h, req);
        zkf__handle_rearm(h);
    } else {
        *h->unsent_tail = req;
        h->unsent_tail = &req->next;
    }
    return 0;
}

int zkf_credentials(const void *zh)
{
    return ((const struct zkf__handle *)zh)->credentials;
}

static int add_auth(void *zh, const char *scheme, const void *cert, size_t len)
{
    struct zkf__handle *h = zh;
    if (h->state != ZKF__UP && h->state != ZKF__CONNECTING) {
        return ZKF__INVALIDSTATE; /* libzookeeper does the same */
    }
    if (zkf__fails(zkf__w.door.add_auth)) {
        zkf__did.auths_failed++;
        return ZKF__SYSTEM;
    }
    h->credentials++;
    h->bad_auth = h->bad_auth || zkf__fails(zkf__w.door.refuse_auth);
    zkf__did.auths_refused += h->bad_auth;
    zkf_trace("client %d: hands in %s credentials", h->client,
              h->bad_auth ? "bad" : "good");
    if (h->state == ZKF__UP) {
        zkf__handle_send_auth(h);
        zkf__handle_rearm(h);
    }
    return 0;
}

/* Here, addresses are numbers and do not change. */
static bool connected_to(void *zh, const char *servers)
{
    return true;
}

static bool set_servers(void *zh, const char *servers, bool anew)
{
    return false;
}

static int64_t session_id(void *zh)
{
    const struct zkf__handle *h = zh;
    return h->lie == ZKF__NO_SESSION ? 0 : h->session;
}

static int timeout_ms(void *zh)
{
    const struct zkf__handle *h = zh;
    return h->lie == ZKF__NO_TIMEOUT ? h->told_ms : (int)(h->timeout / ZKR__MS);
}

static int64_t clock_now(void)
{
    const struct zkf__client *c = &zkf__w.clients[zkf__w.current];
    if (zkf__w.hurry) {
        return 1;
    }
    return zkf__w.now + c->offset + zkf__w.now / 1000000 * c->skew +
           zkf__w.now % 1000000 * c->skew / 1000000;
}

const struct zkr__door zkf_door = {
    .open = zkf__handle_open,
    .close = close_handle,
    .submit = submit,
    .add_auth = add_auth,
    .connected_to = connected_to,
    .set_servers = set_servers,
    .session_id = session_id,
    .timeout_ms = timeout_ms,
    .now = clock_now,
    .boot = clock_now,
};

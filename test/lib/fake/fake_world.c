/* SPDX-License-Identifier: Apache-2.0 */
/* How the fake begins and ends, its clients, and the actions of tests. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_impl.h"
#include "util.h"

enum { BEGINNING_MS = 10000 };

void zkf_begin(const struct zkf_config *config)
{
    struct zkf__world *w = &zkf__w;
    struct zkf__world fresh = {
        .config = *config,
        .random = config->seed,
        .now = BEGINNING_MS * ZKR__MS,
        .actors = w->actors,
        .due = w->due,
        .actor_room = w->actor_room,
        .log = w->log,
        .log_room = w->log_room,
        .next_session = 1000,
        .pending = w->pending,
        .pending_room = w->pending_room,
    };
    *w = fresh;
    zkf__alloc_reset();
    zkf__servers_begin();
}

void zkf_end(void)
{
    struct zkf__world *w = &zkf__w;
    for (int i = 0; i < ZKF_CLIENTS; i++) {
        if (w->clients[i].handle) {
            zkt_fail("client %d left a handle open", i);
        }
    }
    w->actor_count = 0;
}

void zkf_forget(void)
{
    for (int i = 0; i < ZKF_CLIENTS; i++) {
        zkf__w.clients[i].handle = NULL;
    }
}

/* --- clients --- */

void zkf_enter(int client)
{
    zkf__w.current = client;
}

void zkf_client_clock(int client, int64_t offset, int64_t skew)
{
    zkf__w.clients[client].offset = offset;
    zkf__w.clients[client].skew = skew;
}

void zkf_client_stop(int client, bool stopped)
{
    zkf__w.clients[client].stopped = stopped;
}

const bool *zkf_client_stopped(int client)
{
    return &zkf__w.clients[client].stopped;
}

int64_t zkf_client_span(int client, int64_t span)
{
    return span * 1000000 / (1000000 + zkf__w.clients[client].skew);
}

void zkf_client_killed(int client, bool killed)
{
    zkf__w.clients[client].killed = killed;
}

void zkf_door_faults(const struct zkf_door_faults *faults)
{
    zkf__w.door = faults ? *faults : (struct zkf_door_faults){0};
}

const struct zkf_counts *zkf_counts(void)
{
    return &zkf__did;
}

void zkf_hurry(bool hurry)
{
    zkf__w.hurry = hurry;
}

/* --- faults --- */

static void lose_some(struct zkf__channel *ch)
{
    size_t count = zkf__channel_count(ch);
    zkf__channel_truncate(ch, (size_t)zkf_below((int64_t)count + 1));
}

bool zkf_cut(int client, enum zkf_cut cut)
{
    struct zkf__handle *h = zkf__w.clients[client].handle;
    if (!h || !h->conn) {
        return false;
    }
    struct zkf__conn *conn = h->conn;
    const struct zkf__req *req = h->sent;
    while (req && !zkf__is_multi(req)) {
        req = req->next;
    }
    zkf__did.cut_transactions += req != NULL;
    switch (cut) {
    case ZKF_CUT_REQUESTS:
        zkf__channel_truncate(&conn->up, 0);
        break;
    case ZKF_CUT_ANSWERS:
        zkf__channel_truncate(&conn->down, 0);
        break;
    case ZKF_CUT_SOME:
        lose_some(&conn->up);
        lose_some(&conn->down);
        break;
    }
    zkf_trace("fault: client %d is cut (%d)", client, (int)cut);
    /*
     * No further message reaches the client. Messages on the way to the server arrive, and then the end of the
     * connection.
     */
    zkf__channel_put(&conn->down, (struct zkf__item){.kind = ZKF__END});
    return true;
}

void zkf_blackhole(int client, bool on)
{
    struct zkf__client *c = &zkf__w.clients[client];
    if (c->blackhole == on) {
        return;
    }
    zkf_trace("fault: client %d hears %s", client, on ? "nothing" : "again");
    c->blackhole = on;
    /* When the network is back, messages that old connections sent arrive, too. */
    for (struct zkf__conn *conn = c->conns; conn; conn = conn->previous) {
        zkf__channel_block(&conn->up, on);
        zkf__channel_block(&conn->down, on);
    }
}

bool zkf_serves(int server)
{
    return zkf__w.servers[server].serving;
}

void zkf_direct(int client, int server)
{
    zkf__w.clients[client].direct = server + 1;
}

void zkf_lag(int server, bool on)
{
    zkf__channel_block(&zkf__w.servers[server].from_leader, on);
}

bool zkf_isolated(void)
{
    bool isolated = false;
    for (int i = 0; i < zkf__w.config.servers; i++) {
        isolated = isolated || zkf__w.servers[i].isolated;
    }
    return isolated;
}

void zkf_slow(int64_t slow)
{
    zkf__w.config.slow = slow;
}

/* --- strangers --- */

static bool can_write(void)
{
    return zkf__w.leader >= 0 && !zkf__w.servers[zkf__w.leader].isolated;
}

/*
 * Make a change as another client. @owner is the owner of a node with exactly this name. -1 = @kind determines the
 * owner.
 */
static bool stranger_makes(int kind, const char *path, int64_t owner)
{
    if (!can_write()) {
        return false;
    }
    struct zkf__req *req = zkf__alloc(sizeof(*req));
    req->kind = kind;
    req->path = zkf__string(path);
    req->hash = zkf_hash(path);
    req->session = ZKF__STRANGER;
    req->version = -1;
    req->ephemeral = req->sequential = kind == ZKR__OP_CREATE;
    struct zkf__txn *txn = zkf__prepare(req);
    txn->req = NULL;
    if (req->rc != ZKF__OK) {
        return false;
    }
    txn->node.owner = owner >= 0 ? owner : txn->node.owner;
    zkf_trace("stranger: %d %s", kind, req->out_path ? req->out_path : path);
    zkf__log_append(txn);
    return true;
}

bool zkf_stranger_create_for(const char *path, int64_t owner)
{
    return (owner == 0 || zkf_session_alive(owner)) &&
           stranger_makes(ZKR__OP_PARENT, path, owner);
}

bool zkf_stranger_create(const char *path, bool sequential)
{
    return stranger_makes(sequential ? ZKR__OP_CREATE : ZKR__OP_PARENT, path, -1);
}

bool zkf_stranger_delete(const char *path)
{
    return stranger_makes(ZKR__OP_DELETE, path, -1);
}

static struct zkf__txn *about(enum zkf__txn_kind kind, const char *path)
{
    struct zkf__txn *txn = zkf__alloc(sizeof(*txn));
    txn->kind = kind;
    txn->node.path = zkf__string(path);
    txn->node.hash = zkf_hash(path);
    return txn;
}

bool zkf_stranger_set(const char *path, const void *data, size_t len)
{
    if (!can_write() || !zkf_find(path)) {
        return false;
    }
    struct zkf__txn *txn = about(ZKF__T_SET, path);
    txn->node.data = data ? zkf__copy(data, len) : NULL;
    txn->node.data_len = len;
    zkf_trace("stranger: sets %s", path);
    zkf__log_append(txn);
    return true;
}

bool zkf_forbid(const char *path, unsigned perms)
{
    if (!can_write() || !zkf_find(path)) {
        return false;
    }
    struct zkf__txn *txn = about(ZKF__T_ACL, path);
    txn->node.forbidden = perms;
    zkf_trace("stranger: forbids %u at %s", perms, path);
    zkf__log_append(txn);
    return true;
}

void zkf_permit_all(void)
{
    for (const struct zkf_node *node = zkf__w.head.first; node; node = node->next) {
        if (node->forbidden != 0) {
            (void)zkf_forbid(node->path, 0);
        }
    }
}

void zkf_count_from(const char *path, int number)
{
    if (can_write() && zkf_find(path)) {
        struct zkf__txn *txn = about(ZKF__T_COUNT, path);
        txn->number = number;
        zkf_trace("stranger: the next number at %s is %d", path, number);
        zkf__log_append(txn);
    }
}

bool zkf_stranger_touch(const char *path)
{
    return zkf_stranger_set(path, NULL, 0);
}

long zkf_reap(void)
{
    long count = 0;
    const struct zkf_node *next;
    for (const struct zkf_node *node = zkf__w.head.first; node; node = next) {
        next = node->next;
        if (node->container && node->creates > 0 && node->children == 0) {
            count += zkf_stranger_delete(node->path);
            next = zkf__w.head.first; /* the other nodes may have moved */
        }
        if (!can_write()) {
            break;
        }
    }
    return count;
}

/* --- the leader's view --- */

const struct zkf_node *zkf_nodes(void)
{
    return zkf__w.head.first;
}

const struct zkf_node *zkf_find(const char *path)
{
    return zkf__tree_find(&zkf__w.head, path, zkf_hash(path));
}

void zkf_lapse(const char *path)
{
    zkf_trace("stranger: lapses of %s", path ? path : "none");
    zkf__w.lapses = path ? zkf_hash(path) : 0;
}

void zkf_most_watches(int64_t bytes)
{
    zkf__w.most_watches = bytes;
}

void zkf_local_sessions(int refusal)
{
    zkf__w.local = refusal;
}

void zkf_lack(unsigned lacks)
{
    zkf__w.config.lacks = lacks;
}

size_t zkf_watch_count(void)
{
    size_t n = 0;
    for (int i = 0; i < zkf__w.config.servers; i++) {
        for (const struct zkf__watch *w = zkf__w.servers[i].watches; w; w = w->next) {
            n++;
        }
    }
    return n;
}

size_t zkf_log_length(void)
{
    return zkf__w.log_len;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The internals that the fake's files share. */
#ifndef ZKT_FAKE_IMPL_H
#define ZKT_FAKE_IMPL_H

#include "fake_parts.h"

enum { ZKF__TOUCHED = 64 };

/* A session from which a server has received a message, and the timeout of its connection. */
struct zkf__touch {
    int64_t session, timeout;
};

struct zkf__server {
    int id;
    bool serving;
    bool isolated;
    bool dead;     /* the server is down until its timer starts it again */
    int64_t epoch; /* epoch of the leader that the server follows or followed last */
    struct zkf__tree tree;
    size_t applied; /* number of transactions of the log that the server has applied */
    struct zkf__channel from_leader, to_leader;
    int64_t least, most; /* limits of the timeouts that the server grants */
    struct zkf__touch touched[ZKF__TOUCHED];
    size_t touched_count;
    struct zkf__watch *watches;
    struct zkf__conn *conns;
    struct zkf_actor timer; /* when the server gives up or is back */
};

struct zkf__session {
    struct zkf__session *next;
    /* created_with: its first timeout, which a new leader uses. */
    int64_t id, created_with;
    int64_t timeout, touched, slack;
    struct zkf__conn *owner;
    size_t from, until; /* positions in the log at which the session begins and ends */
};

enum zkf__handle_state { ZKF__DOWN, ZKF__CONNECTING, ZKF__UP, ZKF__DEAD, ZKF__CLOSED };

struct zkf__handle {
    int client;
    enum zkf__handle_state state;
    struct zkr__handle_owner *owner;
    struct zkf__conn *conn;
    /* The timeout is in ns, first as requested, and then as negotiated last. */
    int64_t session, timeout;
    /* The lie about the session that the client gets. */
    enum { ZKF__TRUTH, ZKF__NO_TIMEOUT, ZKF__NO_SESSION } lie;
    int told_ms;
    int credentials;
    bool bad_auth; /* a credential was refused */
    bool refused;  /* the handle is DEAD because of the refusal */
    bool unsure;   /* no request sent after the credentials is answered yet */
    /* The connection at the last session event that the library received. */
    const struct zkf__conn *told;
    int64_t last_sent, last_heard, attempt_at;
    int64_t seen; /* the highest zxid in an answer */
    struct zkf__req *sent, **sent_tail, *unsent, **unsent_tail;
    struct zkf__watch *watches, *spare;
    struct zkf__channel done; /* the channel to the library */
    struct zkf_actor timer;
};

struct zkf__client {
    int64_t offset, skew;
    bool stopped, killed, blackhole;
    int direct;                 /* connects only to server .direct - 1; 0 = to any */
    struct zkf__handle *handle; /* the latest handle */
    struct zkf__conn *conns;    /* all connections that the client ever had */
};

/* A write that waits for a quorum. */
struct zkf__pending {
    struct zkf__req *req;
    int rc; /* the leader's result for the writer's session */
};

struct zkf__world {
    struct zkf_config config;
    uint64_t random;
    int64_t now;
    bool hurry;
    int current;
    struct zkf_actor **actors;
    int actor_count, actor_room;
    int *due;
    struct zkf__server servers[ZKF_SERVERS];
    int leader, old_leader; /* -1 = none */
    struct zkf_actor leader_ping, expiry, election;
    struct zkf__tree head;  /* the leader's tree, with all of the log */
    struct zkf__tree trial; /* a multi is tried on this tree */
    struct zkf__txn **log;
    size_t log_len, log_room;
    int64_t zxid, epoch, next_session;
    int64_t most_watches;
    /* Code with which a transaction that creates an ephemeral node is answered; 0 = it is carried out. */
    int local;
    uint32_t lapses;              /* zkf_hash() of the path; 0 = none */
    struct zkf__pending *pending; /* proposals of a leader that is cut off */
    size_t pending_len, pending_room;
    int pending_of; /* the index of this leader; -1 = none */
    struct zkf_door_faults door;
    struct zkf__session *sessions;
    struct zkf__client clients[ZKF_CLIENTS];
};

extern struct zkf__world zkf__w;
extern struct zkf_counts zkf__did;
static inline struct zkf__client *zkf__client_of(const struct zkf__handle *h)
{
    return &zkf__w.clients[h->client];
}

/* --- memory of a world, which lasts until zkf_end() (fake_time.c) --- */
void *zkf__alloc(size_t size);
char *zkf__string(const char *text);
void *zkf__copy(const void *from, size_t size);
void zkf__alloc_reset(void);

/* --- channels (fake_time.c) --- */
void zkf__channel_init(struct zkf__channel *ch,
                       void (*take)(void *ctx, const struct zkf__item *item),
                       void *ctx);
void zkf__channel_end(struct zkf__channel *ch);
void zkf__channel_put(struct zkf__channel *ch, struct zkf__item item);
void zkf__channel_block(struct zkf__channel *ch, bool blocked);
/* Forget all items except the first @keep. */
void zkf__channel_truncate(struct zkf__channel *ch, size_t keep);
size_t zkf__channel_count(const struct zkf__channel *ch);
int64_t zkf__delay(void);
/* Returns whether a fault that happens once in so many calls happens now. */
bool zkf__fails(int once_in);
/* Let a call through the door take some time. */
void zkf__take_time(int client);

/* --- lies (fake_lies.c), if one is due --- */
void zkf__lie(const struct zkf__handle *h,
              const struct zkf__req *req,
              struct zkr__answer *a);
/* Lie about the session while the handle connects. */
void zkf__lie_of_session(struct zkf__handle *h);

/* --- trees (fake_tree.c) --- */
struct zkf_node *
zkf__tree_find(const struct zkf__tree *t, const char *path, uint32_t hash);
/* Returns the number that the leader assigns to a child of @parent. */
int zkf__next_number(const struct zkf_node *parent);
struct zkf_node *zkf__tree_parent(const struct zkf__tree *t, const char *path);
/* Prepare a write as the leader does, with its own tree, and append it to the log. */
struct zkf__txn *zkf__prepare(struct zkf__req *req);
/* Like zkf__prepare(), for a write that is not a multi, with the given tree. */
struct zkf__txn *zkf__prepare_on(const struct zkf__tree *t, struct zkf__req *req);
/*
 * Apply a transaction at @server, which fires its watches. @server NULL = apply it to the leader's own tree, with
 * hooks.
 */
void zkf__apply(struct zkf__tree *t,
                const struct zkf__txn *txn,
                struct zkf__server *server);
/* Answer a read at @server, and set its watch. */
void zkf__read(struct zkf__server *server, struct zkf__req *req);
void zkf__set_watches(struct zkf__server *server, const struct zkf__req *req);
void zkf__drop_watches(struct zkf__server *server, const struct zkf__conn *conn);

/* --- multis (fake_multi.c) --- */
void zkf__multi_take(struct zkf__req *req, const struct zkr__op *op);
void zkf__creates_take(struct zkf__req *req, int client, const struct zkr__op *op);
static inline bool zkf__is_multi(const struct zkf__req *req)
{
    return req->kind == ZKR__OP_MULTI || req->kind == ZKR__OP_CREATES;
}
struct zkf__txn *zkf__prepare_multi(struct zkf__req *req);
void zkf__apply_multi(struct zkf__tree *t,
                      const struct zkf__txn *txn,
                      struct zkf__server *server);
/* Fill in the answer @rc. The caller frees the returned memory after the answer. */
void *zkf__multi_answer(const struct zkf__req *req, int rc, struct zkr__answer *a);

/* --- servers (fake_server.c, fake_leader.c, fake_election.c) --- */
void zkf__servers_begin(void);
void zkf__server_request(void *conn, const struct zkf__item *item);
void zkf__conn_close_at_server(struct zkf__conn *conn);
void zkf__server_pump(struct zkf__conn *conn);
/* Forward a request that only the leader can answer, from @server. */
void zkf__forward(struct zkf__server *server, struct zkf__req *req);
void zkf__touch(struct zkf__server *server, struct zkf__touch touch);
void zkf__log_append(struct zkf__txn *txn);
/* Append a transaction that deletes all data. Each server applies it when it is back. Called while no server serves. */
void zkf__log_wipe(void);
void zkf__server_apply(struct zkf__server *server, size_t upto);
void zkf__from_leader(void *server, const struct zkf__item *item);
void zkf__to_leader(void *server, const struct zkf__item *item);
struct zkf__session *zkf__session_find(int64_t id);
void zkf__leader_begin(void);
void zkf__elect(void *unused);
bool zkf__has_quorum(void);
void zkf__commit_pending(void);
void zkf__drop_pending(void);
void zkf__server_reset(struct zkf__server *server);
void zkf__server_timer(void *server);
void zkf__rearm_expiry(void);
/* Returns whether this server sees a quorum, as the leader or through the leader. */
bool zkf__leads(const struct zkf__server *server);

/* --- handles (fake_handle.c) --- */
void zkf__handle_receive(void *conn, const struct zkf__item *item);
void zkf__handle_lost(struct zkf__handle *h, int rc);
void *zkf__handle_open(const struct zkr__open_args *args);
void zkf__handle_send(struct zkf__handle *h, struct zkf__req *req);
void zkf__handle_rearm(struct zkf__handle *h);
void zkf__handle_send_auth(struct zkf__handle *h);
void zkf__handle_drop(struct zkf__handle *h); /* drops the connection */

#endif

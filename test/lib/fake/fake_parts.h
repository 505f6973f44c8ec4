/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the fake: requests, messages on their way, connections, data. */
#ifndef ZKT_FAKE_PARTS_H
#define ZKT_FAKE_PARTS_H

#include "base/clock.h"
#include "fake.h"

/* ZooKeeper's codes. */
enum {
    ZKF__OK = 0,
    ZKF__SYSTEM = -1,
    ZKF__RUNTIME = -2,
    ZKF__CONNLOSS = -4,
    ZKF__MARSHALLING = -5,
    ZKF__TIMEOUT = -7,
    ZKF__BADARG = -8,
    ZKF__INVALIDSTATE = -9,
    ZKF__UNKNOWN_SESSION = -12,
    ZKF__NONODE = -101,
    ZKF__BADVERSION = -103,
    ZKF__EXISTS = -110,
    ZKF__NOTEMPTY = -111,
    ZKF__EPHEMERAL_PARENT = -108,
    ZKF__NOAUTH = -102,
    ZKF__EXPIRED = -112,
    ZKF__AUTHFAILED = -115,
    ZKF__MOVED = -118,
    ZKF__LOCAL = -120,
    ZKF__QUOTA_EXCEEDED = -125,
    ZKF__UNIMPLEMENTED = -6,
    ZKF__THROTTLED = -127
};

/* Messages other than those of enum zkr__op_kind. */
enum { ZKF__PING = 100, ZKF__CONNECT, ZKF__CLOSE, ZKF__SET_WATCHES, ZKF__AUTH };
/* Parts of a multi that are not requests by themselves. */
enum { ZKF__CHECK_ONE = 110 };
/* The session ID of all creates and deletes by zkf_stranger_...(). */
enum { ZKF__STRANGER = 1 };

struct zkf__conn;
struct zkf__handle;

enum zkf__watch_type { ZKF__DATA, ZKF__CHILD, ZKF__EXIST /* in handles only */ };

struct zkf__watch {
    struct zkf__watch *next;
    const char *path;
    uint32_t hash;
    enum zkf__watch_type type;
    struct zkf__conn *conn; /* for watches at servers */
};

struct zkf__req {
    struct zkf__req *next; /* in the handle's list of unanswered requests */
    struct zkf__req *inbox_next;
    struct zkf__conn *conn;
    int kind;
    int64_t session;
    const char *path;
    uint32_t hash;
    const void *data;
    size_t data_len;
    bool container, watch;
    bool ephemeral, sequential; /* properties of the node that is created */
    int version;                /* expected version; below 0 = any */
    const char *const *paths;
    size_t path_count;
    struct zkf__req *parts;             /* MULTI */
    size_t part_count, first, op_count; /* first, op_count: the caller's parts */
    /* Index of the failed part of a MULTI or CHECK; else SIZE_MAX. */
    size_t failed_at;
    struct zkf__watch *watches; /* SET_WATCHES */
    int64_t seen;               /* SET_WATCHES, CONNECT: last zxid */
    /* CONNECT: first the requested timeout, then the granted one. */
    int64_t timeout;
    int label;
    struct zkr__asker *asker;
    /* At the server: the answer can be sent. The leader sets this. */
    bool ready;
    bool unread; /* answered without being processed */
    int rc;
    int64_t zxid, czxid, owner, created_ms;
    const char *out_path;
    const char **names;
    size_t name_count;
    int64_t made;
    const void *out_data;
    size_t out_len;
    int out_version;
    bool out_open, out_empty; /* ACL */
};

/* A message on its way. Messages stay in order. */
struct zkf__item {
    struct zkf__item *next;
    int64_t ready;
    int kind, code;
    void *p;
    int64_t n;
    const char *path;
};

struct zkf__channel {
    struct zkf_actor actor;
    struct zkf__item *head, **tail;
    int64_t last_ready;
    bool blocked;
    void (*take)(void *ctx, const struct zkf__item *item);
    void *ctx;
    struct zkf__item *free;
};

/* Items on connections. */
enum { ZKF__REQUEST, ZKF__REPLY, ZKF__EVENT, ZKF__END };
/* Items on links between servers. */
enum { ZKF__COMMIT, ZKF__LEADER_PING, ZKF__TOUCHES, ZKF__FORWARD, ZKF__DONE };
/* Items passed to the client. */
enum { ZKF__ANSWERED, ZKF__NODE_EVENT, ZKF__SESSION };
/* Kinds of node events. */
enum { ZKF__EV_CREATED = 1, ZKF__EV_DELETED, ZKF__EV_CHANGED, ZKF__EV_CHILD };

struct zkf__conn {
    struct zkf__conn *next;     /* next connection of its server */
    struct zkf__conn *previous; /* previous connection of its client */
    struct zkf__handle *handle;
    int server;
    int64_t session, timeout;
    bool at_client, at_server; /* whether each side has the connection open */
    /* orphan: its session is gone; deaf: its requests get no answer. */
    bool orphan, deaf;
    struct zkf__channel up, down;
    /* Requests that have arrived and are not answered. */
    struct zkf__req *inbox, **inbox_tail;
};

enum zkf__txn_kind {
    ZKF__T_NOTHING,
    ZKF__T_CREATE,
    ZKF__T_DELETE,
    ZKF__T_SET,
    ZKF__T_MULTI,
    ZKF__T_CLOSE,
    ZKF__T_ACL,
    ZKF__T_COUNT,
    ZKF__T_WIPE
};

struct zkf__txn {
    enum zkf__txn_kind kind;
    int64_t zxid;
    struct zkf_node node;    /* CREATE: all of it; otherwise only its path */
    int64_t session;         /* CLOSE */
    int number;              /* COUNT */
    struct zkf__req *req;    /* the request to answer, or NULL */
    struct zkf__txn **parts; /* MULTI */
    size_t part_count;
};

struct zkf__tree {
    struct zkf_node *first;
    int64_t zxid;
    struct zkf_node *spare;
};

#endif

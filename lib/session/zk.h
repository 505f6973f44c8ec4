/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door: the only interface to ZooKeeper. zk_real.c implements it with libzookeeper; tests use a fake, or
 * libzookeeper with faults.
 *
 * All requests are asynchronous. The door passes answers, node events and session events to functions that it is given.
 * It calls them on any thread, with no lock of this library held. For one handle it makes one call at a time, in
 * ZooKeeper's order.
 */
#ifndef ZKR_SESSION_ZK_H
#define ZKR_SESSION_ZK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zkr/client.h>

enum zkr__op_kind {
    ZKR__OP_CREATE,   /* ephemeral-sequential; answers path, czxid, owner */
    ZKR__OP_PARENT,   /* persistent or container, no data */
    ZKR__OP_DELETE,   /* any version */
    ZKR__OP_SET,      /* sets data if the node's data version is .version; -1 = any */
    ZKR__OP_CHILDREN, /* answers names, made; may set a watch, on success only */
    ZKR__OP_GET,      /* answers data and Stat; may set a watch, on success only */
    ZKR__OP_SYNC,
    ZKR__OP_EXISTS, /* a cheap read; answers Stat; may set a watch, on a missing node too */
    ZKR__OP_ACL, /* answers acl, empty, version */
    /*
     * A transaction that checks that .paths, perhaps none, exist. A quorum write that changes nothing but the .edits.
     */
    ZKR__OP_CHECK,
    /*
     * A transaction that does all of this or nothing, in this order: check that .paths exist, create the ephemeral node
     * .makes, run the caller's .ops, delete .deleted. Each part may be empty. See zk_multi.h.
     */
    ZKR__OP_MULTI,
    /*
     * CREATE of all .creations in one transaction. Answers names, which are the paths in order, and their common czxid.
     */
    ZKR__OP_CREATES
};

struct zkr__creation {
    const char *path;
    const void *data;
    size_t data_len;
};

/* A node that a CHECK sets instead of checking it, if the node's data has this version. */
struct zkr__edit {
    const void *data; /* NULL = check the node */
    size_t data_len;
    int version;
};

struct zoo_op;
struct zoo_op_result;

/* The kind of watch that a request sets. The kind decides which limit applies (watches.h). */
enum zkr__watch {
    ZKR__WATCH_NONE,
    ZKR__WATCH_NEEDED,   /* its waiter cannot do without the event */
    ZKR__WATCH_SPARE,    /* little is lost without the watch */
    ZKR__WATCH_RESERVED, /* needed, and its room is reserved already */
    ZKR__WATCH_VITAL     /* needed, and set even beyond the bound */
};

/* A request. Borrowed during the submission. */
struct zkr__op {
    enum zkr__op_kind kind;
    const char *path;
    const void *data; /* CREATE, SET */
    size_t data_len;
    int version;                       /* SET */
    const struct zkr__creation *makes; /* MULTI: under this exact name; NULL = none */
    const struct ACL_vector *acl; /* CREATE, CREATES, PARENT, MULTI that makes a node */
    bool container;               /* PARENT */
    enum zkr__watch watch;        /* GET, CHILDREN, EXISTS: set if there is room */
    const char *const *paths;     /* CHECK, MULTI */
    size_t path_count;
    const int
        *versions; /* MULTI: data version of each of .paths, -1 = any; NULL = any */
    const struct zkr__edit *edits; /* CHECK: one for each path; NULL = none */
    const struct zoo_op *ops;      /* MULTI */
    size_t op_count;
    const char *const *deleted; /* MULTI */
    size_t deleted_count;
    const struct zkr__creation *creations; /* CREATES */
    size_t creation_count;
};

/* An answer. Strings and arrays are borrowed during the call. Members that do not belong to the kind are zero. */
struct zkr__answer {
    int code; /* ZKR_OK or ZKR_E… */
    int zk_rc;
    const char *path;
    int64_t czxid, owner, created_ms;
    const char *const *names;
    size_t name_count;
    int64_t
        made; /* CHILDREN: number of the next child, by a count that some servers get wrong */
    const void *data;
    size_t data_len;
    int version; /* ACL, GET: of the data; 0 = never changed */
    const struct ACL_vector
        *acl;   /* ACL: with real ids for "auth"; NULL = some entries are unreadable */
    bool empty; /* ACL: the node has no data */
    bool unwatched; /* no room for the watch; not set by the door */
    /* CHECK, MULTI, CREATES: index of the operation that failed, over all parts; SIZE_MAX if no server reported one. */
    size_t failed_at;
    /* MULTI: one for each of .ops; NULL without .ops, or if no server answered. */
    const struct zoo_op_result *results;
};

/* CHANGED: the data changed, or the node was created. CHILDREN: the names of the children changed. */
enum zkr__node_event { ZKR__NODE_DELETED, ZKR__NODE_CHANGED, ZKR__NODE_CHILDREN };

enum zkr__session_event {
    ZKR__SESSION_UP,
    ZKR__SESSION_DOWN,
    ZKR__SESSION_OVER,
    ZKR__SESSION_AUTH_FAILED
};

/* A request in flight. Embedded in the caller's object. */
struct zkr__asker {
    /* Called once, unless the handle is closed first. */
    void (*answer)(struct zkr__asker *asker, const struct zkr__answer *answer);
    void *scratch; /* zeroed memory, of the size that scratch() returned */
};

/* Receives the session events and node events of a handle. Embedded in the caller's object. */
struct zkr__handle_owner {
    void (*session)(struct zkr__handle_owner *owner, enum zkr__session_event event);
    /* @path is borrowed during the call; NULL if there was no memory for it. */
    void (*node)(struct zkr__handle_owner *owner,
                 const char *path,
                 enum zkr__node_event event);
};

struct zkr__open_args {
    const char *servers; /* numeric addresses and chroot */
    int timeout_ms;
    zkr_open_handle_fn open_handle;
    void *open_handle_ctx;
    const char *tls_cert; /* NULL = no TLS */
    struct zkr__handle_owner *owner;
    int log_slot; /* for the handle's log lines: zk_log.h */
    int64_t
        session; /* resume this session, which has this password; 0 = a new one. Not with open_handle. */
    const unsigned char *password;
};

struct zkr__door {
    void *(*open)(const struct zkr__open_args *args); /* on failure NULL and errno */
    void (*close)(void *zh); /* blocks; nothing is called afterwards */
    /* Called before and after a close (zk_tap.h). NULL = no support for taps. */
    int (*tap)(void *zh);
    bool (*tap_end)(int tap, size_t answers);
    /* Returns the bytes of scratch memory for @op, a transaction. NULL = never any. */
    size_t (*scratch)(const struct zkr__op *op);
    /*
     * Send @op. @asker gets the answer, and @owner, the handle's owner, gets the event of the watch. If the result is a
     * ZooKeeper code instead of 0, neither is called. @op is borrowed during the call, @asker until the answer.
     */
    int (*submit)(void *zh,
                  const struct zkr__op *op,
                  struct zkr__asker *asker,
                  struct zkr__handle_owner *owner);
    int (*add_auth)(void *zh, const char *scheme, const void *cert, size_t len);
    /* Is the handle connected to one of @servers? */
    bool (*connected_to)(void *zh, const char *servers);
    /*
     * Replace the addresses of a handle that has been up; the session goes on. Without @anew the handle must not be up
     * now, and a list that has all addresses of the last one, or differs only in ports, may have no effect. With @anew
     * the handle may be up, preferably with nothing in flight, and leaves its connection. Returns true if it was up and
     * has left; no event reports that.
     */
    bool (*set_servers)(void *zh, const char *servers, bool anew);
    int64_t (*session_id)(void *zh);
    void (*password)(void *zh, unsigned char password[16]); /* of the session */
    int (*timeout_ms)(void *zh);
    int64_t (*now)(void);  /* like zkr__clock_now() */
    int64_t (*boot)(void); /* like zkr__clock_boot() */
};

/* The door to ZooKeeper through libzookeeper_mt. */
extern const struct zkr__door zkr__zk_real;
/* Was the libzookeeper that this process has loaded built with TLS? */
bool zkr__zk_has_tls(void);

#endif

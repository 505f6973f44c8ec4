/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door: the only interface to ZooKeeper. zk_real.c implements it with libzookeeper. Tests use a fake, or
 * libzookeeper with faults.
 *
 * All requests are asynchronous. The door passes answers, node events and session events to functions that the client
 * provides. It calls them on any thread, with no lock of this library held. For each handle it makes one call at a
 * time, in ZooKeeper's order.
 */
#ifndef ZKR_SESSION_ZK_H
#define ZKR_SESSION_ZK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zkr/client.h>

enum zkr__op_kind {
    ZKR__OP_CREATE,   /* ephemeral-sequential; answer: path, czxid, owner */
    ZKR__OP_PARENT,   /* persistent or container, no data */
    ZKR__OP_DELETE,   /* at any version */
    ZKR__OP_SET,      /* sets the data if the data version is .version; -1 = any */
    ZKR__OP_CHILDREN, /* answer: names, made; may watch an existing node */
    ZKR__OP_GET,      /* answer: data, Stat; may watch an existing node */
    ZKR__OP_SYNC,
    ZKR__OP_EXISTS, /* cheap read; answer: Stat; may watch a missing node, too */
    ZKR__OP_ACL,    /* answer: acl, empty, version */
    /*
     * A transaction that checks that .paths, perhaps none, exist. It is a quorum write that changes nothing except for
     * the .edits.
     */
    ZKR__OP_CHECK,
    /*
     * A transaction that does all of this or nothing, in this order: check that .paths exist, create the ephemeral node
     * .makes, run the caller's .ops, delete .deleted. Each part may be empty. See zk_multi.h.
     */
    ZKR__OP_MULTI,
    /*
     * CREATE of all .creations in one transaction. The answer has names (the paths, in order) and the common
     * czxid of the nodes.
     */
    ZKR__OP_CREATES
};

struct zkr__creation {
    const char *path;
    const void *data;
    size_t data_len;
};

/*
 * Data for a node of a CHECK. If the node's data has this version, the transaction sets the data instead of checking
 * the node.
 */
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
    ZKR__WATCH_NEEDED,   /* the waiter depends on the event */
    ZKR__WATCH_SPARE,    /* without this watch, little is lost */
    ZKR__WATCH_RESERVED, /* needed, and its room is already reserved */
    ZKR__WATCH_VITAL     /* needed, and set even beyond the limit */
};

/* A request. Borrowed during the submission. */
struct zkr__op {
    enum zkr__op_kind kind;
    const char *path;
    const void *data; /* CREATE, SET */
    size_t data_len;
    int version; /* SET */
    /* MULTI: created under this exact name; NULL = none. */
    const struct zkr__creation *makes;
    /* CREATE, CREATES, PARENT, or MULTI that creates a node. */
    const struct ACL_vector *acl;
    bool container;           /* PARENT */
    enum zkr__watch watch;    /* GET, CHILDREN, EXISTS: set if there is room */
    const char *const *paths; /* CHECK, MULTI */
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
    /* CHILDREN: number of the next child, from a count that some servers get wrong. */
    int64_t made;
    const void *data;
    size_t data_len;
    int version; /* ACL, GET: version of the data; 0 = never changed */
    const struct ACL_vector
        *acl;   /* ACL: with real IDs for "auth"; NULL = some entries are unreadable */
    bool empty; /* ACL: the node has no data */
    bool unwatched; /* there was no room for the watch; not set by the door */
    /*
     * CHECK, MULTI, CREATES: index of the failed operation, counted over all parts, or SIZE_MAX if no server reported
     * it.
     */
    size_t failed_at;
    /* MULTI: one for each of .ops. NULL without .ops, or if no server answered. */
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
    void *scratch; /* zeroed memory of the size that scratch() returned */
};

/* Receives the session events and node events of a handle. Embedded in the caller's object. */
struct zkr__handle_owner {
    void (*session)(struct zkr__handle_owner *owner, enum zkr__session_event event);
    /* @path is borrowed during the call. It is NULL if there was no memory for it. */
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
    int log_slot; /* for the log lines of the handle (zk_log.h) */
    /* The session to resume, which has this password; 0 = a new one. Not with open_handle. */
    int64_t session;
    const unsigned char *password;
};

struct zkr__door {
    /* On failure, returns NULL and sets errno. */
    void *(*open)(const struct zkr__open_args *args);
    void (*close)(void *zh); /* blocks; after it nothing is called */
    /* Called before and after a close (zk_tap.h). NULL = taps are not supported. */
    int (*tap)(void *zh);
    bool (*tap_end)(int tap, size_t answers);
    /* Returns how many bytes of scratch memory @op, a transaction, needs. NULL = none needs any. */
    size_t (*scratch)(const struct zkr__op *op);
    /*
     * Send @op. @asker gets the answer. @owner, the owner of the handle, gets the event of the watch. If the result is
     * a ZooKeeper code instead of 0, neither is called. @op is borrowed during the call, and @asker until the answer.
     */
    int (*submit)(void *zh,
                  const struct zkr__op *op,
                  struct zkr__asker *asker,
                  struct zkr__handle_owner *owner);
    int (*add_auth)(void *zh, const char *scheme, const void *cert, size_t len);
    /* Returns whether the handle is connected to one of @servers. */
    bool (*connected_to)(void *zh, const char *servers);
    /*
     * Replace the addresses of a handle that has connected before. The session goes on. Without @anew the handle must
     * not be connected now, and a list that includes all previous addresses, or differs from them only in ports, may
     * have no effect. With @anew the handle may be connected, preferably with no request in flight, and leaves its
     * connection. Returns true if it was connected and has left. No event reports that.
     */
    bool (*set_servers)(void *zh, const char *servers, bool anew);
    int64_t (*session_id)(void *zh);
    /* Password of the session. */
    void (*password)(void *zh, unsigned char password[16]);
    int (*timeout_ms)(void *zh);
    int64_t (*now)(void);  /* like zkr__clock_now() */
    int64_t (*boot)(void); /* like zkr__clock_boot() */
};

/* The door to ZooKeeper through libzookeeper_mt. */
extern const struct zkr__door zkr__zk_real;
/* Returns whether the libzookeeper that this process has loaded was built with TLS. */
bool zkr__zk_has_tls(void);

#endif

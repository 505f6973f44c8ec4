/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one door to ZooKeeper. zk_real.c puts libzookeeper behind it; tests put a fake behind it, or libzookeeper with
 * faults.
 *
 * All requests are asynchronous. Answers, events of nodes and changes of the session go to functions that the door is
 * given. It calls them on any thread, with no lock of ours held; for one handle one at a time, in ZooKeeper's order.
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
    ZKR__OP_SET,      /* data, if .version is that of the data there; -1 = any */
    ZKR__OP_CHILDREN, /* answers names, made; may leave a watch, on success only */
    ZKR__OP_GET,      /* answers data and stat; may leave a watch, on success only */
    ZKR__OP_SYNC,
    ZKR__OP_EXISTS, /* a cheap read; answers stat; may leave a watch, on a missing node too */
    ZKR__OP_ACL, /* answers acl, empty, version */
    /* A transaction of checks that .paths exist, or of none: a quorum write that changes nothing, but for .edits. */
    ZKR__OP_CHECK,
    /*
     * A transaction, of which all is done or nothing: checks that .paths exist, the creation of the ephemeral node
     * .makes, the caller's .ops, the deletion of .deleted, in this order. Each part may be empty. See zk_multi.h.
     */
    ZKR__OP_MULTI,
    /* CREATE of all .creations in one transaction. Answers names, the paths in order; and the czxid of all. */
    ZKR__OP_CREATES
};

struct zkr__creation {
    const char *path;
    const void *data;
    size_t data_len;
};

/* A node that a CHECK sets instead of checking it, if the data there has this version. */
struct zkr__edit {
    const void *data; /* NULL: the node is checked */
    size_t data_len;
    int version;
};

struct zoo_op;
struct zoo_op_result;

/* The watch that a request is to leave, by the room that there is for it: watches.h. */
enum zkr__watch {
    ZKR__WATCH_NONE,
    ZKR__WATCH_NEEDED,   /* what waits for its event cannot do without */
    ZKR__WATCH_SPARE,    /* little is lost without the watch */
    ZKR__WATCH_RESERVED, /* needed, and its room is counted already */
    ZKR__WATCH_VITAL     /* needed, and sent even beyond the bound */
};

/* Borrowed during the submission. */
struct zkr__op {
    enum zkr__op_kind kind;
    const char *path;
    const void *data; /* CREATE, SET */
    size_t data_len;
    int version;                       /* SET */
    const struct zkr__creation *makes; /* MULTI: under this very name; NULL = nothing */
    const struct ACL_vector *acl; /* CREATE, CREATES, PARENT, MULTI that makes a node */
    bool container;               /* PARENT */
    enum zkr__watch watch;        /* GET, CHILDREN, EXISTS: if there is room for it */
    const char *const *paths;     /* CHECK, MULTI */
    size_t path_count;
    const int
        *versions; /* MULTI: of the data of each of .paths, -1 = any; NULL = any */
    const struct zkr__edit *edits; /* CHECK: one for each path; NULL = none */
    const struct zoo_op *ops;      /* MULTI */
    size_t op_count;
    const char *const *deleted; /* MULTI */
    size_t deleted_count;
    const struct zkr__creation *creations; /* CREATES */
    size_t creation_count;
};

/* Strings and arrays are borrowed during the call. Members that do not go with the kind are zero. */
struct zkr__answer {
    int code; /* ZKR_OK or ZKR_E… */
    int zk_rc;
    const char *path;
    int64_t czxid, owner, created_ms;
    const char *const *names;
    size_t name_count;
    int64_t
        made; /* CHILDREN: the number of the next child by a count that some servers get wrong */
    const void *data;
    size_t data_len;
    int version; /* ACL, GET: of the data; 0 = as it was created */
    const struct ACL_vector
        *acl;       /* ACL: with real ids for "auth"; NULL = not all may be read */
    bool empty;     /* ACL: the node has no data */
    bool unwatched; /* there was no room for the watch; not said by the door */
    /* CHECK, MULTI, CREATES refused: index of the operation that failed, over all parts; SIZE_MAX: no server said. */
    size_t failed_at;
    /* MULTI: for each of .ops; NULL without .ops, and when no server answered. */
    const struct zoo_op_result *results;
};

/* CHANGED: the data, or the node exists now. CHILDREN: their names. */
enum zkr__node_event { ZKR__NODE_DELETED, ZKR__NODE_CHANGED, ZKR__NODE_CHILDREN };

enum zkr__session_event {
    ZKR__SESSION_UP,
    ZKR__SESSION_DOWN,
    ZKR__SESSION_OVER,
    ZKR__SESSION_AUTH_FAILED
};

/* A request in flight. Embedded in the caller's own object. */
struct zkr__asker {
    /* Called once, unless the handle is closed first. */
    void (*answer)(struct zkr__asker *asker, const struct zkr__answer *answer);
    void *scratch; /* zeroed memory, as much as the door asked for */
};

/* The owner of a handle is told of its session and of its watched nodes. Embedded in the caller's own object. */
struct zkr__handle_owner {
    void (*session)(struct zkr__handle_owner *owner, enum zkr__session_event event);
    /* @path is borrowed during the call. NULL: there was no memory for it. */
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
    int log_slot; /* for the lines of the handle: zk_log.h */
    int64_t
        session; /* go on with this session, which has this password; 0 = a new one. Not with open_handle. */
    const unsigned char *password;
};

struct zkr__door {
    void *(*open)(const struct zkr__open_args *args); /* NULL and errno */
    void (*close)(void *zh); /* blocks; nothing comes back afterwards */
    /* Before and after a close: zk_tap.h. NULL = there are no taps. */
    int (*tap)(void *zh);
    bool (*tap_end)(int tap, size_t answers);
    /* Bytes of scratch memory for @op, a transaction. NULL = never any. */
    size_t (*scratch)(const struct zkr__op *op);
    /*
     * Send. @asker gets the answer, and @owner, which is the handle's, the event of the watch. After a code of
     * ZooKeeper, instead of 0, neither hears of the request. @op is borrowed during the call, @asker until the answer.
     */
    int (*submit)(void *zh,
                  const struct zkr__op *op,
                  struct zkr__asker *asker,
                  struct zkr__handle_owner *owner);
    int (*add_auth)(void *zh, const char *scheme, const void *cert, size_t len);
    /* Is it connected to one of these? */
    bool (*connected_to)(void *zh, const char *servers);
    /*
     * Other addresses, for a handle that has been up; the session goes on. Without @anew the handle is not up now, and
     * a list that has all addresses of the last one, or other ports only, may change nothing. With @anew the handle may
     * be up, best with nothing in flight, and leaves its connection. True: it was up and has left; no event reports
     * that.
     */
    bool (*set_servers)(void *zh, const char *servers, bool anew);
    int64_t (*session_id)(void *zh);
    void (*password)(void *zh, unsigned char password[16]); /* of the session */
    int (*timeout_ms)(void *zh);
    int64_t (*now)(void);  /* as zkr__clock_now() */
    int64_t (*boot)(void); /* as zkr__clock_boot() */
};

/* The door to ZooKeeper: libzookeeper_mt. */
extern const struct zkr__door zkr__zk_real;
/* Was the libzookeeper that this process has loaded built with TLS? */
bool zkr__zk_has_tls(void);

#endif

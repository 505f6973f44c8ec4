/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one door to ZooKeeper. zk_real.c puts libzookeeper behind it; tests put a fake, or the real
 * one with faults, behind the same table.
 *
 * Only asynchronous requests exist. A door calls nobody by name: answers, events of nodes, session
 * changes and lines of its log go to functions that it is given. It calls them on any thread, with
 * no lock of ours held. For one handle it calls one at a time, in ZooKeeper's order.
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
    ZKR__OP_SET,      /* its data, if .version is that of the data there; -1 = any */
    ZKR__OP_CHILDREN, /* answers names, made; may leave a watch, on success only */
    ZKR__OP_GET,      /* answers data and stat; may leave a watch, on success only */
    ZKR__OP_SYNC,
    ZKR__OP_CHECK, /* multi of existence checks, or of none: a quorum write that changes nothing */
    ZKR__OP_EXISTS, /* a cheap read; answers stat; may leave a watch, on a missing node too */
    /*
     * A transaction, a quorum write as well: all of it is done or nothing. In this order: checks that
     * the nodes of .paths exist, the creation of the ephemeral node .makes, the caller's
     * .ops, the deletion of .deleted. Each part may be empty. zk_multi.h has what goes with it.
     */
    ZKR__OP_MULTI,
    /* CREATE of all .creations in one transaction. Answers names: their paths, in order; and czxid,
     * which is one for all. */
    ZKR__OP_CREATES
};

struct zkr__creation {
    const char *path;
    const void *data;
    size_t data_len;
};

/* Of a node that a CHECK looks at. */
struct zkr__edit {
    const void *data; /* NULL: none */
    size_t data_len;
    int version; /* that the data there must have */
};

struct zoo_op;
struct zoo_op_result;

/* Borrowed during the submission. */
struct zkr__op {
    enum zkr__op_kind kind;
    const char *path;
    const void *data; /* CREATE, SET */
    size_t data_len;
    int version; /* SET */
    const struct zkr__creation
        *makes;                   /* MULTI: made under this very name, NULL = nothing */
    const struct ACL_vector *acl; /* CREATE, CREATES, PARENT, MULTI that makes a node */
    bool container;               /* PARENT */
    bool watch;               /* GET, CHILDREN, EXISTS: if there is room (watches.h) */
    bool spare;               /* and little is lost without it */
    bool vital;               /* there is always room for it */
    const char *const *paths; /* CHECK, MULTI */
    size_t path_count;
    const struct zkr__edit *
        edits; /* CHECK: one for each path, of which those with data are set instead; NULL = none */
    const struct zoo_op *ops; /* MULTI, and all it points to */
    size_t op_count;
    const char *const *deleted; /* MULTI */
    size_t deleted_count;
    const struct zkr__creation *creations; /* CREATES */
    size_t creation_count;
};

/* Strings and arrays are borrowed during the call. Members not named for the kind are zero. */
struct zkr__answer {
    int code; /* ZKR_OK or ZKR_E… */
    int zk_rc;
    const char *path;
    int64_t czxid, owner, created_ms;
    const char *const *names;
    size_t name_count;
    int64_t made; /* CHILDREN: the number that the next child would have got then */
    const void *data;
    size_t data_len;
    int version;    /* GET: of the data; 0 = as it was created */
    bool unwatched; /* there was no room for the watch; not said by the door */
    size_t
        bad_check; /* CHECK refused: index of the first node that is missing, or has another version */
    /* CHECK, MULTI, CREATES refused by a server: index of the operation that failed, in the order above over all
     * its parts. SIZE_MAX when no server said. */
    size_t failed_at;
    /* MULTI: one for each of .ops; NULL when there are none, or no server answered. */
    const struct zoo_op_result *results;
};

/* CHANGED: its data, or that it exists now; CHILDREN: which it has. */
enum zkr__node_event { ZKR__NODE_DELETED, ZKR__NODE_CHANGED, ZKR__NODE_CHILDREN };

enum zkr__session_event {
    ZKR__SESSION_UP,
    ZKR__SESSION_DOWN,
    ZKR__SESSION_OVER,
    ZKR__SESSION_AUTH_FAILED
};

/* A request in flight. Embedded in what the caller knows about it. */
struct zkr__asker {
    /* Called once, unless the handle is closed first. */
    void (*answer)(struct zkr__asker *asker, const struct zkr__answer *answer);
    void *scratch; /* zeroed memory for the door's own use, as much as it asked for */
};

/* Who has a handle open, and is told of its session and of the nodes that are watched by it. Embedded
 * in what the caller knows about the handle. */
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
    /* A line of libzookeeper's own log, with the slot (zk_log.h); NULL = drop them. */
    void (*on_log)(int slot, int level, const char *line);
    int log_slot;
};

/* For set_servers(): nobody is there, which shows at once. A handle that is closed there ends no session. */
#define ZKR__NOWHERE "127.255.255.254:9"

struct zkr__door {
    void *(*open)(const struct zkr__open_args *args); /* NULL and errno */
    void (*close)(void *zh); /* blocks; nothing comes back afterwards */
    /* Bytes of scratch memory that a request like @op needs. NULL = none ever does. */
    size_t (*scratch)(const struct zkr__op *op);
    /*
     * Send. @asker gets the answer; @owner, who opened the handle, the event of the watch. 0, or a
     * ZooKeeper code, and then neither hears of it. @op is borrowed during the call, @asker until the
     * answer.
     */
    int (*submit)(void *zh,
                  const struct zkr__op *op,
                  struct zkr__asker *asker,
                  struct zkr__handle_owner *owner);
    int (*add_auth)(void *zh, const char *scheme, const void *cert, size_t len);
    /* Is it connected to one of these? */
    bool (*connected_to)(void *zh, const char *servers);
    /*
     * Other addresses, for a handle that has been up; the session goes on. Without @anew the handle is
     * not up now, and a list in which only ports differ may change nothing. With @anew it may be up, best
     * with nothing in flight, and leaves its connection. True: it was up and has left, of which no
     * event comes.
     */
    bool (*set_servers)(void *zh, const char *servers, bool anew);
    int64_t (*session_id)(void *zh);
    int (*timeout_ms)(void *zh);
    int64_t (*now)(void);  /* as zkr__clock_now() */
    int64_t (*boot)(void); /* as zkr__clock_boot() */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one door to ZooKeeper. zk_real.c is the only file that knows libzookeeper's headers; tests
 * put a fake, or a real one with faults, behind the same table.
 *
 * Only asynchronous requests exist. Answers, events and session changes come back by the three
 * functions at the end, which any door calls, one at a time per handle, in ZooKeeper's order.
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
    ZKR__OP_CHILDREN, /* answers names; may leave a watch, on success only */
    ZKR__OP_GET,      /* answers data and stat; may leave a watch, on success only */
    ZKR__OP_SYNC,
    ZKR__OP_CHECK, /* multi of existence checks: a quorum write that changes nothing */
    ZKR__OP_EXISTS /* a cheap read; may leave a watch, on a missing node too */
};

struct zkr__op {
    enum zkr__op_kind kind;
    const char *path;
    const void *data; /* CREATE */
    size_t data_len;
    const struct ACL_vector *acl; /* CREATE, PARENT */
    bool container;               /* PARENT */
    bool watch;                   /* GET, CHILDREN, EXISTS */
    const char *const *paths;     /* CHECK: borrowed during the submission */
    size_t path_count;
};

/* Strings and arrays are borrowed during the call. Members not named for the kind are zero. */
struct zkr__answer {
    int code; /* ZKR_OK or ZKR_E… */
    int zk_rc;
    const char *path;
    int64_t czxid, owner, created_ms;
    const char *const *names;
    size_t name_count;
    const void *data;
    size_t data_len;
    size_t bad_check; /* CHECK refused: index of the first missing node */
};

/* CHANGED: its data, its children, or that it exists now; whichever was watched. */
enum zkr__node_event { ZKR__NODE_DELETED, ZKR__NODE_CHANGED };

enum zkr__session_event {
    ZKR__SESSION_UP,
    ZKR__SESSION_DOWN,
    ZKR__SESSION_OVER,
    ZKR__SESSION_AUTH_FAILED
};

struct zkr__open_args {
    const char *servers; /* numeric addresses and chroot */
    int timeout_ms;
    bool log; /* pass libzookeeper's own log on to zkr__log_foreign() */
    zkr_open_handle_fn open_handle;
    void *open_handle_ctx;
    void *ctx; /* for zkr__link_session() */
};

struct zkr__door {
    void *(*open)(const struct zkr__open_args *args); /* NULL and errno */
    void (*close)(void *zh); /* blocks; nothing comes back afterwards */
    /*
     * Send. @tag comes back with the answer, @watch_tag with events of the watch. 0, or a
     * ZooKeeper code and then neither comes back.
     */
    int (*submit)(void *zh, const struct zkr__op *op, void *tag, void *watch_tag);
    int (*add_auth)(void *zh, const char *scheme, const void *cert, size_t len);
    /* Other addresses, for a handle that has been up and is not now; the session goes on. */
    void (*set_servers)(void *zh, const char *servers);
    int64_t (*session_id)(void *zh);
    int (*timeout_ms)(void *zh);
    int64_t (*now)(void);  /* as zkr__clock_now() */
    int64_t (*boot)(void); /* as zkr__clock_boot() */
};

extern const struct zkr__door zkr__zk_real;

struct ACL_vector *zkr__zk_acl_copy(const struct ACL_vector *acl); /* NULL: no memory */
void zkr__zk_acl_free(struct ACL_vector *acl);
int zkr__zk_code(int rc); /* ZooKeeper's code -> ZKR_… */
struct zoo_op;
void zkr__zk_guard(struct zoo_op *op, const char *path);
/* Level of libzookeeper's log, which is one per process. */
void zkr__zk_log_level(int level);
/*
 * Around a fork. libzookeeper stamps its lines with localtime_r(), whose lock a child inherits: one
 * that was held at the fork stays locked there for ever. So no line is begun between the two, and
 * those that have been begun are given the time to get past that lock.
 */
void zkr__zk_log_pause(void);
void zkr__zk_log_resume(void);

/* Memory of a CHECK request for the door's own use: this much for each path. */
#define ZKR__CHECK_SCRATCH 64
void *zkr__request_scratch(void *tag);

/* From the door, on any thread, with no lock of ours held. Defined in request.c, state.c and log.c. */
void zkr__request_answer(void *tag, const struct zkr__answer *answer);
void zkr__request_event(void *watch_tag, enum zkr__node_event event);
void zkr__link_session(void *ctx, enum zkr__session_event event);
void zkr__log_foreign(int level, const char *line);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "session/zk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zookeeper/zookeeper.h>

#include <zkr/guard.h>

#include "base/clock.h"
#include "base/mem.h"

/* Since 3.7; see the reason in open_real(). Weak, so that older libraries load. */
#pragma weak zoo_set_servers_resolution_delay

static const struct {
    int rc, code;
} codes[] = {
    {ZOK, ZKR_OK},
    {ZBADARGUMENTS, ZKR_EINVAL},
    {ZINVALIDACL, ZKR_EINVAL},
    {ZCONNECTIONLOSS, ZKR_ECONNLOSS},
    {ZOPERATIONTIMEOUT, ZKR_ECONNLOSS},
    {ZSESSIONMOVED, ZKR_ECONNLOSS},
    {ZRUNTIMEINCONSISTENCY, ZKR_ECONNLOSS},
    {ZCLOSING, ZKR_ECONNLOSS},
    {ZMARSHALLINGERROR, ZKR_ECONNLOSS},
    {ZINVALIDSTATE, ZKR_ECONNLOSS},
    {ZSESSIONEXPIRED, ZKR_ESESSION},
    {ZNOAUTH, ZKR_EAUTH},
    {ZAUTHFAILED, ZKR_EAUTH},
    {ZSYSTEMERROR, ZKR_ESYS},
    {ZNONODE, ZKR_ENONODE},
    {ZNODEEXISTS, ZKR_EEXIST},
};

int zkr__zk_code(int rc)
{
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (codes[i].rc == rc) {
            return codes[i].code;
        }
    }
    return ZKR_EZK(rc);
}

static struct zkr__answer answer_of(int rc)
{
    return (struct zkr__answer){.code = zkr__zk_code(rc), .zk_rc = rc};
}

static void add_stat(struct zkr__answer *a, const struct Stat *stat)
{
    if (stat) {
        a->czxid = stat->czxid;
        a->owner = stat->ephemeralOwner;
        a->created_ms = stat->ctime;
    }
}

static void
done_created(int rc, const char *path, const struct Stat *stat, const void *tag)
{
    struct zkr__answer a = answer_of(rc);
    a.path = path;
    add_stat(&a, rc == ZOK ? stat : NULL);
    zkr__request_answer((void *)(uintptr_t)tag, &a);
}

static void done_string(int rc, const char *value, const void *tag)
{
    (void)value;
    struct zkr__answer a = answer_of(rc);
    zkr__request_answer((void *)(uintptr_t)tag, &a);
}

static void done_void(int rc, const void *tag)
{
    struct zkr__answer a = answer_of(rc);
    zkr__request_answer((void *)(uintptr_t)tag, &a);
}

static void done_stat(int rc, const struct Stat *stat, const void *tag)
{
    (void)stat;
    struct zkr__answer a = answer_of(rc);
    zkr__request_answer((void *)(uintptr_t)tag, &a);
}

static void done_names(int rc, const struct String_vector *names, const void *tag)
{
    struct zkr__answer a = answer_of(rc);
    if (rc == ZOK && names && names->count > 0) {
        a.names = (const char *const *)names->data;
        a.name_count = (size_t)names->count;
    }
    zkr__request_answer((void *)(uintptr_t)tag, &a);
}

static void
done_data(int rc, const char *value, int len, const struct Stat *stat, const void *tag)
{
    struct zkr__answer a = answer_of(rc);
    if (rc == ZOK && value && len > 0) {
        a.data = value;
        a.data_len = (size_t)len;
    }
    add_stat(&a, rc == ZOK ? stat : NULL);
    zkr__request_answer((void *)(uintptr_t)tag, &a);
}

/* What a multi writes its results to; part of the request, which outlives a lost completion. */
struct checks {
    int count;
    zoo_op_result_t results[];
};

static void done_checks(int rc, const void *data)
{
    void *tag = (void *)(uintptr_t)data;
    const struct checks *checks = zkr__request_scratch(tag);
    struct zkr__answer a = answer_of(rc);
    for (int i = 0; i < checks->count; i++) {
        if (checks->results[i].err == ZNONODE) {
            a.bad_check = (size_t)i;
            break;
        }
    }
    zkr__request_answer(tag, &a);
}

static int submit_checks(zhandle_t *zh, const struct zkr__op *op, void *tag)
{
    _Static_assert(sizeof(struct checks) + sizeof(zoo_op_result_t) <=
                       ZKR__CHECK_SCRATCH,
                   "scratch memory of a check is too small");
    struct checks *checks = zkr__request_scratch(tag);
    checks->count = (int)op->path_count;
    zoo_op_t *ops = zkr__mem_alloc(op->path_count * sizeof(*ops));
    if (!ops) {
        return ZMARSHALLINGERROR;
    }
    for (size_t i = 0; i < op->path_count; i++) {
        zoo_check_op_init(&ops[i], op->paths[i], -1);
    }
    int rc = zoo_amulti(zh, checks->count, ops, checks->results, done_checks, tag);
    zkr__mem_free(ops);
    return rc;
}

static void
on_watch(zhandle_t *zh, int type, int state, const char *path, void *watch_tag)
{
    (void)zh;
    (void)state;
    (void)path;
    if (type == ZOO_SESSION_EVENT) {
        return; /* a copy for each watch; the handle's own watcher has it too */
    }
    zkr__request_event(watch_tag, type == ZOO_DELETED_EVENT ? ZKR__NODE_DELETED
                                                            : ZKR__NODE_CHANGED);
}

static const struct ACL_vector *acl_or_open(const struct ACL_vector *acl)
{
    return acl ? acl : &ZOO_OPEN_ACL_UNSAFE;
}

static int submit_op(void *handle, const struct zkr__op *op, void *tag, void *watch_tag)
{
    zhandle_t *zh = handle;
    switch (op->kind) {
    case ZKR__OP_CREATE:
        return zoo_acreate2(zh, op->path, op->data, (int)op->data_len,
                            acl_or_open(op->acl), ZOO_EPHEMERAL_SEQUENTIAL,
                            done_created, tag);
    case ZKR__OP_PARENT:
        return zoo_acreate(zh, op->path, "", 0, acl_or_open(op->acl),
                           op->container ? ZOO_CONTAINER : ZOO_PERSISTENT, done_string,
                           tag);
    case ZKR__OP_DELETE:
        return zoo_adelete(zh, op->path, -1, done_void, tag);
    case ZKR__OP_CHILDREN:
        return op->watch ? zoo_awget_children(zh, op->path, on_watch, watch_tag,
                                              done_names, tag)
                         : zoo_aget_children(zh, op->path, 0, done_names, tag);
    case ZKR__OP_GET:
        /* Not exists(): on a missing node that leaves a watch for ever, get leaves none. */
        return op->watch ? zoo_awget(zh, op->path, on_watch, watch_tag, done_data, tag)
                         : zoo_aget(zh, op->path, 0, done_data, tag);
    case ZKR__OP_SYNC:
        return zoo_async(zh, op->path, done_string, tag);
    case ZKR__OP_CHECK:
        return submit_checks(zh, op, tag);
    case ZKR__OP_EXISTS:
        return op->watch
                   ? zoo_awexists(zh, op->path, on_watch, watch_tag, done_stat, tag)
                   : zoo_aexists(zh, op->path, 0, done_stat, tag);
    }
    return ZBADARGUMENTS;
}

static int submit_real(void *zh, const struct zkr__op *op, void *tag, void *watch_tag)
{
    int rc = submit_op(zh, op, tag, watch_tag);
    /* The session event that says so comes later. */
    bool refused = rc == ZINVALIDSTATE && zoo_state(zh) == ZOO_AUTH_FAILED_STATE;
    return refused ? ZAUTHFAILED : rc;
}

static void on_session(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    (void)zh;
    (void)path;
    if (type != ZOO_SESSION_EVENT) {
        return;
    }
    enum zkr__session_event event = ZKR__SESSION_DOWN;
    if (state == ZOO_CONNECTED_STATE) {
        event = ZKR__SESSION_UP;
    } else if (state == ZOO_EXPIRED_SESSION_STATE) {
        event = ZKR__SESSION_OVER;
    } else if (state == ZOO_AUTH_FAILED_STATE) {
        event = ZKR__SESSION_AUTH_FAILED;
    }
    zkr__link_session(ctx, event);
}

static void drop_line(const char *line)
{
    (void)line;
}

static void pass_line(const char *line)
{
    int level = ZKR_LOG_DEBUG;
    if (strstr(line, ":ZOO_ERROR@")) {
        level = ZKR_LOG_ERROR;
    } else if (strstr(line, ":ZOO_WARN@")) {
        level = ZKR_LOG_WARN;
    } else if (strstr(line, ":ZOO_INFO@")) {
        level = ZKR_LOG_INFO;
    }
    zkr__log_foreign(level, line);
}

static void *open_real(const struct zkr__open_args *args)
{
    log_callback_fn log = args->log ? pass_line : drop_line;
    zhandle_t *zh;
    if (args->open_handle) {
        zh = args->open_handle(args->servers, on_session, args->timeout_ms, args->ctx,
                               args->open_handle_ctx);
        if (zh) {
            zoo_set_log_callback(zh, log);
        }
    } else {
        zh = zookeeper_init2(args->servers, on_session, args->timeout_ms, NULL,
                             args->ctx, ZOO_NO_LOG_CLIENTENV, log);
    }
    /*
     * By default names are resolved again on every turn of the IO loop: half the throughput, and
     * an outage of DNS loses the session. We pass numbers and resolve before each session.
     */
    if (zh && zoo_set_servers_resolution_delay) {
        (void)zoo_set_servers_resolution_delay(zh, -1);
    }
    return zh;
}

static void close_real(void *zh)
{
    (void)zookeeper_close(zh);
}

static int add_auth_real(void *zh, const char *scheme, const void *cert, size_t len)
{
    /* No completion: it would run on the IO thread under the handle's lock. A refusal comes as a
       session event. */
    return zoo_add_auth(zh, scheme, cert, (int)len, NULL, NULL);
}

static void ignore_stat(int rc, const struct Stat *stat, const void *unused)
{
    (void)rc;
    (void)stat;
    (void)unused;
}

/*
 * libzookeeper keeps the chroot, and does not look at ports. From a handle that is up it may take a
 * good connection without a word to those who use it. Its IO thread reads the list at times without
 * the lock that guards it (ZOOKEEPER-4699, for one): to call this rarely is all that can be done.
 */
static void set_servers_real(void *zh, const char *servers)
{
    size_t len = strcspn(servers, "/");
    char *addresses = zkr__mem_copy(servers, len);
    if (!addresses) {
        return; /* asked again later */
    }
    (void)zoo_set_servers(zh, addresses);
    zkr__mem_free(addresses);
    /* The IO thread may go on staring at a socket that was closed just now: wake it up. */
    (void)zoo_aexists(zh, "/", 0, ignore_stat, NULL);
}

static int64_t session_id_real(void *zh)
{
    return zoo_client_id(zh)->client_id;
}

static int timeout_real(void *zh)
{
    return zoo_recv_timeout(zh);
}

void zkr__zk_log_level(int level)
{
    zoo_set_debug_level((ZooLogLevel)level);
}

extern ZooLogLevel logLevel; /* of libzookeeper, which has no function to read it */
static ZooLogLevel paused_at;

void zkr__zk_log_pause(void)
{
    enum { TURNS = 2, TURN_NS = 50000 };
    const struct timespec turn = {.tv_nsec = TURN_NS};
    const time_t now = time(NULL);
    struct tm unused;
    paused_at = logLevel;
    zoo_set_debug_level((ZooLogLevel)0);
    for (int i = 0; i < TURNS; i++) {
        /* For a thread that has seen the level and not yet the lock; then after one that has it. */
        (void)nanosleep(&turn, NULL);
        (void)localtime_r(&now, &unused);
    }
}

void zkr__zk_log_resume(void)
{
    zoo_set_debug_level(paused_at);
}

void zkr__zk_guard(struct zoo_op *op, const char *path)
{
    zoo_check_op_init(op, path, -1);
}

struct ACL_vector *zkr__zk_acl_copy(const struct ACL_vector *acl)
{
    struct ACL_vector *copy = zkr__mem_alloc(sizeof(*copy));
    size_t n = (size_t)acl->count;
    struct ACL *rows = zkr__mem_alloc((n + 1) * sizeof(*rows));
    if (!copy || !rows) {
        zkr__mem_free(copy);
        zkr__mem_free(rows);
        return NULL;
    }
    copy->data = rows;
    bool whole = true;
    for (size_t i = 0; i < n; i++) {
        const struct ACL *from = &acl->data[i];
        rows[i].perms = from->perms;
        rows[i].id.scheme = zkr__mem_string(from->id.scheme);
        rows[i].id.id = zkr__mem_string(from->id.id);
        copy->count++;
        whole = whole && rows[i].id.scheme && rows[i].id.id;
    }
    if (!whole) {
        zkr__zk_acl_free(copy);
        return NULL;
    }
    return copy;
}

void zkr__zk_acl_free(struct ACL_vector *acl)
{
    for (int i = 0; acl && i < acl->count; i++) {
        zkr__mem_free(acl->data[i].id.scheme);
        zkr__mem_free(acl->data[i].id.id);
    }
    zkr__mem_free(acl ? acl->data : NULL);
    zkr__mem_free(acl);
}

const struct zkr__door zkr__zk_real = {
    .open = open_real,
    .close = close_real,
    .submit = submit_real,
    .add_auth = add_auth_real,
    .set_servers = set_servers_real,
    .session_id = session_id_real,
    .timeout_ms = timeout_real,
    .now = zkr__clock_now,
    .boot = zkr__clock_boot,
};

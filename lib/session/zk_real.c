/* SPDX-License-Identifier: Apache-2.0 */
#include "session/zk.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <zookeeper/zookeeper.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "session/resolve.h"
#include "session/zk_log.h"
#include "session/zk_multi.h"
#include "session/zk_tap.h"
#include "session/zk_value.h"

/*
 * Part of libzookeeper since 3.7. open_real() explains its use. The symbol is weak, for older versions of libzookeeper.
 */
#pragma weak zoo_set_servers_resolution_delay

/* --- answers: the Stat is valid on success only --- */

static struct zkr__answer answer_of(int rc, const struct Stat *stat)
{
    struct zkr__answer a = {.code = zkr__zk_code(rc), .zk_rc = rc};
    if (rc == ZOK && stat) {
        a.czxid = stat->czxid;
        a.owner = stat->ephemeralOwner;
        a.created_ms = stat->ctime;
        a.version = stat->version;
    }
    return a;
}

static void give(const void *data, struct zkr__answer answer)
{
    struct zkr__asker *asker = (void *)(uintptr_t)data;
    asker->answer(asker, &answer);
}

static void
done_created(int rc, const char *path, const struct Stat *stat, const void *asker)
{
    struct zkr__answer a = answer_of(rc, stat);
    a.path = path;
    give(asker, a);
}

static void done_string(int rc, const char *value, const void *asker)
{
    (void)value;
    give(asker, answer_of(rc, NULL));
}

static void done_void(int rc, const void *asker)
{
    give(asker, answer_of(rc, NULL));
}

static void done_set(int rc, const struct Stat *stat, const void *asker)
{
    (void)stat;
    give(asker, answer_of(rc, NULL));
}

static void done_exists(int rc, const struct Stat *stat, const void *asker)
{
    give(asker, answer_of(rc, stat));
}

/*
 * Returns the number of the next child. Servers number a child by the count of all children ever created
 * (PrepRequestProcessor). The cversion that they return is twice that count minus the number of current children
 * (DataNode.copyStat), in 32 bits.
 */
static int64_t next_number(const struct Stat *stat)
{
    return (int64_t)(((uint32_t)stat->cversion + (uint32_t)stat->numChildren) / 2);
}

static void done_names(int rc,
                       const struct String_vector *names,
                       const struct Stat *stat,
                       const void *asker)
{
    struct zkr__answer a = answer_of(rc, stat);
    if (rc == ZOK && names && names->count > 0) {
        a.names = (const char *const *)names->data;
        a.name_count = (size_t)names->count;
    }
    a.made = rc == ZOK && stat ? next_number(stat) : 0;
    give(asker, a);
}

static void done_data(int rc,
                      const char *value,
                      int len,
                      const struct Stat *stat,
                      const void *asker)
{
    struct zkr__answer a = answer_of(rc, stat);
    if (rc == ZOK && value && len > 0) {
        a.data = value;
        a.data_len = (size_t)len;
    }
    give(asker, a);
}

static void
done_acl(int rc, struct ACL_vector *acl, struct Stat *stat, const void *asker)
{
    struct zkr__answer a = answer_of(rc, NULL);
    if (rc == ZOK && stat) {
        a.acl = zkr__zk_acl_readable(acl) ? acl : NULL;
        a.empty = stat->dataLength == 0;
        a.version = stat->version;
    }
    give(asker, a);
}

static void on_watch(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    (void)zh;
    (void)state;
    if (type == ZOO_SESSION_EVENT) {
        return; /* on_session() gets this event, too */
    }
    struct zkr__handle_owner *owner = ctx;
    owner->node(owner, path,
                type == ZOO_DELETED_EVENT ? ZKR__NODE_DELETED
                : type == ZOO_CHILD_EVENT ? ZKR__NODE_CHILDREN
                                          : ZKR__NODE_CHANGED);
}

static int submit_op(void *handle,
                     const struct zkr__op *op,
                     struct zkr__asker *asker,
                     struct zkr__handle_owner *owner)
{
    zhandle_t *zh = handle;
    watcher_fn watcher = op->watch ? on_watch : NULL; /* NULL sets no watch */
    switch (op->kind) {
    case ZKR__OP_CREATE:
        return zoo_acreate2(zh, op->path, op->data, (int)op->data_len, op->acl,
                            ZOO_EPHEMERAL_SEQUENTIAL, done_created, asker);
    case ZKR__OP_PARENT:
        return zoo_acreate(zh, op->path, "", 0, op->acl,
                           op->container ? ZOO_CONTAINER : ZOO_PERSISTENT, done_string,
                           asker);
    case ZKR__OP_DELETE:
        return zoo_adelete(zh, op->path, -1, done_void, asker);
    case ZKR__OP_SET:
        return zoo_aset(zh, op->path, op->data, (int)op->data_len, op->version,
                        done_set, asker);
    case ZKR__OP_CHILDREN:
        return zoo_awget_children2(zh, op->path, watcher, owner, done_names, asker);
    case ZKR__OP_GET:
        /* For a missing node, exists() would leave a watch until the node is created, but get() leaves none. */
        return zoo_awget(zh, op->path, watcher, owner, done_data, asker);
    case ZKR__OP_SYNC:
        return zoo_async(zh, op->path, done_string, asker);
    case ZKR__OP_CHECK:
    case ZKR__OP_MULTI:
    case ZKR__OP_CREATES:
        return zkr__zk_multi_submit(zh, op, asker);
    case ZKR__OP_EXISTS:
        return zoo_awexists(zh, op->path, watcher, owner, done_exists, asker);
    case ZKR__OP_ACL:
        return zoo_aget_acl(zh, op->path, done_acl, asker);
    }
    return ZBADARGUMENTS;
}

static int submit_real(void *zh,
                       const struct zkr__op *op,
                       struct zkr__asker *asker,
                       struct zkr__handle_owner *owner)
{
    int rc = submit_op(zh, op, asker, owner);
    /* The session event will arrive later. */
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
    struct zkr__handle_owner *owner = ctx;
    owner->session(owner, event);
}

/*
 * ZooKeeper's header declares this function only together with OpenSSL's headers. The symbol is weak, because most
 * builds of libzookeeper lack it.
 */
zhandle_t *zookeeper_init_ssl(const char *host,
                              const char *cert,
                              watcher_fn watcher,
                              int recv_timeout,
                              const clientid_t *clientid,
                              void *context,
                              int flags) __attribute__((weak));

bool zkr__zk_has_tls(void)
{
    return zookeeper_init_ssl != NULL;
}

/*
 * zookeeper_init_ssl() splits its argument with strtok(), so only one thread at a time may run it. It takes no log
 * callback, so without the hush its lines would go to stderr until the handle has a callback.
 */
static zhandle_t *
open_tls(const struct zkr__open_args *args, const char *servers, log_callback_fn log)
{
    zkr__log_hush();
    zhandle_t *zh =
        zookeeper_init_ssl(servers, args->tls_cert, on_session, args->timeout_ms, NULL,
                           args->owner, ZOO_NO_LOG_CLIENTENV);
    if (zh) {
        zoo_set_log_callback(zh, log);
    }
    zkr__log_speak();
    return zh;
}

/* The repeated address varies, so that the load is spread over the servers. */
static char *odd_list(const char *servers)
{
    return zkr__servers_odd(servers, (unsigned)(zkr__clock_now() / 1000));
}

struct opening {
    const struct zkr__open_args *args;
    log_callback_fn log;
    char *servers;
    zhandle_t *zh;
};

static void open_list(void *opening)
{
    struct opening *o = opening;
    const struct zkr__open_args *args = o->args;
    if (args->open_handle) {
        o->zh = args->open_handle(o->servers, on_session, args->timeout_ms, args->owner,
                                  args->open_handle_ctx);
        if (o->zh) {
            zoo_set_log_callback(o->zh, o->log);
        }
    } else if (args->tls_cert) {
        o->zh = open_tls(args, o->servers, o->log);
    } else {
        clientid_t id = {.client_id = args->session};
        if (args->session != 0) {
            memcpy(id.passwd, args->password, sizeof(id.passwd));
        }
        o->zh = zookeeper_init2(o->servers, on_session, args->timeout_ms,
                                args->session != 0 ? &id : NULL, args->owner,
                                ZOO_NO_LOG_CLIENTENV, o->log);
    }
}

static void free_list(void *opening, bool cut)
{
    struct opening *o = opening;
    int error = errno;
    (void)cut;
    zkr__mem_free(o->servers);
    errno = error;
}

static void *open_real(const struct zkr__open_args *args)
{
    struct opening o = {.args = args, .log = zkr__log_callback(args->log_slot)};
    /* If libzookeeper cannot start its two threads, it ends the program. */
    int error = zkr__thread_try_two();
    if (error != 0) {
        errno = error;
        return NULL;
    }
    o.servers = odd_list(args->servers);
    if (!o.servers) {
        errno = ENOMEM;
        return NULL;
    }
    zkr__thread_call(open_list, free_list, &o);
    /*
     * By default, libzookeeper resolves the names again on each turn of its IO loop. That halves the throughput, and an
     * outage of DNS costs the session. This library passes numeric addresses, which it resolves before each session.
     */
    if (o.zh && zoo_set_servers_resolution_delay) {
        (void)zoo_set_servers_resolution_delay(o.zh, -1);
    }
    return o.zh;
}

static void close_real(void *zh)
{
    (void)zookeeper_close(zh);
}

static int add_auth_real(void *zh, const char *scheme, const void *cert, size_t len)
{
    /*
     * There is no completion, because it would run with the handle's lock held. A refusal arrives as a session event.
     */
    return zoo_add_auth(zh, scheme, cert, (int)len, NULL, NULL);
}

static void ignore_stat(int rc, const struct Stat *stat, const void *unused)
{
    (void)rc;
    (void)stat;
    (void)unused;
}

static bool connected_to_real(void *zh, const char *servers)
{
    struct sockaddr_storage peer;
    socklen_t len = sizeof(peer);
    enum { HOST = 80, PORT = 8 }; /* numeric */
    char host[HOST], port[PORT], address[HOST + PORT];
    if (!zookeeper_get_connected_host(zh, (struct sockaddr *)&peer, &len) ||
        getnameinfo((struct sockaddr *)&peer, len, host, sizeof(host), port,
                    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return false;
    }
    (void)snprintf(address, sizeof(address), "%s:%s", host, port);
    return zkr__servers_has(servers, address, strlen(address));
}

/* An address without a server. A connection to it fails at once. */
#define NOWHERE "127.255.255.254:9"

/*
 * libzookeeper keeps the chroot, and does not compare ports. It ignores a list that is as long as the previous list and
 * has the same addresses, even if the list repeats an address. To make libzookeeper accept such a list, this function
 * sets another list in between.
 *
 * A connected handle whose server is not in the new list closes its connection in this thread, even while its IO thread
 * is using that connection, and reports nothing. When the next answer arrives on the new connection, the requests in
 * flight fail, because that answer belongs to another request. At times the IO thread reads the list without the lock
 * that guards it (ZOOKEEPER-4699, for example). The only remedy is to call this function rarely, and with no request in
 * flight.
 */
static bool set_servers_real(void *zh, const char *servers, bool anew)
{
    char *addresses = odd_list(servers);
    if (!addresses) {
        return false; /* the caller will try again later */
    }
    addresses[strcspn(addresses, "/")] = '\0';
    zkr__log_hush(); /* the IO thread may be logging the list that is freed here */
    if (anew) {
        (void)zoo_set_servers(zh, zkr__servers_takes(ZKR__IPV4) ? NOWHERE
                                                                : "::ffff:" NOWHERE);
    }
    (void)zoo_set_servers(zh, addresses);
    zkr__log_speak();
    zkr__mem_free(addresses);
    bool left = zoo_state(zh) != ZOO_CONNECTED_STATE;
    /* Wake the IO thread, which may be waiting on the socket that was just closed. */
    (void)zoo_aexists(zh, "/", 0, ignore_stat, NULL);
    return left;
}

static int64_t session_id_real(void *zh)
{
    return zoo_client_id(zh)->client_id;
}

static void password_real(void *zh, unsigned char password[16])
{
    memcpy(password, zoo_client_id(zh)->passwd, sizeof(zoo_client_id(zh)->passwd));
}

static int timeout_real(void *zh)
{
    return zoo_recv_timeout(zh);
}

const struct zkr__door zkr__zk_real = {
    .open = open_real,
    .close = close_real,
    .tap = zkr__zk_tap,
    .tap_end = zkr__zk_tap_end,
    .scratch = zkr__zk_scratch,
    .submit = submit_real,
    .add_auth = add_auth_real,
    .connected_to = connected_to_real,
    .set_servers = set_servers_real,
    .session_id = session_id_real,
    .password = password_real,
    .timeout_ms = timeout_real,
    .now = zkr__clock_now,
    .boot = zkr__clock_boot,
};

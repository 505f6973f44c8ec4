/* SPDX-License-Identifier: Apache-2.0 */
#include "guarded.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "grip.h"

enum { SESSION_MS = 4000, ANSWER_MS = 3000, NUDGE_MS = 200, PENDING = 1 };

struct zkc_handle {
    pthread_rwlock_t use; /* read lock: the handle is in use */
    zhandle_t *zh;
    char *servers;
};

/*
 * One request. ZooKeeper writes into it when it answers, which may be after the caller has stopped waiting, or never.
 * Caller and callback therefore both own it, and the last of them frees it. A request that is never answered is leaked.
 */
struct call {
    int users;
    int rc; /* PENDING until answered */
    zoo_op_t ops[2];
    zoo_op_result_t results[2];
    struct Stat stat;
    char data[32];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;

static void unuse(struct call *call)
{
    if (--call->users == 0) {
        free(call);
    }
}

static struct call *new_call(void)
{
    struct call *call = calloc(1, sizeof *call);
    if (call == NULL) {
        abort();
    }
    call->users = 2;
    call->rc = PENDING;
    return call;
}

static void finish(struct call *call, int rc)
{
    call->rc = rc;
    (void)pthread_cond_broadcast(&answered);
    unuse(call);
}

static void on_done(int rc, const void *data)
{
    union {
        const void *in;
        struct call *out;
    } call = {data};
    (void)pthread_mutex_lock(&lock);
    finish(call.out, rc);
    (void)pthread_mutex_unlock(&lock);
}

static void
on_data(int rc, const char *value, int len, const struct Stat *stat, const void *data)
{
    union {
        const void *in;
        struct call *out;
    } call = {data};
    (void)pthread_mutex_lock(&lock);
    if (rc == ZOK) {
        (void)snprintf(call.out->data, sizeof call.out->data, "%.*s", len > 0 ? len : 0,
                       len > 0 ? value : "");
        call.out->stat = *stat;
    }
    finish(call.out, rc);
    (void)pthread_mutex_unlock(&lock);
}

static void nothing(int rc, const struct Stat *stat, const void *data)
{
    (void)rc;
    (void)stat;
    (void)data;
}

/*
 * Waits; returns the answer's code, or ZOPERATIONTIMEOUT. A server 3.8.0 may hold back a lone write until another
 * request arrives, so this function sends one.
 */
static int await(zhandle_t *zh, struct call *call)
{
    struct timespec t;
    (void)pthread_mutex_lock(&lock);
    for (int waited = 0; call->rc == PENDING && waited < ANSWER_MS;
         waited += NUDGE_MS) {
        (void)clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += (long)NUDGE_MS * 1000000;
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        while (call->rc == PENDING &&
               pthread_cond_timedwait(&answered, &lock, &t) == 0) {
        }
        if (call->rc == PENDING) {
            (void)pthread_mutex_unlock(&lock);
            (void)zoo_aexists(zh, "/", 0, nothing, NULL);
            (void)pthread_mutex_lock(&lock);
        }
    }
    int rc = call->rc == PENDING ? (int)ZOPERATIONTIMEOUT : call->rc;
    (void)pthread_mutex_unlock(&lock);
    return rc;
}

static void drop(struct call *call)
{
    (void)pthread_mutex_lock(&lock);
    unuse(call);
    (void)pthread_mutex_unlock(&lock);
}

/* ---- the handle -------------------------------------------------------------------- */

static void watcher(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    (void)zh;
    (void)type;
    (void)state;
    (void)path;
    (void)ctx;
}

static zhandle_t *init(const char *servers)
{
    zhandle_t *zh = zookeeper_init(servers, watcher, SESSION_MS, NULL, NULL, 0);
    if (zh != NULL) {
        (void)zoo_set_servers_resolution_delay(zh, -1);
    }
    return zh;
}

zkc_handle *zkc_handle_open(const char *servers)
{
    zkc_handle *h = calloc(1, sizeof *h);
    if (h == NULL || (h->servers = strdup(servers)) == NULL) {
        abort();
    }
    (void)pthread_rwlock_init(&h->use, NULL);
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    h->zh = init(servers);
    return h;
}

void zkc_handle_close(zkc_handle *h)
{
    if (h->zh != NULL) {
        (void)zookeeper_close(h->zh);
    }
    (void)pthread_rwlock_destroy(&h->use);
    free(h->servers);
    free(h);
}

static bool is_over(const zkc_handle *h)
{
    return h->zh == NULL || zoo_state(h->zh) < 0;
}

/* Starts to use the handle, whose session is not known to be over. End the use with leave(). */
static bool enter(zkc_handle *h)
{
    (void)pthread_rwlock_rdlock(&h->use);
    if (is_over(h)) {
        (void)pthread_rwlock_unlock(&h->use);
        (void)pthread_rwlock_wrlock(&h->use);
        if (is_over(h)) {
            if (h->zh != NULL) {
                (void)zookeeper_close(h->zh);
            }
            h->zh = init(h->servers);
        }
        (void)pthread_rwlock_unlock(&h->use);
        (void)pthread_rwlock_rdlock(&h->use);
    }
    return h->zh != NULL;
}

static void leave(zkc_handle *h)
{
    (void)pthread_rwlock_unlock(&h->use);
}

/* ---- requests ---------------------------------------------------------------------- */

static enum zkc_outcome judge(int rc)
{
    switch (rc) {
    case ZOK:
        return ZKC_DONE;
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZRUNTIMEINCONSISTENCY:
    case ZCLOSING:
    case ZSESSIONEXPIRED:
    case ZMARSHALLINGERROR:
        return ZKC_UNSURE;
    default:
        return ZKC_NOT_DONE;
    }
}

/* Sends the @count operations of @call and waits. */
static int multi(zkc_handle *h, struct call *call, int count)
{
    int rc = zoo_amulti(h->zh, count, call->ops, call->results, on_done, call);
    if (rc != ZOK) {
        drop(call); /* no answer will come */
        return rc;
    }
    return await(h->zh, call);
}

static int check_hold(zkc_handle *h, const struct zkc_grip *g)
{
    struct call *call = new_call();
    int rc = ZNONODE;
    if (zkc_grip_guard(g, &call->ops[0]) == ZKR_OK) {
        rc = multi(h, call, 1);
    } else {
        drop(call);
    }
    drop(call);
    return rc;
}

static int get(zkc_handle *h, const char *path, int64_t *value)
{
    struct call *call = new_call();
    int rc = zoo_aget(h->zh, path, 0, on_data, call);
    if (rc != ZOK) {
        drop(call);
    } else {
        rc = await(h->zh, call);
    }
    if (rc == ZOK) {
        *value = strtoll(call->data, NULL, 10);
    }
    drop(call);
    return rc;
}

enum zkc_outcome zkc_counter_read(zkc_handle *h,
                                  const struct zkc_grip *g,
                                  const char *path,
                                  int64_t *value,
                                  int *code)
{
    *code = ZINVALIDSTATE;
    if (enter(h)) {
        *code = check_hold(h, g);
        if (*code == ZOK) {
            *code = get(h, path, value);
        }
    }
    leave(h);
    return judge(*code);
}

enum zkc_outcome zkc_counter_write(zkc_handle *h,
                                   const struct zkc_grip *g,
                                   const char *path,
                                   int64_t value,
                                   int64_t *zxid,
                                   int *code)
{
    struct call *call = new_call();
    *code = ZINVALIDSTATE;
    int len = snprintf(call->data, sizeof call->data, "%lld", (long long)value);
    if (!enter(h)) {
        drop(call);
    } else if (zkc_grip_guard(g, &call->ops[0]) == ZKR_OK) {
        zoo_set_op_init(&call->ops[1], path, call->data, len, -1, &call->stat);
        *code = multi(h, call, 2);
    } else {
        *code = ZNONODE;
        drop(call);
    }
    leave(h);
    if (*code == ZOK) {
        *zxid = call->stat.mzxid;
    }
    drop(call);
    return judge(*code);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "locks.h"

#include <stdio.h>

#include "control.h"
#include "grip.h"
#include "worker.h"

enum { NAME = 64, KEEP_MS = 700 };

struct path_context {
    struct zkc_process *process;
    int path;
};

static struct path_context contexts[ZKC_PATHS];

static const char *name_of(int path, char *out)
{
    (void)snprintf(out, NAME, "%s/%d", ZKC_LOCKS, path);
    return out;
}

static void on_lost(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    const struct path_context *at = ctx;
    zkc_record r = zkc_client_record(at->process, ZKC_LOST, at->path);
    (void)m;
    r.token = lost->fencing_token;
    r.code = (int32_t)lost->reason;
    zkc_put(at->process->history, &r);
}

static int make_mutex(struct zkc_locks *l, const struct zkc_process *p, int path)
{
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    char name[NAME];
    o.on_lost = on_lost;
    o.on_lost_ctx = &contexts[path];
    o.keep_ms = path == ZKC_KEPT_PATH ? KEEP_MS : 0;
    return zkr_mutex_create(&l->mutexes[path], p->client, name_of(path, name), &o);
}

static int make_rwlock(struct zkc_locks *l, const struct zkc_process *p)
{
    zkr_rwlock_options o = ZKR_RWLOCK_OPTIONS_INIT;
    char name[NAME];
    o.on_lost = on_lost;
    o.on_lost_ctx = &contexts[ZKC_RW_PATH];
    int rc = zkr_rwlock_create(&l->rwlock, p->client, name_of(ZKC_RW_PATH, name), &o);
    l->mutexes[ZKC_READ_SIDE] = zkr_rwlock_reader(l->rwlock);
    l->mutexes[ZKC_WRITE_SIDE] = zkr_rwlock_writer(l->rwlock);
    return rc;
}

static int make_both(zkr_multi_lock **out, const struct zkc_process *p, int a, int b)
{
    char names[2][NAME];
    const char *const paths[] = {name_of(a, names[0]), name_of(b, names[1])};
    return zkr_multi_lock_create(out, p->client, paths, 2, NULL);
}

int zkc_locks_make(struct zkc_locks *l, struct zkc_process *p)
{
    char name[NAME];
    int rc = ZKR_OK;
    for (int path = 0; path < ZKC_PATHS; path++) {
        contexts[path] = (struct path_context){p, path};
    }
    for (int path = 0; path < ZKC_RW_PATH && rc == ZKR_OK; path++) {
        rc = make_mutex(l, p, path);
    }
    rc = rc != ZKR_OK ? rc : make_rwlock(l, p);
    rc = rc != ZKR_OK ? rc
                      : zkr_semaphore_create(&l->semaphore, p->client,
                                             name_of(ZKC_PERMITS_PATH, name),
                                             ZKC_PERMITS_MAX, NULL);
    rc = rc != ZKR_OK ? rc : make_both(&l->both[0], p, ZKC_SHORT_PATH, ZKC_RARE_PATH);
    rc = rc != ZKR_OK ? rc : make_both(&l->both[1], p, ZKC_RARE_PATH, ZKC_SHORT_PATH);
    return rc;
}

int zkc_locks_destroy(struct zkc_locks *l)
{
    int rc = zkr_rwlock_destroy(l->rwlock);
    for (int path = 0; path < ZKC_RW_PATH && rc == ZKR_OK; path++) {
        rc = zkr_mutex_destroy(l->mutexes[path]);
    }
    rc = rc != ZKR_OK ? rc : zkr_semaphore_destroy(l->semaphore);
    rc = rc != ZKR_OK ? rc : zkr_multi_lock_destroy(l->both[0]);
    return rc != ZKR_OK ? rc : zkr_multi_lock_destroy(l->both[1]);
}

int zkc_locks_path(int mutex)
{
    return mutex == ZKC_WRITE_SIDE ? ZKC_RW_PATH : mutex;
}

zkr_mutex *zkc_locks_mutex(const struct zkc_locks *l, const struct zkc_want *want)
{
    return want->as == ZKC_AS_MUTEX    ? l->mutexes[want->path]
           : want->as == ZKC_AS_READER ? l->mutexes[ZKC_READ_SIDE]
           : want->as == ZKC_AS_WRITER ? l->mutexes[ZKC_WRITE_SIDE]
                                       : NULL;
}

int zkc_locks_request(const struct zkc_locks *l,
                      const struct zkc_want *want,
                      int64_t timeout_ms,
                      zkr_ticket_fn fn,
                      void *ctx,
                      zkr_ticket **out)
{
    if (want->as == ZKC_AS_PERMITS) {
        return zkr_semaphore_request(l->semaphore, want->permits, timeout_ms, fn, ctx,
                                     out);
    }
    if (want->as == ZKC_AS_BOTH) {
        return zkr_multi_lock_request(l->both[want->path != ZKC_SHORT_PATH], timeout_ms,
                                      fn, ctx, out);
    }
    return zkr_mutex_request(zkc_locks_mutex(l, want), timeout_ms, fn, ctx, out);
}

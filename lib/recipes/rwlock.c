/* SPDX-License-Identifier: Apache-2.0 */
/* The read-write lock: two mutex objects on one path. Each side knows which threads hold the other side. */
#include <zkr/rwlock.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/options.h"
#include "recipes/mutex.h"

ZKR__OPTIONS_CHECK(zkr_rwlock_options, 15, on_warn_ctx);

struct zkr_rwlock {
    zkr_client *c;
    zkr_mutex *reader, *writer;
};

/* Both sides of the read-write lock share one queue with a mutex on the same path. Sequence numbers order the queue. */
enum { KINDS = 1U << ZKR__NAME_READ | 1U << ZKR__NAME_WRITE | 1U << ZKR__NAME_LOCK };

static int make_sides(zkr_rwlock *l, const char *path, const zkr_rwlock_options *from)
{
    static const struct zkr__mutex_sort reader = {.name = "read-write lock",
                                                  .kind = ZKR__NAME_READ,
                                                  .other_kinds = KINDS,
                                                  .rule = zkr__rule_reader};
    static const struct zkr__mutex_sort writer = {.name = "read-write lock",
                                                  .kind = ZKR__NAME_WRITE,
                                                  .other_kinds = KINDS,
                                                  .rule = zkr__rule_first};
    const zkr_mutex_options o = {
        .size = sizeof(o),
        .owner = from->owner,
        .data = from->data,
        .data_len = from->data_len,
        .on_lost = from->on_lost,
        .on_lost_ctx = from->on_lost_ctx,
        .wait_on_release = from->wait_on_release,
        .persistent_parent = from->persistent_parent,
        .watch_node = from->watch_node,
        .on_revoke = from->on_revoke,
        .on_revoke_ctx = from->on_revoke_ctx,
        .tell_queued = from->tell_queued,
        .warn_ms = from->warn_ms,
        .on_warn = from->on_warn,
        .on_warn_ctx = from->on_warn_ctx,
    };
    int rc = zkr__mutex_make(&l->reader, l->c, path, &o, &reader);
    if (rc != ZKR_OK) {
        return rc;
    }
    rc = zkr__mutex_make(&l->writer, l->c, path, &o, &writer);
    if (rc != ZKR_OK) {
        zkr__recipe_free(&l->reader->r);
        return rc;
    }
    l->reader->side = l->writer->side = true;
    l->reader->lock.writer = &l->writer->lock;
    l->writer->lock.reader = &l->reader->lock;
    return ZKR_OK;
}

int zkr_rwlock_create(zkr_rwlock **out,
                      zkr_client *c,
                      const char *path,
                      const zkr_rwlock_options *options)
{
    zkr_rwlock_options o;
    int rc = zkr__recipe_options(c, out, "read-write lock", &o, sizeof(o), options);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr_rwlock *l = zkr__mem_alloc(sizeof(*l));
    if (!l) {
        return zkr__fail(ZKR_ENOMEM, path,
                         "cannot make a read-write lock: out of memory");
    }
    l->c = c;
    rc = make_sides(l, path, &o);
    if (rc != ZKR_OK) {
        zkr__mem_free(l);
        return rc;
    }
    *out = l;
    return ZKR_OK;
}

zkr_mutex *zkr_rwlock_reader(zkr_rwlock *l)
{
    return l ? l->reader : NULL;
}

zkr_mutex *zkr_rwlock_writer(zkr_rwlock *l)
{
    return l ? l->writer : NULL;
}

int zkr_rwlock_destroy(zkr_rwlock *l)
{
    if (!l) {
        return ZKR_OK;
    }
    int rc = zkr__client_enter(l->c);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(l->c);
    rc = zkr__recipe_busy(&l->reader->r, l->reader->lock.holders);
    if (rc == ZKR_OK) {
        rc = zkr__recipe_busy(&l->writer->r, l->writer->lock.holders);
    }
    zkr__unlock(l->c);
    if (rc == ZKR_OK) {
        zkr__recipe_free(&l->reader->r);
        zkr__recipe_free(&l->writer->r);
        zkr__mem_free(l);
    }
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fourlw.h"
#include "hold_impl.h"
#include "keep.h"

enum { PATIENCE_MS = 30000 };

static const struct zkt_kind *present(void)
{
    return &zkt_kinds[zkt_way()];
}

void zkt_add_hold_cases(const char *name, void (*body)(void), unsigned but)
{
    for (int kind = 0; kind < ZKT_KINDS; kind++) {
        struct zkt_case *way = calloc(1, sizeof(*way));
        size_t size = strlen(name) + strlen(zkt_kinds[kind].name) + 3;
        char *text = malloc(size);
        if (!(but & ZKT_BIT(kind)) && way && text) {
            (void)snprintf(text, size, "%s, %s", name, zkt_kinds[kind].name);
            *way = (struct zkt_case){text, body, kind, NULL};
            zkt_add_cases(way, 1);
        } else {
            free(way);
            free(text);
        }
    }
}

bool zkt_is(unsigned kinds)
{
    return (kinds & ZKT_BIT(zkt_way())) != 0;
}

/* --- the thread of a hold --- */

static void *work(void *arg)
{
    struct zkt_hold *h = arg;
    (void)pthread_mutex_lock(&h->mu);
    while (!h->ends) {
        if (h->busy) {
            (void)pthread_mutex_unlock(&h->mu);
            int rc = h->todo(h, h->arg);
            (void)pthread_mutex_lock(&h->mu);
            h->rc = rc;
            h->busy = false;
            (void)pthread_cond_broadcast(&h->news);
        } else {
            (void)pthread_cond_wait(&h->news, &h->mu);
        }
    }
    (void)pthread_mutex_unlock(&h->mu);
    return NULL;
}

int zkt_hold_finish(struct zkt_hold *h)
{
    (void)pthread_mutex_lock(&h->mu);
    while (h->busy) {
        (void)pthread_cond_wait(&h->news, &h->mu);
    }
    int rc = h->rc;
    (void)pthread_mutex_unlock(&h->mu);
    return rc;
}

void zkt_hold_start(struct zkt_hold *h,
                    int (*todo)(struct zkt_hold *h, void *arg),
                    void *arg)
{
    (void)zkt_hold_finish(h);
    (void)pthread_mutex_lock(&h->mu);
    h->todo = todo;
    h->arg = arg;
    h->busy = true;
    (void)pthread_cond_broadcast(&h->news);
    (void)pthread_mutex_unlock(&h->mu);
}

int zkt_hold_do(struct zkt_hold *h, int (*fn)(struct zkt_hold *h, void *arg), void *arg)
{
    if (pthread_equal(h->thread, pthread_self())) {
        return fn(h, arg);
    }
    zkt_hold_start(h, fn, arg);
    return zkt_hold_finish(h);
}

void zkt_hold_end_thread(struct zkt_hold *h)
{
    if (!h->ended) {
        (void)zkt_hold_finish(h);
        (void)pthread_mutex_lock(&h->mu);
        h->ends = true;
        (void)pthread_cond_broadcast(&h->news);
        (void)pthread_mutex_unlock(&h->mu);
        (void)pthread_join(h->thread, NULL);
        h->ended = true;
        h->holds = false;
    }
}

/* --- making and ending holds --- */

static void forget(struct zkt_hold *h)
{
    zkt_hold_end_thread(h);
    (void)pthread_cond_destroy(&h->news);
    (void)pthread_mutex_destroy(&h->mu);
    if (h->owner == h) {
        free(h->tales);
    }
    free(h);
}

static void end_kept(void *kept)
{
    zkt_hold_end(kept);
}

static struct zkt_hold *make(zkr_client *c,
                             const struct zkt_kind *kind,
                             const char *path,
                             struct zkt_hold *owner,
                             bool watched,
                             int *rc)
{
    struct zkt_hold *h = calloc(1, sizeof(*h));
    h->kind = kind;
    h->watched = watched;
    h->c = c;
    (void)snprintf(h->path, sizeof(h->path), "%s", path);
    h->owner = owner ? owner : h;
    h->tales = owner ? owner->tales : calloc(1, sizeof(*h->tales));
    (void)pthread_mutex_init(&h->mu, NULL);
    (void)pthread_cond_init(&h->news, NULL);
    if (pthread_create(&h->thread, NULL, work, h) != 0) {
        zkt_fail("cannot start a thread");
    }
    *rc = ZKR_OK;
    if (owner) {
        h->object = owner->object;
        h->m = owner->m;
    } else {
        *rc = kind->make(h);
    }
    if (*rc != ZKR_OK) {
        forget(h);
        return NULL;
    }
    zkt_keep(h, end_kept);
    return h;
}

static struct zkt_hold *
make_surely(zkr_client *c, const struct zkt_kind *kind, const char *path, bool watched)
{
    int rc;
    struct zkt_hold *h = make(c, kind, path, NULL, watched, &rc);
    ZKT_MUST(rc);
    return h;
}

struct zkt_hold *zkt_hold(zkr_client *c)
{
    return make_surely(c, present(), zkt_path(), false);
}

struct zkt_hold *zkt_hold_watched(zkr_client *c)
{
    return make_surely(c, present(), zkt_path(), true);
}

static struct zkt_hold *make_of(zkr_client *c, enum zkt_kinds kind, bool watched)
{
    char path[192];
    (void)snprintf(path, sizeof(path), "%s/%s", zkt_path(), zkt_kinds[kind].name);
    return make_surely(c, &zkt_kinds[kind], path, watched);
}

struct zkt_hold *zkt_hold_of(zkr_client *c, enum zkt_kinds kind)
{
    return make_of(c, kind, false);
}

struct zkt_hold *zkt_hold_of_watched(zkr_client *c, enum zkt_kinds kind)
{
    return make_of(c, kind, true);
}

struct zkt_hold *zkt_hold_by(zkr_client *c, zkr_mutex *m)
{
    static struct zkt_tales tales;
    struct zkt_hold owner = {.object = m, .m = m, .tales = &tales};
    int rc;
    return make(c, &zkt_kinds[ZKT_MUTEX], zkt_path(), &owner, false, &rc);
}

struct zkt_hold *zkt_hold_in_the_way(zkr_client *c)
{
    return make_surely(c, &zkt_kinds[present()->waits_for], zkt_path(), false);
}

struct zkt_hold *zkt_hold_beside(struct zkt_hold *h)
{
    int rc;
    return zkt_is(ZKT_LEADERS) ? zkt_hold(h->c)
                               : make(h->c, h->kind, h->path, h->owner, false, &rc);
}

struct zkt_hold *zkt_hold_if_memory(zkr_client *c)
{
    int rc;
    struct zkt_hold *h = make(c, present(), zkt_path(), NULL, false, &rc);
    assert_true(rc == ZKR_OK || rc == ZKR_ENOMEM);
    return h;
}

struct zkt_hold *zkt_hold_on_closed(zkr_client *c)
{
    int rc;
    struct zkt_hold *h = make(c, present(), zkt_path(), NULL, false, &rc);
    ZKT_RC(rc, ZKR_ECLOSED);
    return h;
}

int zkt_hold_destroy(struct zkt_hold *h)
{
    int rc = h->owner == h ? h->kind->unmake(h) : ZKR_OK;
    if (rc == ZKR_OK) {
        zkt_unkeep(h);
        if (h->tales->wrong > 0) {
            zkt_fail("%d calls out of turn", h->tales->wrong);
        }
        forget(h);
    }
    return rc;
}

void zkt_hold_end(struct zkt_hold *h)
{
    if (h->asked) {
        zkt_hold_cancel(h);
        (void)zkt_hold_wait(h);
    }
    if (h->holds) {
        (void)zkt_hold_release(h);
    }
    ZKT_MUST(zkt_hold_destroy(h));
}

/* --- requests and releases --- */

static int acquire(struct zkt_hold *h, void *timeout_ms)
{
    return h->kind->acquire(h, *(int64_t *)timeout_ms);
}

void zkt_hold_ask(struct zkt_hold *h, int64_t timeout_ms)
{
    (void)zkt_hold_finish(h);
    h->timeout_ms = timeout_ms;
    h->asked = true;
    zkt_hold_start(h, acquire, &h->timeout_ms);
}

int zkt_hold_wait(struct zkt_hold *h)
{
    int rc = zkt_hold_finish(h);
    h->asked = false;
    h->holds = rc == ZKR_OK;
    atomic_store(&h->canceled, false);
    return rc;
}

int zkt_hold_acquire(struct zkt_hold *h, int64_t timeout_ms)
{
    zkt_hold_ask(h, timeout_ms);
    return zkt_hold_wait(h);
}

bool zkt_hold_waits(struct zkt_hold *h)
{
    (void)pthread_mutex_lock(&h->mu);
    bool waits = h->busy;
    (void)pthread_mutex_unlock(&h->mu);
    return waits;
}

/*
 * Returns the highest number in the queue, or -1 if the queue is empty. Contenders that are leaving may still be in it.
 */
static long newest_in_line(const struct zkt_hold *h)
{
    char path[256];
    zkt_list list = {0};
    long newest = -1;
    (void)snprintf(path, sizeof(path), "%s%s", h->path, h->kind->parents[0]);
    (void)zkt_children(zkt_servers(), path, &list);
    for (int i = 0; i < list.count; i++) {
        size_t length = strlen(list.name[i]);
        long number = length > 10 ? strtol(list.name[i] + length - 10, NULL, 10) : -1;
        newest = number > newest ? number : newest;
    }
    zkt_list_free(&list);
    return newest;
}

void zkt_hold_queue(struct zkt_hold *h)
{
    long before = newest_in_line(h);
    zkt_hold_ask(h, ZKR_FOREVER);
    ZKT_EVENTUALLY(newest_in_line(h) > before || !zkt_hold_waits(h), PATIENCE_MS);
    /* The node may exist before the call that requested the ticket has returned. */
    ZKT_EVENTUALLY(!h->kind->request || zkt_hold_ticket(h) || !zkt_hold_waits(h),
                   PATIENCE_MS);
}

void zkt_hold_cancel(struct zkt_hold *h)
{
    atomic_store(&h->canceled, true);
    h->kind->cancel(h);
}

static int release(struct zkt_hold *h, void *unused)
{
    return h->kind->release(h);
}

int zkt_hold_release(struct zkt_hold *h)
{
    h->holds = false;
    return zkt_hold_do(h, release, NULL);
}

int zkt_hold_acquire_here(struct zkt_hold *h, int64_t timeout_ms)
{
    return h->kind->acquire(h, timeout_ms);
}

int zkt_hold_release_here(struct zkt_hold *h)
{
    return h->kind->release(h);
}

/* --- queries --- */

static int ask_sure(struct zkt_hold *h, void *unused)
{
    return h->kind->is_sure(h);
}

bool zkt_hold_is_sure(struct zkt_hold *h)
{
    return zkt_hold_do(h, ask_sure, NULL) != 0;
}

static int ask_valid(struct zkt_hold *h, void *ms)
{
    *(int64_t *)ms = h->kind->valid_for_ms(h);
    return ZKR_OK;
}

int64_t zkt_hold_valid_for_ms(struct zkt_hold *h)
{
    int64_t ms = 0;
    (void)zkt_hold_do(h, ask_valid, &ms);
    return ms;
}

static int ask_token(struct zkt_hold *h, void *token)
{
    return h->kind->token(h, token);
}

int zkt_hold_token(struct zkt_hold *h, int64_t *token)
{
    return zkt_hold_do(h, ask_token, token);
}

struct room {
    char *buf;
    size_t size;
};

static int ask_node(struct zkt_hold *h, void *arg)
{
    const struct room *room = arg;
    return h->kind->node(h, room->buf, room->size);
}

int zkt_hold_node(struct zkt_hold *h, char *buf, size_t size)
{
    struct room room = {buf, size};
    return zkt_hold_do(h, ask_node, &room);
}

struct writing {
    int count;
    const zoo_op_t *ops;
    zoo_op_result_t *results;
    int64_t timeout_ms;
    bool release;
};

static int write_guarded(struct zkt_hold *h, void *arg)
{
    const struct writing *w = arg;
    zkr_ticket *t = atomic_load(&h->t);
    int rc =
        t && w->release
            ? zkr_ticket_release_multi(t, w->count, w->ops, w->results, w->timeout_ms)
        : t ? zkr_ticket_multi(t, w->count, w->ops, w->results, w->timeout_ms)
        : w->release
            ? zkr_mutex_release_multi(h->m, w->count, w->ops, w->results, w->timeout_ms)
            : zkr_mutex_multi(h->m, w->count, w->ops, w->results, w->timeout_ms);
    const zkr_error *error = zkr_last_error();
    if (rc != ZKR_OK && (error->code != rc || error->message[0] == '\0')) {
        zkt_fail("%s without a text", zkr_err_name(rc));
    }
    return rc;
}

int zkt_hold_multi(struct zkt_hold *h,
                   int count,
                   const zoo_op_t *ops,
                   zoo_op_result_t *results,
                   int64_t timeout_ms,
                   bool release)
{
    struct writing w = {count, ops, results, timeout_ms, release};
    return zkt_hold_do(h, write_guarded, &w);
}

int zkt_hold_write(struct zkt_hold *h, const char *path, bool release)
{
    zoo_op_t op;
    zoo_op_result_t result;
    zoo_set_op_init(&op, path, "x", 1, -1, NULL);
    return zkt_hold_multi(h, 1, &op, &result, PATIENCE_MS, release);
}

int zkt_hold_gains(const struct zkt_hold *h)
{
    return h->tales->gains;
}

int zkt_hold_losses(const struct zkt_hold *h)
{
    return h->tales->losses;
}

int zkt_hold_reason(const struct zkt_hold *h)
{
    return h->tales->reason;
}

zkr_client *zkt_hold_client(struct zkt_hold *h)
{
    return h->c;
}

zkr_ticket *zkt_hold_ticket(struct zkt_hold *h)
{
    return atomic_load(&h->t);
}

/* --- the nodes of holds --- */

int zkt_hold_nodes(void)
{
    return (int)zkt_ephemerals_under(zkt_servers(), zkt_path());
}

int zkt_hold_nodes_of_one(void)
{
    return present()->nodes;
}

int zkt_hold_nodes_of_each(void)
{
    int sum = 0;
    for (int kind = 0; kind < ZKT_KINDS; kind++) {
        sum += zkt_kinds[kind].nodes;
    }
    return sum;
}

static int by_number(const void *x, const void *y)
{
    const char *one = *(const char *const *)x, *two = *(const char *const *)y;
    return strcmp(two + strlen(two) - 10, one + strlen(one) - 10);
}

/* The nodes of one hold are all in one queue, or each in its own queue. */
bool zkt_hold_delete_nth(int n)
{
    bool apart = zkt_is(ZKT_BIT(ZKT_MULTI)), gone = false;
    const char *const *parent = present()->parents + (apart ? n : 0);
    for (; *parent && !gone; parent++) {
        char path[256], node[512];
        int at = apart ? 0 : n;
        zkt_list list = {0};
        (void)snprintf(path, sizeof(path), "%s%s", zkt_path(), *parent);
        (void)zkt_children(zkt_servers(), path, &list);
        if (at < list.count) {
            qsort(list.name, (size_t)list.count, sizeof(list.name[0]), by_number);
            (void)snprintf(node, sizeof(node), "%s/%s", path, list.name[at]);
            gone = zkt_delete(zkt_servers(), node) == ZKT_OK;
        }
        zkt_list_free(&list);
    }
    return gone;
}

bool zkt_hold_delete_last(void)
{
    return zkt_hold_delete_nth(0);
}

void zkt_hold_delete_parents(void)
{
    char path[256];
    for (const char *const *parent = present()->parents; *parent; parent++) {
        (void)snprintf(path, sizeof(path), "%s%s", zkt_path(), *parent);
        (void)zkt_delete(zkt_servers(), path);
    }
}

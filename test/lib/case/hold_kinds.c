/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of holds, one after another, and the table of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hold_impl.h"

enum { PATIENCE_MS = 30000, PATHS = 3 };

/* Defines static int unmake_@name(), which destroys a zkr_@type. */
#define UNMAKE(name, type)                                                             \
    static int unmake_##name(struct zkt_hold *h)                                       \
    {                                                                                  \
        return zkr_##type##_destroy(h->object);                                        \
    }
UNMAKE(mutex, mutex)
UNMAKE(rwlock, rwlock)
UNMAKE(semaphore, semaphore)
UNMAKE(multi, multi_lock)
UNMAKE(latch, leader_latch)
UNMAKE(selector, leader_selector)

/* --- held by a thread --- */

static void on_lost(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    struct zkt_tales *tales = ctx;
    tales->reason = (int)lost->reason;
    tales->losses++;
}

static int make_mutex_at(struct zkt_hold *h, const char *path)
{
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.on_lost = on_lost;
    o.on_lost_ctx = h->tales;
    o.watch_node = h->watched;
    int rc = zkr_mutex_create(&h->m, h->c, path, &o);
    h->object = h->m;
    return rc;
}

static int make_mutex(struct zkt_hold *h)
{
    return make_mutex_at(h, h->path);
}

static int make_side(struct zkt_hold *h, zkr_mutex *(*side)(zkr_rwlock *l))
{
    zkr_rwlock *l = NULL;
    zkr_rwlock_options o = ZKR_RWLOCK_OPTIONS_INIT;
    o.on_lost = on_lost;
    o.on_lost_ctx = h->tales;
    o.watch_node = h->watched;
    int rc = zkr_rwlock_create(&l, h->c, h->path, &o);
    h->object = l;
    h->m = rc == ZKR_OK ? side(l) : NULL;
    return rc;
}

static int make_reader(struct zkt_hold *h)
{
    return make_side(h, zkr_rwlock_reader);
}

static int make_writer(struct zkt_hold *h)
{
    return make_side(h, zkr_rwlock_writer);
}

static int acquire_mutex(struct zkt_hold *h, int64_t timeout_ms)
{
    return zkr_mutex_acquire(h->m, timeout_ms);
}

/*
 * Acquires for writing, then also for reading, and then releases for writing. If the hold is lost meanwhile, the
 * reader's release reports that.
 */
static int downgrade(struct zkt_hold *h, int64_t timeout_ms)
{
    zkr_mutex *w = zkr_rwlock_writer(h->object);
    int rc = zkr_mutex_acquire(w, timeout_ms);
    if (rc == ZKR_OK) {
        rc = zkr_mutex_acquire(h->m, 0);
        (void)zkr_mutex_release(w);
    }
    return rc;
}

static int release_mutex(struct zkt_hold *h)
{
    return zkr_mutex_release(h->m);
}

static void cancel_mutex(struct zkt_hold *h)
{
    (void)zkr_mutex_cancel(h->m);
}

static void cancel_downgrade(struct zkt_hold *h)
{
    (void)zkr_mutex_cancel(zkr_rwlock_writer(h->object));
}

static int64_t mutex_valid_for_ms(struct zkt_hold *h)
{
    return zkr_mutex_valid_for_ms(h->m);
}

static bool mutex_is_sure(struct zkt_hold *h)
{
    return zkr_mutex_is_held(h->m);
}

static int mutex_token(struct zkt_hold *h, int64_t *token)
{
    return zkr_mutex_fencing_token(h->m, token);
}

static int mutex_node(struct zkt_hold *h, char *buf, size_t size)
{
    return zkr_mutex_node(h->m, buf, size);
}

/* A hold of this kind has one node, in the directory itself. */
#define ALONE .nodes = 1, .parents = {""}
#define BY_THREAD                                                                      \
    .release = release_mutex, .valid_for_ms = mutex_valid_for_ms,                      \
    .is_sure = mutex_is_sure, .token = mutex_token, .node = mutex_node
#define BY_MUTEX .acquire = acquire_mutex, .cancel = cancel_mutex, BY_THREAD
#define BY_DOWNGRADE .acquire = downgrade, .cancel = cancel_downgrade, BY_THREAD

/* --- held by a ticket --- */

static void on_ticket(zkr_ticket *t, int state, void *ctx)
{
    struct zkt_tales *tales = ctx;
    zkr_lost lost = {0};
    tales->gains += state == ZKR_TICKET_HELD;
    tales->failed += state == ZKR_TICKET_FAILED;
    if (state == ZKR_TICKET_LOST) {
        tales->wrong += tales->losses >= tales->gains;
        /* If the ticket was released meanwhile, the release has reported the loss. */
        if (zkr_ticket_lost(t, &lost, sizeof(lost)) == ZKR_OK) {
            tales->reason = (int)lost.reason;
        }
        tales->losses++;
    }
}

static int request_mutex(struct zkt_hold *h, int64_t timeout_ms, zkr_ticket **t)
{
    return zkr_mutex_request(h->m, timeout_ms, on_ticket, h->tales, t);
}

static int request_permits(struct zkt_hold *h, int64_t timeout_ms, zkr_ticket **t)
{
    return zkr_semaphore_request(h->object, h->kind->nodes, timeout_ms, on_ticket,
                                 h->tales, t);
}

static int request_multi(struct zkt_hold *h, int64_t timeout_ms, zkr_ticket **t)
{
    return zkr_multi_lock_request(h->object, timeout_ms, on_ticket, h->tales, t);
}

static int release_ticket(struct zkt_hold *h)
{
    (void)pthread_mutex_lock(&h->mu); /* from here on, no thread cancels the ticket */
    zkr_ticket *t = atomic_exchange(&h->t, NULL);
    (void)pthread_mutex_unlock(&h->mu);
    int rc = zkr_ticket_release(t);
    ZKT_MUST(zkr_ticket_destroy(t));
    return rc;
}

static int acquire_ticket(struct zkt_hold *h, int64_t timeout_ms)
{
    zkr_ticket *t = NULL;
    int rc = h->kind->request(h, timeout_ms, &t);
    h->t = t;
    if (rc != ZKR_OK) {
        return rc;
    }
    if (h->canceled) {
        (void)zkr_ticket_release(t);
    }
    rc = zkr_ticket_wait(t, ZKR_FOREVER);
    if (rc != ZKR_OK) {
        (void)release_ticket(h);
    }
    return rc;
}

/* If the ticket does not exist yet, the thread that requests it will release it. */
static void cancel_ticket(struct zkt_hold *h)
{
    (void)pthread_mutex_lock(&h->mu);
    zkr_ticket *t = h->t;
    if (t) {
        (void)zkr_ticket_release(t);
    }
    (void)pthread_mutex_unlock(&h->mu);
}

static int64_t ticket_valid_for_ms(struct zkt_hold *h)
{
    return h->t ? zkr_ticket_valid_for_ms(h->t) : 0;
}

static bool ticket_is_sure(struct zkt_hold *h)
{
    return h->t && zkr_ticket_state(h->t) == ZKR_TICKET_HELD;
}

static int ticket_token(struct zkt_hold *h, int64_t *token)
{
    return h->t ? zkr_ticket_fencing_token(h->t, token) : ZKR_ENOTOWNER;
}

static int ticket_node(struct zkt_hold *h, char *buf, size_t size)
{
    return h->t ? zkr_ticket_node(h->t, buf, size) : ZKR_ENOTOWNER;
}

static int make_semaphore(struct zkt_hold *h)
{
    zkr_semaphore *s = NULL;
    zkr_semaphore_options o = ZKR_SEMAPHORE_OPTIONS_INIT;
    int max = h->kind->nodes == 1 ? 1 : 3;
    o.watch_node = h->watched;
    int rc = zkr_semaphore_create(&s, h->c, h->path, max, &o);
    h->object = s;
    return rc;
}

static int make_multi(struct zkt_hold *h)
{
    char text[PATHS][256];
    const char *paths[PATHS];
    zkr_multi_lock *l = NULL;
    zkr_multi_lock_options o = ZKR_MULTI_LOCK_OPTIONS_INIT;
    o.watch_node = h->watched;
    for (int i = 0; i < PATHS; i++) {
        (void)snprintf(text[i], sizeof(text[i]), "%s/%d", h->path, i);
        paths[i] = text[i];
    }
    int rc = zkr_multi_lock_create(&l, h->c, paths, PATHS, &o);
    h->object = l;
    return rc;
}

static int make_part(struct zkt_hold *h)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/1", h->path);
    return make_mutex_at(h, path);
}

#define PERMITS(n) .nodes = (n), .parents = {"/locks", "/leases"}
#define BY_TICKET(of)                                                                  \
    .request = request_##of, .acquire = acquire_ticket, .release = release_ticket,     \
    .cancel = cancel_ticket, .valid_for_ms = ticket_valid_for_ms,                      \
    .is_sure = ticket_is_sure, .token = ticket_token, .node = ticket_node

/* --- leaders --- */

static void on_gain(zkr_leader_latch *l, int64_t token, void *ctx)
{
    struct zkt_tales *tales = ctx;
    tales->wrong += token < tales->token;
    tales->token = token;
    tales->gains++;
}

static void on_loss(zkr_leader_latch *l, const zkr_lost *lost, void *ctx)
{
    struct zkt_tales *tales = ctx;
    tales->wrong += lost->fencing_token != tales->token || lost->node[0] != '/';
    tales->reason = (int)lost->reason;
    tales->losses++;
}

static int make_latch(struct zkt_hold *h)
{
    zkr_leader_latch *l = NULL;
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    o.on_gain = on_gain;
    o.on_loss = on_loss;
    o.ctx = h->tales;
    int rc = zkr_leader_latch_create(&l, h->c, h->path, "x", &o);
    h->object = l;
    return rc;
}

static int release_latch(struct zkt_hold *h)
{
    return zkr_leader_latch_stop(h->object, ZKR_LATCH_SILENT);
}

static int lead_by_latch(struct zkt_hold *h, int64_t timeout_ms)
{
    int rc = zkr_leader_latch_start(h->object);
    rc = rc == ZKR_OK ? zkr_leader_latch_await(h->object, timeout_ms) : rc;
    if (rc != ZKR_OK) {
        (void)release_latch(h);
    }
    return h->canceled && rc == ZKR_ESTATE ? ZKR_ECANCELED : rc;
}

static void cancel_latch(struct zkt_hold *h)
{
    (void)release_latch(h);
}

static int64_t latch_valid_for_ms(struct zkt_hold *h)
{
    return zkr_leader_latch_valid_for_ms(h->object);
}

static bool latch_is_sure(struct zkt_hold *h)
{
    return zkr_leader_latch_has_leadership(h->object);
}

static int latch_token(struct zkt_hold *h, int64_t *token)
{
    return zkr_leader_latch_fencing_token(h->object, token);
}

static int latch_node(struct zkt_hold *h, char *buf, size_t size)
{
    return zkr_leader_latch_node(h->object, buf, size);
}

static void take_leadership(zkr_leadership *lead, void *ctx)
{
    struct zkt_tales *tales = ctx;
    int64_t token = zkr_leadership_fencing_token(lead);
    tales->wrong += token < tales->token;
    tales->token = token;
    (void)zkr_leadership_node(lead, tales->node, sizeof(tales->node));
    tales->gains++;
    tales->losses += zkr_leadership_wait(lead, ZKR_FOREVER) == ZKR_ESESSION;
}

static int make_selector(struct zkt_hold *h)
{
    zkr_leader_selector *s = NULL;
    zkr_leader_selector_options o = ZKR_LEADER_SELECTOR_OPTIONS_INIT;
    o.auto_requeue = 1;
    int rc = zkr_leader_selector_create(&s, h->c, h->path, "x", take_leadership,
                                        h->tales, &o);
    h->object = s;
    return rc;
}

static int release_selector(struct zkt_hold *h)
{
    return zkr_leader_selector_stop(h->object, PATIENCE_MS);
}

static int lead_by_selector(struct zkt_hold *h, int64_t timeout_ms)
{
    int gains = h->tales->gains;
    int rc = zkr_leader_selector_start(h->object);
    int64_t end = zkt_now_ms() + timeout_ms;
    while (rc == ZKR_OK && h->tales->gains == gains) {
        int state = zkr_leader_selector_state(h->object);
        bool late = timeout_ms != ZKR_FOREVER && zkt_now_ms() >= end;
        rc = h->canceled ? ZKR_ECANCELED
             : state < 0 ? state
             : late      ? ZKR_ETIMEDOUT
                         : rc;
        zkt_sleep_ms(1);
    }
    if (rc != ZKR_OK) {
        (void)release_selector(h);
    }
    return rc;
}

/* The waiting thread checks for the cancellation itself. */
static void cancel_selector(struct zkt_hold *h)
{
}

static int64_t selector_valid_for_ms(struct zkt_hold *h)
{
    return zkr_leader_selector_has_leadership(h->object) ? 1 : 0;
}

static bool selector_is_sure(struct zkt_hold *h)
{
    return zkr_leader_selector_has_leadership(h->object);
}

static int selector_token(struct zkt_hold *h, int64_t *token)
{
    *token = h->tales->token;
    return selector_is_sure(h) ? ZKR_OK : ZKR_ENOTOWNER;
}

static int selector_node(struct zkt_hold *h, char *buf, size_t size)
{
    (void)snprintf(buf, size, "%s", h->tales->node);
    return ZKR_OK;
}

#define BY_LEADER(of)                                                                  \
    .acquire = lead_by_##of, .release = release_##of, .cancel = cancel_##of,           \
    .valid_for_ms = of##_valid_for_ms, .is_sure = of##_is_sure, .token = of##_token,   \
    .node = of##_node

const struct zkt_kind zkt_kinds[ZKT_KINDS + 1] = {
    [ZKT_MUTEX] = {"mutex", ZKT_MUTEX, make_mutex, unmake_mutex, ALONE, BY_MUTEX},
    [ZKT_TICKET] = {"ticket", ZKT_TICKET, make_mutex, unmake_mutex, ALONE,
                    BY_TICKET(mutex)},
    [ZKT_READER] = {"reader", ZKT_WRITER, make_reader, unmake_rwlock, ALONE, BY_MUTEX},
    [ZKT_WRITER] = {"writer", ZKT_WRITER, make_writer, unmake_rwlock, ALONE, BY_MUTEX},
    [ZKT_DOWNGRADED] = {"downgraded", ZKT_WRITER, make_reader, unmake_rwlock, ALONE,
                        BY_DOWNGRADE},
    [ZKT_PERMIT] = {"permit", ZKT_PERMIT, make_semaphore, unmake_semaphore, PERMITS(1),
                    BY_TICKET(permits)},
    [ZKT_PERMITS] = {"permits", ZKT_PERMITS, make_semaphore, unmake_semaphore,
                     PERMITS(2), BY_TICKET(permits)},
    [ZKT_MULTI] = {"multi",
                   ZKT_PART,
                   make_multi,
                   unmake_multi,
                   PATHS,
                   {"/2", "/1", "/0"},
                   BY_TICKET(multi)},
    [ZKT_LATCH] = {"latch", ZKT_LATCH, make_latch, unmake_latch, ALONE,
                   BY_LEADER(latch)},
    [ZKT_SELECTOR] = {"selector", ZKT_SELECTOR, make_selector, unmake_selector, ALONE,
                      BY_LEADER(selector)},
    [ZKT_PART] = {"part", ZKT_PART, make_part, unmake_mutex, 1, {"/1"}, BY_MUTEX},
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "lock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A ticket that a thread waits for or holds. */
struct kept {
    struct kept *next;
    zkr_mutex *m;
    zkr_ticket *t;
    pthread_t owner;
    _Atomic int64_t token;
    atomic_int held, failed, lost, wrong; /* what the callback was told */
    bool waits, canceled;
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *list;
static zkr_mutex_lost_fn lost_fn;
static void *lost_ctx;

bool zkt_by_ticket(void)
{
    return zkt_way() == 1;
}

void zkt_on_ticket_lost(zkr_mutex_lost_fn fn, void *ctx)
{
    lost_fn = fn;
    lost_ctx = ctx;
}

/* --- the callback --- */

static void on_ticket(zkr_ticket *t, int state, void *ctx)
{
    struct kept *k = ctx;
    bool first = k->held + k->failed + k->lost == 0;
    bool lost = state == ZKR_TICKET_LOST;
    k->wrong += lost ? k->held != 1 || k->lost != 0 : !first;
    (void)t;
    k->held += state == ZKR_TICKET_HELD;
    k->failed += state == ZKR_TICKET_FAILED;
    k->lost += lost;
    if (lost && lost_fn) {
        const zkr_lost why = {.fencing_token = k->token};
        lost_fn(k->m, &why, lost_ctx);
    }
}

/* --- tickets of the calling thread --- */

static struct kept *find(zkr_mutex *m)
{
    (void)pthread_mutex_lock(&list_lock);
    struct kept *k = list;
    while (k && !(k->m == m && pthread_equal(k->owner, pthread_self()))) {
        k = k->next;
    }
    (void)pthread_mutex_unlock(&list_lock);
    return k;
}

static struct kept *keep(zkr_mutex *m)
{
    struct kept *k = calloc(1, sizeof(*k));
    k->m = m;
    k->owner = pthread_self();
    (void)pthread_mutex_lock(&list_lock);
    k->next = list;
    list = k;
    (void)pthread_mutex_unlock(&list_lock);
    return k;
}

static void forget(struct kept *k)
{
    (void)pthread_mutex_lock(&list_lock);
    struct kept **at = &list;
    while (*at != k) {
        at = &(*at)->next;
    }
    *at = k->next;
    (void)pthread_mutex_unlock(&list_lock);
    free(k);
}

/* From here on a cancel reaches the ticket. True: it was canceled already. */
static bool begin_wait(struct kept *k, zkr_ticket *t)
{
    (void)pthread_mutex_lock(&list_lock);
    k->t = t;
    k->waits = true;
    bool canceled = k->canceled;
    (void)pthread_mutex_unlock(&list_lock);
    return canceled;
}

static void end_wait(struct kept *k)
{
    (void)pthread_mutex_lock(&list_lock);
    k->waits = false;
    (void)pthread_mutex_unlock(&list_lock);
}

/* Free the ticket, whose wait ended with @waited, and check the calls of its callback. */
static int let_go(struct kept *k, int waited)
{
    bool canceled = waited == ZKR_ECANCELED; /* perhaps right after the callback */
    int rc = zkr_ticket_release(k->t);
    if (zkr_ticket_destroy(k->t) != ZKR_OK) {
        zkt_fail("a released ticket cannot be destroyed");
    }
    bool told_right = waited == ZKR_OK ? k->failed == 0 : k->held == 0 || canceled;
    if (k->wrong != 0 || !told_right) {
        zkt_fail("a ticket was told of %d times held, %d failed, %d lost, %d wrong",
                 k->held, k->failed, k->lost, k->wrong);
    }
    forget(k);
    return rc;
}

/* --- the functions --- */

int zkt_acquire(zkr_mutex *m, int64_t timeout_ms)
{
    if (!zkt_by_ticket()) {
        return zkr_mutex_acquire(m, timeout_ms);
    }
    struct kept *k = find(m);
    if (k) {
        return zkr_ticket_error(k->t) == ZKR_ESESSION ? ZKR_ESESSION : ZKR_EBUSY;
    }
    k = keep(m);
    zkr_ticket *t = NULL;
    int rc = zkr_mutex_request(m, timeout_ms, on_ticket, k, &t);
    if (rc != ZKR_OK) {
        forget(k);
        return rc;
    }
    if (begin_wait(k, t)) {
        (void)zkr_ticket_release(t);
    }
    rc = zkr_ticket_wait(t, ZKR_FOREVER);
    end_wait(k);
    int64_t token = 0;
    if (rc == ZKR_OK && zkr_ticket_fencing_token(k->t, &token) == ZKR_OK) {
        k->token = token;
    }
    if (rc != ZKR_OK) {
        (void)let_go(k, rc);
    }
    return rc;
}

int zkt_release(zkr_mutex *m)
{
    struct kept *k = zkt_by_ticket() ? find(m) : NULL;
    if (!k) {
        return zkr_mutex_release(m);
    }
    return let_go(k, ZKR_OK);
}

bool zkt_is_held(zkr_mutex *m)
{
    struct kept *k = zkt_by_ticket() ? find(m) : NULL;
    return k ? zkr_ticket_state(k->t) == ZKR_TICKET_HELD : zkr_mutex_is_held(m);
}

int64_t zkt_valid_for_ms(zkr_mutex *m)
{
    struct kept *k = zkt_by_ticket() ? find(m) : NULL;
    return k ? zkr_ticket_valid_for_ms(k->t) : zkr_mutex_valid_for_ms(m);
}

int zkt_fencing_token(zkr_mutex *m, int64_t *token)
{
    struct kept *k = zkt_by_ticket() ? find(m) : NULL;
    return k ? zkr_ticket_fencing_token(k->t, token)
             : zkr_mutex_fencing_token(m, token);
}

int zkt_node_of(zkr_mutex *m, char *buf, size_t size)
{
    struct kept *k = zkt_by_ticket() ? find(m) : NULL;
    return k ? zkr_ticket_node(k->t, buf, size) : zkr_mutex_node(m, buf, size);
}

zkr_ticket *zkt_ticket_of(zkr_mutex *m)
{
    const struct kept *k = zkt_by_ticket() ? find(m) : NULL;
    return k ? k->t : NULL;
}

int zkt_multi(zkr_mutex *m,
              int count,
              const zoo_op_t *ops,
              zoo_op_result_t *results,
              int64_t timeout_ms,
              bool release)
{
    struct kept *k = zkt_by_ticket() ? find(m) : NULL;
    if (k) {
        return release ? zkr_ticket_release_multi(k->t, count, ops, results, timeout_ms)
                       : zkr_ticket_multi(k->t, count, ops, results, timeout_ms);
    }
    return release ? zkr_mutex_release_multi(m, count, ops, results, timeout_ms)
                   : zkr_mutex_multi(m, count, ops, results, timeout_ms);
}

int zkt_cancel(zkr_mutex *m)
{
    if (!zkt_by_ticket()) {
        return zkr_mutex_cancel(m);
    }
    (void)pthread_mutex_lock(&list_lock);
    for (struct kept *k = list; k; k = k->next) {
        if (k->m == m && k->waits) {
            (void)zkr_ticket_release(k->t);
        }
        k->canceled = k->canceled || (k->m == m && !k->t);
    }
    (void)pthread_mutex_unlock(&list_lock);
    return ZKR_OK;
}

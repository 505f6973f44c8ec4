/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads of several clients acquire random numbers of permits. The maximum is never exceeded, and all
 * threads are served.
 */
#include <pthread.h>
#include <stdlib.h>

#include "../unit/unit.h"
#include "semaphores.h"

enum { CLIENTS = 3, THREADS = 4, ROUNDS = 30 };

/* What an observer sees. A permit is in use from after its grant until before its release. */
struct crowd {
    atomic_int in_use, most, violations, served;
    int max;
    int largest; /* largest number of permits of one request */
    bool resized;
};

struct visitor {
    struct crowd *k;
    zkr_semaphore *s;
    uint64_t seed;
    pthread_t thread;
};

static void note_use(struct crowd *k, int n)
{
    int now = atomic_fetch_add(&k->in_use, n) + n;
    int most = atomic_load(&k->most);
    while (now > most && !atomic_compare_exchange_weak(&k->most, &most, now)) {
    }
    atomic_fetch_add(&k->violations, now > k->max);
}

/* Some calls have a short timeout. If they left permits behind, others would notice. */
static bool visit(struct visitor *v)
{
    zkr_ticket *t = NULL;
    int n = 1 + (int)zkt_below(&v->seed, v->k->largest);
    bool hasty = zkt_below(&v->seed, 10) == 0;
    int rc = zkr_semaphore_acquire(v->s, n, hasty ? zkt_below(&v->seed, 5) : 60000, &t);
    if (rc != ZKR_OK) {
        atomic_fetch_add(&v->k->violations, !hasty || !zkt_timed_out(rc));
        return false;
    }
    note_use(v->k, n);
    atomic_fetch_add(&v->k->violations, zkr_ticket_state(t) != ZKR_TICKET_HELD);
    if (zkt_below(&v->seed, 4) == 0) {
        zkt_sleep_ms(zkt_below(&v->seed, 3));
    }
    atomic_fetch_sub(&v->k->in_use, n);
    int released = zkr_ticket_release(t), destroyed = zkr_ticket_destroy(t);
    atomic_fetch_add(&v->k->violations, released != ZKR_OK || destroyed != ZKR_OK);
    return true;
}

static void *visit_often(void *arg)
{
    struct visitor *v = arg;
    int served = 0;
    while (served < ROUNDS) {
        served += visit(v);
    }
    atomic_fetch_add(&v->k->served, served);
    return NULL;
}

/* Set the count to random values from the largest request to the maximum. */
static void *resize_often(void *arg)
{
    struct crowd *k = arg;
    uint64_t seed = 7;
    while (atomic_load(&k->served) < CLIENTS * THREADS * ROUNDS) {
        set_max((uint32_t)(k->largest + zkt_below(&seed, k->max - k->largest + 1)));
        zkt_sleep_ms(5);
    }
    return NULL;
}

static void gather(struct crowd *k)
{
    struct visitor visitors[CLIENTS * THREADS];
    pthread_t resizer;
    for (int i = 0; i < CLIENTS; i++) {
        zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
        zkr_semaphore *s = k->resized ? resizable(c, k->largest) : semaphore(c, k->max);
        for (int j = 0; j < THREADS; j++) {
            visitors[i * THREADS + j] =
                (struct visitor){.k = k, .s = s, .seed = (uint64_t)(100 * i + j + 1)};
        }
    }
    for (int i = 0; i < CLIENTS * THREADS; i++) {
        assert_int_equal(
            pthread_create(&visitors[i].thread, NULL, visit_often, &visitors[i]), 0);
    }
    if (k->resized) {
        assert_int_equal(pthread_create(&resizer, NULL, resize_often, k), 0);
    }
    for (int i = 0; i < CLIENTS * THREADS; i++) {
        assert_int_equal(pthread_join(visitors[i].thread, NULL), 0);
    }
    if (k->resized) {
        assert_int_equal(pthread_join(resizer, NULL), 0);
    }
    assert_int_equal(atomic_load(&k->violations), 0);
    assert_int_equal(atomic_load(&k->served), CLIENTS * THREADS * ROUNDS);
}

/* Three permits; each request is for one to three. */
ZKT_CASE(never_more_than_the_maximum)
{
    struct crowd k = {.max = 3, .largest = 3};
    gather(&k);
    assert_int_equal(atomic_load(&k.most), 3);
}

/* The count changes all the time. The permits in use never exceed its highest value. */
ZKT_CASE(a_maximum_that_moves_is_kept)
{
    struct crowd k = {.max = 6, .largest = 2, .resized = true};
    gather(&k);
}

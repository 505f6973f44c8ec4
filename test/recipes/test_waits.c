/* SPDX-License-Identifier: Apache-2.0 */
/* How long functions wait for the servers, and which threads are woken. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "actor.h"
#include "latches.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 20000, SHORT_MS = 200 };

/* --- calls that ask --- */

struct asked {
    zkr_mutex *m;
    zkr_leader_latch *l;
    zkr_leader_selector *s;
    zkr_semaphore *permits;
};

static int mutex_contenders(struct asked *a)
{
    zkr_contenders *list;
    return zkr_mutex_contenders(a->m, &list);
}

static int mutex_revoke(struct asked *a)
{
    return zkr_mutex_revoke(a->m);
}

static int mutex_try(struct asked *a)
{
    return zkr_mutex_acquire(a->m, 0);
}

static int latch_leader(struct asked *a)
{
    char text[64];
    return zkr_leader_latch_leader(a->l, text, sizeof(text));
}

static int selector_participants(struct asked *a)
{
    zkr_contenders *list;
    return zkr_leader_selector_participants(a->s, &list);
}

static int semaphore_holders(struct asked *a)
{
    zkr_contenders *list;
    return zkr_semaphore_holders(a->permits, &list);
}

struct asker {
    struct asked *a;
    int (*ask)(struct asked *a);
    pthread_t thread;
    atomic_int rc; /* ZKT_NOT_YET, or the code of the call */
    int64_t took_ms;
};

static void *ask(void *arg)
{
    struct asker *k = arg;
    int64_t before = zkt_now_ms();
    int rc = k->ask(k->a);
    k->took_ms = zkt_now_ms() - before;
    atomic_store(&k->rc, rc);
    return NULL;
}

static void never(zkr_leadership *lead, void *ctx)
{
}

/* Without an answer, each of the functions ends after connect_timeout_ms. */
ZKT_CASE(a_question_ends_without_an_answer)
{
    static int (*const asks[])(struct asked * a) = {
        mutex_contenders, mutex_revoke,          mutex_try,
        latch_leader,     selector_participants, semaphore_holders};
    enum { ASKS = sizeof(asks) / sizeof(asks[0]) };
    struct asker k[ASKS];
    struct asked a;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = ZKT_CLIENT_WITH(zkt_proxy_host(p), .session_timeout_ms = SESSION_MS,
                                    .connect_timeout_ms = SHORT_MS);
    a.m = zkt_mutex(c);
    a.l = zkt_latch(c, "x", NULL);
    ZKT_MUST(zkr_leader_selector_create(&a.s, c, zkt_path(), "x", never, NULL, NULL));
    ZKT_MUST(zkr_semaphore_create(&a.permits, c, zkt_path(), 1, NULL));
    zkt_proxy_freeze(p, ZKT_TO_CLIENT);
    for (int i = 0; i < ASKS; i++) {
        k[i] = (struct asker){.a = &a, .ask = asks[i], .rc = ZKT_NOT_YET};
        assert_int_equal(pthread_create(&k[i].thread, NULL, ask, &k[i]), 0);
    }
    for (int i = 0; i < ASKS; i++) {
        ZKT_EVENTUALLY(atomic_load(&k[i].rc) != ZKT_NOT_YET, SESSION_MS / 4);
        pthread_join(k[i].thread, NULL);
        assert_true(zkt_timed_out(atomic_load(&k[i].rc)));
        assert_true(k[i].took_ms >= SHORT_MS);
    }
    zkt_proxy_heal(p);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    ZKT_MUST(zkr_semaphore_destroy(a.permits));
    ZKT_MUST(zkr_leader_selector_destroy(a.s));
}

/* --- who is woken --- */

struct sleeper {
    zkr_mutex *m;
    pthread_t thread;
    int rc;
    long slept; /* number of sleeps */
};

static long times_slept(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_nvcsw;
}

static void *sleep_in_line(void *arg)
{
    struct sleeper *s = arg;
    long before = times_slept();
    s->rc = zkr_mutex_acquire(s->m, ZKR_FOREVER);
    s->slept = times_slept() - before;
    s->rc = s->rc == ZKR_OK ? zkr_mutex_release(s->m) : s->rc;
    return NULL;
}

/*
 * A hand-over wakes only the next thread, however many wait in the process. It goes to a claim of the same client, or
 * by an event to another client.
 */
ZKT_CASE(a_hand_over_wakes_one_thread)
{
    enum { SLEEPERS = 60, CLIENTS = 2 };
    zkr_client *c[CLIENTS];
    zkr_mutex *m[CLIENTS];
    struct sleeper s[SLEEPERS];
    for (int i = 0; i < CLIENTS; i++) {
        c[i] = zkt_client(zkt_servers(), SESSION_MS);
        m[i] = zkt_mutex(c[i]);
    }
    ZKT_MUST(zkr_mutex_acquire(m[0], PATIENCE_MS));
    for (int i = 0; i < SLEEPERS; i++) {
        int client = i / 2 % CLIENTS; /* pairs, for hand-overs of both kinds */
        s[i] = (struct sleeper){.m = m[client]};
        assert_int_equal(pthread_create(&s[i].thread, NULL, sleep_in_line, &s[i]), 0);
        ZKT_BECOMES(zkt_waiting(c[0]) + zkt_waiting(c[1]), i + 1, PATIENCE_MS);
    }
    ZKT_MUST(zkr_mutex_release(m[0]));
    for (int i = 0; i < SLEEPERS; i++) {
        pthread_join(s[i].thread, NULL);
        ZKT_MUST(s[i].rc);
        /* A thread sleeps to join, to be granted, and sometimes for the client's lock. */
        ZKT_IN_RANGE(s[i].slept, 1, SLEEPERS / 6);
    }
}

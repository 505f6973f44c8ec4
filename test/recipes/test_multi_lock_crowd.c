/* SPDX-License-Identifier: Apache-2.0 */
/* Many contenders for many paths in any order: nobody ends in a circle, and no path has two holders. */
#include <pthread.h>

#include "multi_locks.h"

enum { CONTENDERS = 8, PATHS = 8, CLIENTS = 4, ROUNDS = 250 };

struct path {
    atomic_int holders;
    atomic_llong last_token;
};

struct contender {
    pthread_t thread;
    zkr_client *c;
    uint64_t seed;
    int rounds;
};

static struct path paths[PATHS];

static int below(struct contender *who, int n)
{
    who->seed = who->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (int)((who->seed >> 33) % (uint64_t)n);
}

/* Two to five numbers of paths in any order, and -1 behind them. */
static void choose(struct contender *who, int numbers[PATHS + 1])
{
    for (int i = 0; i < PATHS; i++) {
        int j = below(who, i + 1);
        numbers[i] = numbers[j];
        numbers[j] = i;
    }
    numbers[2 + below(who, 4)] = -1;
}

static void hold(zkr_ticket *t, const int *numbers)
{
    int64_t token = 0;
    ZKT_MUST(zkr_ticket_fencing_token(t, &token));
    for (const int *i = numbers; *i >= 0; i++) {
        assert_int_equal(++paths[*i].holders, 1);
        assert_true(token > paths[*i].last_token);
        paths[*i].last_token = token;
    }
    for (const int *i = numbers; *i >= 0; i++) {
        paths[*i].holders--;
    }
}

static void *contend(void *arg)
{
    struct contender *who = arg;
    for (; who->rounds < ROUNDS; who->rounds++) {
        int numbers[PATHS + 1];
        zkr_ticket *t = NULL;
        choose(who, numbers);
        zkr_multi_lock *l = multi_lock_of(who->c, numbers);
        ZKT_MUST(zkr_multi_lock_acquire(l, PATIENCE_MS, &t));
        hold(t, numbers);
        end(t);
        end_multi_lock(l);
    }
    return NULL;
}

ZKT_CASE(any_order_is_free_of_circles)
{
    zkr_client *clients[CLIENTS];
    struct contender crowd[CONTENDERS];
    for (int i = 0; i < PATHS; i++) {
        (void)path_of(i);
    }
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = zkt_client(zkt_servers(), SESSION_MS);
    }
    for (int i = 0; i < CONTENDERS; i++) {
        crowd[i] =
            (struct contender){.c = clients[i % CLIENTS], .seed = (uint64_t)i + 1};
        assert_int_equal(pthread_create(&crowd[i].thread, NULL, contend, &crowd[i]), 0);
    }
    for (int i = 0; i < CONTENDERS; i++) {
        assert_int_equal(pthread_join(crowd[i].thread, NULL), 0);
        assert_int_equal(crowd[i].rounds, ROUNDS);
    }
    for (int i = 0; i < CLIENTS; i++) {
        ZKT_MUST(zkr_client_flush(clients[i], PATIENCE_MS));
    }
    assert_int_equal(nodes_of(PATHS), 0);
}

/* Single locks, taken one after the other, know no order: the deadline ends the circle. */
ZKT_CASE(a_circle_with_single_locks_ends_by_the_deadline)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *other = zkt_client(zkt_servers(), SESSION_MS);
    zkr_multi_lock *l = MULTI_LOCK(other, 0, 1);
    zkr_mutex *first = zkt_mutex_at(c, path_of(1), NULL);
    zkr_mutex *second = zkt_mutex_at(c, path_of(0), NULL);
    ZKT_MUST(zkr_mutex_acquire(first, PATIENCE_MS));
    zkr_ticket *t = ask(l, ZKR_FOREVER, NULL);
    ZKT_BECOMES(nodes_of(2), 3, PATIENCE_MS);
    expect(zkr_mutex_acquire(second, 1000), ZKR_ETIMEDOUT);
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_WAITING);
    ZKT_MUST(zkr_mutex_release(first));
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    end(t);
    end_multi_lock(l);
    /* The other way round: what holds one and waits for all of a multi-lock. */
    ZKT_MUST(zkr_mutex_acquire(first, PATIENCE_MS));
    l = MULTI_LOCK(other, 1, 2);
    zkr_ticket *none = NULL;
    expect(zkr_multi_lock_acquire(l, 1000, &none), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_mutex_release(first));
    ZKT_MUST(zkr_multi_lock_acquire(l, PATIENCE_MS, &t));
    end(t);
    ZKT_MUST(zkr_client_flush(other, PATIENCE_MS));
    expect_nothing_left(c, 3);
}

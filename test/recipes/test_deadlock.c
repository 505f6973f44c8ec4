/* SPDX-License-Identifier: Apache-2.0 */
/* A thread acquires a lock that it already holds through another object: ZKR_EDEADLK if it would wait forever. */
#include <stdio.h>
#include <string.h>

#include "rwlocks.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000 };

/* The sides of two read-write locks and two mutexes, all on one path. */
struct objects {
    zkr_client *c;
    struct sides l, k;
    zkr_mutex *m, *n;
};

static struct objects begin(void)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    return (struct objects){c, sides_of(c), sides_of(c), zkt_mutex(c), zkt_mutex(c)};
}

/* The thread holds the first object of a pair. An acquire of the second object would wait forever, so it fails. */
ZKT_CASE(a_thread_does_not_wait_for_itself)
{
    struct objects o = begin();
    zkr_mutex *const pairs[][2] = {{o.m, o.n},   {o.m, o.l.r},   {o.m, o.l.w},
                                   {o.l.w, o.m}, {o.l.w, o.k.w}, {o.l.w, o.k.r},
                                   {o.l.r, o.m}, {o.l.r, o.k.w}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        ZKT_MUST(zkr_mutex_acquire(pairs[i][0], ZKR_FOREVER));
        ZKT_RC(zkr_mutex_acquire(pairs[i][1], ZKR_FOREVER), ZKR_EDEADLK);
        assert_non_null(
            strstr(zkr_last_error()->message, "release the other object first"));
        assert_int_equal(zkr_mutex_depth(pairs[i][1]), 0);
        assert_true(zkr_mutex_is_held(pairs[i][0]));
        ZKT_MUST(zkr_mutex_release(pairs[i][0]));
        ZKT_MUST(zkr_mutex_acquire(pairs[i][1], ZKR_FOREVER));
        ZKT_MUST(zkr_mutex_release(pairs[i][1]));
    }
}

/* With a time limit, the acquire waits as usual, and a try reports that the lock is held. */
ZKT_CASE(a_limit_ends_the_wait)
{
    struct objects o = begin();
    ZKT_MUST(zkr_mutex_acquire(o.m, ZKR_FOREVER));
    ZKT_RC(zkr_mutex_acquire(o.n, 0), ZKR_ETIMEDOUT);
    assert_true(zkt_timed_out(zkr_mutex_acquire(o.n, 50)));
    ZKT_MUST(zkr_mutex_release(o.m));
}

/* There is no error if a thread that reads acquires another read side, or if the holder is another thread. */
ZKT_CASE(others_are_waited_for)
{
    struct objects o = begin();
    struct zkt_actor actor, waiter;
    ZKT_MUST(zkr_mutex_acquire(o.l.r, ZKR_FOREVER));
    ZKT_MUST(zkr_mutex_acquire(o.k.r, ZKR_FOREVER));
    ZKT_MUST(zkr_mutex_release(o.k.r));
    ZKT_MUST(zkr_mutex_release(o.l.r));
    zkt_actor_start(&actor, o.m, ZKR_FOREVER, NULL);
    ZKT_MUST(zkt_actor_acquired(&actor));
    zkt_actor_queue(&waiter, o.c, o.n, NULL);
    ZKT_MUST(zkt_actor_end(&actor));
    zkt_actor_is_served(&waiter);
}

/* A lost hold does not count. The thread acquires the lock through another object. */
ZKT_CASE(a_lost_hold_is_none)
{
    struct objects o = begin();
    char node[256];
    ZKT_MUST(zkr_mutex_acquire(o.m, ZKR_FOREVER));
    ZKT_MUST(zkr_mutex_node(o.m, node, sizeof(node)));
    assert_int_equal(zkt_delete(zkt_servers(), node), ZKT_OK);
    ZKT_EVENTUALLY(!zkr_mutex_is_held(o.m), PATIENCE_MS);
    ZKT_MUST(zkr_mutex_acquire(o.n, ZKR_FOREVER));
    ZKT_MUST(zkr_mutex_release(o.n));
    ZKT_RC(zkr_mutex_release(o.m), ZKR_ESESSION);
}

/* A multi-lock whose paths include the held one fails with ZKR_EDEADLK. A ticket waits, because no thread owns it. */
ZKT_CASE(a_multi_lock_does_not_wait_for_its_thread)
{
    struct objects o = begin();
    zkr_multi_lock *l = NULL;
    zkr_ticket *t = NULL;
    char beside[256];
    (void)snprintf(beside, sizeof(beside), "%s-beside", zkt_path());
    ZKT_MUST(zkr_multi_lock_create(&l, o.c, (const char *const[]){beside, zkt_path()},
                                   2, NULL));
    ZKT_MUST(zkr_mutex_acquire(o.m, ZKR_FOREVER));
    ZKT_RC(zkr_multi_lock_acquire(l, ZKR_FOREVER, &t), ZKR_EDEADLK);
    assert_null(t);
    ZKT_MUST(zkr_multi_lock_request(l, ZKR_FOREVER, NULL, NULL, &t));
    ZKT_MUST(zkr_mutex_release(o.m));
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    zkt_end_ticket(t);
    ZKT_MUST(zkr_multi_lock_destroy(l));
    ZKT_MUST(zkr_client_flush(o.c, PATIENCE_MS));
    (void)zkt_delete(zkt_servers(), beside);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What a holder learns, and when, if it loses the lock. */
#include <string.h>

#include "actor.h"
#include "fixture.h"

enum { SESSION_MS = 3000, LONG_MS = 20000, PATIENCE_MS = 30000 };

/* --- the lost callback --- */

struct losses {
    atomic_int count;
    atomic_int reason;
    _Atomic int64_t token;
    atomic_int calls_back; /* the calls from the callback returned the expected codes */
};

static void on_lost(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    struct losses *l = ctx;
    atomic_store(&l->reason, (int)lost->reason);
    atomic_store(&l->token, lost->fencing_token);
    /* Calling the library is legal, and waiting is refused. */
    bool held = zkr_mutex_is_held(m);
    int waited = zkr_mutex_acquire(m, 1000);
    int canceled = zkr_mutex_cancel(m);
    atomic_store(&l->calls_back, !held && waited == ZKR_ESTATE && canceled == ZKR_OK);
    atomic_fetch_add(&l->count, 1);
}

static zkr_mutex *mutex_with(zkr_client *c, struct losses *l)
{
    memset(l, 0, sizeof(*l));
    return ZKT_MUTEX_WITH(c, .on_lost = on_lost, .on_lost_ctx = l);
}

/*
 * Check a loss: one report, a refused nested acquire, one release that fails with ZKR_ESESSION, and a clean
 * state afterwards.
 */
static void expect_lost(zkr_mutex *m, struct losses *l, int reason, int64_t token)
{
    ZKT_EVENTUALLY(atomic_load(&l->count) > 0, PATIENCE_MS);
    /* When a session ends, the server deletes the node first, and the event of the deletion may arrive first. */
    bool node_of_session =
        reason == ZKR_LOST_SESSION && atomic_load(&l->reason) == ZKR_LOST_NODE;
    assert_true(atomic_load(&l->reason) == reason || node_of_session);
    assert_int_equal(atomic_load(&l->token), token);
    assert_true(atomic_load(&l->calls_back));
    assert_false(zkr_mutex_is_held(m));
    assert_false(zkr_mutex_is_held_in_process(m));
    assert_int_equal(zkr_mutex_valid_for_ms(m), 0);
    ZKT_RC(zkr_mutex_acquire(m, 0), ZKR_ESESSION);
    ZKT_RC(zkr_mutex_fencing_token(m, &token), ZKR_ESESSION);
    assert_int_equal(zkr_mutex_depth(m), 2);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    ZKT_RC(zkr_mutex_release(m), ZKR_ENOTOWNER);
    assert_int_equal(zkr_mutex_depth(m), 0);
}

static int64_t hold_twice(zkr_mutex *m)
{
    int64_t token = 0;
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_acquire(m, 0));
    ZKT_MUST(zkr_mutex_fencing_token(m, &token));
    return token;
}

/* The session expires. Checks the arguments of the callback, its calls, and the state of a hold acquired twice. */
ZKT_CASE(an_expired_session_is_a_loss_of_each_entry)
{
    struct losses l;
    zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
    zkr_mutex *m = mutex_with(c, &l);
    int64_t token = hold_twice(m);
    zkt_expire(c);
    expect_lost(m, &l, ZKR_LOST_SESSION, token);
}

/* A lease probe notices the deletion, even before the watch is set. */
ZKT_CASE(a_probe_notices_a_deleted_node)
{
    struct losses l;
    char node[256];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = mutex_with(c, &l);
    int64_t token = hold_twice(m);
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    assert_int_equal(zkt_delete(zkt_servers(), node), 0);
    expect_lost(m, &l, ZKR_LOST_NODE, token);
}

/* A release fails exactly if the hold was reported as over, even if less than a millisecond of the lease is left. */
ZKT_CASE(what_is_not_held_is_lost_at_the_release)
{
    static const struct {
        int64_t left_us;
        bool held;
        bool ask_token; /* ask for the token instead */
    } ends[] = {{500, true, false}, {0, false, false}, {0, false, true}};
    int64_t token;
    zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
    zkr_mutex *m = zkt_mutex(c);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        zkr__lock(c);
        zkt_door_stop_clock(c->lease.until - ends[i].left_us * 1000);
        zkr__unlock(c);
        if (ends[i].ask_token) {
            ZKT_RC(zkr_mutex_fencing_token(m, &token), ZKR_ESESSION);
        } else {
            assert_int_equal(zkr_mutex_valid_for_ms(m), 0);
            assert_int_equal(zkr_mutex_is_held(m), ends[i].held);
        }
        zkt_door_stop_clock(0); /* as if a probe were answered now */
        ZKT_RC(zkr_mutex_release(m), ends[i].held ? ZKR_OK : ZKR_ESESSION);
    }
}

/* A waiter is granted when its own lease has almost ended. Its hold begins with a renewed lease. */
ZKT_CASE(a_grant_never_comes_with_its_end)
{
    /* Looking ahead would always leave enough of the lease. */
    zkr_client *b = ZKT_CLIENT_WITH(zkt_servers(), .session_timeout_ms = SESSION_MS,
                                    .look_ahead = -1);
    zkr_mutex *ma = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS)),
              *mb = zkt_mutex(b);
    struct zkt_actor waiter;
    ZKT_MUST(zkr_mutex_acquire(ma, PATIENCE_MS));
    zkt_actor_queue(&waiter, b, mb, NULL);
    ZKT_EVENTUALLY(zkr_client_valid_for_ms(b) < SESSION_MS / 8, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(ma));
    ZKT_MUST(zkt_actor_acquired(&waiter));
    assert_true(zkr_client_valid_for_ms(b) > SESSION_MS / 6);
    ZKT_MUST(zkt_actor_end(&waiter));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A client is shut down: every wait for a hold ends, and existing holds remain until they are released. */
#include "hold.h"

enum {
    SESSION_MS = 10000,
    SHORT_SESSION_MS = 3000,
    LONG_MS = 60000,
    PATIENCE_MS = 30000
};

/* A second shutdown changes nothing. */
static void shut_down(zkr_client *c)
{
    ZKT_MUST(zkr_client_shutdown(c));
    ZKT_MUST(zkr_client_shutdown(c));
}

/* Check that the wait has ended, that only @others nodes are left, and that no new wait begins. */
static void expect_closed(zkr_client *c, struct zkt_hold *h, int others)
{
    static const int64_t limits[] = {ZKR_FOREVER, 0, LONG_MS};
    ZKT_RC(zkt_hold_wait(h), ZKR_ECLOSED);
    ZKT_BECOMES(zkt_hold_nodes(), others, PATIENCE_MS);
    ZKT_BECOMES(zkr_client_flush(c, 0), ZKR_OK, PATIENCE_MS);
    assert_int_equal(zkt_stats(c).waiting + zkt_stats(c).held, 0);
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        /* A selector has no timeout. */
        int64_t limit = zkt_is(ZKT_BIT(ZKT_SELECTOR)) ? ZKR_FOREVER : limits[i];
        ZKT_RC(zkt_hold_acquire(h, limit), ZKR_ECLOSED);
    }
    assert_null(zkt_hold_on_closed(c));
    ZKT_BECOMES(zkt_hold_nodes(), others, PATIENCE_MS);
}

/* The contender waits behind a holder of another client. */
ZKT_HOLD_CASE(a_wait_behind_another_ends, ZKT_NONE)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct zkt_hold *h = zkt_hold(c);
    struct zkt_hold *other = zkt_hold_in_the_way(zkt_client(zkt_servers(), SESSION_MS));
    ZKT_MUST(zkt_hold_acquire(other, PATIENCE_MS));
    int nodes = zkt_hold_nodes();
    zkt_hold_queue(h);
    shut_down(c);
    expect_closed(c, h, nodes);
}

static void silence_answers(zkt_proxy *p)
{
    zkt_proxy_freeze(p, ZKT_TO_CLIENT);
}

/*
 * Requests or answers are held up, or the connection is cut. Nodes of requests that were already sent are
 * deleted as well.
 */
ZKT_HOLD_CASE(a_wait_for_servers_ends, ZKT_NONE)
{
    static void (*const faults[])(zkt_proxy * p) = {zkt_proxy_blackhole,
                                                    silence_answers, zkt_proxy_cut};
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        zkt_proxy *p = zkt_proxy_start(zkt_servers());
        zkr_client *c = zkt_client(zkt_proxy_host(p), LONG_MS);
        struct zkt_hold *h = zkt_hold(c);
        faults[i](p);
        if (faults[i] == zkt_proxy_cut) {
            ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
        }
        zkt_hold_ask(h, ZKR_FOREVER);
        zkt_sleep_ms(
            20); /* time for the wait to begin; a later wait ends the same way */
        assert_true(zkt_hold_waits(h));
        shut_down(c);
        ZKT_EVENTUALLY(!zkt_hold_waits(h), PATIENCE_MS);
        zkt_proxy_heal(p);
        expect_closed(c, h, 0);
    }
}

/*
 * Holds of every kind remain until their release, and their lease is renewed. A neighbour that waits for one of them
 * fails. The wait in a selector's function returns, see test_shutdown.c.
 */
ZKT_CASE(what_is_held_stays_held)
{
    enum { STAY = ZKT_SELECTOR };
    zkr_client *c = zkt_client(zkt_servers(), SHORT_SESSION_MS);
    struct zkt_hold *h[STAY], *behind = zkt_hold_of(c, ZKT_MUTEX);
    for (int kind = 0; kind < STAY; kind++) {
        h[kind] = zkt_hold_of(c, (enum zkt_kinds)kind);
        ZKT_MUST(zkt_hold_acquire(h[kind], PATIENCE_MS));
    }
    zkt_hold_ask(behind, ZKR_FOREVER);
    shut_down(c);
    ZKT_RC(zkt_hold_wait(behind), ZKR_ECLOSED);
    assert_int_equal(zkr_client_state(c), ZKR_STATE_CONNECTED);
    zkt_sleep_ms((int64_t)2 *
                 SHORT_SESSION_MS); /* without a lease, the session would be over */
    for (int kind = 0; kind < STAY; kind++) {
        int64_t token;
        assert_true(zkt_hold_is_sure(h[kind]) && zkt_hold_valid_for_ms(h[kind]) > 0);
        ZKT_MUST(zkt_hold_token(h[kind], &token));
        ZKT_RC(zkr_client_close(c), ZKR_EBUSY);
    }
    assert_int_equal(zkt_hold_nodes(), zkt_hold_nodes_of_each() - 1);
    for (int kind = 0; kind < STAY; kind++) {
        ZKT_MUST(zkt_hold_release(h[kind]));
        assert_int_equal(zkt_hold_losses(h[kind]), 0);
    }
    ZKT_BECOMES(zkt_hold_nodes(), 0, PATIENCE_MS); /* the session goes on */
    assert_int_equal(zkr_client_state(c), ZKR_STATE_CONNECTED);
}

/* --- while waits begin --- */

/* Acquire and release until a call fails. */
static int again_and_again(struct zkt_hold *h, void *unused)
{
    int rc;
    do {
        rc = zkt_hold_acquire_here(h, ZKR_FOREVER);
        rc = rc == ZKR_OK ? zkt_hold_release_here(h) : rc;
    } while (rc == ZKR_OK);
    return rc;
}

/* The waits of threads that are about to wait, or have just been granted, end as well. */
ZKT_CASE(waits_that_begin_meanwhile_end)
{
    enum { ROUNDS = 10, EACH = 2 };
    for (int round = 0; round < ROUNDS; round++) {
        zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
        struct zkt_hold *h[ZKT_KINDS][EACH];
        for (int i = 0; i < ZKT_KINDS * EACH; i++) {
            h[i / EACH][i % EACH] = zkt_hold_of(c, (enum zkt_kinds)(i / EACH));
            zkt_hold_start(h[i / EACH][i % EACH], again_and_again, NULL);
        }
        zkt_sleep_ms((int64_t)round * 5);
        ZKT_MUST(zkr_client_shutdown(c));
        for (int i = 0; i < ZKT_KINDS * EACH; i++) {
            ZKT_RC(zkt_hold_finish(h[i / EACH][i % EACH]), ZKR_ECLOSED);
        }
        ZKT_BECOMES(zkt_hold_nodes(), 0, PATIENCE_MS);
    }
}

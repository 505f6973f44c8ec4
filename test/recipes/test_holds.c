/* SPDX-License-Identifier: Apache-2.0 */
/* The promises of every kind of hold without faults: order, exclusion and deadlines. */
#include <string.h>

#include "hold.h"

#ifdef ZKT_SLOWED_DOWN
enum { SLACK_MS = 500 };
#else
enum { SLACK_MS = 50 };
#endif
enum { SESSION_MS = 10000, PATIENCE_MS = 30000, CONTENDERS = 5, TRIES = 20 };

/* --- order --- */

/*
 * A free lock is granted again and again. Each hold has a lease, a node and a higher token, and leaves nothing behind.
 */
ZKT_HOLD_CASE(a_free_one_is_had, ZKT_NONE)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct zkt_hold *h = zkt_hold(c);
    int64_t token = 0, last = 0;
    char node[256];
    assert_false(zkt_hold_is_sure(h));
    for (int i = 0; i < 3; i++) {
        ZKT_MUST(zkt_hold_acquire(h, PATIENCE_MS));
        assert_true(zkt_hold_is_sure(h) && zkt_hold_valid_for_ms(h) > 0);
        ZKT_MUST(zkt_hold_token(h, &token));
        assert_true(token > last);
        last = token;
        ZKT_MUST(zkt_hold_node(h, node, sizeof(node)));
        assert_memory_equal(node, zkt_path(), strlen(zkt_path()));
        ZKT_EVENTUALLY(zkt_exists(zkt_servers(), node), PATIENCE_MS);
        assert_int_equal(zkt_hold_nodes(), zkt_hold_nodes_of_one());
        ZKT_MUST(zkt_hold_release(h));
        assert_false(zkt_hold_is_sure(h));
        assert_int_equal(zkt_hold_valid_for_ms(h), 0);
        ZKT_RC(zkt_hold_token(h, &token), ZKR_ENOTOWNER);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        assert_int_equal(zkt_hold_nodes(), 0);
    }
}

/* A contender waits for a conflicting holder, of the same client or of another, until the timeout. */
ZKT_HOLD_CASE(who_is_in_the_way_is_waited_for, ZKT_NONE)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *others[] = {c, zkt_client(zkt_servers(), SESSION_MS)};
    struct zkt_hold *h = zkt_hold(c);
    for (int i = 0; i < 2; i++) {
        struct zkt_hold *other = zkt_hold_in_the_way(others[i]);
        ZKT_MUST(zkt_hold_acquire(other, PATIENCE_MS));
        assert_true(zkt_timed_out(zkt_hold_acquire(h, 300)));
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        assert_true(zkt_hold_is_sure(other));
        zkt_hold_queue(h);
        assert_true(zkt_hold_waits(h));
        ZKT_MUST(zkt_hold_release(other));
        ZKT_MUST(zkt_hold_wait(h));
        ZKT_MUST(zkt_hold_release(h));
        zkt_hold_end(other);
    }
}

/*
 * A mutex and a hold of each other kind, except permits and multi-locks, exclude each other on one path. They are
 * served in the order of their sequence numbers.
 */
ZKT_HOLD_CASE(a_mutex_on_the_path_excludes_it, ZKT_SEMAPHORES | ZKT_BIT(ZKT_MULTI))
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *near = zkt_mutex(c),
              *far = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    struct zkt_hold *h = zkt_hold(c);
    for (int i = 0; i < 2; i++) {
        zkr_mutex *m = i ? near : far;
        ZKT_MUST(zkt_hold_acquire(h, PATIENCE_MS));
        ZKT_RC(zkr_mutex_acquire(m, 0), ZKR_ETIMEDOUT);
        ZKT_MUST(zkt_hold_release(h));
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        zkt_hold_queue(h);
        assert_true(zkt_hold_waits(h));
        ZKT_MUST(zkr_mutex_release(m));
        ZKT_MUST(zkt_hold_wait(h));
        ZKT_MUST(zkt_hold_release(h));
    }
}

/* A try fails at once and leaves no node. Leaders have no tries. */
ZKT_HOLD_CASE(a_try_fails_at_once, ZKT_LEADERS)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct zkt_hold *h = zkt_hold(c);
    zkr_client *d = zkt_client(zkt_servers(), SESSION_MS);
    struct zkt_hold *other = zkt_hold_in_the_way(d);
    ZKT_MUST(zkt_hold_acquire(h, 0));
    ZKT_MUST(zkt_hold_release(h));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    ZKT_MUST(zkt_hold_acquire(other, PATIENCE_MS));
    ZKT_MUST(zkr_client_flush(d, PATIENCE_MS));
    int nodes = zkt_hold_nodes();
    ZKT_RC(zkt_hold_acquire(h, 0), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_hold_nodes(), nodes);
}

/*
 * Contenders of two clients are served in the order of their requests, with rising tokens. One of them gives up.
 * Readers hold together and are left out.
 */
ZKT_HOLD_CASE(contenders_are_served_in_order, ZKT_READERS)
{
    enum { GIVES_UP = 2 };
    zkr_client *c[2] = {zkt_client(zkt_servers(), SESSION_MS),
                        zkt_client(zkt_servers(), SESSION_MS)};
    struct zkt_hold *first = zkt_hold(c[0]), *h[CONTENDERS];
    int64_t token = 0, last = 0;
    ZKT_MUST(zkt_hold_acquire(first, PATIENCE_MS));
    for (int i = 0; i < CONTENDERS; i++) {
        h[i] = i % 2 ? zkt_hold(c[1]) : zkt_hold_beside(first);
        zkt_hold_queue(h[i]);
    }
    /* A cancel of a mutex ends the waits of all threads. */
    if (!zkt_is(ZKT_BY_THREAD)) {
        zkt_hold_cancel(h[GIVES_UP]);
        ZKT_RC(zkt_hold_wait(h[GIVES_UP]), ZKR_ECANCELED);
    }
    ZKT_MUST(zkt_hold_release(first));
    for (int i = 0; i < CONTENDERS; i++) {
        if (i == GIVES_UP && !zkt_is(ZKT_BY_THREAD)) {
            continue;
        }
        ZKT_MUST(zkt_hold_wait(h[i]));
        ZKT_MUST(zkt_hold_token(h[i], &token));
        assert_true(token > last);
        last = token;
        for (int k = i + 1; k < CONTENDERS; k++) {
            assert_true(zkt_hold_waits(h[k]) || k == GIVES_UP);
        }
        ZKT_MUST(zkt_hold_release(h[i]));
    }
}

/* A waiter gives up between two others of its client. The last one is granted. */
ZKT_HOLD_CASE(a_neighbour_that_gives_up_is_passed_over, ZKT_READERS)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct zkt_hold *first = zkt_hold(c), *gives_up = zkt_hold(c), *stays = zkt_hold(c);
    ZKT_MUST(zkt_hold_acquire(first, PATIENCE_MS));
    zkt_hold_queue(gives_up);
    zkt_hold_queue(stays);
    zkt_hold_cancel(gives_up);
    ZKT_RC(zkt_hold_wait(gives_up), ZKR_ECANCELED);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    ZKT_MUST(zkt_hold_release(first));
    ZKT_MUST(zkt_hold_wait(stays));
}

/* A cancel ends the current wait, but not later waits, and leaves no node. */
ZKT_HOLD_CASE(a_cancel_ends_the_wait, ZKT_NONE)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct zkt_hold *h = zkt_hold(c);
    struct zkt_hold *other = zkt_hold_in_the_way(zkt_client(zkt_servers(), SESSION_MS));
    ZKT_MUST(zkt_hold_acquire(other, PATIENCE_MS));
    int nodes = zkt_hold_nodes();
    for (int i = 0; i < 2; i++) {
        zkt_hold_queue(h);
        zkt_hold_cancel(h);
        ZKT_RC(zkt_hold_wait(h), ZKR_ECANCELED);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        assert_int_equal(zkt_hold_nodes(), nodes);
    }
    ZKT_MUST(zkt_hold_release(other));
    ZKT_MUST(zkt_hold_acquire(h, PATIENCE_MS));
}

/* --- deadlines: no call ends early, and a busy machine may be late now and then, but not always --- */

static bool is_prompt(struct zkt_hold *h, int64_t limit, int code)
{
    int64_t before = zkt_now_ms();
    int rc = zkt_hold_acquire(h, limit);
    int64_t took = zkt_now_ms() - before;
    assert_true(zkt_timed_out(rc));
    assert_true(code == ZKR_ETIMEDOUT || rc == code || zkt_is(ZKT_LEADERS));
    assert_true(took >= limit - 1);
    return took <= limit + SLACK_MS;
}

static void expect_prompt_time_out(struct zkt_hold *h, int64_t limit, int code)
{
    bool prompt = false;
    for (int i = 0; i < TRIES && !prompt; i++) {
        prompt = is_prompt(h, limit, code);
    }
    assert_true(prompt);
}

/* The deadline applies to the whole call, within SLACK_MS. A selector has no deadline. */
ZKT_HOLD_CASE(a_time_out_is_kept, ZKT_BIT(ZKT_SELECTOR))
{
    static const int64_t limits[] = {1, 20, 100};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct zkt_hold *other = zkt_hold_in_the_way(c), *h = zkt_hold(c);
    ZKT_MUST(zkt_hold_acquire(other, PATIENCE_MS));
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        expect_prompt_time_out(h, limits[i], ZKR_ETIMEDOUT);
    }
}

/* The deadline is also kept if the connection is cut, or requests or answers are held up. No node is left. */
ZKT_HOLD_CASE(a_deadline_holds_without_a_server, ZKT_BIT(ZKT_SELECTOR))
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    struct zkt_hold *h = zkt_hold(c);
    enum { CUT, TO_SERVER, TO_CLIENT, WAYS };
    for (int way = CUT; way < WAYS; way++) {
        if (way == CUT) {
            zkt_proxy_cut(p);
            ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
        } else {
            zkt_proxy_freeze(p, way == TO_SERVER ? ZKT_TO_SERVER : ZKT_TO_CLIENT);
        }
        expect_prompt_time_out(h, 100, ZKR_ENOANSWER);
        if (way == CUT && !zkt_is(ZKT_LEADERS)) {
            ZKT_RC(zkt_hold_acquire(h, 0), ZKR_ENOANSWER);
        }
        zkt_proxy_heal(p);
        ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_CONNECTED, PATIENCE_MS);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        assert_int_equal(zkt_hold_nodes(), 0);
        ZKT_MUST(zkt_hold_acquire(h, PATIENCE_MS));
        ZKT_MUST(zkt_hold_release(h));
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* options.keep_ms, on a real server. */
#include <string.h>

#include "actor.h"
#include "fixture.h"
#include "proxy.h"
#include "session/client.h"

enum { SESSION_MS = 10000, LONG_MS = 600000, PATIENCE_MS = 30000 };

static zkr_mutex *keeper(zkr_client *c, int64_t keep_ms)
{
    return ZKT_MUTEX_WITH(c, .keep_ms = keep_ms);
}

static zkr_client *client(void)
{
    return zkt_client(zkt_servers(), SESSION_MS);
}

/* Token and pass of a hold. */
struct by {
    int64_t token, pass;
};

static struct by hold_once(zkr_mutex *m)
{
    struct by by = {0};
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_fencing_token(m, &by.token));
    ZKT_MUST(zkr_mutex_pass(m, &by.pass));
    ZKT_MUST(zkr_mutex_release(m));
    return by;
}

static bool grew(struct by from, struct by to)
{
    return to.token > from.token || (to.token == from.token && to.pass > from.pass);
}

/* --- one client --- */

/* Threads, tickets and other objects of the client hold through one node, and (token, pass) rises. */
ZKT_CASE(whoever_comes_next_holds_by_the_same_node)
{
    zkr_client *c = client();
    zkr_mutex *m = keeper(c, LONG_MS), *beside = keeper(c, LONG_MS);
    struct by first = hold_once(m), second = hold_once(beside), ticket = {0};
    assert_int_equal(first.pass, 1);
    assert_int_equal(second.token, first.token);
    assert_int_equal(second.pass, 2);
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_mutex_request(m, 0, NULL, NULL, &t));
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    ZKT_MUST(zkr_ticket_fencing_token(t, &ticket.token));
    ZKT_MUST(zkr_ticket_pass(t, &ticket.pass));
    assert_true(grew(second, ticket));
    assert_int_equal(ticket.token, first.token);
    zkt_end_ticket(t);
    ZKT_MUST(zkr_mutex_acquire(m, 0));
    ZKT_MUST(zkr_mutex_acquire(m, 0));
    int64_t pass = 0;
    ZKT_MUST(zkr_mutex_pass(m, &pass));
    assert_int_equal(pass, 4); /* a nested acquire does not change the pass */
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_RC(zkr_mutex_pass(m, &pass), ZKR_ENOTOWNER);
}

/* Without the option, each hold has its own node. */
ZKT_CASE(by_default_nothing_is_kept)
{
    zkr_client *c = client();
    zkr_mutex *m = zkt_mutex(c);
    struct by first = hold_once(m), second = hold_once(m);
    assert_true(second.token > first.token);
    assert_int_equal(first.pass, 1);
    assert_int_equal(second.pass, 1);
}

/* Waiting threads are granted one after the other, in their order, through one node. */
ZKT_CASE(threads_have_it_in_their_order)
{
    enum { THREADS = 6 };
    static struct zkt_actor actors[THREADS];
    atomic_int turn = 0;
    int64_t token = 0;
    zkr_client *c = client();
    zkr_mutex *m = keeper(c, LONG_MS);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_fencing_token(m, &token));
    for (int i = 0; i < THREADS; i++) {
        zkt_actor_start(&actors[i], m, ZKR_FOREVER, &turn);
        ZKT_BECOMES(zkt_waiting(c), i + 1, PATIENCE_MS);
    }
    ZKT_MUST(zkr_mutex_release(m));
    for (int i = 0; i < THREADS; i++) {
        ZKT_MUST(zkt_actor_end(&actors[i]));
        assert_int_equal(actors[i].granted_as, i + 1);
        assert_int_equal(actors[i].token, token);
    }
    assert_int_equal(zkt_nodes(), 1);
    assert_int_equal(zkt_stats(c).grants, THREADS + 1);
}

/* The wait of a thread in the client's own queue ends at its deadline, or when it is canceled. A try does not wait. */
ZKT_CASE(in_line_deadlines_and_cancel_count)
{
    enum { SHORT_MS = 100 };
    struct zkt_actor late, canceled, served;
    zkr_client *c = client();
    zkr_mutex *m = keeper(c, LONG_MS), *beside = keeper(c, LONG_MS);
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_RC(zkr_mutex_acquire(beside, 0), ZKR_ETIMEDOUT);
    assert_true(zkt_timed_out(zkr_mutex_acquire(beside, SHORT_MS)));
    ZKT_MUST(zkr_mutex_request(m, SHORT_MS, NULL, NULL, &t));
    ZKT_RC(zkr_ticket_wait(t, PATIENCE_MS), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_ticket_destroy(t));
    zkt_actor_start(&canceled, m, ZKR_FOREVER, NULL);
    ZKT_BECOMES(zkt_waiting(c), 1, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_cancel(m));
    zkt_actor_is_refused(&canceled, ZKR_ECANCELED);
    zkt_actor_start(&late, m, SHORT_MS, NULL);
    zkt_actor_is_refused(&late, ZKR_ETIMEDOUT);
    zkt_actor_start(&served, beside, ZKR_FOREVER, NULL);
    ZKT_BECOMES(zkt_waiting(c), 1, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_actor_is_served(&served);
}

/*
 * After keep_ms, the node is deleted: at once if nobody holds through it, else at the release, however often
 * threads acquire.
 */
ZKT_CASE(a_node_serves_for_keep_ms)
{
    enum { KEEP_MS = 300 };
    zkr_client *c = client();
    zkr_mutex *m = keeper(c, KEEP_MS);
    int64_t before = zkt_now_ms();
    struct by first = hold_once(m), by = first;
    while (by.token == first.token && zkt_now_ms() < before + PATIENCE_MS) {
        struct by next = hold_once(m);
        assert_true(grew(by, next));
        by = next;
    }
    assert_true(by.token > first.token);
    assert_true(zkt_now_ms() - before >= KEEP_MS);
    assert_int_equal(by.pass, 1);
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
}

/* A mutex of the same client without the option has its place in the queue. */
ZKT_CASE(others_of_the_same_client_have_their_turn)
{
    struct zkt_actor actor;
    zkr_client *c = client();
    zkr_mutex *m = keeper(c, LONG_MS), *plain = zkt_mutex(c);
    const char *paths[] = {zkt_path()};
    zkr_multi_lock *multi = NULL;
    zkr_ticket *t = NULL;
    (void)hold_once(m);
    /* This try succeeds, because the kept node is deleted first. */
    ZKT_MUST(zkr_mutex_acquire(plain, 0));
    ZKT_MUST(zkr_mutex_release(plain));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    /* Nobody else contends for a second, so the node is kept again. */
    zkt_sleep_ms(1100);
    (void)hold_once(m);
    assert_int_equal(zkt_stats(c).pending_deletes, 1);
    ZKT_MUST(zkr_mutex_acquire(m, 0));
    zkt_actor_queue(&actor, c, plain, NULL);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_actor_is_served(&actor);
    ZKT_MUST(zkr_multi_lock_create(&multi, c, paths, 1, NULL));
    ZKT_MUST(zkr_multi_lock_acquire(multi, PATIENCE_MS, &t));
    zkt_end_ticket(t);
    ZKT_MUST(zkr_multi_lock_destroy(multi));
}

/* --- others --- */

/*
 * An unused node: another client is granted at once. A node in use: the other client is granted after the holder,
 * before the waiting threads of this client.
 */
ZKT_CASE(another_client_has_its_turn)
{
    enum { OURS = 3 };
    struct zkt_actor actor, ours[OURS];
    atomic_int turn = 0;
    zkr_client *c = client(), *other = client();
    zkr_mutex *m = keeper(c, LONG_MS), *theirs = zkt_mutex(other);
    struct by first = hold_once(m);
    struct by second = hold_once(theirs);
    assert_true(grew(first, second));
    ZKT_MUST(zkr_client_flush(other, PATIENCE_MS));
    zkt_sleep_ms(1100); /* so that the node is kept */
    (void)hold_once(m);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_BECOMES(zkt_nodes(), 1, PATIENCE_MS);
    zkt_actor_start(&ours[0], m, ZKR_FOREVER, &turn);
    ZKT_BECOMES(zkt_waiting(c), 1, PATIENCE_MS);
    assert_int_equal(zkt_nodes(), 1);
    zkt_actor_queue(&actor, other, theirs, &turn);
    /* After the event of the newcomer, waiting threads have nodes, too. */
    ZKT_BECOMES(zkt_nodes(), 3, PATIENCE_MS);
    for (int i = 1; i < OURS; i++) {
        zkt_actor_start(&ours[i], m, ZKR_FOREVER, &turn);
        ZKT_BECOMES(zkt_nodes(), 3 + i, PATIENCE_MS);
    }
    ZKT_MUST(zkr_mutex_release(m));
    zkt_actor_is_served(&actor);
    assert_int_equal(actor.granted_as, 1);
    for (int i = 0; i < OURS; i++) {
        zkt_actor_is_served(&ours[i]);
        assert_int_equal(ours[i].granted_as, 2 + i);
    }
}

/* During the first hold of @c, a mutex of @other without the option queues. */
static void comes_behind_the_first_hold(zkr_client *c, zkr_client *other)
{
    struct zkt_actor actor;
    zkr_mutex *m = keeper(c, LONG_MS);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_actor_queue(&actor, other, zkt_mutex(other), NULL);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_actor_is_served(&actor);
}

/* A contender that joined long ago, during the first hold, is noticed at the release. */
ZKT_CASE(who_waits_behind_the_first_hold_is_served)
{
    zkr_client *c = client();
    comes_behind_the_first_hold(c, client());
}

/* A mutex of the same client without the option joins during the first hold. It is noticed at the release, too. */
ZKT_CASE(a_plain_mutex_behind_the_first_hold_is_served)
{
    zkr_client *c = client();
    comes_behind_the_first_hold(c, c);
}

/* Two clients with the option take turns. */
ZKT_CASE(two_keepers_take_turns)
{
    enum { TIMES = 50 };
    zkr_mutex *m[] = {keeper(client(), LONG_MS), keeper(client(), LONG_MS)};
    struct by last = {0};
    for (int i = 0; i < TIMES; i++) {
        struct by by = hold_once(m[i % 2]);
        assert_true(grew(last, by));
        last = by;
    }
}

static void on_revoke(zkr_mutex *m, void *ctx)
{
    atomic_fetch_add((atomic_int *)ctx, 1);
}

/*
 * A revocation request ends the keeping of a node. An unused node is deleted at once, without a callback, and a node in
 * use at the release.
 */
ZKT_CASE(asked_to_let_go_it_does)
{
    atomic_int asked = 0;
    zkr_mutex *m = ZKT_MUTEX_WITH(client(), .keep_ms = LONG_MS, .on_revoke = on_revoke,
                                  .on_revoke_ctx = &asked);
    zkr_mutex *theirs = zkt_mutex(client());
    (void)hold_once(m);
    ZKT_BECOMES(zkt_watches(), 1, PATIENCE_MS); /* the watch on the node */
    ZKT_MUST(zkr_mutex_revoke(zkt_settled(theirs)));
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
    assert_int_equal(atomic_load(&asked), 0);
    (void)hold_once(m);
    ZKT_MUST(zkr_mutex_acquire(m, 0));
    int64_t pass = 0;
    ZKT_MUST(zkr_mutex_pass(m, &pass));
    assert_int_equal(pass, 2);
    ZKT_BECOMES(zkt_watches(), 1, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_revoke(zkt_settled(theirs)));
    ZKT_BECOMES(atomic_load(&asked), 1, PATIENCE_MS);
    assert_int_equal(zkt_nodes(), 1);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
    zkt_destroy(m);
}

/* --- the end --- */

static void on_lost(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    atomic_fetch_add((atomic_int *)ctx, 1);
}

/* The loss of an unused node, by deletion or with its session, is reported to nobody. */
static void lose_idle(void (*end)(zkr_client *c))
{
    atomic_int losses = 0;
    zkr_client *c = client();
    zkr_mutex *m = ZKT_MUTEX_WITH(c, .keep_ms = LONG_MS, .watch_node = 1,
                                  .on_lost = on_lost, .on_lost_ctx = &losses);
    struct by first = hold_once(m);
    ZKT_EVENTUALLY(zkt_all_answered(c), PATIENCE_MS);
    end(c);
    struct by second = hold_once(m);
    assert_true(second.token > first.token);
    assert_int_equal(zkt_stats(c).losses, 0);
    zkt_destroy(m); /* waits for callbacks */
    assert_int_equal(atomic_load(&losses), 0);
}

static void delete_node(zkr_client *c)
{
    char node[256];
    zkt_lone_node(node, sizeof(node));
    assert_int_equal(zkt_delete(zkt_servers(), node), 0);
    ZKT_BECOMES(zkt_stats(c).pending_deletes, 0, PATIENCE_MS);
}

ZKT_CASE(a_node_lost_while_idle_is_nobodys_loss)
{
    lose_idle(delete_node);
}

ZKT_CASE(a_session_lost_while_idle_is_nobodys_loss)
{
    lose_idle(zkt_expire);
}

/* The loss of a kept node in use is reported once, as any loss. */
ZKT_CASE(a_loss_in_use_is_the_holders)
{
    atomic_int losses = 0;
    zkr_client *c = client();
    zkr_mutex *m = ZKT_MUTEX_WITH(c, .keep_ms = LONG_MS, .on_lost = on_lost,
                                  .on_lost_ctx = &losses);
    (void)hold_once(m);
    ZKT_MUST(zkr_mutex_acquire(m, 0));
    zkt_expire(c);
    ZKT_BECOMES(atomic_load(&losses), 1, PATIENCE_MS);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    assert_int_equal(zkt_stats(c).losses, 1);
    assert_int_equal(hold_once(m).pass, 1);
}

/* A kept node counts as a pending delete. flush, destroy and shutdown delete it. */
ZKT_CASE(flush_destroy_and_shutdown_let_go)
{
    zkr_client *c = client();
    zkr_mutex *m = keeper(c, LONG_MS), *other = zkt_mutex(client());
    (void)hold_once(m);
    assert_int_equal(zkt_stats(c).pending_deletes, 1);
    assert_int_equal(zkt_stats(c).held, 0);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_stats(c).pending_deletes, 0);
    assert_int_equal(zkt_nodes(), 0);
    (void)hold_once(m);
    assert_int_equal(zkt_nodes(), 1);
    zkt_destroy(m);
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
    m = keeper(c, LONG_MS);
    (void)hold_once(m);
    assert_int_equal(zkt_nodes(), 1);
    ZKT_MUST(zkr_client_shutdown(c));
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
    ZKT_RC(zkr_mutex_acquire(m, PATIENCE_MS), ZKR_ECLOSED);
    (void)hold_once(other);
}

/* A client that closes leaves no node. */
ZKT_CASE(close_deletes_it)
{
    zkr_client *c = client();
    zkr_mutex *m = keeper(c, LONG_MS);
    (void)hold_once(m);
    zkt_destroy(m);
    zkt_close(c);
    assert_int_equal(zkt_nodes(), 0);
}

static void *flush(void *c)
{
    return zkr_client_flush(c, PATIENCE_MS) == ZKR_OK ? c : NULL;
}

static bool is_flushing(zkr_client *c)
{
    zkr__lock(c);
    bool is = c->flushing > 0;
    zkr__unlock(c);
    return is;
}

/* A node that is released while a thread waits in flush is deleted as well. */
ZKT_CASE(a_flush_that_waits_lets_nothing_stay)
{
    enum { DELAY_MS = 300 };
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(proxy), SESSION_MS);
    zkr_mutex *m = keeper(c, LONG_MS), *plain = zkt_mutex_at(c, "/plain", NULL);
    pthread_t thread;
    void *flushed;
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_acquire(plain, PATIENCE_MS));
    zkt_proxy_delay(proxy, ZKT_TO_CLIENT, DELAY_MS);
    ZKT_MUST(zkr_mutex_release(plain));
    assert_int_equal(pthread_create(&thread, NULL, flush, c), 0);
    ZKT_EVENTUALLY(is_flushing(c), PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(m));
    assert_int_equal(pthread_join(thread, &flushed), 0);
    assert_ptr_equal(flushed, c);
    assert_int_equal(zkt_stats(c).pending_deletes, 0);
}

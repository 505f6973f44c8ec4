/* SPDX-License-Identifier: Apache-2.0 */
/* Revocation requests: asking a holder to release, and being asked. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "fourlw.h"
#include "latches.h"
#include "rwlocks.h"
#include "tickets.h"

enum { QUIET_MS = 400 };

#define OWNER "the owner"

/* The reports of on_revoke. */
struct asked {
    zkr_mutex *m;
    atomic_int times;
    void (*then)(struct asked *asked); /* called on the dispatch thread */
    zkr_ticket *ticket;
    atomic_int code;
};

static void on_revoke(zkr_mutex *m, void *ctx)
{
    struct asked *asked = ctx;
    assert_ptr_equal(m, asked->m);
    if (asked->then) {
        asked->then(asked);
    }
    asked->times++;
}

static zkr_mutex *revocable(zkr_client *c, struct asked *asked)
{
    zkr_mutex *m =
        ZKT_MUTEX_WITH(c, .owner = OWNER, .on_revoke = asked ? on_revoke : NULL,
                       .on_revoke_ctx = asked);
    if (asked) {
        asked->m = m;
    }
    return m;
}

/* Returns whether contender @i has this owner text, and is marked as asked to release if @is_asked. */
static bool shows(zkr_mutex *m, size_t i, const char *owner, bool is_asked)
{
    zkr_contenders *list = NULL;
    ZKT_MUST(zkr_mutex_contenders(m, &list));
    const zkr_contender *entry = zkr_contenders_get(list, i);
    bool same = entry && strcmp(entry->owner, owner) == 0 && entry->asked == is_asked;
    zkr_contenders_free(list);
    return same;
}

/* Write the request as Curator does with enableCompression(). */
static void wish_compressed(const char *node)
{
    static const char gzip[] =
        "\x1f\x8b\x08\0\0\0\0\0\0\xff\x8b\x8f\x0f\x72\x0d\xf3\xf7\x76"
        "\x8d\x8f\x07\0\xea\x2c\x89\xfb\x0a\0\0";
    zkt_raw *raw = zkt_raw_open(zkt_servers(), SESSION_MS);
    assert_non_null(raw);
    assert_int_equal(zkt_raw_set(raw, node, gzip, sizeof(gzip)), 0);
    assert_int_equal(zkt_raw_close(raw), 0);
}

static void wish(const char *node)
{
    assert_int_equal(zkt_set(zkt_servers(), node, "__REVOKE__"), 0);
}

/* Two clients with a mutex each. The mutex of the first client is revocable. */
static struct {
    zkr_client *c, *other;
    zkr_mutex *m, *theirs;
    struct asked asked;
    char node[256];
} two; /* objects of the current case */

static void begin(void)
{
    two.c = zkt_client(zkt_servers(), SESSION_MS);
    two.other = zkt_client(zkt_servers(), SESSION_MS);
    two.m = revocable(two.c, &two.asked);
    two.theirs = zkt_mutex(two.other);
}

/* Each request of another client is reported once, and the owner text of the holder is restored. */
ZKT_CASE(a_holder_is_told_once_for_each_wish)
{
    begin();
    ZKT_MUST(zkr_mutex_acquire(two.m, PATIENCE_MS));
    for (int i = 1; i <= 3; i++) {
        ZKT_MUST(zkr_mutex_revoke(zkt_settled(two.theirs)));
        ZKT_BECOMES(two.asked.times, i, PATIENCE_MS);
        ZKT_EVENTUALLY(shows(two.theirs, 0, OWNER, false), PATIENCE_MS);
    }
    zkt_sleep_ms(QUIET_MS);
    assert_int_equal(two.asked.times, 3);
    assert_true(zkr_mutex_is_held(two.m)); /* a request does not end the hold */
    ZKT_MUST(zkr_mutex_release(two.m));
}

static void be_slow(struct asked *asked)
{
    asked->code = 1;
    ZKT_EVENTUALLY(asked->code == 2, PATIENCE_MS);
}

/* Requests that arrive while the callback runs are all reported after it. */
ZKT_CASE(wishes_during_the_callback_are_told)
{
    enum { WISHES = 4 };
    begin();
    two.asked.then = be_slow;
    ZKT_MUST(zkr_mutex_acquire(two.m, PATIENCE_MS));
    for (int i = 0; i < WISHES; i++) {
        ZKT_MUST(zkr_mutex_revoke(zkt_settled(two.theirs)));
        ZKT_EVENTUALLY(shows(two.theirs, 0, OWNER, false), PATIENCE_MS);
        ZKT_EVENTUALLY(two.asked.code == 1, PATIENCE_MS);
    }
    two.asked.then = NULL;
    two.asked.code = 2;
    ZKT_BECOMES(two.asked.times, WISHES, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(two.m));
}

/* A node, and whether a revocation request was written to it. */
struct wished {
    char node[256];
    atomic_bool wished;
};

static void wish_at_a_transaction(void *ctx, int n, int op)
{
    enum { OP_MULTI = 14 };
    struct wished *r = ctx;
    if (op == OP_MULTI && !r->wished) {
        r->wished = zkt_set(zkt_servers(), r->node, "__REVOKE__") == 0;
    }
}

/* A client behind a proxy with a thread that holds both sides. */
struct both {
    struct sides s;
    struct asked asked; /* callbacks of the read side */
    zkt_proxy *p;
    struct wished node; /* the node of the write side */
};

static void begin_both(struct both *b)
{
    memset(b, 0, sizeof(*b));
    b->p = zkt_proxy_start(zkt_servers());
    b->s = SIDES_WITH(zkt_client(zkt_proxy_host(b->p), SESSION_MS),
                      .on_revoke = on_revoke, .on_revoke_ctx = &b->asked);
    b->asked.m = b->s.r;
    hold_both(&b->s);
    ZKT_MUST(zkr_mutex_node(b->s.w, b->node.node, sizeof(b->node.node)));
}

/*
 * After a downgrade, the holder gets requests through its new node: after the answer to the downgrade, or before it, if
 * the answer is lost.
 */
ZKT_CASE(a_downgraded_holder_is_asked)
{
    for (int lost = 0; lost < 2; lost++) {
        struct both b;
        zkr_mutex *theirs = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
        begin_both(&b);
        (void)memcpy(strstr(b.node.node, "WRIT"), "READ", 4);
        if (lost) {
            zkt_proxy_on_request(b.p, wish_at_a_transaction, &b.node);
            zkt_proxy_drop_reply(b.p, 1);
        }
        ZKT_MUST(zkr_mutex_release(b.s.w));
        ZKT_EVENTUALLY(zkt_exists(zkt_servers(), b.node.node), PATIENCE_MS);
        if (!lost) {
            ZKT_MUST(zkr_mutex_revoke(zkt_settled(theirs)));
        }
        ZKT_BECOMES(b.asked.times, 1, PATIENCE_MS);
        assert_int_equal(b.node.wished, lost);
        ZKT_MUST(zkr_mutex_release(b.s.r));
        end_sides(&b.s);
        zkt_close(b.s.c);
    }
}

/* A request that is written to the WRIT node while the downgrade is on its way is not deleted with the node. */
ZKT_CASE(a_wish_is_not_lost_in_a_downgrade)
{
    struct both b;
    begin_both(&b);
    zkt_proxy_on_request(b.p, wish_at_a_transaction, &b.node);
    ZKT_MUST(zkr_mutex_release(b.s.w));
    ZKT_BECOMES(b.asked.times, 1, PATIENCE_MS);
    assert_true(b.node.wished);
    ZKT_EVENTUALLY(!zkt_exists(zkt_servers(), b.node.node), PATIENCE_MS);
    (void)memcpy(strstr(b.node.node, "WRIT"), "READ", 4);
    ZKT_EVENTUALLY(zkt_exists(zkt_servers(), b.node.node), PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(b.s.r));
    end_sides(&b.s);
    zkt_close(b.s.c);
}

/* Any client can write the ten bytes of a request. Other bytes before or after them make it a different text. */
ZKT_CASE(a_stranger_may_ask)
{
    begin();
    ZKT_MUST(zkr_mutex_acquire(two.m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_node(two.m, two.node, sizeof(two.node)));
    assert_int_equal(zkt_set(zkt_servers(), two.node, "__REVOKE__ "), 0);
    assert_int_equal(zkt_set(zkt_servers(), two.node, "__REVOKE_"), 0);
    zkt_sleep_ms(QUIET_MS);
    assert_int_equal(two.asked.times, 0);
    assert_true(shows(two.theirs, 0, "__REVOKE_", false));
    wish(two.node);
    ZKT_BECOMES(two.asked.times, 1, PATIENCE_MS);
    ZKT_EVENTUALLY(shows(two.theirs, 0, OWNER, false), PATIENCE_MS);
    wish_compressed(two.node);
    ZKT_BECOMES(two.asked.times, 2, PATIENCE_MS);
    ZKT_EVENTUALLY(shows(two.theirs, 0, OWNER, false), PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(two.m));
}

static void let_go(struct asked *asked)
{
    asked->code = zkr_ticket_release(asked->ticket);
}

/* on_revoke may release the ticket. The requester is granted. */
ZKT_CASE(a_ticket_may_be_released_when_asked)
{
    begin();
    two.asked.then = let_go;
    two.asked.code = 1;
    ZKT_MUST(zkr_mutex_request(two.m, ZKR_FOREVER, NULL, NULL, &two.asked.ticket));
    ZKT_MUST(zkr_ticket_wait(two.asked.ticket, PATIENCE_MS));
    struct zkt_actor actor;
    zkt_actor_queue(&actor, two.other, two.theirs, NULL);
    ZKT_MUST(zkr_mutex_revoke(zkt_settled(two.theirs)));
    ZKT_MUST(zkt_actor_acquired(&actor));
    ZKT_BECOMES(two.asked.times, 1, PATIENCE_MS);
    ZKT_MUST(two.asked.code);
    ZKT_MUST(zkt_actor_end(&actor));
    ZKT_MUST(zkr_ticket_destroy(two.asked.ticket));
}

/* A request that is written right after the node was created, before any watch is set, is reported, too. */
ZKT_CASE(a_wish_before_the_watch_is_told)
{
    begin();
    for (int i = 1; i <= 5; i++) {
        ZKT_MUST(zkr_mutex_acquire(two.m, PATIENCE_MS));
        ZKT_MUST(zkr_mutex_revoke(two.m)); /* its own node, right after the grant */
        ZKT_BECOMES(two.asked.times, i, PATIENCE_MS);
        ZKT_MUST(zkr_mutex_release(two.m));
    }
}

/* A request to a waiter remains in its node, and is reported after the grant. */
ZKT_CASE(one_who_waits_is_told_when_it_holds)
{
    begin();
    ZKT_MUST(zkr_mutex_acquire(two.theirs, PATIENCE_MS));
    struct zkt_actor actor;
    zkt_actor_queue(&actor, two.c, two.m, NULL);
    (void)snprintf(two.node, sizeof(two.node), "%s/%s", zkt_path(),
                   zkr_contenders_get(zkt_contenders(two.theirs), 1)->node);
    wish(two.node);
    zkt_sleep_ms(QUIET_MS);
    assert_int_equal(two.asked.times, 0);
    assert_true(shows(two.theirs, 1, "", true));
    ZKT_MUST(zkr_mutex_release(two.theirs));
    ZKT_MUST(zkt_actor_acquired(&actor));
    ZKT_BECOMES(two.asked.times, 1, PATIENCE_MS);
    ZKT_EVENTUALLY(shows(two.theirs, 0, OWNER, false), PATIENCE_MS);
    ZKT_MUST(zkt_actor_end(&actor));
}

/* Only the first contender gets a request. */
ZKT_CASE(waiters_are_not_asked)
{
    begin();
    ZKT_MUST(zkr_mutex_acquire(two.theirs, PATIENCE_MS));
    struct zkt_actor actor;
    zkt_actor_queue(&actor, two.c, two.m, NULL);
    ZKT_MUST(zkr_mutex_revoke(two.m));
    zkt_sleep_ms(QUIET_MS);
    assert_int_equal(two.asked.times, 0);
    ZKT_MUST(zkr_mutex_release(two.theirs));
    ZKT_MUST(zkt_actor_acquired(&actor));
    zkt_sleep_ms(QUIET_MS);
    assert_int_equal(two.asked.times, 0);
    ZKT_MUST(zkt_actor_end(&actor));
}

/* The owner text of a holder without a callback is restored, too. */
ZKT_CASE(the_text_is_restored_without_a_callback)
{
    begin();
    zkr_mutex *deaf = revocable(two.c, NULL);
    ZKT_MUST(zkr_mutex_acquire(deaf, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_revoke(zkt_settled(two.theirs)));
    ZKT_EVENTUALLY(shows(two.theirs, 0, OWNER, false), PATIENCE_MS);
    assert_int_equal(two.asked.times, 0);
    ZKT_MUST(zkr_mutex_release(deaf));
}

/* The ID of a leader remains in its node. */
ZKT_CASE(leaders_are_not_asked_and_keep_their_ids)
{
    begin();
    zkr_leader_latch *l = zkt_latch(two.c, "leader", NULL);
    char id[32];
    zkt_lead(l);
    expect(zkr_mutex_revoke(zkt_settled(two.theirs)), ZKR_EINVAL);
    assert_non_null(strstr(zkr_last_error()->message, "election"));
    expect(zkr_mutex_revoke_node(two.theirs, "x-latch-0000000000"), ZKR_EINVAL);
    expect(zkr_mutex_revoke_node(two.theirs, "x"), ZKR_EINVAL);
    expect(zkr_mutex_revoke_node(two.theirs, NULL), ZKR_EINVAL);
    /* No server accepts such a name, so the error does not mention an election. */
    expect(zkr_mutex_revoke_node(two.theirs, "\001-lock-0000000000"), ZKR_EINVAL);
    assert_null(strstr(zkr_last_error()->message, "election"));
    expect(zkr_mutex_evict(two.theirs, "\001-lock-0000000000"), ZKR_EINVAL);
    assert_null(strstr(zkr_last_error()->message, "election"));
    ZKT_MUST(zkr_leader_latch_leader(l, id, sizeof(id)));
    assert_string_equal(id, "leader");

    /*
     * Somebody writes a request nevertheless. The latch reads its node at the latest with its first lease probe, and
     * does not change it.
     */
    char node[512];
    zkt_stat st;
    ZKT_MUST(zkr_leader_latch_node(l, node, sizeof(node)));
    assert_int_equal(zkt_set(zkt_servers(), node, "__REVOKE__"), ZKT_OK);
    zkt_sleep_ms(SESSION_MS / 4);
    assert_int_equal(zkt_get(zkt_servers(), node, id, sizeof(id), &st), ZKT_OK);
    assert_int_equal(st.version, 1);
    assert_true(zkr_leader_latch_has_leadership(l));
}

/* A request that is written while the holder is disconnected is reported. */
ZKT_CASE(a_wish_during_an_outage_is_told_after_it)
{
    struct asked asked = {.m = NULL};
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(proxy), SESSION_MS);
    zkr_mutex *m = revocable(c, &asked);
    char node[256];
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    ZKT_BECOMES(zkt_watches(), 1, PATIENCE_MS);
    zkt_proxy_cut(proxy);
    ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
    wish(node);
    assert_int_equal(asked.times, 0);
    zkt_proxy_heal(proxy);
    ZKT_BECOMES(asked.times, 1, PATIENCE_MS);
    ZKT_EVENTUALLY(shows(m, 0, OWNER, false), PATIENCE_MS);
    zkt_sleep_ms(QUIET_MS);
    assert_int_equal(asked.times, 1);
    ZKT_MUST(zkr_mutex_release(m));
}

/* Without a holder, a request fails. */
ZKT_CASE(what_cannot_be_asked_says_so)
{
    begin();
    expect(zkr_mutex_revoke(two.m), ZKR_ENONODE); /* the path does not exist */
    zkt_in_and_out(two.m);
    ZKT_MUST(zkr_client_flush(two.c, PATIENCE_MS));
    expect(zkr_mutex_revoke(two.m), ZKR_ENONODE); /* the queue is empty */
    ZKT_MUST(zkr_client_shutdown(two.other));
    expect(zkr_mutex_revoke(two.theirs), ZKR_ECLOSED);
}

/* Requests that the servers refuse have no effect. */
ZKT_CASE(what_may_not_be_asked_says_so)
{
    begin();
    ZKT_MUST(zkr_mutex_acquire(two.m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_node(two.m, two.node, sizeof(two.node)));
    assert_int_equal(zkt_set_acl(zkt_servers(), two.node, ZKT_ALL & ~ZKT_WRITE), 0);
    expect(zkr_mutex_revoke(two.theirs), ZKR_EAUTH);
    expect(zkr_mutex_revoke_node(two.theirs, strrchr(two.node, '/') + 1), ZKR_EAUTH);
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL & ~ZKT_DELETE), 0);
    expect(zkr_mutex_evict(two.theirs, strrchr(two.node, '/') + 1), ZKR_EAUTH);
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL & ~ZKT_READ), 0);
    expect(zkr_mutex_revoke(two.theirs), ZKR_EAUTH);
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL), 0);
    assert_true(zkr_mutex_is_held(two.m));
    ZKT_MUST(zkr_mutex_release(two.m));
}

static void on_lost(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    atomic_fetch_or((atomic_int *)ctx, 1 << lost->reason);
}

/*
 * An eviction deletes the holder's node, so that the next contender is granted. Names that are not a
 * contender's are refused.
 */
ZKT_CASE(one_that_does_not_let_go_is_evicted)
{
    begin();
    atomic_int lost = 0;
    zkr_mutex *stubborn = ZKT_MUTEX_WITH(two.c, .on_lost = on_lost,
                                         .on_lost_ctx = &lost, .watch_node = 1);
    ZKT_MUST(zkr_mutex_acquire(stubborn, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_node(stubborn, two.node, sizeof(two.node)));
    struct zkt_actor actor;
    zkt_actor_queue(&actor, two.other, two.theirs, NULL);
    static const char *const wrong[] = {NULL, "", "x", "a/_c_x-lock-0000000001", ".."};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        expect(zkr_mutex_evict(two.theirs, wrong[i]), ZKR_EINVAL);
    }
    assert_true(zkr_mutex_is_held(stubborn));
    ZKT_MUST(zkr_mutex_evict(two.theirs, strrchr(two.node, '/') + 1));
    ZKT_MUST(zkt_actor_acquired(&actor));
    ZKT_EVENTUALLY(lost == 1 << ZKR_LOST_NODE, PATIENCE_MS);
    /* Already deleted. */
    ZKT_MUST(zkr_mutex_evict(two.theirs, strrchr(two.node, '/') + 1));
    expect(zkr_mutex_release(stubborn), ZKR_ESESSION);
    ZKT_MUST(zkt_actor_end(&actor));
}

static void delete_the_node(void *unused)
{
    assert_int_equal(zkt_delete(zkt_servers(), two.node), 0);
}

/* A holder that leaves just before its node is written or deleted needs no request. */
ZKT_CASE(one_that_leaves_meanwhile_need_not_be_asked)
{
    static const int writes[] = {3, 2, 2}; /* number of the last request */
    begin();
    for (int way = 0; way < 3; way++) {
        ZKT_MUST(zkr_mutex_acquire(two.m, PATIENCE_MS));
        ZKT_MUST(zkr_mutex_node(two.m, two.node, sizeof(two.node)));
        const char *name = strrchr(two.node, '/') + 1;
        zkr_mutex *theirs = zkt_settled(two.theirs);
        zkt_door_focus(two.other);
        zkt_door_before(writes[way], delete_the_node, NULL);
        ZKT_MUST(way == 0   ? zkr_mutex_revoke(theirs)
                 : way == 1 ? zkr_mutex_revoke_node(theirs, name)
                            : zkr_mutex_evict(theirs, name));
        assert_true(zkt_door_fired());
        zkt_door_focus(NULL);
        ZKT_BECOMES(zkr_mutex_is_held(two.m), false, PATIENCE_MS);
        ZKT_RC(zkr_mutex_release(two.m), ZKR_ESESSION);
    }
}

/* Without an answer, the call ends after connect_timeout_ms. */
ZKT_CASE(without_an_answer_it_ends_in_time)
{
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    zkr_client *c = ZKT_CLIENT_WITH(zkt_proxy_host(proxy), .connect_timeout_ms = 300);
    zkr_mutex *m = zkt_mutex(c);
    begin();
    ZKT_MUST(zkr_mutex_acquire(two.m, PATIENCE_MS));
    zkt_proxy_freeze(proxy, ZKT_TO_CLIENT);
    int64_t before = zkt_now_ms();
    int rc = zkr_mutex_revoke(m);
    assert_true(rc == ZKR_ETIMEDOUT || rc == ZKR_ECONNLOSS);
    assert_true(zkt_now_ms() - before < 5000);
    zkt_proxy_heal(proxy);
    ZKT_EVENTUALLY(zkt_all_answered(c), PATIENCE_MS);
    zkt_sleep_ms(QUIET_MS);
    assert_int_equal(two.asked.times,
                     0); /* a request that failed is not written later */
    ZKT_MUST(zkr_mutex_release(two.m));
}

/* Each allocation fails once: the call succeeds or fails with ZKR_ENOMEM, and nobody loses a hold. */
ZKT_CASE(any_failing_allocation_is_survived)
{
    char nobody[] = "_c_x-lock-0000000000";
    begin();
    ZKT_MUST(zkr_mutex_acquire(two.m, PATIENCE_MS));
    zkt_settle(zkt_servers());
    for (int evict = 0; evict < 2; evict++) {
        for (struct zkt_strikes s = {.least = 2}; zkt_next_strike(&s);) {
            zkt_deny_allocation(s.n);
            int rc = evict ? zkr_mutex_evict(two.theirs, nobody)
                           : zkr_mutex_revoke(two.theirs);
            s.struck = zkt_was_denied();
            assert_true(rc == ZKR_OK || rc == ZKR_ENOMEM);
            assert_true(rc == ZKR_OK || s.struck);
        }
    }
    assert_true(zkr_mutex_is_held(two.m));
    ZKT_MUST(zkr_mutex_release(two.m));
}

/* A request is not reported if the hold is over before the callback can run. */
ZKT_CASE(what_was_released_is_not_asked_for)
{
    begin();
    for (int i = 0; i < 20; i++) {
        ZKT_MUST(zkr_mutex_acquire(two.m, PATIENCE_MS));
        ZKT_MUST(zkr_mutex_node(two.m, two.node, sizeof(two.node)));
        ZKT_MUST(zkr_mutex_release(two.m));
        (void)zkr_mutex_revoke(two.theirs);
    }
    ZKT_MUST(zkr_client_flush(two.c, PATIENCE_MS));
    zkt_sleep_ms(QUIET_MS);
    assert_int_equal(two.asked.times, 0);
}

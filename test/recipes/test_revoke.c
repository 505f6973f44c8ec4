/* SPDX-License-Identifier: Apache-2.0 */
/* Asking the holder to let go, and being asked. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "fixture.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000, QUIET_MS = 400 };

#define OWNER "the owner"

/* What on_revoke was told. */
struct asked {
    zkr_mutex *m;
    atomic_int times;
    void (*then)(struct asked *asked); /* on the dispatch thread */
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
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.owner = OWNER;
    o.on_revoke = asked ? on_revoke : NULL;
    o.on_revoke_ctx = asked;
    zkr_mutex *m = zkt_mutex_with(c, &o);
    if (asked) {
        asked->m = m;
    }
    return m;
}

/* The owner text of contender @i, or what stands for it. */
static bool shows(zkr_mutex *m, size_t i, const char *owner, bool is_asked)
{
    zkr_contenders *list = NULL;
    ZKT_MUST(zkr_mutex_contenders(m, &list));
    const zkr_contender *entry = zkr_contenders_get(list, i);
    bool same = entry && strcmp(entry->owner, owner) == 0 && entry->asked == is_asked;
    zkr_contenders_free(list);
    return same;
}

/* As Curator writes it with enableCompression(). */
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

/* Two clients, and a mutex on each: the first one's is revocable. */
struct two {
    zkr_client *c, *other;
    zkr_mutex *m, *theirs;
    struct asked asked;
    char node[256];
};

static void begin(struct two *two)
{
    memset(two, 0, sizeof(*two));
    two->c = zkt_client(zkt_servers(), SESSION_MS);
    two->other = zkt_client(zkt_servers(), SESSION_MS);
    two->m = revocable(two->c, &two->asked);
    two->theirs = zkt_mutex(two->other);
}

/* A thread holds, another client asks: told once, and its owner text is back. Again, told again. */
ZKT_CASE(a_holder_is_told_once_for_each_wish)
{
    struct two two;
    begin(&two);
    ZKT_MUST(zkr_mutex_acquire(two.m, PATIENCE_MS));
    for (int i = 1; i <= 3; i++) {
        ZKT_MUST(zkr_mutex_revoke(two.theirs));
        ZKT_BECOMES(two.asked.times, i, PATIENCE_MS);
        ZKT_EVENTUALLY(shows(two.theirs, 0, OWNER, false), PATIENCE_MS);
    }
    zkt_sleep_ms(QUIET_MS);
    assert_int_equal(two.asked.times, 3);
    assert_true(zkr_mutex_is_held(two.m)); /* it is a wish, not more */
    ZKT_MUST(zkr_mutex_release(two.m));
}

static void be_slow(struct asked *asked)
{
    asked->code = 1;
    ZKT_EVENTUALLY(asked->code == 2, PATIENCE_MS);
}

/* Those that come while the callback runs are told after it, each of them. */
ZKT_CASE(wishes_during_the_callback_are_told)
{
    enum { WISHES = 4 };
    struct two two;
    begin(&two);
    two.asked.then = be_slow;
    ZKT_MUST(zkr_mutex_acquire(two.m, PATIENCE_MS));
    for (int i = 0; i < WISHES; i++) {
        ZKT_MUST(zkr_mutex_revoke(two.theirs));
        ZKT_EVENTUALLY(shows(two.theirs, 0, OWNER, false), PATIENCE_MS);
        ZKT_EVENTUALLY(two.asked.code == 1, PATIENCE_MS);
    }
    two.asked.then = NULL;
    two.asked.code = 2;
    ZKT_BECOMES(two.asked.times, WISHES, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(two.m));
}

/* A node of a writer that becomes a reader, and whether a wish was written to it. */
struct reader {
    char node[256];
    atomic_bool wished;
};

static void wish_at_a_transaction(void *ctx, int n, int op)
{
    enum { OP_MULTI = 14 };
    struct reader *r = ctx;
    (void)n;
    if (op == OP_MULTI && !r->wished) {
        r->wished = zkt_set(zkt_servers(), r->node, "__REVOKE__") == 0;
    }
}

/* A writer that becomes a reader is asked by its new node: after that, or before it knows, as the answer was lost. */
ZKT_CASE(a_downgraded_holder_is_asked)
{
    for (int lost = 0; lost < 2; lost++) {
        struct asked asked = {0};
        struct reader reader = {.wished = false};
        zkr_rwlock_options o = ZKR_RWLOCK_OPTIONS_INIT;
        zkr_rwlock *lock = NULL;
        zkt_proxy *p = zkt_proxy_start(zkt_servers());
        zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
        zkr_mutex *theirs = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
        o.on_revoke = on_revoke;
        o.on_revoke_ctx = &asked;
        ZKT_MUST(zkr_rwlock_create(&lock, c, zkt_path(), &o));
        asked.m = zkr_rwlock_reader(lock);
        ZKT_MUST(zkr_mutex_acquire(zkr_rwlock_writer(lock), PATIENCE_MS));
        ZKT_MUST(
            zkr_mutex_node(zkr_rwlock_writer(lock), reader.node, sizeof(reader.node)));
        (void)memcpy(strstr(reader.node, "WRIT"), "READ", 4);
        ZKT_MUST(zkr_mutex_acquire(asked.m, PATIENCE_MS));
        if (lost) {
            zkt_proxy_on_request(p, wish_at_a_transaction, &reader);
            zkt_proxy_drop_reply(p, 1);
        }
        ZKT_MUST(zkr_mutex_release(zkr_rwlock_writer(lock)));
        ZKT_EVENTUALLY(zkt_exists(zkt_servers(), reader.node), PATIENCE_MS);
        if (!lost) {
            ZKT_MUST(zkr_mutex_revoke(theirs));
        }
        ZKT_BECOMES(asked.times, 1, PATIENCE_MS);
        assert_int_equal(reader.wished, lost);
        ZKT_MUST(zkr_mutex_release(asked.m));
        ZKT_MUST(zkr_rwlock_destroy(lock));
        zkt_destroy(theirs);
        zkt_close(c);
    }
}

/* A wish that is written to the WRIT node while its downgrade is on the way is not deleted with the node. */
ZKT_CASE(a_wish_is_not_lost_in_a_downgrade)
{
    struct asked asked = {0};
    struct reader writer = {.wished = false};
    zkr_rwlock_options o = ZKR_RWLOCK_OPTIONS_INIT;
    zkr_rwlock *lock = NULL;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    o.on_revoke = on_revoke;
    o.on_revoke_ctx = &asked;
    ZKT_MUST(zkr_rwlock_create(&lock, c, zkt_path(), &o));
    asked.m = zkr_rwlock_reader(lock);
    ZKT_MUST(zkr_mutex_acquire(zkr_rwlock_writer(lock), PATIENCE_MS));
    ZKT_MUST(zkr_mutex_node(zkr_rwlock_writer(lock), writer.node, sizeof(writer.node)));
    ZKT_MUST(zkr_mutex_acquire(asked.m, PATIENCE_MS));
    zkt_proxy_on_request(p, wish_at_a_transaction, &writer);
    ZKT_MUST(zkr_mutex_release(zkr_rwlock_writer(lock)));
    ZKT_BECOMES(asked.times, 1, PATIENCE_MS);
    assert_true(writer.wished);
    ZKT_EVENTUALLY(!zkt_exists(zkt_servers(), writer.node), PATIENCE_MS);
    (void)memcpy(strstr(writer.node, "WRIT"), "READ", 4);
    ZKT_EVENTUALLY(zkt_exists(zkt_servers(), writer.node), PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(asked.m));
    ZKT_MUST(zkr_rwlock_destroy(lock));
    zkt_close(c);
}

/* The wish need not come from us: any client writes ten bytes. Bytes around them make it another word. */
ZKT_CASE(a_stranger_may_ask)
{
    struct two two;
    begin(&two);
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

/* The holder of a ticket is told, and may release it right there: the one who asked gets the lock. */
ZKT_CASE(a_ticket_may_be_released_when_asked)
{
    struct two two;
    begin(&two);
    two.asked.then = let_go;
    two.asked.code = 1;
    ZKT_MUST(zkr_mutex_request(two.m, ZKR_FOREVER, NULL, NULL, &two.asked.ticket));
    ZKT_MUST(zkr_ticket_wait(two.asked.ticket, PATIENCE_MS));
    struct zkt_actor actor;
    zkt_actor_queue(&actor, two.other, two.theirs, NULL);
    ZKT_MUST(zkr_mutex_revoke(two.theirs));
    ZKT_MUST(zkt_actor_acquired(&actor));
    ZKT_BECOMES(two.asked.times, 1, PATIENCE_MS);
    ZKT_MUST(two.asked.code);
    ZKT_MUST(zkt_actor_end(&actor));
    ZKT_MUST(zkr_ticket_destroy(two.asked.ticket));
}

/* A wish written the moment the node is there, before anybody watches it, is told all the same. */
ZKT_CASE(a_wish_before_the_watch_is_told)
{
    struct two two;
    begin(&two);
    for (int i = 1; i <= 5; i++) {
        ZKT_MUST(zkr_mutex_acquire(two.m, PATIENCE_MS));
        ZKT_MUST(zkr_mutex_revoke(two.m)); /* one's own, right behind */
        ZKT_BECOMES(two.asked.times, i, PATIENCE_MS);
        ZKT_MUST(zkr_mutex_release(two.m));
    }
}

/* Waiting it is not told; the wish stays with its node, and is told with the hold. */
ZKT_CASE(one_who_waits_is_told_when_it_holds)
{
    struct two two;
    begin(&two);
    ZKT_MUST(zkr_mutex_acquire(two.theirs, PATIENCE_MS));
    struct zkt_actor actor;
    zkt_actor_queue(&actor, two.c, two.m, NULL);
    zkr_contenders *list = NULL;
    ZKT_MUST(zkr_mutex_contenders(two.theirs, &list));
    (void)snprintf(two.node, sizeof(two.node), "%s/%s", zkt_path(),
                   zkr_contenders_get(list, 1)->node);
    zkr_contenders_free(list);
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

/* Only the first is asked. */
ZKT_CASE(waiters_are_not_asked)
{
    struct two two;
    begin(&two);
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

/* Whoever does not listen keeps its name in the list all the same. */
ZKT_CASE(the_text_is_restored_without_a_callback)
{
    struct two two;
    begin(&two);
    zkr_mutex *deaf = revocable(two.c, NULL);
    ZKT_MUST(zkr_mutex_acquire(deaf, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_revoke(two.theirs));
    ZKT_EVENTUALLY(shows(two.theirs, 0, OWNER, false), PATIENCE_MS);
    assert_int_equal(two.asked.times, 0);
    ZKT_MUST(zkr_mutex_release(deaf));
}

/* What a leader is called stays what it was. */
ZKT_CASE(leaders_are_not_asked_and_keep_their_ids)
{
    struct two two;
    begin(&two);
    zkr_leader_latch *l = NULL;
    char id[32];
    ZKT_MUST(zkr_leader_latch_create(&l, two.c, zkt_path(), "leader", NULL));
    ZKT_MUST(zkr_leader_latch_start(l));
    ZKT_MUST(zkr_leader_latch_await(l, PATIENCE_MS));
    assert_int_equal(zkr_mutex_revoke(two.theirs), ZKR_EINVAL);
    assert_non_null(strstr(zkr_last_error()->message, "election"));
    assert_int_equal(zkr_mutex_revoke_node(two.theirs, "x-latch-0000000000"),
                     ZKR_EINVAL);
    assert_int_equal(zkr_mutex_revoke_node(two.theirs, "x"), ZKR_EINVAL);
    assert_int_equal(zkr_mutex_revoke_node(two.theirs, NULL), ZKR_EINVAL);
    /* No server takes such a name, whoever it may be. */
    assert_int_equal(zkr_mutex_revoke_node(two.theirs, "\001-lock-0000000000"),
                     ZKR_EINVAL);
    assert_null(strstr(zkr_last_error()->message, "election"));
    assert_int_equal(zkr_mutex_evict(two.theirs, "\001-lock-0000000000"), ZKR_EINVAL);
    assert_null(strstr(zkr_last_error()->message, "election"));
    ZKT_MUST(zkr_leader_latch_leader(l, id, sizeof(id)));
    assert_string_equal(id, "leader");

    /* Whoever writes there: it looks at its node by its first lease probe at the latest, and leaves it alone. */
    char node[512];
    zkt_stat st;
    ZKT_MUST(zkr_leader_latch_node(l, node, sizeof(node)));
    assert_int_equal(zkt_set(zkt_servers(), node, "__REVOKE__"), ZKT_OK);
    zkt_sleep_ms(SESSION_MS / 4);
    assert_int_equal(zkt_get(zkt_servers(), node, id, sizeof(id), &st), ZKT_OK);
    assert_int_equal(st.version, 1);
    assert_true(zkr_leader_latch_has_leadership(l));
    ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_SILENT));
    ZKT_MUST(zkr_leader_latch_destroy(l));
}

/* Wishes come across a break of the connection. */
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

static void expect(int rc, int code)
{
    assert_string_equal(zkr_err_name(rc), zkr_err_name(code));
    assert_int_equal(zkr_last_error()->code, code);
}

/* Nobody holds; no mutex. */
ZKT_CASE(what_cannot_be_asked_says_so)
{
    struct two two;
    begin(&two);
    expect(zkr_mutex_revoke(NULL), ZKR_EINVAL);
    expect(zkr_mutex_revoke(two.m), ZKR_ENONODE); /* no such path */
    ZKT_MUST(zkr_mutex_acquire(two.m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_release(two.m));
    ZKT_MUST(zkr_client_flush(two.c, PATIENCE_MS));
    expect(zkr_mutex_revoke(two.m), ZKR_ENONODE); /* nobody on it */
    ZKT_MUST(zkr_client_shutdown(two.other));
    expect(zkr_mutex_revoke(two.theirs), ZKR_ECLOSED);
}

/* What the servers refuse is not done. */
ZKT_CASE(what_may_not_be_asked_says_so)
{
    struct two two;
    begin(&two);
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
    (void)m;
    atomic_fetch_or((atomic_int *)ctx, 1 << lost->reason);
}

/* By force the holder loses its node, and the next one holds; other nodes are not in danger. */
ZKT_CASE(one_that_does_not_let_go_is_evicted)
{
    struct two two;
    begin(&two);
    atomic_int lost = 0;
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.on_lost = on_lost;
    o.on_lost_ctx = &lost;
    o.watch_node = 1;
    zkr_mutex *stubborn = zkt_mutex_with(two.c, &o);
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
    ZKT_MUST(zkr_mutex_evict(two.theirs, strrchr(two.node, '/') + 1)); /* gone before */
    expect(zkr_mutex_release(stubborn), ZKR_ESESSION);
    ZKT_MUST(zkt_actor_end(&actor));
}

/* No server: within the time of a connect. */
ZKT_CASE(without_an_answer_it_ends_in_time)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.connect_timeout_ms = 300;
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client_with(zkt_proxy_host(proxy), &o);
    zkr_mutex *m = zkt_mutex(c);
    struct two two;
    begin(&two);
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
                     0); /* not for one who was told that it came to nothing */
    ZKT_MUST(zkr_mutex_release(two.m));
}

/* Each allocation fails once: it is done, or said, and nobody loses anything by it. */
ZKT_CASE(any_failing_allocation_is_survived)
{
    struct two two;
    char nobody[] = "_c_x-lock-0000000000";
    begin(&two);
    ZKT_MUST(zkr_mutex_acquire(two.m, PATIENCE_MS));
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

/* Held no more when the callback's turn comes: nobody is asked for what is over. */
ZKT_CASE(what_was_released_is_not_asked_for)
{
    struct two two;
    begin(&two);
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong calls, and missing memory: each is an error with a message, and nothing is lost. */
#define THREADED /* for zoo_multi() */
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zkr/guard.h>

#include "latches.h"
#include "rwlocks.h"
#include "session/request.h"
#include "tickets.h"

/* A missing chroot is named as the reason, also in functions that only read. */
ZKT_CASE(a_missing_chroot_is_named)
{
    char servers[128];
    (void)snprintf(servers, sizeof(servers), "%s/no/such/chroot", zkt_servers());
    zkr_mutex *m = zkt_mutex(zkt_client(servers, SESSION_MS));
    expect(zkr_mutex_acquire(m, PATIENCE_MS), ZKR_ENONODE);
    assert_non_null(strstr(zkr_last_error()->message, "chroot"));
    zkr_contenders *list = NULL;
    expect(zkr_mutex_contenders(m, &list), ZKR_ENONODE);
    assert_null(list);
    assert_non_null(strstr(zkr_last_error()->message, "chroot"));
}

/* Below a missing chroot, no lock counts as free, and none can be watched, revoked or evicted. */
ZKT_CASE(below_a_missing_chroot_nothing_is_known)
{
    static const char *const node =
        "_c_00000000-0000-4000-8000-000000000000-lock-0000000000";
    char servers[128];
    (void)snprintf(servers, sizeof(servers), "%s/no/such/chroot", zkt_servers());
    zkr_mutex *m = zkt_mutex(zkt_client(servers, SESSION_MS));
    const int codes[] = {
        zkr_mutex_await_free(m, 0),
        zkr_mutex_await_free(m, PATIENCE_MS),
        zkr_mutex_watch(m, PATIENCE_MS),
        zkr_mutex_watch(m, 0),
        zkr_mutex_revoke(m),
        zkr_mutex_revoke_node(m, node),
        zkr_mutex_evict(m, node),
    };
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        assert_int_equal(codes[i], ZKR_ENONODE);
    }
    ZKT_RC(zkr_mutex_await_free(m, 0), ZKR_ENONODE);
    assert_non_null(strstr(zkr_last_error()->message, "chroot"));
    ZKT_RC(zkr_mutex_revoke(m), ZKR_ENONODE);
    assert_non_null(strstr(zkr_last_error()->message, "chroot"));
}

/* Programs do not see an existing chroot. */
ZKT_CASE(a_chroot_is_transparent)
{
    char servers[256], node[256];
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    (void)snprintf(servers, sizeof(servers), "%s%s", zkt_servers(), zkt_path());
    zkr_client *c = zkt_client(servers, SESSION_MS);
    zkr_mutex *m = zkt_mutex_at(c, "/inner", NULL);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    assert_memory_equal(node, "/inner/_c_", 10);
    struct zkt_actor actor;
    zkt_actor_queue(&actor, c, m, NULL);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_actor_is_served(&actor);
}

/* Credentials give access to a path that is closed to others. */
ZKT_CASE(credentials_are_used)
{
    char node[256], text[64];
    zkr_client *c = ZKT_CLIENT_WITH(
        zkt_servers(), .auth_scheme = "digest", .auth_cert = "user:secret",
        .auth_cert_len = strlen("user:secret"), .acl = &ZOO_CREATOR_ALL_ACL);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkr_mutex *theirs = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    expect(zkr_mutex_acquire(theirs, PATIENCE_MS), ZKR_EAUTH);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_expire(c); /* the next session must add the credentials again */
    struct sides s = sides_of(c);
    hold_both(&s);
    ZKT_MUST(zkr_mutex_release(s.w)); /* replaces the node by another one */
    ZKT_MUST(zkr_mutex_node(s.r, node, sizeof(node)));
    ZKT_BECOMES(zkt_get(zkt_servers(), node, text, sizeof(text), NULL), ZKT_NOAUTH,
                PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(s.r));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    zkt_raw *raw = zkt_raw_open(zkt_servers(), 5000);
    assert_int_equal(zkt_raw_auth(raw, "digest", "user:secret"), 0);
    assert_int_equal(zkt_raw_delete(raw, zkt_path()), 0);
    zkt_raw_close(raw);
}

/*
 * If the refusal of credentials is slow, every function that waits for the connection still reports it, with
 * retries or without.
 */
ZKT_CASE(slow_refusals_are_said)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkt_proxy_delay(p, ZKT_TO_CLIENT, 100);
    zkr_client_options o = zkt_bad_credentials;
    /* A server that refuses also closes the connection, and the refusal can be lost if requests were sent meanwhile. */
    o.retry_attempts = 5;
    enum { WAIT, LIST, TRY, ACQUIRE, LATCH, WAYS };
    for (int way = 0; way < WAYS; way++) {
        zkr_client *c = NULL;
        zkr_contenders *list = NULL;
        ZKT_MUST(zkr_client_open(&c, zkt_proxy_host(p), &o));
        zkr_mutex *m = zkt_mutex(c);
        zkr_leader_latch *l = zkt_latch(c, "", NULL);
        ZKT_MUST(zkr_leader_latch_start(l));
        int rc;
        do { /* repeated if the refusal was lost */
            rc = way == WAIT      ? zkr_client_wait_connected(c, PATIENCE_MS)
                 : way == LIST    ? zkr_mutex_contenders(m, &list)
                 : way == TRY     ? zkr_mutex_acquire(m, 0)
                 : way == ACQUIRE ? zkr_mutex_acquire(m, PATIENCE_MS)
                                  : zkr_leader_latch_await(l, PATIENCE_MS);
        } while (rc == ZKR_ECONNLOSS || rc == ZKR_ENOANSWER);
        expect(rc, ZKR_EAUTH);
        zkt_end_latch(l);
        zkt_destroy(m);
        zkt_close(c);
    }
}

struct refusal {
    int count, code;
};

static void note_refusal(void *ctx, unsigned tag, const struct zkr__answer *answer)
{
    struct refusal *r = ctx;
    r->count++;
    r->code = answer->code;
}

static int epoch_of(zkr_client *c)
{
    zkr__lock(c);
    int epoch = (int)c->epoch;
    zkr__unlock(c);
    return epoch;
}

/* A request between the refusal and its event is refused as well, and not lost. */
ZKT_CASE(a_refused_handle_says_so_at_once)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkt_proxy_delay(p, ZKT_TO_CLIENT, 100);
    zkr_client *c = NULL;
    ZKT_MUST(zkr_client_open(&c, zkt_proxy_host(p), &zkt_bad_credentials));
    ZKT_BECOMES(epoch_of(c), 1, PATIENCE_MS);
    zkr__lock(c); /* holds up the event */
    ZKT_BECOMES(zoo_state(c->link->zh), ZOO_AUTH_FAILED_STATE, PATIENCE_MS);
    const struct zkr__op op = {.kind = ZKR__OP_EXISTS, .path = "/"};
    struct refusal refusal = {0};
    zkr__submit_early(c, &op, note_refusal, &refusal, 0);
    /* The callback is never called within the call. */
    assert_int_equal(refusal.count, 0);
    zkr__unlock(c);
    ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_AUTH_FAILED, PATIENCE_MS);
    zkr__lock(c);
    assert_int_equal(refusal.count, 1);
    ZKT_RC(refusal.code, ZKR_EAUTH);
    zkr__unlock(c);
    zkt_close(c);
}

/* --- the guard --- */

static int write_guarded(zkr_mutex *m, const char *path)
{
    zoo_op_t ops[2];
    zoo_op_result_t results[2];
    int rc = zkr_mutex_guard(m, &ops[0]);
    if (rc != ZKR_OK) {
        return rc;
    }
    zhandle_t *zh =
        zookeeper_init(zkt_servers(), NULL, 10000, NULL, NULL, ZOO_NO_LOG_CLIENTENV);
    ZKT_BECOMES(zoo_state(zh), ZOO_CONNECTED_STATE, PATIENCE_MS);
    zoo_set_op_init(&ops[1], path, "x", 1, -1, NULL);
    rc = zoo_multi(zh, 2, ops, results);
    zookeeper_close(zh);
    return rc;
}

/* A guarded write succeeds while the node exists, and fails afterwards. */
ZKT_CASE(a_guarded_write_needs_the_hold)
{
    char resource[256], node[256];
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    (void)snprintf(resource, sizeof(resource), "%s/resource", zkt_path());
    assert_int_equal(zkt_create(zkt_servers(), resource, "", 0), 0);
    zkr_mutex *m = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    ZKT_RC(write_guarded(m, resource), ZKR_ENOTOWNER);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    assert_int_equal(write_guarded(m, resource), ZOK);
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    assert_int_equal(zkt_delete(zkt_servers(), node), 0);
    int rc = write_guarded(m, resource);
    assert_true(rc == ZNONODE || rc == ZKR_ESESSION);
    ZKT_BECOMES(write_guarded(m, resource), ZKR_ESESSION, PATIENCE_MS);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
}

/* --- many times --- */

/* Thousands of mutexes and cycles leave threads, descriptors, watches and memory unchanged. */
ZKT_CASE(many_cycles_leave_nothing_behind)
{
    enum {
        CYCLES = 10000,
        FIRST = 1000,
        SLACK = 64 * 1024 /* bytes, less than eight for each cycle */
    };
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    int threads = zkt_thread_count();
    int descriptors = zkt_fd_count();
    size_t memory = 0;
    for (int i = 0; i < CYCLES; i++) {
        zkr_mutex *m = zkt_mutex(c);
        zkt_in_and_out(m);
        zkt_destroy(m);
        if (i == FIRST) {
            ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
            memory = mallinfo2().uordblks;
        }
    }
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    ZKT_IN_RANGE(mallinfo2().uordblks, 0, memory + SLACK);
    assert_int_equal(zkt_thread_count(), threads);
    assert_int_equal(zkt_fd_count(), descriptors);
    assert_int_equal(zkt_watches(), 0);
}

/* Waits that time out behind one holder leave at most one watch on its node. */
ZKT_CASE(many_time_outs_leave_no_watches)
{
    zkr_client *two = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *held = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    zkr_mutex *m = zkt_mutex(two);
    ZKT_MUST(zkr_mutex_acquire(held, PATIENCE_MS));
    for (int i = 0; i < 200; i++) {
        int rc = zkr_mutex_acquire(m, 3);
        assert_true(zkt_timed_out(rc));
    }
    ZKT_MUST(zkr_client_flush(two, PATIENCE_MS));
    assert_true(zkt_watches() <= 2);
    ZKT_MUST(zkr_mutex_release(held));
}

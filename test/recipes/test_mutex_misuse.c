/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong calls, no memory: an error each, with a text, and nothing lost. */
#define THREADED /* zoo_multi(), for the guard */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zkr/guard.h>

#include "actor.h"
#include "base/mem.h"
#include "fixture.h"
#include "session/request.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000 };

static void expect(int rc, int code)
{
    assert_string_equal(zkr_err_name(rc), zkr_err_name(code));
    assert_int_equal(zkr_last_error()->code, code);
    assert_true(strlen(zkr_last_error()->message) > 0);
}

/* --- bad input --- */

/* Server lists, options and paths that make no sense are refused before anything starts. */
static void nonsense_is_refused_at_once(void **state)
{
    (void)state;
    static const char *const lists[] = {
        NULL,      "",           "/",        "/chroot",  ":2181",       "host:",
        "host:0",  "host:65536", "host:x",   "a:1,,b:1", "a:1,",        "a b:1",
        "a:1/no/", "a:1//no",    "a:1/./no", "[::1",     "[::1]x:2181", "host:99999"};
    zkr_client *c = NULL;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        expect(zkr_client_open(&c, lists[i], NULL), ZKR_EINVAL);
        assert_null(c);
    }
    expect(zkr_client_open(NULL, "a:1", NULL), ZKR_EINVAL);
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.size = 3;
    expect(zkr_client_open(&c, "a:1", &o), ZKR_EINVAL);
    o = (zkr_client_options)ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = -1;
    expect(zkr_client_open(&c, "a:1", &o), ZKR_EINVAL);
    o.session_timeout_ms = INT64_MAX;
    expect(zkr_client_open(&c, "a:1", &o), ZKR_EINVAL);
    o = (zkr_client_options)ZKR_CLIENT_OPTIONS_INIT;
    o.auth_cert = "x";
    expect(zkr_client_open(&c, "a:1", &o), ZKR_EINVAL);
    struct {
        zkr_client_options known;
        int64_t unknown;
    } newer = {ZKR_CLIENT_OPTIONS_INIT, 1};
    newer.known.size = sizeof(newer);
    expect(zkr_client_open(&c, "a:1", &newer.known), ZKR_EINVAL);
}

/* The same for mutexes. */
static void nonsense_paths_and_options_are_refused(void **state)
{
    (void)state;
    static const char *const paths[] = {NULL,    "",      "/",     "relative",
                                        "/a/",   "//a",   "/a//b", "/a/.",
                                        "/../b", "/a\nb", "/a\x7f"};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = NULL;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        expect(zkr_mutex_create(&m, c, paths[i], NULL), ZKR_EINVAL);
    }
    enum { HUGE = 2 << 20 };
    char *huge = calloc(1, HUGE);
    memset(huge, 'a', HUGE - 1);
    huge[0] = '/';
    expect(zkr_mutex_create(&m, c, huge, NULL), ZKR_EINVAL);
    free(huge);
    expect(zkr_mutex_create(NULL, c, "/a", NULL), ZKR_EINVAL);
    expect(zkr_mutex_create(&m, NULL, "/a", NULL), ZKR_EINVAL);
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.data_len = 5;
    expect(zkr_mutex_create(&m, c, "/a", &o), ZKR_EINVAL);
    o.data = "x";
    o.data_len = SIZE_MAX;
    expect(zkr_mutex_create(&m, c, "/a", &o), ZKR_EINVAL);
    o = (zkr_mutex_options)ZKR_MUTEX_OPTIONS_INIT;
    o.size = SIZE_MAX;
    expect(zkr_mutex_create(&m, c, "/a", &o), ZKR_EINVAL);
    assert_null(m);
    zkt_close(c);
}

/* NULL objects and NULL results. */
static void null_is_refused_everywhere(void **state)
{
    (void)state;
    char buf[16];
    int64_t number;
    zkr_contenders *list;
    zkr_stats stats;
    struct zoo_op op;
    expect(zkr_mutex_acquire(NULL, 0), ZKR_EINVAL);
    expect(zkr_mutex_release(NULL), ZKR_EINVAL);
    expect(zkr_mutex_cancel(NULL), ZKR_EINVAL);
    expect(zkr_mutex_fencing_token(NULL, &number), ZKR_EINVAL);
    expect(zkr_mutex_node(NULL, buf, sizeof(buf)), ZKR_EINVAL);
    expect(zkr_mutex_guard(NULL, &op), ZKR_EINVAL);
    expect(zkr_mutex_contenders(NULL, &list), ZKR_EINVAL);
    assert_false(zkr_mutex_is_held(NULL) || zkr_mutex_is_held_in_process(NULL));
    assert_int_equal(zkr_mutex_depth(NULL), 0);
    assert_int_equal(zkr_mutex_valid_for_ms(NULL), 0);
    expect(zkr_client_wait_connected(NULL, 0), ZKR_EINVAL);
    expect(zkr_client_flush(NULL, 0), ZKR_EINVAL);
    expect(zkr_client_stats(NULL, &stats, sizeof(stats)), ZKR_EINVAL);
    assert_int_equal(zkr_client_state(NULL), ZKR_STATE_CLOSED);
    assert_int_equal(zkr_client_session_id(NULL), 0);

    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    expect(zkr_mutex_acquire(m, -2), ZKR_EINVAL);
    expect(zkr_mutex_watch(m, -2), ZKR_EINVAL);
    expect(zkr_client_wait_connected(c, -2), ZKR_EINVAL);
    expect(zkr_client_wait_connected(c, INT64_MIN), ZKR_EINVAL);
    expect(zkr_client_flush(c, -2), ZKR_EINVAL);
    ZKT_MUST(zkr_client_wait_connected(c, ZKR_FOREVER));
    ZKT_MUST(zkr_client_flush(c, ZKR_FOREVER));
    expect(zkr_mutex_fencing_token(m, NULL), ZKR_EINVAL);
    expect(zkr_mutex_node(m, NULL, 100), ZKR_EINVAL);
    expect(zkr_mutex_node(m, buf, sizeof(buf)), ZKR_EINVAL); /* too small */
    expect(zkr_mutex_guard(m, NULL), ZKR_EINVAL);
    expect(zkr_mutex_contenders(m, NULL), ZKR_EINVAL);
    expect(zkr_client_stats(c, NULL, sizeof(stats)), ZKR_EINVAL);
    expect(zkr_client_stats(c, &stats, 0), ZKR_EINVAL);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_destroy(m);
    zkt_close(c);
}

/* A chroot that is missing, and a path we may not create: the reason, at once, nothing left. */
static void a_missing_chroot_is_said(void **state)
{
    (void)state;
    char servers[128];
    (void)snprintf(servers, sizeof(servers), "%s/no/such/chroot", zkt_servers());
    zkr_client *c = zkt_client(servers, SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    expect(zkr_mutex_acquire(m, PATIENCE_MS), ZKR_ENONODE);
    assert_non_null(strstr(zkr_last_error()->message, "chroot"));
    zkt_destroy(m);
    zkt_close(c);
}

/* A chroot that exists is invisible to the user. */
static void a_chroot_is_transparent(void **state)
{
    (void)state;
    char servers[256], node[256];
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    (void)snprintf(servers, sizeof(servers), "%s%s", zkt_servers(), zkt_path());
    zkr_client *c = zkt_client(servers, SESSION_MS);
    zkr_mutex *m = NULL;
    ZKT_MUST(zkr_mutex_create(&m, c, "/inner", NULL));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    assert_memory_equal(node, "/inner/_c_", 10);
    struct zkt_actor actor;
    zkt_actor_queue(&actor, c, m, NULL);
    ZKT_MUST(zkr_mutex_release(m));
    assert_int_equal(zkt_actor_acquired(&actor), ZKR_OK);
    assert_int_equal(zkt_actor_end(&actor), ZKR_OK);
    zkt_destroy(m);
    zkt_close(c);
    zkt_delete_children(zkt_servers(), zkt_path());
}

/* A parent that refuses us is an error of the acquire, not a silent retry. */
static void a_forbidden_path_is_said(void **state)
{
    (void)state;
    const zkt_node node = {.path = zkt_path(), .perms = ZKT_READ};
    zkt_raw *raw = zkt_raw_open(zkt_servers(), 5000);
    assert_int_equal(zkt_create_path(zkt_servers(), "/t"), 0);
    assert_int_equal(zkt_raw_create(raw, &node, NULL, 0), 0);
    zkt_raw_close(raw);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    expect(zkr_mutex_acquire(m, PATIENCE_MS), ZKR_EAUTH);
    zkt_destroy(m);
    zkt_close(c);
}

/* Credentials open a path that is closed to others. */
static void credentials_are_used(void **state)
{
    (void)state;
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.auth_scheme = "digest";
    o.auth_cert = "user:secret";
    o.auth_cert_len = strlen("user:secret");
    o.acl = &ZOO_CREATOR_ALL_ACL;
    zkr_client *c = zkt_client_with(zkt_servers(), &o);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkr_client *stranger = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *theirs = zkt_mutex(stranger);
    expect(zkr_mutex_acquire(theirs, PATIENCE_MS), ZKR_EAUTH);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_expire(c); /* the next session must show them again */
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_release(m));
    zkt_destroy(m);
    zkt_destroy(theirs);
    zkt_close(stranger);
    zkt_close(c);
    zkt_raw *raw = zkt_raw_open(zkt_servers(), 5000);
    assert_int_equal(zkt_raw_auth(raw, "digest", "user:secret"), 0);
    assert_int_equal(zkt_raw_delete(raw, zkt_path()), 0);
    zkt_raw_close(raw);
}

/* Refused credentials end every wait with ZKR_EAUTH. */
static void refused_credentials_are_said(void **state)
{
    (void)state;
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.auth_scheme = "no-such-scheme";
    o.auth_cert = "x";
    o.auth_cert_len = 1;
    zkr_client *c = NULL;
    ZKT_MUST(zkr_client_open(&c, zkt_servers(), &o));
    zkr_mutex *m = zkt_mutex(c);
    zkr_contenders *list = NULL;
    expect(zkr_mutex_contenders(m, &list), ZKR_EAUTH); /* refused while it reads */
    struct zkt_actor actor;
    zkt_actor_start(&actor, m, ZKR_FOREVER, NULL);
    assert_int_equal(zkt_actor_acquired(&actor), ZKR_EAUTH);
    (void)zkt_actor_end(&actor);
    expect(zkr_client_wait_connected(c, PATIENCE_MS), ZKR_EAUTH);
    expect(zkr_mutex_acquire(m, PATIENCE_MS), ZKR_EAUTH);
    assert_int_equal(zkr_client_state(c), ZKR_STATE_AUTH_FAILED);
    zkt_destroy(m);
    zkt_close(c);
}

/*
 * The same when the refusal takes its time: a connection is not enough, and whoever is in the middle
 * of something hears of it, retries or not.
 */
static void slow_refusals_are_said(void **state)
{
    (void)state;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkt_proxy_delay(p, ZKT_TO_CLIENT, 100);
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.auth_scheme = "no-such-scheme";
    o.auth_cert = "x";
    o.auth_cert_len = 1;
    /* A server that refuses closes as well, and what was sent meanwhile can make its word get lost. */
    o.retry_attempts = 5;
    enum { WAIT, LIST, TRY, ACQUIRE, LATCH, WAYS };
    for (int way = 0; way < WAYS; way++) {
        zkr_client *c = NULL;
        zkr_leader_latch *l = NULL;
        zkr_contenders *list = NULL;
        ZKT_MUST(zkr_client_open(&c, zkt_proxy_host(p), &o));
        zkr_mutex *m = zkt_mutex(c);
        ZKT_MUST(zkr_leader_latch_create(&l, c, zkt_path(), "", NULL));
        ZKT_EVENTUALLY(zkr_client_state(c) != ZKR_STATE_CONNECTING, PATIENCE_MS);
        assert_int_equal(zkr_client_state(c), ZKR_STATE_CONNECTED);
        ZKT_MUST(zkr_leader_latch_start(l));
        int rc;
        do { /* again, when the refusal got lost as the server closed behind it */
            rc = way == WAIT      ? zkr_client_wait_connected(c, PATIENCE_MS)
                 : way == LIST    ? zkr_mutex_contenders(m, &list)
                 : way == TRY     ? zkr_mutex_acquire(m, 0)
                 : way == ACQUIRE ? zkr_mutex_acquire(m, PATIENCE_MS)
                                  : zkr_leader_latch_await(l, PATIENCE_MS);
        } while (rc == ZKR_ECONNLOSS);
        expect(rc, ZKR_EAUTH);
        ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_SILENT));
        ZKT_MUST(zkr_leader_latch_destroy(l));
        zkt_destroy(m);
        zkt_close(c);
    }
    zkt_proxy_stop(p);
}

struct refusal {
    int count, code;
};

static void note_refusal(void *ctx, unsigned tag, const struct zkr__answer *answer)
{
    struct refusal *r = ctx;
    (void)tag;
    r->count++;
    r->code = answer->code;
}

/* A request between the refusal and its event is refused as well, not lost. */
static void a_refused_handle_says_so_at_once(void **state)
{
    (void)state;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkt_proxy_delay(p, ZKT_TO_CLIENT, 100);
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.auth_scheme = "no-such-scheme";
    o.auth_cert = "x";
    o.auth_cert_len = 1;
    zkr_client *c = NULL;
    ZKT_MUST(zkr_client_open(&c, zkt_proxy_host(p), &o));
    ZKT_EVENTUALLY(zkr_client_state(c) == ZKR_STATE_CONNECTED, PATIENCE_MS);
    zkr__lock(c); /* the event cannot be told meanwhile */
    ZKT_EVENTUALLY(zoo_state(c->link->zh) == ZOO_AUTH_FAILED_STATE, PATIENCE_MS);
    const struct zkr__op op = {.kind = ZKR__OP_EXISTS, .path = "/"};
    struct refusal refusal = {0};
    zkr__submit(c, &op, note_refusal, &refusal, 0);
    assert_int_equal(refusal.count, 0); /* never from inside the call */
    zkr__unlock(c);
    ZKT_EVENTUALLY(zkr_client_state(c) == ZKR_STATE_AUTH_FAILED, PATIENCE_MS);
    zkr__lock(c);
    assert_int_equal(refusal.count, 1);
    assert_int_equal(refusal.code, ZKR_EAUTH);
    zkr__unlock(c);
    zkt_close(c);
    zkt_proxy_stop(p);
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
    ZKT_EVENTUALLY(zoo_state(zh) == ZOO_CONNECTED_STATE, PATIENCE_MS);
    zoo_set_op_init(&ops[1], path, "x", 1, -1, NULL);
    rc = zoo_multi(zh, 2, ops, results);
    zookeeper_close(zh);
    return rc;
}

/* A guarded write goes through while the node exists, and fails from then on. */
static void a_guarded_write_needs_the_hold(void **state)
{
    (void)state;
    char resource[256], node[256];
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    (void)snprintf(resource, sizeof(resource), "%s/resource", zkt_path());
    assert_int_equal(zkt_create(zkt_servers(), resource, "", 0), 0);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    assert_int_equal(write_guarded(m, resource), ZKR_ENOTOWNER);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    assert_int_equal(write_guarded(m, resource), ZOK);
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    assert_int_equal(zkt_delete(zkt_servers(), node), 0);
    int rc = write_guarded(m, resource);
    assert_true(rc == ZNONODE || rc == ZKR_ESESSION);
    ZKT_EVENTUALLY(write_guarded(m, resource) == ZKR_ESESSION, PATIENCE_MS);
    assert_int_equal(zkr_mutex_release(m), ZKR_ESESSION);
    zkt_destroy(m);
    zkt_close(c);
    zkt_delete_children(zkt_servers(), zkt_path());
}

/* --- no memory --- */

static atomic_long allocations_left;
static atomic_bool denied;

static bool allow(void)
{
    if (atomic_fetch_sub(&allocations_left, 1) == 0) {
        atomic_store(&denied, true);
        return false;
    }
    return true;
}

/* Everything from open to close with the n-th allocation failing: 0 or the code that came. */
static void one_life(void)
{
    zkr_client *c = NULL;
    zkr_mutex *m = NULL;
    static const struct zkr__env env = {.door = &zkt_door};
    int rc = zkr__client_open(&c, zkt_servers(), NULL, &env);
    if (rc != ZKR_OK) {
        assert_int_equal(rc, ZKR_ENOMEM);
        return;
    }
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    rc = zkr_mutex_create(&m, c, zkt_path(), NULL);
    if (rc == ZKR_OK) {
        struct zkt_actor actor;
        rc = zkr_mutex_acquire(m, PATIENCE_MS);
        assert_true(rc == ZKR_OK || rc == ZKR_ENOMEM);
        zkt_actor_start(&actor, m, rc == ZKR_OK ? 20 : PATIENCE_MS, NULL);
        int theirs = zkt_actor_acquired(&actor);
        assert_true(theirs == ZKR_OK || theirs == ZKR_ENOMEM || ZKT_TIMED_OUT(theirs));
        (void)zkt_actor_end(&actor);
        if (rc == ZKR_OK) {
            ZKT_MUST(zkr_mutex_release(m));
        }
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        assert_int_equal(zkt_children_count(zkt_servers(), zkt_path()), 0);
        zkt_destroy(m);
    } else {
        assert_int_equal(rc, ZKR_ENOMEM);
    }
    zkt_close(c);
}

/* Each allocation fails once, by search: an error or success, no leak, no orphan. */
static void any_failing_allocation_is_survived(void **state)
{
    (void)state;
    int n = 0;
    do {
        atomic_store(&denied, false);
        atomic_store(&allocations_left, n++);
        zkr__mem_set_gate(allow);
        one_life();
        zkr__mem_set_gate(NULL);
        assert_true(n < 500);
    } while (atomic_load(&denied));
    assert_true(n > 15);
}

/* --- many times --- */

/* Thousands of lives and cycles leave threads, descriptors, watches and memory as they were. */
static void many_cycles_leave_nothing_behind(void **state)
{
    (void)state;
    enum { CYCLES = 10000 };
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    int threads = zkt_thread_count();
    int descriptors = zkt_fd_count();
    for (int i = 0; i < CYCLES; i++) {
        zkr_mutex *m = zkt_mutex(c);
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        ZKT_MUST(zkr_mutex_release(m));
        zkt_destroy(m);
    }
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_thread_count(), threads);
    assert_int_equal(zkt_fd_count(), descriptors);
    assert_int_equal(zkt_watches(), 0);
    zkt_close(c);
}

/* Timed-out waits behind one holder leave one watch on it at most, however many there were. */
static void many_time_outs_leave_no_watches(void **state)
{
    (void)state;
    zkr_client *one = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *two = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *held = zkt_mutex(one);
    zkr_mutex *m = zkt_mutex(two);
    ZKT_MUST(zkr_mutex_acquire(held, PATIENCE_MS));
    for (int i = 0; i < 200; i++) {
        int rc = zkr_mutex_acquire(m, 3);
        assert_true(ZKT_TIMED_OUT(rc));
    }
    ZKT_MUST(zkr_client_flush(two, PATIENCE_MS));
    assert_true(zkt_watches() <= 2);
    ZKT_MUST(zkr_mutex_release(held));
    zkt_destroy(held);
    zkt_destroy(m);
    zkt_close(one);
    zkt_close(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ZKT_TEST(nonsense_is_refused_at_once),
        ZKT_TEST(nonsense_paths_and_options_are_refused),
        ZKT_TEST(null_is_refused_everywhere),
        ZKT_TEST(a_missing_chroot_is_said),
        ZKT_TEST(a_chroot_is_transparent),
        ZKT_TEST(a_forbidden_path_is_said),
        ZKT_TEST(credentials_are_used),
        ZKT_TEST(refused_credentials_are_said),
        ZKT_TEST(slow_refusals_are_said),
        ZKT_TEST(a_refused_handle_says_so_at_once),
        ZKT_TEST(a_guarded_write_needs_the_hold),
        ZKT_TEST(any_failing_allocation_is_survived),
        ZKT_TEST(many_cycles_leave_nothing_behind),
        ZKT_TEST(many_time_outs_leave_no_watches),
    };
    return cmocka_run_group_tests(tests, zkt_group_setup, zkt_group_teardown);
}

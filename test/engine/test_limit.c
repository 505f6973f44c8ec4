/* SPDX-License-Identifier: Apache-2.0 */
/* The limit for the nodes of one client: on the fake, with a lower limit than with servers. */
#include <string.h>

#include "base/mem.h"
#include "on_fake.h"
#include "queue/engine.h"

enum {
    OF_MUTEX =
        4 + sizeof("/lock/_c_00000000-0000-4000-8000-000000000000-lock-") - 1 + 10
};

static struct zkr__engine *engine_of(zkr_client *c)
{
    zkr__lock(c);
    struct zkr__engine *engine = zkr__engine_of(c);
    zkr__unlock(c);
    return engine;
}

static int64_t limit_to(zkr_client *c, int64_t bytes)
{
    struct zkr__engine *engine = engine_of(c);
    int64_t before = engine->node_bytes_max;
    engine->node_bytes_max = bytes;
    return before;
}

/* Returns the bytes that the existing nodes take in the transaction that ends the session. */
static int64_t bytes_at_servers(void)
{
    int64_t bytes = 0;
    for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
        bytes += n->owner != 0 ? 4 + (int64_t)strlen(n->path) : 0;
    }
    return bytes;
}

static int failures;

static void expect_limit(zkr_leader_latch *l, int code, void *ctx)
{
    failures += code == ZKR_ELIMIT;
}

static void no_room(zkr_ticket *t)
{
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_FAILED);
    ZKT_RC(zkr_ticket_error(t), ZKR_ELIMIT);
}

/* A node that does not fit is refused without a request. It fits after another node was deleted. */
ZKT_UNIT_CASE(a_node_without_room_is_refused)
{
    enum { MANY = 3 };
    zkr_client *c = open_client(NULL);
    zkr_mutex *m = mutex_at(c, "/lock", NULL);
    zkr_ticket *t[MANY];
    assert_int_equal(limit_to(c, MANY * OF_MUTEX), 1000000);
    for (int i = 0; i < MANY; i++) {
        t[i] = ask(m, ZKR_FOREVER);
    }
    int64_t sent = c->stats.requests;
    zkr_ticket *more = ask(m, ZKR_FOREVER);
    no_room(more);
    assert_int_equal(c->stats.requests, sent);
    assert_non_null(strstr(zkr_last_error()->message, "1000000 bytes"));
    assert_non_null(strstr(zkr_last_error()->message, "use a second client"));
    assert_string_equal(zkr_last_error()->path, "/lock");
    zkf_pass(c, SECOND);
    assert_int_equal(bytes_at_servers(), MANY * OF_MUTEX);
    end(t[0]);
    zkf_pass_to(c, SECOND, t[1], ZKR_TICKET_HELD);
    more = ask(m, ZKR_FOREVER);
    zkf_pass_to(c, SECOND, more, ZKR_TICKET_WAITING);
    (void)limit_to(c, MANY * OF_MUTEX - 1);
    end(more);
    zkf_pass(c, SECOND);
    no_room(ask(m, ZKR_FOREVER));
}

/* Nodes of each kind count with their size at the servers, as long as they exist. */
ZKT_UNIT_CASE(every_node_counts)
{
    static const char *const paths[] = {"/several/a", "/several/bb"};
    zkr_client *c = open_client(NULL);
    struct zkr__engine *engine = engine_of(c);
    zkr_mutex_options keeps = ZKR_MUTEX_OPTIONS_INIT;
    keeps.keep_ms = 10 * ZKF_SESSION_MS;
    zkr_rwlock *rw = NULL;
    zkr_multi_lock *several = NULL;
    zkr_semaphore *permits = NULL;
    zkr_ticket *t[5];
    zkr_leader_latch *l = latch_with(c, NULL);
    ZKT_MUST(zkr_rwlock_create(&rw, c, "/rw", NULL));
    ZKT_MUST(zkr_multi_lock_create(&several, c, paths, 2, NULL));
    ZKT_MUST(zkr_semaphore_create(&permits, c, "/permits", 3, NULL));
    zkr_mutex *kept = mutex_at(c, "/kept", &keeps);
    ZKT_MUST(zkr_leader_latch_start(l));
    ZKT_MUST(zkr_mutex_request(zkr_rwlock_reader(rw), ZKR_FOREVER, NULL, NULL, &t[0]));
    ZKT_MUST(zkr_mutex_request(zkr_rwlock_writer(rw), ZKR_FOREVER, NULL, NULL, &t[1]));
    ZKT_MUST(zkr_multi_lock_request(several, ZKR_FOREVER, NULL, NULL, &t[2]));
    ZKT_MUST(zkr_semaphore_request(permits, 3, ZKR_FOREVER, NULL, NULL, &t[3]));
    ZKT_MUST(zkr_semaphore_request(permits, 1, ZKR_FOREVER, NULL, NULL, &t[4]));
    end(hold(c, kept));
    zkf_pass(c, SECOND);
    assert_true(bytes_at_servers() > 10 * OF_MUTEX);
    assert_int_equal(engine->node_bytes, bytes_at_servers());
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        (void)zkr_ticket_release(t[i]);
        ZKT_MUST(zkr_ticket_destroy(t[i]));
        zkf_pass(c, SECOND);
        assert_int_equal(engine->node_bytes, bytes_at_servers());
    }
    ZKT_MUST(zkr_multi_lock_destroy(several));
    ZKT_MUST(zkr_semaphore_destroy(permits));
    ZKT_MUST(zkr_rwlock_destroy(rw));
}

/* The path of a node at the servers includes the chroot. */
ZKT_UNIT_CASE(the_chroot_counts)
{
    zkr_client *c = open_client(NULL);
    zkr__mem_free(c->servers);
    c->servers = zkr__mem_string("127.0.0.1:1/root/of/many");
    (void)hold(c, mutex_at(c, "/lock", NULL));
    assert_int_equal(engine_of(c)->node_bytes, OF_MUTEX + strlen("/root/of/many"));
}

/* Of several nodes, either all fit or none is created. */
ZKT_UNIT_CASE(several_nodes_without_room_are_refused_together)
{
    static const char *const paths[] = {"/lock/a", "/lock/b"};
    zkr_client *c = open_client(NULL);
    zkr_multi_lock *several = NULL;
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_multi_lock_create(&several, c, paths, 2, NULL));
    (void)limit_to(c, 2 * (OF_MUTEX + 2) - 1);
    int64_t sent = c->stats.requests;
    ZKT_MUST(zkr_multi_lock_request(several, ZKR_FOREVER, NULL, NULL, &t));
    no_room(t);
    assert_int_equal(engine_of(c)->node_bytes, 0);
    assert_int_equal(c->stats.requests, sent);
    ZKT_MUST(zkr_ticket_destroy(t));
    (void)limit_to(c, 2 * (OF_MUTEX + 2));
    ZKT_MUST(zkr_multi_lock_request(several, ZKR_FOREVER, NULL, NULL, &t));
    zkf_pass_to(c, SECOND, t, ZKR_TICKET_HELD);
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
    ZKT_MUST(zkr_multi_lock_destroy(several));
}

/* The node of the next session takes the room of the last one. Without room, the candidacy fails and is reported. */
ZKT_UNIT_CASE(a_candidacy_needs_room_again_after_a_session)
{
    enum { OF_LATCH = OF_MUTEX + 2 };
    zkr_client *c = open_client(NULL);
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    o.on_failed = expect_limit;
    failures = 0;
    (void)limit_to(c, OF_LATCH - 1);
    zkr_leader_latch *l = latch_with(c, &o);
    ZKT_RC(zkr_leader_latch_start(l), ZKR_ELIMIT);
    for (int room = 1; room >= 0; room--) {
        (void)limit_to(c, OF_LATCH);
        (void)zkr_leader_latch_stop(l, ZKR_LATCH_SILENT);
        zkf_pass(c, SECOND);
        ZKT_MUST(zkr_leader_latch_start(l));
        zkf_pass(c, SECOND);
        zkf_call_back(c);
        assert_true(zkr_leader_latch_has_leadership(l));
        (void)limit_to(c, OF_LATCH - !room);
        zkf_expire(zkr_client_session_id(c));
        /* First the loss is reported, then the latch joins again. */
        for (int i = 0; i < 2; i++) {
            zkf_pass(c, SECOND);
            zkf_call_back(c);
        }
        assert_int_equal(zkr_leader_latch_has_leadership(l), room);
        assert_int_equal(failures, !room);
    }
    ZKT_RC(zkr_leader_latch_await(l, 0), ZKR_ELIMIT);
    assert_non_null(strstr(zkr_last_error()->message, "use a second client"));
}

static void ask_again(zkr_ticket *t, int state, void *ctx)
{
    zkr_mutex *m = ctx;
    if (state == ZKR_TICKET_LOST) {
        (void)ask(m, ZKR_FOREVER);
    }
}

/* When the session ends, its nodes take no room any more. A waiter needs its room for the next node. */
ZKT_UNIT_CASE(a_lost_hold_needs_no_room)
{
    zkr_client *c = open_client(NULL);
    zkr_mutex *m = mutex_at(c, "/lock", NULL);
    zkr_ticket *t = NULL;
    (void)limit_to(c, 2 * OF_MUTEX);
    ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, ask_again, m, &t));
    zkf_pass(c, SECOND);
    zkr_ticket *waits = ask(m, ZKR_FOREVER);
    zkf_pass(c, SECOND);
    zkf_call_back(c);
    assert_int_equal(engine_of(c)->node_bytes, 2 * OF_MUTEX);
    zkf_expire(zkr_client_session_id(c));
    zkf_pass(c, SECOND);
    zkf_call_back(c); /* requests again */
    zkf_pass_to(c, SECOND, t, ZKR_TICKET_LOST);
    assert_int_equal(zkr_ticket_state(waits), ZKR_TICKET_HELD);
    assert_int_equal(engine_of(c)->node_bytes, 2 * OF_MUTEX);
    assert_int_equal(bytes_at_servers(), 2 * OF_MUTEX);
    no_room(ask(m, ZKR_FOREVER));
    end(waits);
    end(t);
}

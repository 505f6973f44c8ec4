/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of a session that has ended: on servers that end it, and on servers that keep it until its timeout. */
#include "on_fake.h"
#include "queue/engine_state.h"

enum { WAITERS = 3 };

static int deletes;
static int64_t old_session;

static void count_deletes(struct zkr__op *op)
{
    deletes += op->kind == ZKR__OP_DELETE;
}

static zkr_stats stats_of(zkr_client *c)
{
    zkr_stats stats;
    ZKT_MUST(zkr_client_stats(c, &stats, sizeof(stats)));
    return stats;
}

static int old_nodes(void)
{
    int count = 0;
    for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
        count += n->owner == old_session;
    }
    return count;
}

struct scene {
    zkr_client *c;
    zkr_ticket *held, *waiters[WAITERS];
};

static void begin(struct scene *s)
{
    s->c = open_client(NULL);
    zkr_mutex *m = mutex_at(s->c, "/lock", NULL);
    s->held = hold(s->c, m);
    for (int i = 0; i < WAITERS; i++) {
        s->waiters[i] = ask(m, ZKR_FOREVER);
    }
    zkf_pass(s->c, SECOND);
    old_session = zkr_client_session_id(s->c);
    assert_int_equal(old_nodes(), 1 + WAITERS);
    deletes = 0;
    between.on_submit = count_deletes;
}

static void end_all(struct scene *s)
{
    between.on_submit = NULL;
    for (int i = 0; i < WAITERS; i++) {
        end(s->waiters[i]);
    }
}

static void renew(struct scene *s)
{
    zkf_renew(true);
    assert_true(zkf_cut(0, ZKF_CUT_REQUESTS));
    zkf_pass(s->c, SECOND);
    assert_int_equal(stats_of(s->c).sessions, 2);
    zkf_renew(false);
}

/* The answer to a single delete shows that the servers have deleted all nodes of the session. */
ZKT_UNIT_CASE(the_end_of_a_session_costs_one_delete)
{
    struct scene s;
    begin(&s);
    assert_true(zkf_cut(0, ZKF_CUT_ANSWERS));
    zkf_expire(old_session);
    zkf_pass(s.c, SECOND);
    assert_int_equal(stats_of(s.c).sessions, 2);
    assert_int_equal(deletes, 1);
    assert_int_equal(stats_of(s.c).pending_deletes, 0);
    end(s.held);
    assert_int_equal(deletes, 1);
    end_all(&s);
}

/* Waiters delete their old nodes at once, and the holder does so when it releases. */
ZKT_UNIT_CASE(a_session_that_lives_on_is_left)
{
    struct scene s;
    begin(&s);
    renew(&s);
    assert_int_equal(deletes, WAITERS);
    assert_int_equal(old_nodes(), 1);
    assert_int_equal(zkr_ticket_state(s.waiters[0]), ZKR_TICKET_WAITING);
    end(s.held);
    zkf_pass(s.c, SECOND);
    assert_int_equal(old_nodes(), 0);
    assert_int_equal(zkr_ticket_state(s.waiters[0]), ZKR_TICKET_HELD);
    end_all(&s);
}

/* A lost delete is sent again. The second answer says nothing about the other nodes. */
ZKT_UNIT_CASE(a_lost_delete_is_sent_again)
{
    struct scene s;
    begin(&s);
    zkf_renew(true);
    assert_true(zkf_cut(0, ZKF_CUT_REQUESTS));
    while (deletes == 0) {
        assert_true(zkf_step(zkf_now() + SECOND * ZKR__MS) || deletes > 0);
        zkf_pass(s.c, 0);
    }
    assert_true(zkf_cut(0, ZKF_CUT_ANSWERS));
    zkf_pass(s.c, SECOND);
    zkf_renew(false);
    assert_int_equal(stats_of(s.c).sessions, 3);
    assert_int_equal(old_nodes(), 1);
    assert_int_equal(stats_of(s.c).pending_deletes, 0);
    end(s.held);
    end_all(&s);
}

/* The servers are unreachable until the old session has timed out, so nothing is left to delete. */
ZKT_UNIT_CASE(what_has_timed_out_is_forgotten)
{
    struct scene s;
    begin(&s);
    zkf_renew(true);
    assert_true(zkf_cut(0, ZKF_CUT_REQUESTS));
    while (zkr_client_state(s.c) != ZKR_STATE_LOST) {
        assert_true(zkf_step(zkf_now() + SECOND * ZKR__MS));
    }
    zkf_blackhole(0, true);
    zkf_pass(s.c, SECOND);
    assert_int_equal(stats_of(s.c).pending_deletes, WAITERS);
    zkf_pass(s.c, ZKF_SESSION_MS);
    assert_int_equal(stats_of(s.c).pending_deletes, 0);
    zkf_blackhole(0, false);
    zkf_renew(false);
    end(s.held);
    zkf_pass(s.c, (int64_t)3 * ZKF_SESSION_MS);
    end_all(&s);
}

/* A client that may no longer delete its nodes waits for the end of the old session. */
ZKT_UNIT_CASE(a_refused_delete_is_left_to_the_servers)
{
    struct scene s;
    begin(&s);
    assert_true(zkf_forbid("/lock", ZKF_DELETE));
    renew(&s);
    assert_int_equal(deletes, WAITERS);
    assert_int_equal(stats_of(s.c).pending_deletes, 0);
    zkf_permit_all();
    zkf_pass(s.c, (int64_t)2 * ZKF_SESSION_MS);
    assert_int_equal(old_nodes(), 0);
    assert_int_equal(zkr_ticket_state(s.waiters[0]), ZKR_TICKET_HELD);
    end(s.held);
    end_all(&s);
}

/* Nobody relies on a node that is kept after a release, so the client deletes it at once. */
ZKT_UNIT_CASE(a_kept_node_is_deleted_at_once)
{
    const zkr_mutex_options o = {.size = sizeof(o), .keep_ms = 20 * SECOND};
    struct scene s = {.c = open_client(NULL)};
    end(hold(s.c, mutex_at(s.c, "/lock", &o)));
    zkf_pass(s.c, SECOND);
    old_session = zkr_client_session_id(s.c);
    assert_int_equal(old_nodes(), 1);
    assert_int_equal(stats_of(s.c).pending_deletes, 1);
    renew(&s);
    assert_int_equal(old_nodes(), 0);
    assert_int_equal(stats_of(s.c).pending_deletes, 0);
}

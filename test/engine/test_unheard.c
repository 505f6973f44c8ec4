/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client that temporarily lacks permission to read a node gets no event of a change at that time, and its watch is
 * used up: on the fake, in virtual time. In the end, each claim that waits for the event reads the node.
 */
#include "on_fake.h"

enum { SOON = 2 * ZKF_SESSION_MS, IN_THE_END = 9 * ZKF_SESSION_MS };

static const char *const ahead = "/lock/x-lock-0000000000";
static const char one[] = {0, 0, 0, 1}, two[] = {0, 0, 0, 2};

static int asked; /* gets and lists of the client */

static void count_looks(struct zkr__op *op)
{
    asked += op->kind == ZKR__OP_GET || op->kind == ZKR__OP_CHILDREN;
}

/* Returns a waiting ticket behind a foreign contender. */
static zkr_ticket *stand_behind(zkr_client *c)
{
    assert_true(zkf_stranger_create("/lock", false));
    assert_true(zkf_stranger_create("/lock/x-lock-", true));
    assert_non_null(zkf_find(ahead));
    zkr_ticket *t = ask(mutex_at(c, "/lock", NULL), ZKR_FOREVER);
    zkf_pass_to(c, SOON, t, ZKR_TICKET_WAITING);
    return t;
}

/* The deletion of the node ahead is not reported. The waiter looks for itself, which costs little. */
ZKT_UNIT_CASE(a_waiter_looks_in_the_end)
{
    zkr_client *c = open_client(NULL);
    zkr_ticket *t = stand_behind(c);
    between.on_submit = count_looks;
    zkf_pass(c, 10 * IN_THE_END);
    ZKT_IN_RANGE(asked, 10, 25);
    zkf_lapse(ahead);
    assert_true(zkf_stranger_delete(ahead));
    zkf_pass_to(c, SECOND, t, ZKR_TICKET_WAITING);
    zkf_pass_to(c, IN_THE_END, t, ZKR_TICKET_HELD);
}

/* While the node ahead cannot be read, it counts as existing. */
ZKT_UNIT_CASE(one_that_may_not_be_read_is_waited_for)
{
    zkr_client *c = open_client(NULL);
    zkr_ticket *t = stand_behind(c);
    assert_true(zkf_forbid(ahead, ZKF_READ));
    zkf_pass_to(c, 3 * IN_THE_END, t, ZKR_TICKET_WAITING);
    assert_true(zkf_stranger_delete(ahead));
    zkf_pass_to(c, IN_THE_END, t, ZKR_TICKET_HELD);
}

/*
 * A holder cannot read its own node. It looks less and less often, but notices a deletion within four session timeouts,
 * also one right after a look.
 */
ZKT_UNIT_CASE(a_holder_looks_for_its_node_in_the_end)
{
    char node[200];
    zkr_client *c = open_client(NULL);
    zkr_ticket *t = ask(mutex_at(c, "/lock", NULL), ZKR_FOREVER);
    zkf_pass_to(c, SECOND, t, ZKR_TICKET_HELD);
    ZKT_MUST(zkr_ticket_node(t, node, sizeof(node)));
    assert_true(zkf_forbid(node, ZKF_READ));
    between.on_submit = count_looks;
    zkf_pass_to(c, 10 * IN_THE_END, t, ZKR_TICKET_HELD);
    asked = 0;
    while (asked == 0) {
        zkf_pass(c, SECOND / 10);
    }
    zkf_pass_to(c, SECOND, t, ZKR_TICKET_HELD);
    assert_true(zkf_stranger_delete(node));
    zkf_pass_to(c, 4 * ZKF_SESSION_MS, t, ZKR_TICKET_LOST);
}

/* A waiter notices free permits and a larger maximum, although their events were lost. */
ZKT_UNIT_CASE(permits_are_looked_for)
{
    zkr_semaphore_options o = {.size = sizeof(o), .max_from = "/max"};
    zkr_client *c = open_client(NULL);
    zkr_semaphore *s = NULL;
    zkr_ticket *t[3] = {NULL};
    assert_true(zkf_stranger_create("/max", false));
    assert_true(zkf_stranger_set("/max", one, sizeof(one)));
    assert_true(zkf_stranger_create("/permits", false));
    assert_true(zkf_stranger_create("/permits/leases", false));
    assert_true(zkf_stranger_create("/permits/leases/x-lease-", true));
    ZKT_MUST(zkr_semaphore_create(&s, c, "/permits", 1, &o));
    for (int i = 0; i < 2; i++) {
        ZKT_MUST(zkr_semaphore_request(s, 1, ZKR_FOREVER, NULL, NULL, &t[i]));
    }
    zkf_pass_to(c, SOON, t[0], ZKR_TICKET_WAITING);
    zkf_lapse("/permits/leases");
    assert_true(zkf_stranger_delete("/permits/leases/x-lease-0000000000"));
    zkf_pass_to(c, IN_THE_END, t[0], ZKR_TICKET_HELD);
    assert_int_equal(zkr_ticket_state(t[1]), ZKR_TICKET_WAITING);
    zkf_lapse("/max");
    assert_true(zkf_stranger_set("/max", two, sizeof(two)));
    zkf_pass_to(c, 2 * IN_THE_END, t[1], ZKR_TICKET_HELD);
    end(t[0]);
    end(t[1]);
    ZKT_MUST(zkr_semaphore_destroy(s));
}

static void count_change(zkr_leader_latch *l, void *ctx)
{
    ++*(int *)ctx;
}

/* An observer of the contenders learns of a new one late, and again after a time in which lists are refused. */
ZKT_UNIT_CASE(contenders_are_looked_for)
{
    int calls = 0;
    zkr_client *c = open_client(NULL);
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    o.on_contenders = count_change;
    o.ctx = &calls;
    assert_true(zkf_stranger_create("/latch", false));
    (void)latch_with(c, &o);
    zkf_pass(c, SOON);
    zkf_lapse("/latch");
    assert_true(zkf_stranger_create("/latch/x-latch-", true));
    zkf_pass(c, IN_THE_END);
    zkf_call_back(c);
    assert_int_equal(calls, 1);
    assert_true(zkf_forbid("/latch", ZKF_READ));
    assert_true(zkf_stranger_create("/latch/y-latch-", true));
    zkf_pass(c, 2 * IN_THE_END);
    zkf_permit_all();
    zkf_pass(c, IN_THE_END);
    zkf_call_back(c);
    assert_int_equal(calls, 2);
}

static void count_wish(zkr_mutex *m, void *ctx)
{
    ++*(int *)ctx;
}

/* A holder with on_revoke notices the request. */
ZKT_UNIT_CASE(a_wish_is_seen_in_the_end)
{
    int wishes = 0;
    char node[200];
    zkr_client *c = open_client(NULL);
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.on_revoke = count_wish;
    o.on_revoke_ctx = &wishes;
    zkr_ticket *t = ask(mutex_at(c, "/lock", &o), ZKR_FOREVER);
    zkf_pass(c, SOON);
    zkf_call_back(c);
    ZKT_MUST(zkr_ticket_node(t, node, sizeof(node)));
    zkf_lapse(node);
    assert_true(zkf_stranger_set(node, "__REVOKE__", 10));
    zkf_pass(c, IN_THE_END);
    zkf_call_back(c);
    assert_int_equal(wishes, 1);
}

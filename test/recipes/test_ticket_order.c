/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets when the order of events matters: on the fake, in virtual time. */
#include <stdio.h>

#include "by_hand.h"
#include "tickets.h"

enum { SECOND = 1000 };

static zkr_client *c;
static zkr_mutex *m;

static int open_world(void **state)
{
    c = zkf_open(NULL, NULL);
    ZKT_MUST(zkr_mutex_create(&m, c, "/lock", NULL));
    return 0;
}

static int close_world(void **state)
{
    zkf_pass(c, SECOND);
    zkt_destroy(m);
    zkf_close(c);
    return 0;
}

/* Returns the @n-th contender's node below the path, in the order of creation. */
static const struct zkf_node *node_at(int n)
{
    const struct zkf_node *node = NULL;
    int64_t above = 0;
    for (int i = 0; i <= n; i++) {
        node = NULL;
        for (const struct zkf_node *k = zkf_nodes(); k; k = k->next) {
            if (k->sequence >= 0 && k->czxid > above &&
                (!node || k->czxid < node->czxid)) {
                node = k;
            }
        }
        above = node ? node->czxid : above;
    }
    return node;
}

static void delete_node(int n)
{
    char path[256];
    assert_non_null(node_at(n));
    (void)snprintf(path, sizeof(path), "%s", node_at(n)->path);
    assert_true(zkf_stranger_delete(path));
}

static int64_t token_of(zkr_ticket *t)
{
    int64_t token = 0;
    ZKT_MUST(zkr_ticket_fencing_token(t, &token));
    return token;
}

/* --- the cases --- */

/* The grant is over before anybody has learned of it: the ticket queues again, and HELD is reported once. */
static void a_grant_that_nobody_heard_of_is_tried_anew(void **state)
{
    struct told told = {0};
    zkr_ticket *t = request(m, ZKR_FOREVER, &told);
    zkf_pass(c, SECOND);
    int64_t first = node_at(0)->czxid;
    delete_node(0);
    zkf_pass(c, SECOND);
    zkf_call_back(c);
    assert_true(told.held == 1 && told.lost + told.failed + told.wrong == 0);
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_HELD);
    assert_true(token_of(t) > first);
    end(t);
}

/*
 * The grant is over before anybody has learned of it, because the session ended. Another contender is ahead afterwards,
 * so no callback comes before the ticket holds again.
 */
static void it_is_told_of_what_it_holds_then(void **state)
{
    struct told told = {0};
    zkr_ticket *t = request(m, ZKR_FOREVER, &told);
    zkf_pass(c, SECOND);
    assert_true(zkf_stranger_create("/lock/x-lock-", true));
    zkf_expire(zkr_client_session_id(c));
    zkf_pass(c, 5 * SECOND);
    zkf_call_back(c);
    assert_int_equal(told.held + told.failed + told.lost, 0);
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_WAITING);
    delete_node(0);
    zkf_pass(c, SECOND);
    zkf_call_back(c);
    assert_int_equal(told.held, 1);
    end(t);
}

/* The application has already asked for the state. HELD and LOST are reported, in this order. */
static void a_grant_that_somebody_heard_of_is_lost(void **state)
{
    struct told told = {0};
    zkr_ticket *t = request(m, ZKR_FOREVER, &told);
    zkf_pass_to(c, SECOND, t, ZKR_TICKET_HELD);
    delete_node(0);
    zkf_pass_to(c, SECOND, t, ZKR_TICKET_LOST);
    assert_int_equal(told.held + told.lost, 0);
    zkf_call_back(c);
    assert_true(told.held == 1 && told.lost == 1 && told.failed + told.wrong == 0);
    expect(zkr_ticket_release(t), ZKR_ESESSION);
    end(t);
}

/* Without a callback, the application learns of a grant when it asks for the state. */
static void without_a_callback_the_question_counts(void **state)
{
    zkr_ticket *t = request(m, ZKR_FOREVER, NULL);
    zkf_pass(c, SECOND);
    int64_t first = node_at(0)->czxid;
    delete_node(0);
    /* As far as the client can know. */
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_HELD);
    zkf_pass_to(c, SECOND, t, ZKR_TICKET_LOST);
    end(t);
    t = request(m, ZKR_FOREVER, NULL);
    zkf_pass(c, SECOND);
    delete_node(0);
    zkf_pass_to(c, SECOND, t, ZKR_TICKET_HELD);
    assert_true(token_of(t) > first + 1);
    end(t);
}

/* The ticket is released between the grant and the callback: nobody is called, and the next ticket is granted. */
static void a_release_overtakes_the_call(void **state)
{
    struct told told = {0}, next = {0};
    zkr_ticket *t = request(m, ZKR_FOREVER, &told);
    zkr_ticket *behind = request(m, ZKR_FOREVER, &next);
    zkf_pass(c, SECOND);
    ZKT_MUST(zkr_ticket_release(t));
    expect(zkr_ticket_error(t), ZKR_ECANCELED);
    zkf_pass(c, SECOND);
    zkf_call_back(c);
    assert_int_equal(told.held + told.failed + told.lost, 0);
    assert_int_equal(next.held, 1);
    end(t);
    end(behind);
}

/* A timer ends the wait, without an answer or a thread, and not before the timeout. */
static void a_time_out_is_a_timer(void **state)
{
    struct told told = {0}, dark = {0};
    zkr_ticket *holds = request(m, ZKR_FOREVER, NULL);
    zkr_ticket *t = request(m, 3 * SECOND, &told);
    zkf_pass(c, 3 * SECOND - 1);
    zkf_call_back(c);
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_WAITING);
    assert_non_null(node_at(1));
    zkf_pass(c, 2);
    zkf_call_back(c);
    assert_int_equal(told.failed, 1);
    expect(zkr_ticket_error(t), ZKR_ETIMEDOUT);
    zkf_pass(c, SECOND);
    assert_null(node_at(1));
    end(t);
    zkf_blackhole(0, true);
    t = request(m, 3 * SECOND, &dark);
    zkf_pass(c, 3 * SECOND - 1);
    zkf_call_back(c);
    assert_int_equal(dark.failed, 0);
    zkf_pass(c, 2);
    zkf_call_back(c);
    assert_int_equal(dark.failed, 1);
    expect(zkr_ticket_error(t), ZKR_ENOANSWER);
    end(t);
    zkf_blackhole(0, false);
    zkf_pass(c, 20 * SECOND);
    end(holds);
    zkf_pass(c, SECOND);
    assert_null(node_at(0));
}

/* A question after the timeout reports a failure, even if the timer has not run. */
static void a_question_notices_the_time_out(void **state)
{
    struct told told = {0};
    zkr_ticket *holds = request(m, ZKR_FOREVER, NULL);
    zkf_pass(c, SECOND);
    zkr_ticket *t = request(m, SECOND, &told);
    zkf_pass(c, SECOND / 2);
    c->service_at = ZKR__NEVER; /* the service thread is late */
    zkf_pass_to(c, SECOND, t, ZKR_TICKET_FAILED);
    zkf_call_back(c);
    assert_true(told.failed == 1 && told.wrong == 0);
    c->service_at = 0;
    zkf_pass(c, 0);
    zkf_call_back(c);
    assert_int_equal(told.failed, 1);
    end(t);
    end(holds);
}

/* The timeout does not end a grant that came in time, whether it was reported or not. */
static void a_grant_outlives_the_time_out(void **state)
{
    struct told told = {0};
    zkr_ticket *t = request(m, 2 * SECOND, &told);
    zkf_pass(c, 5 * SECOND);
    zkf_call_back(c);
    assert_true(told.held == 1 && told.failed == 0);
    zkf_pass_to(c, 5 * SECOND, t, ZKR_TICKET_HELD);
    end(t);
    t = request(m, 2 * SECOND, NULL);
    zkf_pass(c, 5 * SECOND);
    delete_node(0); /* but after that, the ticket does not queue again */
    zkf_pass(c, SECOND);
    expect(zkr_ticket_error(t), ZKR_ENOANSWER);
    end(t);
}

/* The destruction of a ticket drops its pending callbacks. */
static void a_destroyed_ticket_calls_nobody(void **state)
{
    struct told told = {0};
    zkr_ticket *t = request(m, ZKR_FOREVER, &told);
    zkf_pass(c, SECOND);
    zkt_end_ticket(t);
    zkf_call_back(c);
    assert_int_equal(told.held + told.failed + told.lost, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_grant_that_nobody_heard_of_is_tried_anew),
        TEST(it_is_told_of_what_it_holds_then),
        TEST(a_grant_that_somebody_heard_of_is_lost),
        TEST(without_a_callback_the_question_counts),
        TEST(a_release_overtakes_the_call),
        TEST(a_time_out_is_a_timer),
        TEST(a_question_notices_the_time_out),
        TEST(a_grant_outlives_the_time_out),
        TEST(a_destroyed_ticket_calls_nobody),
    };
    return zkt_run(argc, argv, tests, NULL, NULL);
}

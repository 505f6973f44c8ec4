/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets and guarded writes when memory runs out: an error or success, and nothing is left. */
#include <stdio.h>

#include <zkr/guard.h>

#include "tickets.h"

static char resource[256];

static bool out_of_memory(int rc)
{
    return rc == ZKR_ENOMEM;
}

/* NULL: no memory, and nobody will be called. */
static zkr_ticket *ask(zkr_mutex *m, struct told *told)
{
    int rc = zkr_mutex_request(m, PATIENCE_MS, note, told, &told->t);
    assert_true(rc == ZKR_OK || out_of_memory(rc));
    assert_int_equal(rc == ZKR_OK, told->t != NULL);
    return told->t;
}

/* It is held, or has failed for want of memory. */
static bool settle(zkr_ticket *t)
{
    int rc = zkr_ticket_wait(t, PATIENCE_MS);
    assert_true(rc == ZKR_OK || out_of_memory(rc));
    assert_int_equal(zkr_ticket_error(t), rc);
    return rc == ZKR_OK;
}

static void write(zkr_ticket *t, bool release)
{
    zoo_op_t op;
    zoo_op_result_t result;
    zoo_set_op_init(&op, resource, "x", 1, -1, NULL);
    int rc = release ? zkr_ticket_release_multi(t, 1, &op, &result, PATIENCE_MS)
                     : zkr_ticket_multi(t, 1, &op, &result, PATIENCE_MS);
    bool held = zkr_ticket_state(t) == ZKR_TICKET_HELD;
    /* Without memory in libzookeeper's part we do not learn whether it was sent. */
    assert_true(rc == ZKR_OK || rc == ZKR_ECONNLOSS || out_of_memory(rc));
    assert_int_equal(held, !release || out_of_memory(rc));
}

static void check_told(struct told *told, bool requested)
{
    assert_int_equal(told->wrong, 0);
    assert_true(told->held + told->failed <= (requested ? 1 : 0));
}

/* Two requests, one behind the other, a write each, one with the release, and one without. */
static void two_lives(zkr_mutex *m)
{
    struct told first = {0}, second = {0};
    zkr_ticket *one = ask(m, &first);
    zkr_ticket *two = ask(m, &second);
    if (one) {
        if (settle(one)) {
            write(one, false);
            write(one, true);
        }
        ZKT_MUST(zkr_ticket_release(one));
    }
    if (two) {
        if (settle(two)) {
            write(two, false);
        }
        ZKT_MUST(zkr_ticket_release(two));
    }
    ZKT_MUST(zkr_ticket_destroy(one));
    ZKT_MUST(zkr_ticket_destroy(two));
    check_told(&first, one);
    check_told(&second, two);
}

/* Each allocation fails once, by search. */
ZKT_CASE(any_failing_allocation_is_survived)
{
    (void)snprintf(resource, sizeof(resource), "%s/resource", zkt_path());
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    assert_int_equal(zkt_create(zkt_servers(), resource, "old", 0), 0);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    for (struct zkt_strikes f = {.least = 15}; zkt_next_strike(&f);) {
        zkt_deny_allocation(f.n);
        two_lives(m);
        f.struck = zkt_was_denied();
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        ZKT_BECOMES(zkt_nodes(), 1, PATIENCE_MS);
    }
}

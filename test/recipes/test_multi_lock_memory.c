/* SPDX-License-Identifier: Apache-2.0 */
/* Multi-locks when memory runs out: an error or success, and nothing is left. */
#include <zkr/guard.h>

#include "multi_locks.h"

enum { PATHS = 3 };

static bool out_of_memory(int rc)
{
    return rc == ZKR_ENOMEM;
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
    zoo_check_op_init(&op, zkt_path(), -1);
    int rc = release ? zkr_ticket_release_multi(t, 1, &op, &result, PATIENCE_MS)
                     : zkr_ticket_multi(t, 1, &op, &result, PATIENCE_MS);
    assert_true(rc == ZKR_OK || rc == ZKR_ECONNLOSS || out_of_memory(rc));
}

static zkr_multi_lock *make(zkr_client *c, const char *const *paths)
{
    zkr_multi_lock *l = NULL;
    int rc = zkr_multi_lock_create(&l, c, paths, PATHS, NULL);
    assert_true(rc == ZKR_OK || out_of_memory(rc));
    assert_int_equal(rc == ZKR_OK, l != NULL);
    return l;
}

static bool waits(zkr_ticket *t)
{
    return t && zkr_ticket_state(t) == ZKR_TICKET_WAITING;
}

/* The one whose turn it is. Without memory for a node the first request enters anew, maybe behind the second. */
static int first_of(zkr_ticket *const t[2])
{
    ZKT_EVENTUALLY(!waits(t[0]) || !waits(t[1]), PATIENCE_MS);
    return waits(t[0]) ? 1 : 0;
}

/* Two requests, one behind the other, a write each, one with the release. */
static void two_lives(zkr_multi_lock *l)
{
    zkr_ticket *t[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        int rc = zkr_multi_lock_request(l, PATIENCE_MS, NULL, NULL, &t[i]);
        assert_true(rc == ZKR_OK || out_of_memory(rc));
        assert_int_equal(rc == ZKR_OK, t[i] != NULL);
    }
    const int first = first_of(t);
    for (int i = 0; i < 2; i++) {
        zkr_ticket *each = t[i == 0 ? first : 1 - first];
        if (each && settle(each)) {
            write(each, i == 0);
        }
        if (each) {
            (void)zkr_ticket_release(each);
            ZKT_MUST(zkr_ticket_destroy(each));
        }
    }
}

/* Each allocation fails once, by search. */
ZKT_CASE(any_failing_allocation_is_survived)
{
    const char *const paths[PATHS] = {path_of(0), path_of(1), path_of(2)};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    for (struct zkt_strikes f = {.least = 60}; zkt_next_strike(&f);) {
        zkt_deny_allocation(f.n);
        zkr_multi_lock *l = make(c, paths);
        if (l) {
            two_lives(l);
        }
        f.struck = zkt_was_denied();
        end_multi_lock(l);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        ZKT_BECOMES(nodes_of(PATHS), 0, PATIENCE_MS);
    }
    expect_nothing_left(c, PATHS);
}

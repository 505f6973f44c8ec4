/* SPDX-License-Identifier: Apache-2.0 */
/* Every kind of hold when memory runs out: a call succeeds or fails with ZKR_ENOMEM, and no node is left. */
#include <stdio.h>

#include "hold.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000 };

static char resource[256];
static zkr_client *client; /* NULL = each life opens one */

static bool out_of_memory(int rc)
{
    return rc == ZKR_ENOMEM;
}

/* Leaders write nothing. If libzookeeper lacks memory, it is unknown whether the request was sent. */
static bool write_and_release(struct zkt_hold *h)
{
    bool gone = false, writes = !zkt_is(ZKT_LEADERS);
    for (int release = 0; release < 2 && writes; release++) {
        int rc = zkt_hold_write(h, resource, release);
        assert_true(rc == ZKR_OK || rc == ZKR_ECONNLOSS || out_of_memory(rc));
        gone = release && !out_of_memory(rc);
        assert_int_equal(zkt_hold_is_sure(h), !gone);
    }
    return gone;
}

/* Wait until the hold is granted or has failed for lack of memory. */
static void settle(struct zkt_hold *h)
{
    int rc = zkt_hold_wait(h);
    assert_true(rc == ZKR_OK || out_of_memory(rc));
    if (rc == ZKR_OK) {
        bool gone = write_and_release(h);
        rc = zkt_hold_release(h);
        assert_int_equal(rc, gone && zkt_is(ZKT_BY_THREAD) ? ZKR_ENOTOWNER : ZKR_OK);
    }
}

/*
 * One contender queues behind the other. Without memory for its node, the first one queues again, possibly
 * behind the second.
 */
static void two_holds(struct zkt_hold *h, struct zkt_hold *other)
{
    zkt_hold_ask(h, PATIENCE_MS);
    zkt_hold_ask(other, PATIENCE_MS);
    ZKT_EVENTUALLY(!zkt_hold_waits(h) || !zkt_hold_waits(other), PATIENCE_MS);
    bool second = zkt_hold_waits(h);
    settle(second ? other : h);
    settle(second ? h : other);
}

static void one_life(void)
{
    zkr_client *c = client ? client : zkt_client_if_memory();
    struct zkt_hold *h = c ? zkt_hold_if_memory(c) : NULL;
    struct zkt_hold *other = h && zkt_is(ZKT_LEADERS) ? zkt_hold_if_memory(c)
                             : h                      ? zkt_hold_beside(h)
                                                      : NULL;
    if (other) {
        two_holds(h, other);
        zkt_hold_end(other);
    }
    if (h) {
        zkt_hold_end(h);
    }
    if (c) {
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        ZKT_BECOMES(zkt_hold_nodes(), 0, PATIENCE_MS);
    }
    if (c && !client) {
        zkt_close(c);
    }
}

/* In each run, another allocation fails. For the mutex, the allocations of the client are included. */
ZKT_HOLD_CASE(any_failing_allocation_is_survived, ZKT_NONE)
{
    client = zkt_is(ZKT_BIT(ZKT_MUTEX)) ? NULL : zkt_client(zkt_servers(), SESSION_MS);
    (void)snprintf(resource, sizeof(resource), "%s/resource", zkt_path());
    assert_int_equal(zkt_create_path(zkt_servers(), resource), 0);
    zkt_each_allocation_fails(10, one_life);
}

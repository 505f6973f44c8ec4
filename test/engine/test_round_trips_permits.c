/* SPDX-License-Identifier: Apache-2.0 */
/* What the permits of a semaphore cost, counted at the door. */
#include "../recipes/semaphores.h"
#include "expect.h"

enum { LONG_SESSION_MS = 30000 }; /* no ping, probe or nudge comes in between */

static void counted(int creates, int lists, int gets, int removes)
{
    assert_int_equal(zkt_door_count(ZKR__OP_CREATE) + zkt_door_count(ZKR__OP_CREATES),
                     creates);
    assert_int_equal(zkt_door_count(ZKR__OP_CHILDREN), lists);
    assert_int_equal(zkt_door_count(ZKR__OP_GET), gets);
    assert_int_equal(zkt_door_count(ZKR__OP_DELETE) + zkt_door_count(ZKR__OP_MULTI),
                     removes);
    assert_int_equal(zkt_door_total(), creates + lists + gets + removes);
}

/* Make the parents, which would be counted. */
static void warm(zkr_semaphore *s, zkr_client *c)
{
    end(take(s, 1));
    zkr_ticket *t = take(s, 1);
    zkr_ticket *queued = queue_for(s, 3, NULL); /* of three: parents of the gate */
    end(queued);
    end(t);
    end(take(s, 1)); /* now it knows that nobody waits */
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
}

/* Any number of free permits: one write and two lists, sent together; the release is one write. */
ZKT_CASE(free_permits_cost_one_wait)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), LONG_SESSION_MS);
    zkr_semaphore *s = semaphore(c, 3);
    warm(s, c);
    for (int n = 1; n <= 3; n++) {
        zkr_ticket *t = NULL;
        zkt_door_focus(c);
        zkt_proxy_freeze(p, ZKT_TO_CLIENT);
        ZKT_MUST(zkr_semaphore_request(s, n, 5000, NULL, NULL, &t));
        counted(1, 2, 0, 0); /* without an answer to any */
        assert_int_equal(zkt_door_count(ZKR__OP_CREATE), n == 1);
        zkt_proxy_thaw(p, ZKT_TO_CLIENT);
        ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
        counted(1, 2, 0, 0);
        ZKT_MUST(zkr_ticket_release(t));
        counted(1, 2, 0, 1);
        assert_int_equal(zkt_door_count(ZKR__OP_DELETE), n == 1);
        ZKT_MUST(zkr_ticket_destroy(t));
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    }
}

/* A try asks for nothing but its leases; with too few free it makes none. */
ZKT_CASE(a_try_costs_one_list)
{
    zkr_client *c = zkt_client(zkt_servers(), LONG_SESSION_MS);
    zkr_semaphore *s = semaphore(c, 3);
    warm(s, c);
    zkt_door_focus(c);
    ZKT_MUST(try(s, 2));
    counted(1, 1, 0, 1);
    zkr_ticket *two = take(s, 2);
    zkt_door_focus(c);
    expect(try(s, 2), ZKR_ETIMEDOUT);
    counted(0, 1, 0, 0);
    end(two);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    zkt_door_focus(c);
    ZKT_MUST(try(s, 2)); /* by what the client knows it is free again */
    counted(1, 1, 0, 1);
}

/* The first try of a client looks before it makes leases. */
ZKT_CASE(a_try_by_a_stranger_looks_first)
{
    zkr_client *c = zkt_client(zkt_servers(), LONG_SESSION_MS);
    zkr_client *d = zkt_client(zkt_servers(), LONG_SESSION_MS);
    zkr_semaphore *s = semaphore(c, 3), *z = semaphore(d, 3);
    warm(s, c);
    zkt_door_focus(d);
    ZKT_MUST(try(z, 2));
    counted(1, 2, 0, 1);
    ZKT_MUST(zkr_client_flush(d, PATIENCE_MS));
}

/* One who waits inside lists once after a release, whatever the number of its permits; those behind do nothing. */
ZKT_CASE(a_release_costs_one_list_of_the_first)
{
    struct told many = {0};
    zkr_client *c = zkt_client(zkt_servers(), LONG_SESSION_MS);
    zkr_client *d = zkt_client(zkt_servers(), LONG_SESSION_MS);
    zkr_client *e = zkt_client(zkt_servers(), LONG_SESSION_MS);
    zkr_semaphore *s = semaphore(c, 3), *z = semaphore(d, 3), *y = semaphore(e, 3);
    warm(s, c);
    zkr_ticket *one = take(s, 1), *two = take(s, 2);
    (void)queue_for(z, 3, &many);
    zkr_ticket *last = queue_for(y, 1, NULL);
    ZKT_EVENTUALLY(zkt_watches() >= 8,
                   PATIENCE_MS); /* their own, one ahead, and the leases */
    zkt_sleep_ms(SOON_MS);
    zkt_door_focus(d);
    end(one);
    ZKT_BECOMES(zkt_door_count(ZKR__OP_CHILDREN), 1, PATIENCE_MS);
    ZKT_EVENTUALLY(zkt_all_answered(d),
                   PATIENCE_MS); /* else it may see both releases */
    counted(0, 1, 0, 0);
    end(two);
    ZKT_BECOMES(many.held, 1, PATIENCE_MS);
    counted(0, 2, 0, 1); /* and it leaves the gate */
    zkt_door_focus(e);
    end(many.t);
    ZKT_MUST(zkr_ticket_wait(last, PATIENCE_MS));
    end(last);
    ZKT_MUST(zkr_client_flush(d, PATIENCE_MS));
    end_semaphore(z);
    zkt_close(d);
    ZKT_MUST(zkr_client_flush(e, PATIENCE_MS));
}

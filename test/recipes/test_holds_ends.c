/* SPDX-License-Identifier: Apache-2.0 */
/* How every kind of hold ends, what is refused, and permanent errors. */
#include <stdio.h>

#include "hold.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000 };

/* --- in use --- */

/* While a hold is held or requested, neither the object nor the client can be closed. */
ZKT_HOLD_CASE(what_is_used_is_not_destroyed, ZKT_NONE)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct zkt_hold *h = zkt_hold(c), *other = zkt_hold_in_the_way(c);
    ZKT_MUST(zkt_hold_acquire(h, PATIENCE_MS));
    ZKT_RC(zkt_hold_destroy(h), ZKR_EBUSY);
    ZKT_RC(zkr_client_close(c), ZKR_EBUSY);
    ZKT_MUST(zkt_hold_release(h));
    ZKT_MUST(zkt_hold_acquire(other, PATIENCE_MS));
    zkt_hold_queue(h);
    ZKT_RC(zkt_hold_destroy(h), ZKR_EBUSY);
    zkt_hold_cancel(h);
    ZKT_RC(zkt_hold_wait(h), ZKR_ECANCELED);
    ZKT_MUST(zkt_hold_release(other));
    ZKT_MUST(zkt_hold_destroy(h));
    ZKT_RC(zkr_client_close(c), ZKR_EBUSY);
    ZKT_MUST(zkt_hold_destroy(other));
}

/* The end of a thread releases its holds. Other kinds of holds have no thread. */
ZKT_HOLD_CASE(a_thread_that_ends_releases, ~ZKT_BY_THREAD)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct zkt_hold *next = zkt_hold_in_the_way(c);
    for (int i = 0; i < 3; i++) {
        struct zkt_hold *h = zkt_hold(c);
        ZKT_MUST(zkt_hold_acquire(h, PATIENCE_MS));
        zkt_hold_end_thread(h);
        ZKT_MUST(zkt_hold_destroy(h));
        ZKT_MUST(zkt_hold_acquire(next, PATIENCE_MS));
        ZKT_MUST(zkt_hold_release(next));
    }
}

/* --- errors that stay --- */

/* A missing chroot is reported at once. */
ZKT_HOLD_CASE(a_missing_chroot_is_said, ZKT_NONE)
{
    char servers[128];
    (void)snprintf(servers, sizeof(servers), "%s/no/such/chroot", zkt_servers());
    struct zkt_hold *h = zkt_hold(zkt_client(servers, SESSION_MS));
    ZKT_RC(zkt_hold_acquire(h, PATIENCE_MS), ZKR_ENONODE);
}

/*
 * If the client lacks permission to create nodes on a path, a request fails, and is not repeated. The path is usable
 * once the permission is granted.
 */
ZKT_HOLD_CASE(a_forbidden_path_is_said, ZKT_NONE)
{
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL & ~ZKT_CREATE), 0);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct zkt_hold *h = zkt_hold(c);
    for (int i = 0; i < 2; i++) {
        ZKT_RC(zkt_hold_acquire(h, PATIENCE_MS), ZKR_EAUTH);
        zkt_door_focus(c);
        zkt_sleep_ms(50);
        assert_int_equal(zkt_door_total(), 0);
    }
    assert_int_equal(zkt_delete(zkt_servers(), zkt_path()), 0);
    ZKT_MUST(zkt_hold_acquire(h, PATIENCE_MS));
}

/* Refused credentials end waits that began before the refusal, and waits that begin later. */
ZKT_HOLD_CASE(refused_credentials_are_said, ZKT_NONE)
{
    zkr_client *c = NULL;
    ZKT_MUST(zkr_client_open(&c, zkt_servers(), &zkt_bad_credentials));
    struct zkt_hold *h = zkt_hold(c);
    ZKT_RC(zkt_hold_acquire(h, ZKR_FOREVER), ZKR_EAUTH);
    ZKT_RC(zkr_client_wait_connected(c, PATIENCE_MS), ZKR_EAUTH);
    ZKT_RC(zkt_hold_acquire(h, PATIENCE_MS), ZKR_EAUTH);
    assert_int_equal(zkr_client_state(c), ZKR_STATE_AUTH_FAILED);
    zkt_hold_end(h);
    zkt_close(c);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A crowd that joins at once through one session: so many nodes are made at a time, and the others stand in line. */
#include <string.h>

#include "engine/engine.h"
#include "fixture.h"
#include "proxy.h"

enum { SESSION_MS = 30000, PATIENCE_MS = 20000, CROWD = 100 };
enum { LEAVES = 80 }; /* in line */

static zkt_proxy *proxy;
static zkr_client *client;
static zkr_mutex *held, *wanted;
static zkr_ticket *tickets[CROWD];

static int creates(void)
{
    return zkt_door_count(ZKR__OP_CREATE);
}

static zkr_ticket *request(zkr_mutex *m)
{
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, NULL, NULL, &t));
    return t;
}

static void end(zkr_ticket *t)
{
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
}

/* No answer comes any more. */
static void crowd_without_answers(void)
{
    proxy = zkt_proxy_start(zkt_servers());
    client = zkt_client(zkt_proxy_host(proxy), SESSION_MS);
    held = zkt_mutex_at(client, "/held", NULL);
    wanted = zkt_mutex(client);
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    ZKT_MUST(zkr_mutex_acquire(held, PATIENCE_MS));
    zkt_proxy_freeze(proxy, ZKT_TO_CLIENT);
    zkt_door_focus(client);
    for (int i = 0; i < CROWD; i++) {
        tickets[i] = request(wanted);
    }
    assert_int_equal(creates(), ZKR__JOINING_MAX);
}

static void go(void)
{
    zkt_destroy(wanted);
    zkt_destroy(held);
    zkt_close(client);
    zkt_proxy_stop(proxy);
}

/* A hold is given back at once, and who leaves the line has made no node; the others come in their order. */
ZKT_CASE(a_release_overtakes_a_crowd_that_keeps_its_order)
{
    crowd_without_answers();
    ZKT_MUST(zkr_mutex_release(held));
    assert_int_equal(zkt_door_count(ZKR__OP_DELETE), 1);
    end(tickets[LEAVES]);
    assert_int_equal(creates(), ZKR__JOINING_MAX);
    zkt_proxy_thaw(proxy, ZKT_TO_CLIENT);
    for (int i = 0; i < CROWD; i++) {
        if (i != LEAVES) {
            ZKT_MUST(zkr_ticket_wait(tickets[i], PATIENCE_MS));
            end(tickets[i]);
        }
    }
    assert_int_equal(creates(), CROWD - 1);
    go();
}

/* The answers to some creates are lost: nobody is left standing, and nobody has two nodes. */
ZKT_CASE(a_crowd_survives_a_cut)
{
    crowd_without_answers();
    zkt_proxy_drop_connections(proxy);
    zkt_proxy_thaw(proxy, ZKT_TO_CLIENT);
    ZKT_BECOMES(zkt_nodes(), CROWD, PATIENCE_MS);
    for (int left = CROWD; left > 0;) {
        for (int i = 0; i < CROWD; i++) {
            if (tickets[i] && zkr_ticket_state(tickets[i]) == ZKR_TICKET_HELD) {
                end(tickets[i]);
                tickets[i] = NULL;
                left--;
            }
        }
        zkt_sleep_ms(1);
    }
    ZKT_MUST(zkr_mutex_release(held));
    go();
}

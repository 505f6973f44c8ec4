/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A crowd joins a queue at once through one session. The client creates a limited number of nodes at a time, and the
 * others wait in the client.
 */
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "keep.h"
#include "proxy.h"
#include "queue/engine_state.h"

enum { SESSION_MS = 30000, PATIENCE_MS = 20000, CROWD = 100 };
enum { LEAVES = 80 }; /* number of a ticket that waits for admission */
enum { TOGETHER = 5 };

static zkt_proxy *proxy;
static zkr_client *client;
static zkr_mutex *held, *wanted;
static zkr_multi_lock *several;
static zkr_semaphore *permits;
static zkr_ticket *tickets[CROWD];
/* A ticket whose nodes prove to the client that the directories exist. */
static zkr_ticket *stands;

static int creates(void)
{
    return zkt_door_count(ZKR__OP_CREATE) + zkt_door_count(ZKR__OP_CREATES);
}

static zkr_ticket *request_one(void)
{
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_mutex_request(wanted, ZKR_FOREVER, NULL, NULL, &t));
    return t;
}

static zkr_ticket *request_several(void)
{
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_multi_lock_request(several, ZKR_FOREVER, NULL, NULL, &t));
    return t;
}

static zkr_ticket *request_permits(void)
{
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_semaphore_request(permits, TOGETHER, ZKR_FOREVER, NULL, NULL, &t));
    return t;
}

static void end(zkr_ticket *t)
{
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
}

/* Create the directory, so that no create fails because of a missing parent. */
static const char *make_path(const char *name)
{
    static char paths[16][300];
    static size_t next;
    char *path = paths[next++ % (sizeof(paths) / sizeof(paths[0]))];
    (void)snprintf(path, sizeof(paths[0]), "%s%s", zkt_path(), name);
    assert_int_equal(zkt_create_path(zkt_servers(), path), 0);
    return path;
}

static void end_several(void *l)
{
    ZKT_MUST(zkr_multi_lock_destroy(l));
}

static void end_permits(void *s)
{
    ZKT_MUST(zkr_semaphore_destroy(s));
}

/* Create the object that the crowd requests. */
static void make_wanted(zkr_ticket *(*request)(void))
{
    if (request == request_one) {
        wanted = zkt_mutex(client);
        (void)make_path("");
    } else if (request == request_several) {
        const char *const paths[TOGETHER] = {make_path("/0"), make_path("/1"),
                                             make_path("/2"), make_path("/3"),
                                             make_path("/4")};
        ZKT_MUST(zkr_multi_lock_create(&several, client, paths, TOGETHER, NULL));
        zkt_keep(several, end_several);
    } else {
        (void)make_path("/locks");
        (void)make_path("/leases");
        ZKT_MUST(
            zkr_semaphore_create(&permits, client, zkt_path(), CROWD * TOGETHER, NULL));
        zkt_keep(permits, end_permits);
    }
}

/* Prepare a crowd, and hold up all answers from now on. */
static void set_up(zkr_ticket *(*request)(void))
{
    proxy = zkt_proxy_start(zkt_servers());
    client = zkt_client(zkt_proxy_host(proxy), SESSION_MS);
    held = zkt_mutex_at(client, "/held", NULL);
    make_wanted(request);
    ZKT_MUST(zkr_mutex_acquire(held, PATIENCE_MS));
    stands = request();
    ZKT_MUST(zkr_ticket_wait(stands, PATIENCE_MS));
    zkt_proxy_freeze(proxy, ZKT_TO_CLIENT);
    zkt_door_focus(client);
}

/* Request with the whole crowd. Each request creates @together nodes. */
static void crowd_without_answers(zkr_ticket *(*request)(void), int together)
{
    set_up(request);
    for (int i = 0; i < CROWD; i++) {
        tickets[i] = request();
    }
    assert_int_equal(creates(), ZKR__JOINING_MAX / together);
    assert_true(zkt_door_count(ZKR__OP_CHILDREN) <= ZKR__JOINING_MAX);
}

static const struct {
    zkr_ticket *(*request)(void);
    int together;
} crowds[] = {{request_one, 1},
              {request_several, TOGETHER},
              {request_permits, TOGETHER}};

/*
 * A release is sent at once, ahead of the crowd. A ticket that leaves before its admission has created no node. The
 * others are granted in their order.
 */
ZKT_CASE_WAYS(a_release_overtakes,
              {"a_release_overtakes_a_crowd_that_keeps_its_order", a_release_overtakes,
               0, 0},
              {"a_release_overtakes_a_crowd_of_multi_locks", a_release_overtakes, 1, 0},
              {"a_release_overtakes_a_crowd_that_asks_for_permits", a_release_overtakes,
               2, 0})
{
    const int together = crowds[zkt_way()].together;
    crowd_without_answers(crowds[zkt_way()].request, together);
    ZKT_MUST(zkr_mutex_release(held));
    assert_int_equal(zkt_door_count(ZKR__OP_DELETE), 1);
    end(tickets[LEAVES]);
    assert_int_equal(creates(), ZKR__JOINING_MAX / together);
    end(stands);
    zkt_proxy_thaw(proxy, ZKT_TO_CLIENT);
    for (int i = 0; i < CROWD; i++) {
        if (i != LEAVES) {
            ZKT_MUST(zkr_ticket_wait(tickets[i], PATIENCE_MS));
            end(tickets[i]);
        }
    }
    assert_int_equal(creates(), CROWD - 1);
}

/* There is room for one node, but not for all nodes of a group. Later requests wait behind the group. */
ZKT_CASE(a_group_in_line_is_not_overtaken)
{
    enum { FEWER = ZKR__JOINING_MAX - TOGETHER + 1, ALL = FEWER + 2 };
    set_up(request_several);
    wanted = held;
    for (int i = 0; i < ALL; i++) {
        tickets[i] = i == FEWER ? request_several() : request_one();
    }
    assert_int_equal(creates(), FEWER);
    ZKT_MUST(zkr_mutex_release(held));
    end(stands);
    zkt_proxy_thaw(proxy, ZKT_TO_CLIENT);
    for (int i = 0; i < ALL; i++) {
        ZKT_MUST(zkr_ticket_wait(tickets[i], PATIENCE_MS));
        end(tickets[i]);
    }
}

/* The answers to some creates are lost. Every contender is granted, and none has two nodes. */
ZKT_CASE_WAYS(a_crowd_survives,
              {"a_crowd_survives_a_cut", a_crowd_survives, 0, 0},
              {"a_crowd_of_multi_locks_survives_a_cut", a_crowd_survives, 1, 0})
{
    const int together = crowds[zkt_way()].together;
    crowd_without_answers(crowds[zkt_way()].request, together);
    end(stands);
    zkt_proxy_drop_connections(proxy);
    zkt_proxy_thaw(proxy, ZKT_TO_CLIENT);
    const char *path = together > 1 ? make_path("/0") : zkt_path();
    ZKT_BECOMES(zkt_children_count(zkt_servers(), path), CROWD, PATIENCE_MS);
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
}

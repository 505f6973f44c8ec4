/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of a hand-over to a waiter that looks ahead, and the cost of looking ahead, in requests of the client. */
#include "actor.h"
#include "fixture.h"
#include "fourlw.h"
#include "queue/children_cache.h"
#include "queue/claim.h"
#include "session/client.h"

enum { SESSION_MS = 30000, DEEPEST = 100, PATIENCE_MS = 20000 };

/*
 * Open a client. Only short sessions have lease probes, because on a busy machine a probe could be counted
 * with a hand-over.
 */
static zkr_client *client(int64_t session_ms, int64_t look_ahead)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = session_ms;
    o.lease_probe_ms = session_ms == SESSION_MS ? -1 : 0;
    o.look_ahead = look_ahead;
    return zkt_client_with(zkt_servers(), &o);
}

/* Returns whether the next event grants: all necessary requests were sent and answered. */
static bool is_prepared(zkr_client *c)
{
    bool is = false;
    zkr__lock(c);
    const struct zkr__engine *engine = c->engine;
    const struct zkr__claim *claim;
    DL_FOREACH(engine->claims, claim)
    {
        bool looks =
            claim->k.look == ZKR__PREPARED || claim->k.look == ZKR__BEHIND_FIRST;
        is = is || (claim->k.phase == ZKR__PARKED && looks && claim->k.saw_ahead &&
                    claim->k.own == ZKR__OWN_SET);
    }
    zkr__unlock(c);
    return is && zkt_all_answered(c);
}

struct line {
    int depth;
    zkr_client *clients[DEEPEST + 1];
    zkr_mutex *mutexes[DEEPEST + 1];
    struct zkt_actor actors[DEEPEST + 1];
};

static void line_up(struct line *l, int depth, int64_t session_ms, int64_t look_ahead)
{
    l->depth = depth;
    for (int i = 0; i <= depth; i++) {
        l->clients[i] = client(session_ms, look_ahead);
        l->mutexes[i] = zkt_mutex(l->clients[i]);
        zkt_actor_queue(&l->actors[i], l->clients[i], l->mutexes[i], NULL);
    }
}

/* Let the holder release. Returns the number of requests that the next contender sends until it holds. */
static int pass(struct line *l, int to)
{
    zkt_door_focus(l->clients[to]);
    atomic_store(&l->actors[to - 1].let_go, true);
    ZKT_MUST(zkt_actor_acquired(&l->actors[to]));
    return zkt_door_total();
}

static void disperse(struct line *l)
{
    for (int i = 0; i <= l->depth; i++) {
        ZKT_MUST(zkt_actor_end(&l->actors[i]));
    }
}

/* One event is sufficient at any depth, because each contender becomes the first one behind the holder. */
ZKT_CASE(a_hand_over_asks_for_nothing)
{
    static struct line l;
    line_up(&l, DEEPEST, SESSION_MS, 1);
    for (int i = 1; i <= DEEPEST; i++) {
        ZKT_EVENTUALLY(is_prepared(l.clients[i]), PATIENCE_MS);
        assert_int_equal(pass(&l, i), 0);
    }
    disperse(&l);
}

/* A hand-over also needs no request after a wait so long that the lease would be over without probes. */
ZKT_CASE(after_a_long_wait_it_asks_for_nothing_either)
{
    enum { SHORT_MS = 2000, TIMES = 3 };
    int least = INT32_MAX; /* a probe of the wait may be counted, too */
    for (int i = 0; i < TIMES && least > 0; i++) {
        static struct line l;
        line_up(&l, 2, SHORT_MS, 1);
        ZKT_EVENTUALLY(is_prepared(l.clients[1]), PATIENCE_MS);
        (void)pass(&l, 1);
        ZKT_EVENTUALLY(is_prepared(l.clients[2]), PATIENCE_MS);
        zkt_sleep_ms(SHORT_MS);
        int asked = pass(&l, 2);
        least = asked < least ? asked : least;
        disperse(&l);
    }
    assert_int_equal(least, 0);
}

/*
 * The third of three sets the watch on its own node and two more. The fourth lists once, in the background.
 * Nobody else lists.
 */
ZKT_CASE(to_look_ahead_costs_two_watches_and_a_list)
{
    static struct line l;
    line_up(&l, 2, SESSION_MS, 1);
    zkr_client *c = client(SESSION_MS, 1);
    zkr_mutex *m = zkt_mutex(c);
    struct zkt_actor last;
    zkt_door_focus(c);
    zkt_actor_start(&last, m, ZKR_FOREVER, NULL);
    ZKT_BECOMES(zkt_door_count(ZKR__OP_GET), 3,
                PATIENCE_MS); /* the watch on its own node comes after a while */
    assert_int_equal(zkt_door_count(ZKR__OP_CHILDREN), 1);
    ZKT_EVENTUALLY(is_prepared(l.clients[1]), PATIENCE_MS);
    (void)pass(&l, 1);
    ZKT_EVENTUALLY(is_prepared(l.clients[2]), PATIENCE_MS);
    zkt_door_focus(c);
    atomic_store(&l.actors[1].let_go, true);
    ZKT_MUST(zkt_actor_acquired(&l.actors[2]));
    ZKT_EVENTUALLY(is_prepared(c), PATIENCE_MS);
    assert_int_equal(zkt_door_count(ZKR__OP_CHILDREN), 1);
    assert_int_equal(zkt_door_total(), 1);
    zkt_door_focus(c);
    atomic_store(&l.actors[2].let_go, true);
    ZKT_MUST(zkt_actor_acquired(&last));
    assert_int_equal(zkt_door_total(), 0);
    ZKT_MUST(zkt_actor_end(&last));
    disperse(&l);
}

/* With the option off, a list follows the event, and a waiter sends no write. */
ZKT_CASE(without_it_the_event_is_followed_by_a_list)
{
    static struct line l;
    line_up(&l, 2, SESSION_MS, -1);
    ZKT_BECOMES(zkt_watches(), 5, PATIENCE_MS);
    assert_int_equal(l.clients[1]->prepared + l.clients[2]->prepared, 0);
    (void)pass(&l, 1);
    assert_int_equal(pass(&l, 2), 1);
    assert_int_equal(zkt_door_count(ZKR__OP_CHILDREN), 1);
    disperse(&l);
}

enum { RING = 4, CYCLES = 30 };
/* Requests that a busy machine and the end may add. */
enum { MORE = CYCLES / 2 };

/* Numbers of packets between a client and its server, including events. */
struct packets {
    int64_t to, from;
};

static struct packets packets(zkr_client *c)
{
    int64_t session = zkr_client_session_id(c);
    return (struct packets){.to = zkt_cons_received(zkt_servers(), session),
                            .from = zkt_cons_sent(zkt_servers(), session)};
}

/*
 * Let clients leave a queue and join it again at once, one after the other. The requests of one client are counted.
 * Returns its packets.
 */
static struct packets go_round(int64_t look_ahead)
{
    struct packets before = {0};
    zkr_client *clients[RING];
    zkr_mutex *mutexes[RING];
    zkr_ticket *tickets[RING];
    for (int i = 0; i < RING; i++) {
        clients[i] = client(SESSION_MS, look_ahead);
        mutexes[i] = zkt_mutex(clients[i]);
        ZKT_MUST(zkr_mutex_request(mutexes[i], ZKR_FOREVER, NULL, NULL, &tickets[i]));
        ZKT_EVENTUALLY(zkt_all_answered(clients[i]), PATIENCE_MS);
    }
    for (int i = 0; i < RING * (CYCLES + 1); i++) {
        int holder = i % RING, next = (i + 1) % RING;
        zkr_ticket *old = tickets[holder];
        ZKT_BECOMES(zkr_ticket_state(old), ZKR_TICKET_HELD, PATIENCE_MS);
        if (look_ahead > 0) {
            ZKT_EVENTUALLY(is_prepared(clients[next]), PATIENCE_MS);
        }
        if (i == RING) {
            ZKT_EVENTUALLY(zkt_all_answered(clients[0]), PATIENCE_MS);
            before = packets(clients[0]);
            zkt_door_focus(clients[0]);
        }
        ZKT_MUST(zkr_ticket_release(old));
        ZKT_MUST(zkr_mutex_request(mutexes[holder], ZKR_FOREVER, NULL, NULL,
                                   &tickets[holder]));
        ZKT_MUST(zkr_ticket_destroy(old));
        ZKT_EVENTUALLY(zkt_all_answered(clients[holder]), PATIENCE_MS);
    }
    for (int i = 0; i < RING; i++) {
        ZKT_BECOMES(zkr_ticket_state(tickets[i]), ZKR_TICKET_HELD, PATIENCE_MS);
        ZKT_MUST(zkr_ticket_release(tickets[i]));
        ZKT_MUST(zkr_ticket_destroy(tickets[i]));
    }
    ZKT_EVENTUALLY(zkt_all_answered(clients[0]), PATIENCE_MS);
    struct packets after = packets(clients[0]);
    return (struct packets){.to = after.to - before.to,
                            .from = after.from - before.from};
}

/* A cycle costs a delete, a create, three gets with a watch, and two lists: one to join, and one to look ahead. */
ZKT_CASE(a_queue_that_goes_round_lists_twice_a_cycle)
{
    struct packets cost = go_round(1);
    ZKT_IN_RANGE(zkt_door_count(ZKR__OP_CHILDREN), CYCLES, 2 * CYCLES + 1);
    assert_int_equal(zkt_door_count(ZKR__OP_CREATE), CYCLES);
    ZKT_IN_RANGE(zkt_door_count(ZKR__OP_GET), 2 * CYCLES, 3 * CYCLES + 3);
    ZKT_IN_RANGE(cost.to, 5 * CYCLES, 7 * CYCLES + MORE);
    ZKT_IN_RANGE(cost.from, 6 * CYCLES, 10 * CYCLES + MORE);
}

/*
 * Without looking ahead, a cycle costs a delete, a create, a list, a get of the node ahead, and one event. The list
 * proves that our own node is ours. The node is not watched, so its delete causes no event.
 */
ZKT_CASE(an_acquisition_in_a_crowd_costs_a_request_less_than_curators)
{
    struct packets cost = go_round(-1);
    /* If a busy machine sends the next create late, the holder's list misses it, and a list follows its own create. */
    int64_t lists = zkt_door_count(ZKR__OP_CHILDREN);
    ZKT_IN_RANGE(lists, CYCLES, 2 * CYCLES + 1);
    int64_t least = 3 * CYCLES + lists;
    ZKT_IN_RANGE(cost.to, least, least + CYCLES + MORE);
    /* A node that waits for long is watched, which costs a request, an answer and an event. */
    int64_t watched = cost.to - least;
    ZKT_IN_RANGE(cost.from, least + CYCLES, least + CYCLES + 2 * watched + 3);
}

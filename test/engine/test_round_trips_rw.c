/* SPDX-License-Identifier: Apache-2.0 */
/* What each path of a read-write lock costs, counted at the door. */
#include "expect.h"
#include "rwlocks.h"

enum {
    SESSION_MS = 30000,
    PATIENCE_MS = 30000
}; /* no ping or probe comes in between */

static void expect(int create, int list, int get, int remove)
{
    assert_int_equal(zkt_door_count(ZKR__OP_CREATE), create);
    assert_int_equal(zkt_door_count(ZKR__OP_CHILDREN), list);
    assert_int_equal(zkt_door_count(ZKR__OP_GET), get);
    assert_int_equal(zkt_door_count(ZKR__OP_DELETE), remove);
}

/* Make the parents, which would be counted. */
static void warm(const struct sides *s, zkr_client *c)
{
    for (int i = 0; i < 2; i++) {
        ZKT_MUST(zkr_mutex_acquire(s->w, PATIENCE_MS));
        ZKT_MUST(zkr_mutex_release(s->w));
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    }
}

/* Either side, of a lock that only this client uses. */
ZKT_CASE(a_free_cycle_of_either_side_costs_two_requests)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = sides_of(c);
    warm(&s, c);
    for (int i = 0; i < 2; i++) {
        zkr_mutex *m = i == 0 ? s.r : s.w;
        zkt_door_focus(c);
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        expect(1, 0, 0, 0);
        assert_int_equal(zkt_door_total(), 1);
        ZKT_MUST(zkr_mutex_release(m));
        expect(1, 0, 0, 1);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    }
}

/* However many readers stand between it and the writer. */
ZKT_CASE(readers_behind_a_writer_of_the_client_need_no_list)
{
    enum { MANY = 40 };
    zkr_ticket *t[MANY];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = sides_of(c);
    warm(&s, c);
    ZKT_MUST(zkr_mutex_acquire(s.w, PATIENCE_MS));
    zkt_door_focus(c);
    for (int i = 0; i < MANY; i++) {
        ZKT_MUST(zkr_mutex_request(s.r, ZKR_FOREVER, NULL, NULL, &t[i]));
    }
    ZKT_BECOMES(zkt_door_count(ZKR__OP_GET), MANY, PATIENCE_MS); /* of its own node */
    expect(MANY, 0, MANY, 0);
    assert_int_equal(zkt_waiting(c), MANY);
    ZKT_MUST(zkr_mutex_release(s.w));
    for (int i = 0; i < MANY; i++) {
        ZKT_MUST(zkr_ticket_wait(t[i], PATIENCE_MS));
        ZKT_MUST(zkr_ticket_release(t[i]));
        ZKT_MUST(zkr_ticket_destroy(t[i]));
    }
    assert_int_equal(zkt_door_count(ZKR__OP_CHILDREN), 0);
}

/* A reader behind other readers: as if it were free. */
ZKT_CASE(a_reader_among_readers_costs_as_much)
{
    zkr_client *two = zkt_client(zkt_servers(), SESSION_MS);
    struct sides a = sides_of(zkt_client(zkt_servers(), SESSION_MS)), b = sides_of(two);
    ZKT_MUST(zkr_mutex_acquire(a.r, PATIENCE_MS));
    zkt_door_focus(two);
    ZKT_MUST(zkr_mutex_acquire(b.r, 0));
    expect(1, 1, 0, 0);
    ZKT_MUST(zkr_mutex_release(b.r));
    ZKT_MUST(zkr_mutex_release(a.r));
}

struct two {
    zkr_client *one, *two;
    struct sides a, b;
    struct zkt_actor actor;
};

/* @ahead is held by one client, @behind waits at the other with all its watches; counted from then on. */
static void park(struct two *t, bool reads_ahead, bool reads_behind)
{
    t->one = zkt_client(zkt_servers(), SESSION_MS);
    t->two = zkt_client(zkt_servers(), SESSION_MS);
    t->a = sides_of(t->one);
    t->b = sides_of(t->two);
    ZKT_MUST(zkr_mutex_acquire(reads_ahead ? t->a.r : t->a.w, PATIENCE_MS));
    zkt_door_focus(t->two);
    zkt_actor_start(&t->actor, reads_behind ? t->b.r : t->b.w, ZKR_FOREVER, NULL);
    ZKT_BECOMES(zkt_door_count(ZKR__OP_GET), 2, PATIENCE_MS);
    ZKT_EVENTUALLY(zkt_watches() >= 2, PATIENCE_MS);
    expect(1, 1, 2, 0);
}

static void end_two(struct two *t)
{
    ZKT_MUST(zkt_actor_end(&t->actor));
    end_sides(&t->a);
    end_sides(&t->b);
    zkt_close(t->one);
    zkt_close(t->two);
}

/* The event alone grants a reader behind one writer, and a writer behind one reader. */
ZKT_CASE(behind_the_other_kind_the_event_grants)
{
    for (int reads = 0; reads < 2; reads++) {
        struct two t;
        park(&t, !reads, reads);
        ZKT_MUST(zkr_mutex_release(reads ? t.a.w : t.a.r));
        ZKT_MUST(zkt_actor_acquired(&t.actor));
        expect(1, 1, 2, 0);
        end_two(&t);
    }
}

/* A writer behind a writer looks once, for that one may have become a reader. */
ZKT_CASE(a_writer_behind_a_writer_lists_once)
{
    struct two t;
    park(&t, false, false);
    ZKT_MUST(zkr_mutex_release(t.a.w));
    ZKT_MUST(zkt_actor_acquired(&t.actor));
    expect(1, 2, 2, 0);
    end_two(&t);
}

/* Of the same client it need not look: it sees that nobody stays. */
ZKT_CASE(a_writer_behind_a_neighbour_is_granted_by_the_release)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = sides_of(c);
    struct zkt_actor writer;
    warm(&s, c);
    ZKT_MUST(zkr_mutex_acquire(s.w, PATIENCE_MS));
    ZKT_BECOMES(zkt_watches(), 1, PATIENCE_MS);
    zkt_door_focus(c);
    zkt_actor_start(&writer, s.w, ZKR_FOREVER, NULL);
    ZKT_BECOMES(zkt_watches(), 2, PATIENCE_MS);
    expect(1, 0, 1, 0);
    ZKT_MUST(zkr_mutex_release(s.w));
    ZKT_MUST(zkt_actor_acquired(&writer));
    expect(1, 0, 1, 1);
    ZKT_MUST(zkt_actor_end(&writer));
}

/* A reader behind k writers sleeps until the nearest goes, whatever the others do. */
ZKT_CASE(a_reader_behind_writers_wakes_once)
{
    enum { WRITERS = 5 };
    zkr_client *one = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *two = zkt_client(zkt_servers(), SESSION_MS);
    struct sides a = sides_of(one), b = sides_of(two);
    struct zkt_actor writers[WRITERS], reader;
    for (int i = 0; i < WRITERS; i++) {
        zkt_actor_queue(&writers[i], one, a.w, NULL);
    }
    zkt_door_focus(two);
    zkt_actor_start(&reader, b.r, ZKR_FOREVER, NULL);
    ZKT_BECOMES(zkt_door_count(ZKR__OP_GET), 2, PATIENCE_MS); /* its own, later */
    expect(1, 1, 2, 0);
    for (int i = 0; i < WRITERS; i++) {
        expect(1, 1, 2, 0);
        zkt_actor_is_served(&writers[i]);
    }
    ZKT_MUST(zkt_actor_acquired(&reader));
    expect(1, 2, 2, 0);
    ZKT_MUST(zkt_actor_end(&reader));
}

/* A release lets in all readers of this client for the one delete. */
ZKT_CASE(a_release_grants_its_clients_readers_for_nothing)
{
    enum { READERS = 20 };
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = sides_of(c);
    static struct zkt_actor readers[READERS];
    ZKT_MUST(zkr_mutex_acquire(s.w, PATIENCE_MS));
    for (int i = 0; i < READERS; i++) {
        zkt_actor_start(&readers[i], s.r, ZKR_FOREVER, NULL);
    }
    ZKT_BECOMES(zkt_watches(), READERS + 1, PATIENCE_MS);
    zkt_door_focus(c);
    ZKT_MUST(zkr_mutex_release(s.w));
    for (int i = 0; i < READERS; i++) {
        ZKT_MUST(zkt_actor_acquired(&readers[i]));
    }
    expect(0, 0, 0, 1);
    assert_int_equal(zkt_door_total(), 1);
    for (int i = 0; i < READERS; i++) {
        ZKT_MUST(zkt_actor_end(&readers[i]));
    }
}

/* To read as well costs nothing, a downgrade one transaction; it grants this client's readers for nothing. */
ZKT_CASE(a_downgrade_costs_one_transaction)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = sides_of(c);
    struct zkt_actor reader;
    ZKT_MUST(zkr_mutex_acquire(s.w, PATIENCE_MS));
    ZKT_BECOMES(zkt_watches(), 1, PATIENCE_MS);
    zkt_actor_start(&reader, s.r, ZKR_FOREVER, NULL);
    ZKT_BECOMES(zkt_watches(), 2, PATIENCE_MS);
    zkt_door_focus(c);
    ZKT_MUST(zkr_mutex_acquire(s.r, 0));
    assert_int_equal(zkt_door_total(), 0);
    ZKT_MUST(zkr_mutex_release(s.w));
    ZKT_MUST(zkt_actor_acquired(&reader));
    assert_int_equal(zkt_door_count(ZKR__OP_MULTI), 1);
    expect(0, 0, zkt_door_count(ZKR__OP_GET), 0); /* its new node's watch, later */
    ZKT_MUST(zkt_actor_end(&reader));
    ZKT_MUST(zkr_mutex_release(s.r));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of each kind of hold in each situation, in one table. The client's requests are counted in the client and by
 * a server. Then the cost of many holds, and the special costs of readers, writers and permits.
 */
#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "fourlw.h"
#include "hold.h"
#include "rwlocks.h"
#include "semaphores.h"

/* The session timeout is so long that no ping, probe or nudge is sent during a measurement. */
enum { LONG_MS = 30000 };

/* --- the table --- */

/* Whether the client has held this lock before. */
enum who { NEW = 1, KNOWS = 2, ANY = 3 };
/* The holder ahead: nobody, another client, or the same client. */
enum ahead { NOBODY, OTHER, FELLOW };

/*
 * Kinds for which the node alone decides. A writer behind a writer lists once, because the writer ahead may have become
 * a reader.
 */
#define ALONE (ZKT_BIT(ZKT_MUTEX) | ZKT_BIT(ZKT_TICKET) | ZKT_BIT(ZKT_READER))
#define WRITER ZKT_BIT(ZKT_WRITER)
#define DOWNGRADED ZKT_BIT(ZKT_DOWNGRADED) /* the READ node gets its own watch */
#define PERMIT ZKT_BIT(ZKT_PERMIT)
#define PERMITS ZKT_BIT(ZKT_PERMITS)
#define MULTI ZKT_BIT(ZKT_MULTI)

static const struct row {
    enum who who;
    enum ahead ahead;
    bool tries;
    unsigned kinds;
    /* Requests before the first answer, if nobody is ahead. */
    const char *at_once;
    /* Requests until the contender holds, waits with all its watches, or has failed. NULL = the same as at_once. */
    const char *enter;
    /* Requests from the wait until the grant, including the release of a FELLOW. NULL = the contender does not wait. */
    const char *granted;
    /* Requests for the release. NULL = the contender does not hold. */
    const char *leave;
} rows[] = {
    {NEW, NOBODY, false, ALONE | WRITER, "create, children", NULL, NULL, "delete"},
    {NEW, NOBODY, false, DOWNGRADED, "create, children", "create, children, get, multi",
     NULL, "delete"},
    {NEW, NOBODY, false, PERMIT, "create, 2 children", NULL, NULL, "delete"},
    {NEW, NOBODY, false, PERMITS, "2 children, creates", NULL, NULL, "multi"},
    {NEW, NOBODY, false, MULTI, "3 children, creates", NULL, NULL, "multi"},
    {NEW, NOBODY, false, ZKT_LEADERS, "create, children", "create, children, get", NULL,
     "delete"},
    {KNOWS, NOBODY, false, ALONE | WRITER, "create", NULL, NULL, "delete"},
    {KNOWS, NOBODY, false, DOWNGRADED, "create", "create, children, get, multi", NULL,
     "delete"},
    {KNOWS, NOBODY, false, PERMIT, "create, 2 children", NULL, NULL, "delete"},
    {KNOWS, NOBODY, false, PERMITS, "2 children, creates", NULL, NULL, "multi"},
    {KNOWS, NOBODY, false, MULTI, "3 children, creates", NULL, NULL, "multi"},
    {KNOWS, NOBODY, false, ZKT_LEADERS, "create", "create, get", NULL, "delete"},

    /* A try of a client that knows nothing lists first if its node could block others. */
    {NEW, NOBODY, true, ALONE, NULL, "create, children", NULL, "delete"},
    {NEW, NOBODY, true, WRITER, NULL, "create, 2 children", NULL, "delete"},
    {NEW, NOBODY, true, DOWNGRADED, NULL, "create, 2 children, get, multi", NULL,
     "delete"},
    {NEW, NOBODY, true, PERMIT, NULL, "create, 2 children", NULL, "delete"},
    {NEW, NOBODY, true, PERMITS, NULL, "2 children, creates", NULL, "multi"},
    {NEW, NOBODY, true, MULTI, NULL, "6 children, creates", NULL, "multi"},
    {KNOWS, NOBODY, true, ALONE | WRITER, NULL, "create", NULL, "delete"},
    {KNOWS, NOBODY, true, DOWNGRADED, NULL, "create, children, get, multi", NULL,
     "delete"},
    {KNOWS, NOBODY, true, PERMIT, NULL, "create, children", NULL, "delete"},
    {KNOWS, NOBODY, true, PERMITS, NULL, "children, creates", NULL, "multi"},
    {KNOWS, NOBODY, true, MULTI, NULL, "3 children, creates", NULL, "multi"},
    {NEW, OTHER, true, ALONE, NULL, "create, delete, children", NULL, NULL},
    {NEW, OTHER, true, WRITER | DOWNGRADED | ZKT_SEMAPHORES, NULL, "children", NULL,
     NULL},
    {NEW, OTHER, true, MULTI, NULL, "3 children", NULL, NULL},
    {KNOWS, OTHER, true, ALONE | WRITER | DOWNGRADED | PERMIT, NULL,
     "create, delete, children", NULL, NULL},
    {KNOWS, OTHER, true, PERMITS, NULL, "children, multi, creates", NULL, NULL},
    {KNOWS, OTHER, true, MULTI, NULL, "3 children, multi, creates", NULL, NULL},

    /*
     * The waiter sets two watches, and then the event grants. A waiter for permits also has a node in PATH/locks, and
     * lists the leases after the event.
     */
    {ANY, OTHER, false, ALONE | ZKT_LEADERS, NULL, "create, children, 2 get", "",
     "delete"},
    {ANY, OTHER, false, WRITER, NULL, "create, children, 2 get", "children", "delete"},
    {ANY, OTHER, false, DOWNGRADED, NULL, "create, children, 2 get",
     "children, get, multi", "delete"},
    {ANY, OTHER, false, PERMIT, NULL, "2 create, 4 children, 2 get", "delete, children",
     "delete"},
    {ANY, OTHER, false, PERMITS, NULL, "create, 4 children, 3 get, creates",
     "delete, children", "multi"},
    {ANY, OTHER, false, MULTI, NULL, "3 children, 4 get, creates", "", "multi"},

    /* The waiter sets one watch fewer, and then the release grants. */
    {KNOWS, FELLOW, false, ALONE | WRITER | ZKT_LEADERS, NULL, "create, get", "delete",
     "delete"},
    {KNOWS, FELLOW, false, DOWNGRADED, NULL, "create, children, get",
     "delete, get, multi", "delete"},
    {KNOWS, FELLOW, false, PERMIT, NULL, "2 create, 4 children, 2 get",
     "2 delete, children", "delete"},
    {KNOWS, FELLOW, false, PERMITS, NULL, "create, 4 children, 3 get, creates",
     "delete, children, multi", "multi"},
    {KNOWS, FELLOW, false, MULTI, NULL, "3 children, 3 get, creates", "delete",
     "multi"},
};

/*
 * Acquire and release. A release before the answer to a downgrade has to search for the node, and then the
 * client knows nothing.
 */
static void cycle(struct zkt_hold *h)
{
    ZKT_MUST(zkt_hold_acquire(h, PATIENCE_MS));
    ZKT_EVENTUALLY(zkt_all_answered(zkt_hold_client(h)), PATIENCE_MS);
    ZKT_MUST(zkt_hold_release(h));
    ZKT_MUST(zkr_client_flush(zkt_hold_client(h), PATIENCE_MS));
}

/* Let the client create the parents, and learn that nobody holds and, for permits, that nobody waits. */
static void get_to_know(struct zkt_hold *h)
{
    if (zkt_is(ZKT_SEMAPHORES)) {
        struct zkt_hold *beside = zkt_hold_beside(h);
        ZKT_MUST(zkt_hold_acquire(h, PATIENCE_MS));
        zkt_hold_queue(beside);
        zkt_hold_cancel(beside);
        ZKT_RC(zkt_hold_wait(beside), ZKR_ECANCELED);
        ZKT_MUST(zkt_hold_release(h));
    }
    cycle(h);
    cycle(h);
}

struct scene {
    zkt_proxy *p;
    zkr_client *c;
    struct zkt_hold *h, *ahead;
    int64_t packets;
};

static int64_t packets(const struct scene *s)
{
    return zkt_cons_received(zkt_servers(), zkr_client_session_id(s->c));
}

static void begin_count(struct scene *s)
{
    ZKT_EVENTUALLY(zkt_all_answered(s->c), PATIENCE_MS);
    zkt_door_focus(s->c);
    s->packets = packets(s);
}

/* Check the requests of the client, and that the server counts the same number. */
static void expect_cost(const struct scene *s, const char *wanted)
{
    ZKT_ASKS(wanted);
    ZKT_EVENTUALLY(zkt_all_answered(s->c), PATIENCE_MS);
    ZKT_ASKED(wanted);
    assert_int_equal(packets(s) - s->packets - zkt_door_nudges(), zkt_door_total());
}

static void enter(struct scene *s, const struct row *r)
{
    begin_count(s);
    if (r->tries) {
        ZKT_RC(zkt_hold_acquire(s->h, 0), r->ahead == NOBODY ? ZKR_OK : ZKR_ETIMEDOUT);
        /* A single round trip: nothing waits for an answer. */
    } else if (r->ahead == NOBODY) {
        zkt_proxy_freeze(s->p, ZKT_TO_CLIENT);
        zkt_hold_ask(s->h, PATIENCE_MS);
        ZKT_ASKS(r->at_once);
        assert_true(zkt_hold_waits(s->h));
        zkt_proxy_thaw(s->p, ZKT_TO_CLIENT);
        ZKT_MUST(zkt_hold_wait(s->h));
    } else {
        zkt_hold_ask(s->h, ZKR_FOREVER);
    }
    expect_cost(s, r->enter ? r->enter : r->at_once);
}

static void be_granted(struct scene *s, const struct row *r)
{
    assert_true(zkt_hold_waits(s->h));
    begin_count(s);
    ZKT_MUST(zkt_hold_release(s->ahead));
    ZKT_MUST(zkt_hold_wait(s->h));
    expect_cost(s, r->granted);
}

/* Release, and check that the release waits for no answer. */
static void leave(struct scene *s, const struct row *r)
{
    begin_count(s);
    zkt_proxy_freeze(s->p, ZKT_TO_CLIENT);
    ZKT_MUST(zkt_hold_release(s->h));
    ZKT_ASKED(r->leave);
    zkt_proxy_thaw(s->p, ZKT_TO_CLIENT);
    expect_cost(s, r->leave);
}

static void play(const struct row *r, enum who who)
{
    struct scene s = {.p = zkt_proxy_start(zkt_servers())};
    zkr_client *other = zkt_client(zkt_servers(), LONG_MS);
    s.c = zkt_client(zkt_proxy_host(s.p), LONG_MS);
    s.h = zkt_hold(s.c);
    s.ahead = zkt_hold_in_the_way(r->ahead == FELLOW ? s.c : other);
    get_to_know(zkt_hold(other));
    if (who == KNOWS) {
        get_to_know(s.h);
    }
    zkt_door_focus(s.c);
    if (r->ahead != NOBODY) {
        ZKT_MUST(zkt_hold_acquire(s.ahead, PATIENCE_MS));
    }
    if (r->ahead == FELLOW) { /* the contender watches its nodes after a while */
        ZKT_BECOMES(zkt_door_count(ZKR__OP_GET), zkt_hold_nodes(), PATIENCE_MS);
    }
    enter(&s, r);
    if (r->granted) {
        be_granted(&s, r);
    }
    if (r->leave) {
        leave(&s, r);
    } else {
        ZKT_MUST(zkt_hold_release(s.ahead));
    }
    ZKT_MUST(zkr_client_flush(s.c, PATIENCE_MS));
    ZKT_MUST(zkr_client_flush(other, PATIENCE_MS));
}

ZKT_HOLD_CASE(each_situation_costs_what_the_table_says, ZKT_NONE)
{
    int played = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (int who = NEW; who <= KNOWS; who++) {
            if (zkt_is(rows[i].kinds) && ((int)rows[i].who & who) != 0) {
                play(&rows[i], (enum who)who);
                played++;
            }
        }
    }
    assert_int_equal(played, zkt_is(ZKT_LEADERS) ? 5 : 9); /* the table is complete */
}

/* --- many at once --- */

static void warm(zkr_mutex *m, zkr_client *c)
{
    /* Creates the parents, and then sets the watch that stays there. */
    for (int i = 0; i < 2; i++) {
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        ZKT_MUST(zkr_mutex_release(m));
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    }
}

/* Missing parents cost one more round trip, with all levels at once. */
ZKT_CASE(missing_parents_are_made_at_once)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/a/b/c", zkt_path());
    zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
    zkr_mutex *m = zkt_mutex_at(c, path, NULL);
    zkt_door_focus(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_ASKED("2 create, 5 parent, 2 children"); /* /t, the path of the test, a, b, c */
    ZKT_MUST(zkr_mutex_release(m));
}

/* When a waiter ahead gives up, one list and one watch give the new place. */
ZKT_CASE(a_waiter_ahead_that_gives_up_costs_one_list)
{
    zkr_client *c[3];
    zkr_mutex *m[3];
    struct zkt_actor actors[3];
    for (int i = 0; i < 3; i++) {
        c[i] = zkt_client(zkt_servers(), LONG_MS);
        m[i] = zkt_mutex(c[i]);
        zkt_actor_queue(&actors[i], c[i], m[i], NULL);
    }
    /* Includes the watches on their own nodes. */
    ZKT_BECOMES(zkt_watches(), 5, PATIENCE_MS);
    zkt_door_focus(c[2]);
    ZKT_MUST(zkr_mutex_cancel(m[1]));
    zkt_actor_is_refused(&actors[1], ZKR_ECANCELED);
    ZKT_ASKS("children, get");
    ZKT_MUST(zkt_actor_end(&actors[0]));
    zkt_actor_is_served(&actors[2]);
    ZKT_ASKED("delete, children, get");
}

/* A thousand threads wait. Each hand-over costs only its delete. */
ZKT_CASE(a_thousand_waiters_drain_at_one_request_each)
{
    enum { WAITERS = 1000 };
    static struct zkt_actor actors[WAITERS];
    zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    for (int i = 0; i < WAITERS; i++) {
        zkt_actor_start(&actors[i], m, ZKR_FOREVER, NULL);
        atomic_store(&actors[i].let_go, true);
    }
    ZKT_BECOMES(zkt_nodes(), WAITERS + 1, 60000);
    ZKT_EVENTUALLY(zkt_watches() >= WAITERS, 60000);
    zkt_door_focus(c);
    ZKT_MUST(zkr_mutex_release(m));
    for (int i = 0; i < WAITERS; i++) {
        ZKT_MUST(zkt_actor_end(&actors[i]));
    }
    ZKT_ASKED("1001 delete");
}

/*
 * Many locks cost one write and the lists behind it, and their release costs one write. A multi-lock of one path costs
 * as much as a mutex.
 */
ZKT_CASE(many_locks_cost_one_write_each_way)
{
    enum { MOST = 100 };
    static char text[MOST][256];
    const char *paths[MOST];
    zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
    for (int i = 0; i < MOST; i++) {
        (void)snprintf(text[i], sizeof(text[i]), "%s/%d", zkt_path(), i);
        paths[i] = text[i];
        assert_int_equal(zkt_create_path(zkt_servers(), paths[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        zkr_multi_lock *l = NULL;
        zkr_ticket *t = NULL;
        ZKT_MUST(zkr_multi_lock_create(&l, c, paths, i ? MOST : 1, NULL));
        zkt_door_focus(c);
        ZKT_MUST(zkr_multi_lock_acquire(l, PATIENCE_MS, &t));
        ZKT_ASKED(i ? "100 children, creates" : "create, children");
        zkt_door_focus(c);
        ZKT_MUST(zkr_ticket_release(t));
        ZKT_MUST(zkr_ticket_destroy(t));
        ZKT_ASKED(i ? "multi" : "delete");
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        ZKT_MUST(zkr_multi_lock_destroy(l));
    }
}

/* An idle client without holds sends only libzookeeper's pings. */
ZKT_CASE(an_idle_client_sends_nothing)
{
    zkr_client *c = zkt_client(zkt_servers(), 1000);
    warm(zkt_mutex(c), c);
    zkt_sleep_ms(300); /* for the last nudge timer */
    zkt_door_focus(c);
    zkt_sleep_ms(2000);
    ZKT_ASKED("");
}

/* --- readers and writers --- */

/*
 * Any number of readers may wait behind a writer of the same client. The release of the writer grants them all
 * with one delete.
 */
ZKT_CASE(readers_behind_a_writer_of_the_client_need_no_list)
{
    enum { MANY = 40 };
    zkr_ticket *t[MANY];
    zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
    struct sides s = sides_of(c);
    warm(s.w, c);
    ZKT_MUST(zkr_mutex_acquire(s.w, PATIENCE_MS));
    zkt_door_focus(c);
    for (int i = 0; i < MANY; i++) {
        ZKT_MUST(zkr_mutex_request(s.r, ZKR_FOREVER, NULL, NULL, &t[i]));
    }
    ZKT_ASKS("40 create, 40 get"); /* the gets are for their own nodes */
    assert_int_equal(zkt_waiting(c), MANY);
    zkt_door_focus(c);
    ZKT_MUST(zkr_mutex_release(s.w));
    for (int i = 0; i < MANY; i++) {
        ZKT_MUST(zkr_ticket_wait(t[i], PATIENCE_MS));
    }
    ZKT_ASKED("delete");
    for (int i = 0; i < MANY; i++) {
        ZKT_MUST(zkr_ticket_release(t[i]));
        ZKT_MUST(zkr_ticket_destroy(t[i]));
    }
    ZKT_ASKED("41 delete");
}

/* A reader behind other readers costs as much as one at a free lock. */
ZKT_CASE(a_reader_among_readers_costs_as_much)
{
    zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
    struct sides a = sides_of(zkt_client(zkt_servers(), LONG_MS)), b = sides_of(c);
    ZKT_MUST(zkr_mutex_acquire(a.r, PATIENCE_MS));
    zkt_door_focus(c);
    ZKT_MUST(zkr_mutex_acquire(b.r, 0));
    ZKT_ASKED("create, children");
    ZKT_MUST(zkr_mutex_release(b.r));
    ZKT_MUST(zkr_mutex_release(a.r));
}

/* A reader behind several writers waits only for the nearest one, whatever the others do. */
ZKT_CASE(a_reader_behind_writers_wakes_once)
{
    enum { WRITERS = 5 };
    zkr_client *one = zkt_client(zkt_servers(), LONG_MS);
    zkr_client *two = zkt_client(zkt_servers(), LONG_MS);
    struct sides a = sides_of(one), b = sides_of(two);
    struct zkt_actor writers[WRITERS], reader;
    for (int i = 0; i < WRITERS; i++) {
        zkt_actor_queue(&writers[i], one, a.w, NULL);
    }
    zkt_door_focus(two);
    zkt_actor_start(&reader, b.r, ZKR_FOREVER, NULL);
    for (int i = 0; i < WRITERS; i++) {
        ZKT_ASKS("create, children, 2 get"); /* one get is for its own node, later */
        zkt_actor_is_served(&writers[i]);
    }
    ZKT_MUST(zkt_actor_acquired(&reader));
    ZKT_ASKED("create, 2 children, 2 get");
    ZKT_MUST(zkt_actor_end(&reader));
}

/*
 * Reading during a write hold costs nothing. A downgrade costs one transaction, and grants the readers of this client
 * without a request.
 */
ZKT_CASE(a_downgrade_costs_one_transaction)
{
    zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
    struct sides s = sides_of(c);
    struct zkt_actor reader;
    ZKT_MUST(zkr_mutex_acquire(s.w, PATIENCE_MS));
    ZKT_BECOMES(zkt_watches(), 1, PATIENCE_MS);
    zkt_actor_start(&reader, s.r, ZKR_FOREVER, NULL);
    ZKT_BECOMES(zkt_watches(), 2, PATIENCE_MS);
    zkt_door_focus(c);
    ZKT_MUST(zkr_mutex_acquire(s.r, 0));
    ZKT_ASKED("");
    ZKT_MUST(zkr_mutex_release(s.w));
    ZKT_MUST(zkt_actor_acquired(&reader));
    ZKT_ASKS("get, multi"); /* the get sets the watch on the new node, later */
    ZKT_MUST(zkt_actor_end(&reader));
    ZKT_MUST(zkr_mutex_release(s.r));
}

/* --- permits --- */

/*
 * After a release, the first waiter for permits lists once, whatever its number of permits. Waiters behind it do
 * nothing.
 */
ZKT_CASE(a_release_costs_one_list_of_the_first)
{
    zkr_client *c[3];
    zkr_semaphore *s[3];
    for (int i = 0; i < 3; i++) {
        c[i] = zkt_client(zkt_servers(), LONG_MS);
        s[i] = semaphore(c[i], 3);
    }
    zkr_ticket *one = take(s[0], 1), *two = take(s[0], 2);
    zkr_ticket *many = queue_for(s[1], 3, NULL), *last = queue_for(s[2], 1, NULL);
    ZKT_EVENTUALLY(zkt_watches() >= 8,
                   PATIENCE_MS); /* their own nodes, one node ahead, and the leases */
    zkt_sleep_ms(SOON_MS);
    zkt_door_focus(c[1]);
    end(one);
    ZKT_ASKS("children");
    ZKT_EVENTUALLY(zkt_all_answered(c[1]),
                   PATIENCE_MS); /* otherwise one list may show both releases */
    end(two);
    ZKT_MUST(zkr_ticket_wait(many, PATIENCE_MS));
    ZKT_ASKS("delete, 2 children"); /* the delete removes the node in PATH/locks */
    zkt_door_focus(c[2]);
    ZKT_ASKED("");
    end(many);
    ZKT_MUST(zkr_ticket_wait(last, PATIENCE_MS));
    end(last);
}

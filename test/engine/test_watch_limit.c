/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit for the bytes of one client's watches: on the fake, with a lower limit than with servers. A claim whose
 * watch does not fit fails.
 */
#include <stdio.h>
#include <string.h>

#include "on_fake.h"
#include "queue/claim.h"

enum { OF_STRANGER = 4 + sizeof("/lock/x-lock-0000000000") - 1 };
enum {
    OF_MUTEX =
        4 + sizeof("/lock/_c_00000000-0000-4000-8000-000000000000-lock-") - 1 + 10
};
enum { MANY = 100000 };

static const char *const ahead = "/lock/x-lock-0000000000";

static void limit_to(zkr_client *c, int64_t needed, int64_t spare)
{
    c->watch_most = (struct zkr__watch_bytes){.needed = needed, .spare = spare};
    c->link->watches.most = c->watch_most;
}

/* Check that claims and counts of semaphores have returned what they had reserved, and that no event is awaited. */
static void nothing_is_needed(const zkr_client *c)
{
    assert_int_equal(c->watch_reserved, 0);
    assert_int_equal(c->link->watches.bytes.needed, 0);
}

static void stand_stranger(const char *dir)
{
    char path[64];
    assert_true(zkf_stranger_create(dir, false));
    (void)snprintf(path, sizeof(path), "%s/x-lock-", dir);
    assert_true(zkf_stranger_create(path, true));
}

static int nodes_of(const zkr_client *c)
{
    int count = 0;
    for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
        count += n->owner == c->session_id;
    }
    return count;
}

static void is_now(zkr_ticket *t, int state)
{
    assert_int_equal(zkr_ticket_state(t), state);
}

static void no_room(zkr_ticket *t)
{
    is_now(t, ZKR_TICKET_FAILED);
    ZKT_RC(zkr_ticket_error(t), ZKR_ELIMIT);
    assert_non_null(strstr(zkr_last_error()->message, "850000"));
    assert_non_null(strstr(zkr_last_error()->message, "use a second client"));
}

static void delete_node_of(zkr_client *c, const char *dir, int which)
{
    const struct zkr__engine *engine = c->engine;
    const struct zkr__claim *claim = engine->claims;
    while (claim && (strcmp(claim->q->dir, dir) != 0 || which-- > 0)) {
        claim = claim->next;
    }
    assert_non_null(claim);
    assert_true(zkf_stranger_delete(claim->node));
}

static void end_here(zkr_ticket *t)
{
    (void)zkr_ticket_release(t);
    ZKT_MUST(zkr_ticket_destroy(t));
}

static int gets; /* gets of the client */

static void count_gets(struct zkr__op *op)
{
    gets += op->kind == ZKR__OP_GET;
}

/* --- waiters --- */

/* A waiter behind a node of another client fails, and its node is deleted. With room for the watch, it waits. */
ZKT_UNIT_CASE(a_waiter_without_room_fails)
{
    zkr_client *c = open_client(NULL);
    zkr_mutex *m = mutex_at(c, "/lock", NULL);
    stand_stranger("/lock");
    limit_to(c, OF_STRANGER - 1, MANY);
    zkr_ticket *t = ask(m, ZKR_FOREVER);
    zkf_pass(c, SECOND);
    no_room(t);
    assert_string_equal(zkr_last_error()->path, "/lock");
    assert_int_equal(nodes_of(c), 0);
    limit_to(c, OF_STRANGER, MANY);
    t = ask(m, ZKR_FOREVER);
    zkf_pass(c, SECOND);
    is_now(t, ZKR_TICKET_WAITING);
    assert_true(zkf_stranger_delete(ahead));
    zkf_pass(c, SECOND);
    is_now(t, ZKR_TICKET_HELD);
    nothing_is_needed(c);
}

static void delete_ahead(struct zkr__op *op)
{
    if (op->kind == ZKR__OP_DELETE) {
        (void)zkf_stranger_delete(ahead);
    }
}

/* A waiter that fails does not block the one behind it, which waits for a node of the same client. */
ZKT_UNIT_CASE(a_waiter_behind_one_that_fails_goes_on)
{
    zkr_client *c = open_client(NULL);
    zkr_mutex *m = mutex_at(c, "/lock", NULL);
    stand_stranger("/lock");
    limit_to(c, 0, MANY);
    between.on_submit = delete_ahead;
    zkr_ticket *first = ask(m, ZKR_FOREVER), *second = ask(m, ZKR_FOREVER);
    zkf_pass(c, SECOND);
    no_room(first);
    is_now(second, ZKR_TICKET_HELD);
}

/*
 * The node of a waiter is deleted, and there is no room for its watch. The waiter sends no requests, and queues again
 * at its turn.
 */
ZKT_UNIT_CASE(a_waiter_without_a_watch_sees_at_its_turn_that_it_was_evicted)
{
    zkr_client *c = open_client(NULL);
    zkr_mutex *m = mutex_at(c, "/lock", NULL);
    limit_to(c, MANY, 0);
    zkr_ticket *first = hold(c, m), *second = ask(m, ZKR_FOREVER),
               *third = ask(m, ZKR_FOREVER);
    zkf_pass(c, SECOND);
    delete_node_of(c, "/lock", 1);
    gets = 0;
    between.on_submit = count_gets;
    zkf_pass(c, 10 * ZKF_SESSION_MS);
    is_now(second, ZKR_TICKET_WAITING);
    assert_int_equal(gets, 0);
    end(first);
    zkf_pass(c, SECOND);
    is_now(second, ZKR_TICKET_WAITING);
    is_now(third, ZKR_TICKET_HELD);
    end(third);
    zkf_pass(c, SECOND);
    is_now(second, ZKR_TICKET_HELD);
    assert_int_equal(nodes_of(c), 1);
}

/* --- holders --- */

/*
 * The room for the watch is reserved, or the request is refused before it costs anything. Waiters do not get that room.
 */
ZKT_UNIT_CASE(a_holder_with_watch_node_is_always_watched)
{
    enum { HOLDS = 2 };
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.watch_node = 1;
    zkr_client *c = open_client(NULL);
    zkr_mutex *watched = mutex_at(c, "/held", &o), *m = mutex_at(c, "/lock", NULL);
    zkr_ticket *t[HOLDS];
    stand_stranger("/lock");
    limit_to(c, HOLDS * OF_MUTEX + OF_STRANGER - 1, 0);
    for (int i = 0; i < HOLDS; i++) {
        t[i] = ask(watched, ZKR_FOREVER);
    }
    int64_t sent = c->stats.requests;
    no_room(ask(watched, ZKR_FOREVER));
    assert_int_equal(c->stats.requests, sent);
    zkr_ticket *waits = ask(m, ZKR_FOREVER);
    zkf_pass(c, SECOND);
    no_room(waits);
    is_now(t[0], ZKR_TICKET_HELD);
    zkf_expire(zkr_client_session_id(c));
    zkf_pass(c, SECOND);
    is_now(t[0], ZKR_TICKET_LOST);
    is_now(t[1], ZKR_TICKET_HELD);
    assert_int_equal(c->watch_reserved, OF_MUTEX);
    assert_int_equal(c->link->watches.bytes.needed, OF_MUTEX);
    delete_node_of(c, "/held", 1);
    zkf_pass(c, 100);
    is_now(t[1], ZKR_TICKET_LOST);
    nothing_is_needed(c);
}

/* Without watch_node, a hold may have no watch. The lease probe notices the deletion of its node. */
ZKT_UNIT_CASE(a_holder_without_a_watch_is_probed)
{
    zkr_client *c = open_client(NULL);
    limit_to(c, MANY, 0);
    zkr_ticket *t = hold(c, mutex_at(c, "/lock", NULL));
    zkf_pass(c, SECOND);
    delete_node_of(c, "/lock", 0);
    gets = 0;
    between.on_submit = count_gets;
    zkf_pass(c, ZKF_SESSION_MS);
    is_now(t, ZKR_TICKET_LOST);
    assert_int_equal(gets, 0);
}

/* A kept node gets the watch that the next hold through it needs. */
ZKT_UNIT_CASE(a_kept_node_is_watched_for_who_needs_it)
{
    zkr_mutex_options keeps = ZKR_MUTEX_OPTIONS_INIT, both = ZKR_MUTEX_OPTIONS_INIT;
    keeps.keep_ms = both.keep_ms = 100 * ZKF_SESSION_MS;
    both.watch_node = 1;
    zkr_client *c = open_client(NULL);
    zkr_mutex *m = mutex_at(c, "/lock", &keeps), *watched = mutex_at(c, "/lock", &both);
    limit_to(c, OF_MUTEX - 1, sizeof("/lock") - 1 + 4);
    end(hold(c, m));
    zkf_pass(c, SECOND);
    no_room(ask(watched, ZKR_FOREVER));
    limit_to(c, OF_MUTEX, sizeof("/lock") - 1 + 4);
    zkr_ticket *t = hold(c, watched);
    assert_int_equal(nodes_of(c), 1);
    assert_int_equal(c->watch_reserved, OF_MUTEX);
    delete_node_of(c, "/lock", 0);
    zkf_pass(c, 100);
    is_now(t, ZKR_TICKET_LOST);
    nothing_is_needed(c);
}

/* There was no room for the watch of a kept node. The watch is on its way when the next holder needs it. */
ZKT_UNIT_CASE(a_kept_node_is_watched_for_who_takes_it_at_once)
{
    zkr_mutex_options keeps = {.size = sizeof(keeps), .data = "me", .data_len = 2};
    keeps.keep_ms = 100 * ZKF_SESSION_MS;
    zkr_mutex_options both = keeps;
    both.watch_node = 1;
    zkr_client *c = open_client(NULL);
    zkr_mutex *m = mutex_at(c, "/lock", &keeps), *watched = mutex_at(c, "/lock", &both);
    limit_to(c, MANY, sizeof("/lock") - 1 + 4);
    end(hold(c, m));
    zkr_ticket *t = ask(watched, ZKR_FOREVER);
    is_now(t, ZKR_TICKET_HELD);
    zkf_pass(c, SECOND);
    delete_node_of(c, "/lock", 0);
    zkf_pass(c, 100);
    is_now(t, ZKR_TICKET_LOST);
    nothing_is_needed(c);
}

/* --- several nodes --- */

/* A path that is free needs its watch as much as the held one. Either all watches fit, or the request fails. */
ZKT_UNIT_CASE(several_locks_need_their_watches)
{
    static const char *const paths[] = {"/free", "/lock"};
    zkr_client *c = open_client(NULL);
    zkr_multi_lock *several = NULL;
    zkr_ticket *t = NULL;
    stand_stranger("/lock");
    ZKT_MUST(zkr_multi_lock_create(&several, c, paths, 2, NULL));
    for (int room = 0; room < 3; room++) {
        limit_to(c,
                 room == 0   ? OF_STRANGER - 1
                 : room == 1 ? OF_STRANGER + OF_MUTEX - 1
                             : OF_STRANGER + OF_MUTEX,
                 0);
        ZKT_MUST(zkr_multi_lock_request(several, ZKR_FOREVER, NULL, NULL, &t));
        zkf_pass(c, SECOND);
        if (room < 2) {
            no_room(t);
            assert_int_equal(nodes_of(c), 0);
            ZKT_MUST(zkr_ticket_destroy(t));
        }
    }
    is_now(t, ZKR_TICKET_WAITING);
    delete_node_of(c, "/free", 0);
    zkf_pass(c, SECOND);
    assert_int_equal(nodes_of(c), 2);
    assert_true(zkf_stranger_delete(ahead));
    zkf_pass(c, SECOND);
    is_now(t, ZKR_TICKET_HELD);
    end_here(t);
    ZKT_MUST(zkr_multi_lock_destroy(several));
    zkf_pass(c, SECOND);
    nothing_is_needed(c);
}

/* With watch_node, either all watches fit, or no node is created. */
ZKT_UNIT_CASE(several_locks_reserve_their_watches)
{
    static const char *const paths[] = {"/held", "/lock"};
    zkr_multi_lock_options o = ZKR_MULTI_LOCK_OPTIONS_INIT;
    o.watch_node = 1;
    zkr_client *c = open_client(NULL);
    zkr_multi_lock *several = NULL;
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_multi_lock_create(&several, c, paths, 2, &o));
    limit_to(c, 2 * OF_MUTEX - 1, 0);
    int64_t sent = c->stats.requests;
    ZKT_MUST(zkr_multi_lock_request(several, ZKR_FOREVER, NULL, NULL, &t));
    no_room(t);
    assert_int_equal(c->stats.requests, sent);
    nothing_is_needed(c);
    ZKT_MUST(zkr_ticket_destroy(t));
    limit_to(c, 2 * OF_MUTEX, 0);
    ZKT_MUST(zkr_multi_lock_request(several, ZKR_FOREVER, NULL, NULL, &t));
    zkf_pass(c, SECOND);
    is_now(t, ZKR_TICKET_HELD);
    delete_node_of(c, "/lock", 0);
    zkf_pass(c, 100);
    is_now(t, ZKR_TICKET_LOST);
    ZKT_MUST(zkr_ticket_destroy(t));
    ZKT_MUST(zkr_multi_lock_destroy(several));
    zkf_pass(c, SECOND);
    nothing_is_needed(c);
}

static void stand_lessee(void)
{
    assert_true(zkf_stranger_create("/permits", false));
    assert_true(zkf_stranger_create("/permits/leases", false));
    assert_true(zkf_stranger_create("/permits/leases/x-lease-", true));
}

/*
 * A waiter for a permit watches the children of PATH/leases and its node in PATH/locks. A contender that gets a free
 * permit needs no watch.
 */
ZKT_UNIT_CASE(permits_need_their_watches)
{
    zkr_client *c = open_client(NULL);
    zkr_semaphore *s = NULL;
    zkr_ticket *t = NULL, *free = NULL;
    stand_lessee();
    ZKT_MUST(zkr_semaphore_create(&s, c, "/permits", 2, NULL));
    limit_to(c, 0, 0);
    ZKT_MUST(zkr_semaphore_request(s, 1, ZKR_FOREVER, NULL, NULL, &free));
    zkf_pass(c, SECOND);
    is_now(free, ZKR_TICKET_HELD);
    for (int room = 0; room < 2; room++) {
        limit_to(c, room ? MANY : 0, 0);
        ZKT_MUST(zkr_semaphore_request(s, 1, ZKR_FOREVER, NULL, NULL, &t));
        zkf_pass(c, SECOND);
        if (!room) {
            no_room(t);
            assert_int_equal(nodes_of(c), 1);
            ZKT_MUST(zkr_ticket_destroy(t));
        }
    }
    is_now(t, ZKR_TICKET_WAITING);
    assert_true(zkf_stranger_delete("/permits/leases/x-lease-0000000000"));
    zkf_pass(c, SECOND);
    is_now(t, ZKR_TICKET_HELD);
    end_here(t);
    end_here(free);
    ZKT_MUST(zkr_semaphore_destroy(s));
}

/* --- observers --- */

/*
 * Without this watch, no permit of the semaphore would ever be granted, and no call would report why. So it is set in
 * any case.
 */
ZKT_UNIT_CASE(a_maximum_is_always_watched)
{
    static const char one[] = {0, 0, 0, 1}, two[] = {0, 0, 0, 2};
    zkr_semaphore_options o = {.size = sizeof(o), .max_from = "/max"};
    zkr_client *c = open_client(NULL);
    zkr_semaphore *s = NULL;
    zkr_ticket *t[2];
    assert_true(zkf_stranger_create("/max", false));
    assert_true(zkf_stranger_set("/max", one, sizeof(one)));
    limit_to(c, 0, 0);
    ZKT_MUST(zkr_semaphore_create(&s, c, "/permits", 1, &o));
    zkf_pass(c, SECOND);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(c->link->watches.bytes.needed, 4 + strlen("/max"));
        ZKT_MUST(zkr_semaphore_request(s, 1, ZKR_FOREVER, NULL, NULL, &t[i]));
        zkf_pass(c, SECOND);
        is_now(t[i], ZKR_TICKET_HELD);
        assert_true(zkf_stranger_set("/max", two, sizeof(two)));
        zkf_pass(c, SECOND);
    }
    end_here(t[0]);
    end_here(t[1]);
    ZKT_MUST(zkr_semaphore_destroy(s));
}

/* Each call reads again. */
ZKT_UNIT_CASE(contenders_without_room_are_not_watched)
{
    zkr_client *c = open_client(NULL);
    zkr_mutex *m = mutex_at(c, "/lock", NULL);
    stand_stranger("/lock");
    limit_to(c, 4 + sizeof("/lock") - 2, MANY);
    ZKT_RC(zkr_mutex_watch(m, 0), ZKR_ETIMEDOUT); /* sent, but not answered yet */
    zkf_pass(c, SECOND);
    ZKT_RC(zkr_mutex_watch(m, 0), ZKR_ELIMIT);
    limit_to(c, 4 + sizeof("/lock") - 1, MANY);
    zkf_pass(c, SECOND);
    ZKT_RC(zkr_mutex_watch(m, 0), ZKR_ELIMIT); /* the result of the last read */
    zkf_pass(c, SECOND);
    ZKT_RC(zkr_mutex_watch(m, 0), ZKR_ETIMEDOUT);
    assert_true(zkf_stranger_delete(ahead));
    zkf_pass(c, SECOND);
    ZKT_RC(zkr_mutex_watch(m, 0), ZKR_ETIMEDOUT); /* the watch was triggered */
    zkf_pass(c, SECOND);
    ZKT_RC(zkr_mutex_watch(m, 0), ZKR_OK);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The promises of the read-write lock without faults. */
#include <stdio.h>
#include <string.h>

#include "rwlocks.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000, READERS = 6 };

/* A reader does not overtake a waiting writer. The reader that holds may acquire again meanwhile. */
ZKT_CASE(a_waiting_writer_is_not_overtaken)
{
    struct sides a = new_sides(), b = new_sides();
    struct zkt_actor writer, reader;
    atomic_int turn = 0;
    ZKT_MUST(zkr_mutex_acquire(a.r, PATIENCE_MS));
    zkt_actor_queue(&writer, b.c, b.w, &turn);
    zkt_actor_queue(&reader, a.c, a.r, &turn);
    ZKT_MUST(zkr_mutex_acquire(a.r, PATIENCE_MS));
    assert_int_equal(zkr_mutex_depth(a.r), 2);
    ZKT_MUST(zkr_mutex_release(a.r));
    assert_int_equal(atomic_load(&turn), 0);
    ZKT_MUST(zkr_mutex_release(a.r));
    ZKT_MUST(zkt_actor_acquired(&writer));
    assert_int_equal(atomic_load(&turn), 1);
    assert_int_equal(zkt_waiting(a.c), 1);
    ZKT_MUST(zkt_actor_end(&writer));
    ZKT_MUST(zkt_actor_acquired(&reader));
    assert_true(reader.token > writer.token);
    ZKT_MUST(zkt_actor_end(&reader));
}

/* The release of a writer admits all readers behind it, of this client and of others. */
ZKT_CASE(a_writer_lets_all_readers_in)
{
    struct sides a = new_sides(), b = new_sides();
    struct zkt_actor readers[2 * READERS];
    ZKT_MUST(zkr_mutex_acquire(a.w, PATIENCE_MS));
    for (int i = 0; i < READERS; i++) {
        zkt_actor_queue(&readers[2 * i], a.c, a.r, NULL);
        zkt_actor_queue(&readers[2 * i + 1], b.c, b.r, NULL);
    }
    ZKT_MUST(zkr_mutex_release(a.w));
    for (int i = 0; i < 2 * READERS; i++) {
        ZKT_MUST(zkt_actor_acquired(&readers[i]));
    }
    for (int i = 0; i < 2 * READERS; i++) {
        ZKT_MUST(zkt_actor_end(&readers[i]));
    }
}

/* With wait_on_release, a release of either side returns when the node is deleted. */
ZKT_CASE(a_release_of_a_side_can_wait_for_the_delete)
{
    struct sides s =
        SIDES_WITH(zkt_client(zkt_servers(), SESSION_MS), .wait_on_release = 1);
    for (int i = 0; i < 20; i++) {
        zkt_in_and_out(i % 2 ? s.w : s.r);
        ZKT_MUST(zkr_client_flush(s.c, 0));
        assert_int_equal(zkt_nodes(), 0);
    }
}

/* --- both at once --- */

/* A writer reads without a request, with the same hold. Each side counts its own depth. */
ZKT_CASE(a_writer_may_read)
{
    char node[256], same[256];
    struct sides s = new_sides();
    ZKT_MUST(zkr_mutex_acquire(s.w, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_acquire(s.w, 0));
    zkt_door_focus(s.c);
    ZKT_MUST(zkr_mutex_acquire(s.r, 0));
    ZKT_MUST(zkr_mutex_acquire(s.r, ZKR_FOREVER));
    assert_int_equal(zkt_door_count(ZKR__OP_CREATE), 0);
    assert_int_equal(zkr_mutex_depth(s.r), 2);
    assert_int_equal(zkr_mutex_depth(s.w), 2);
    assert_true(zkr_mutex_is_held(s.r) && zkr_mutex_is_held_in_process(s.r));
    assert_true(zkr_mutex_valid_for_ms(s.r) > 0);
    assert_int_equal(token_of(s.r), token_of(s.w));
    ZKT_MUST(zkr_mutex_node(s.r, node, sizeof(node)));
    ZKT_MUST(zkr_mutex_node(s.w, same, sizeof(same)));
    assert_string_equal(node, same);
    assert_int_equal(zkt_nodes(), 1);
    ZKT_MUST(zkr_mutex_release(s.r));
    ZKT_MUST(zkr_mutex_release(s.w));
    ZKT_MUST(zkr_mutex_release(s.r));
    ZKT_RC(zkr_mutex_release(s.r), ZKR_ENOTOWNER);
    assert_false(zkr_mutex_is_held(s.r));
    assert_true(zkr_mutex_is_held(s.w));
    ZKT_MUST(zkr_mutex_release(s.w));
    assert_int_equal(zkt_door_count(ZKR__OP_MULTI), 0);
}

/* A reader that acquires the write side gets ZKR_EDEADLK at once, whatever the timeout. */
ZKT_CASE(a_reader_cannot_become_a_writer)
{
    static const int64_t timeouts[] = {0, PATIENCE_MS, ZKR_FOREVER};
    struct sides s = new_sides();
    ZKT_MUST(zkr_mutex_acquire(s.r, PATIENCE_MS));
    zkt_door_focus(s.c);
    for (size_t i = 0; i < sizeof(timeouts) / sizeof(timeouts[0]); i++) {
        ZKT_RC(zkr_mutex_acquire(s.w, timeouts[i]), ZKR_EDEADLK);
    }
    assert_int_equal(zkt_door_count(ZKR__OP_CREATE), 0);
    assert_int_equal(zkr_mutex_depth(s.w), 0);
    assert_true(zkr_mutex_is_held(s.r));
    ZKT_MUST(zkr_mutex_release(s.r));
    zkt_in_and_out(s.w);
}

/* --- downgrade --- */

/*
 * The READ node has the sequence number and the GUID of the WRIT node, and the hold keeps its token. The lock is held
 * all the time.
 */
ZKT_CASE(a_downgrade_keeps_the_place)
{
    char before[256], after[256], turned[256];
    struct sides s = new_sides();
    hold_both(&s);
    int64_t token = token_of(s.w);
    ZKT_MUST(zkr_mutex_node(s.w, before, sizeof(before)));
    zkt_door_focus(s.c);
    ZKT_MUST(zkr_mutex_release(s.w));
    assert_true(zkr_mutex_is_held(s.r));
    assert_false(zkr_mutex_is_held(s.w));
    assert_int_equal(zkr_mutex_depth(s.w), 0);
    ZKT_RC(zkr_mutex_release(s.w), ZKR_ENOTOWNER);
    ZKT_RC(zkr_mutex_acquire(s.w, 0), ZKR_EDEADLK);
    assert_int_equal(token_of(s.r), token);
    ZKT_MUST(zkr_mutex_node(s.r, after, sizeof(after)));
    char *prefix = strstr(before, "__WRIT__");
    assert_non_null(prefix);
    (void)snprintf(turned, sizeof(turned), "%.*s__READ__%s", (int)(prefix - before),
                   before, prefix + 8);
    assert_string_equal(after, turned);
    ZKT_EVENTUALLY(zkt_exists(zkt_servers(), after), PATIENCE_MS);
    assert_int_equal(zkt_nodes(), 1);
    assert_int_equal(zkt_door_count(ZKR__OP_MULTI), 1);
    /* The get sets the watch on the new node. */
    ZKT_BECOMES(zkt_door_count(ZKR__OP_GET), 1, PATIENCE_MS);
    assert_int_equal(token_of(s.r), token);
    assert_true(zkr_mutex_is_held(s.r));
    ZKT_MUST(zkr_mutex_release(s.r));
    ZKT_MUST(zkr_client_flush(s.c, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 0);
}

/* A downgrade admits the readers that are next in the queue, those of the same client at once, and no writer. */
ZKT_CASE(a_downgrade_lets_readers_in_and_no_writer)
{
    struct sides a = new_sides(), b = new_sides();
    struct zkt_actor near, far, writer, late;
    hold_both(&a);
    int64_t token = token_of(a.r);
    zkt_actor_queue(&near, a.c, a.r, NULL);
    zkt_actor_queue(&far, b.c, b.r, NULL);
    zkt_actor_queue(&writer, b.c, b.w, NULL);
    zkt_actor_queue(&late, a.c, a.r, NULL);
    ZKT_MUST(zkr_mutex_release(a.w));
    ZKT_MUST(zkt_actor_acquired(&near));
    ZKT_MUST(zkt_actor_acquired(&far));
    ZKT_MUST(zkt_actor_end(&near));
    ZKT_MUST(zkt_actor_end(&far));
    ZKT_MUST(zkr_client_flush(a.c, PATIENCE_MS));
    ZKT_MUST(zkr_client_flush(b.c, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 3);
    assert_int_equal(zkt_waiting(b.c), 1);
    assert_int_equal(zkt_waiting(a.c), 1);
    ZKT_MUST(zkr_mutex_release(a.r));
    ZKT_MUST(zkt_actor_acquired(&writer));
    assert_true(writer.token > token);
    ZKT_MUST(zkt_actor_end(&writer));
    zkt_actor_is_served(&late);
}

/* A writer or mutex right behind the WRIT node, of either client, is not granted when that node is deleted. */
ZKT_CASE(a_downgrade_grants_nobody_who_holds_alone)
{
    for (int way = 0; way < 4; way++) {
        zkr_client *one = zkt_client(zkt_servers(), SESSION_MS);
        zkr_client *two = zkt_client(zkt_servers(), SESSION_MS);
        zkr_client *next = way & 1 ? one : two;
        struct sides a = sides_of(one), b = sides_of(next);
        zkr_mutex *m = zkt_mutex(next);
        struct zkt_actor actor;
        hold_both(&a);
        zkt_actor_queue(&actor, next, way & 2 ? m : b.w, NULL);
        zkt_sleep_ms(150); /* time for the watch on its own node, too */
        zkt_door_focus(next);
        ZKT_MUST(zkr_mutex_release(a.w));
        ZKT_BECOMES(zkt_door_count(ZKR__OP_CHILDREN), 1, PATIENCE_MS);
        ZKT_MUST(zkr_client_flush(one, PATIENCE_MS));
        zkt_sleep_ms(100);
        assert_int_equal(atomic_load(&actor.acquired), ZKT_NOT_YET);
        assert_true(zkr_mutex_is_held(a.r));
        ZKT_MUST(zkr_mutex_release(a.r));
        zkt_actor_is_served(&actor);
    }
}

/* The read side is released right after the downgrade, before either request is answered. No node is left. */
ZKT_CASE(a_downgrade_may_be_released_at_once)
{
    struct sides s = new_sides();
    struct zkt_actor writer;
    for (int i = 0; i < 20; i++) {
        hold_both(&s);
        zkt_actor_queue(&writer, s.c, s.w, NULL);
        ZKT_MUST(zkr_mutex_release(s.w));
        ZKT_MUST(zkr_mutex_release(s.r));
        zkt_actor_is_served(&writer);
        ZKT_MUST(zkr_client_flush(s.c, PATIENCE_MS));
        assert_int_equal(zkt_nodes(), 0);
    }
}

/* --- beside others --- */

/*
 * A downgrade as Curator makes it since 5.5: it creates a READ node with the same number beside the WRIT node, and then
 * deletes the WRIT node. Our readers are admitted, and our writer waits until the READ node is deleted.
 */
ZKT_CASE(a_downgrade_as_curator_makes_it)
{
    char asked[300], writer[300], reader[300];
    struct sides s = new_sides();
    struct zkt_actor reads, writes;
    zkt_raw *other = zkt_raw_open(zkt_servers(), SESSION_MS);
    assert_non_null(other);
    ZKT_MUST(zkr_mutex_acquire(s.r, PATIENCE_MS)); /* creates the parents */
    ZKT_MUST(zkr_mutex_release(s.r));
    ZKT_MUST(zkr_client_flush(s.c, PATIENCE_MS));
    (void)snprintf(asked, sizeof(asked),
                   "%s/_c_ffffffff-0000-4000-8000-000000000000-__WRIT__", zkt_path());
    const zkt_node write = {.path = asked, .flags = ZKT_EPHEMERAL | ZKT_SEQUENCE};
    assert_int_equal(zkt_raw_create(other, &write, writer, sizeof(writer)), 0);
    zkt_actor_queue(&writes, s.c, s.w, NULL);
    (void)snprintf(reader, sizeof(reader),
                   "%s/_c_00000000-0000-4000-8000-000000000000-__READ__%s", zkt_path(),
                   writer + strlen(writer) - 10);
    const zkt_node read = {.path = reader, .flags = ZKT_EPHEMERAL};
    assert_int_equal(zkt_raw_create(other, &read, NULL, 0), 0);
    ZKT_RC(zkr_mutex_acquire(s.r, 0), ZKR_ETIMEDOUT);
    assert_int_equal(zkt_raw_delete(other, writer), 0);
    zkt_actor_queue(&reads, s.c, s.r, NULL); /* behind our writer */
    assert_int_equal(atomic_load(&writes.acquired), ZKT_NOT_YET);
    assert_int_equal(zkt_raw_delete(other, reader), 0);
    ZKT_MUST(zkt_actor_acquired(&writes));
    assert_int_equal(atomic_load(&reads.acquired), ZKT_NOT_YET);
    ZKT_MUST(zkt_actor_end(&writes));
    ZKT_MUST(zkt_actor_end(&reads));
    assert_int_equal(zkt_raw_close(other), 0);
}

/* Tickets of readers hold together, and a writer's ticket waits for them. The calling thread holds nothing. */
ZKT_CASE(tickets_of_both_sides)
{
    struct sides s = new_sides();
    zkr_ticket *readers[3];
    for (int i = 0; i < 3; i++) {
        readers[i] = zkt_ticket(s.r);
        ZKT_MUST(zkr_ticket_wait(readers[i], PATIENCE_MS));
    }
    zkr_ticket *writer = zkt_ticket(s.w);
    ZKT_RC(zkr_ticket_wait(writer, 100), ZKR_ETIMEDOUT);
    ZKT_RC(zkr_rwlock_destroy(s.l), ZKR_EBUSY);
    for (int i = 0; i < 3; i++) {
        zkt_end_ticket(readers[i]);
    }
    ZKT_MUST(zkr_ticket_wait(writer, PATIENCE_MS));
}

struct asked {
    atomic_int reader, writer;
    struct sides s;
};

static void on_revoke(zkr_mutex *m, void *ctx)
{
    struct asked *a = ctx;
    atomic_fetch_add(m == a->s.r ? &a->reader : &a->writer, 1);
}

/*
 * A revocation request goes to the side that is held. It goes to the write side if both are held, and to the read side
 * after a downgrade.
 */
ZKT_CASE(the_side_that_holds_is_asked)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides o = sides_of(zkt_client(zkt_servers(), SESSION_MS));
    struct asked a = {0};
    a.s = SIDES_WITH(c, .on_revoke = on_revoke, .on_revoke_ctx = &a);
    ZKT_MUST(zkr_mutex_acquire(a.s.r, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_revoke(zkt_settled(o.w)));
    ZKT_BECOMES(atomic_load(&a.reader), 1, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(a.s.r));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_acquire(a.s.w, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_acquire(a.s.r, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_revoke(zkt_settled(o.r)));
    ZKT_BECOMES(atomic_load(&a.writer), 1, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(a.s.w));
    ZKT_EVENTUALLY(zkr_mutex_revoke(o.w) == ZKR_OK && atomic_load(&a.reader) > 1,
                   PATIENCE_MS);
    assert_int_equal(atomic_load(&a.writer), 1);
    ZKT_MUST(zkr_mutex_release(a.s.r));
}

/* Both sides list all contenders, in order. */
ZKT_CASE(either_side_lists_all)
{
    struct sides s = new_sides();
    struct zkt_actor writer;
    ZKT_MUST(zkr_mutex_acquire(s.r, PATIENCE_MS));
    zkt_actor_queue(&writer, s.c, s.w, NULL);
    const zkr_contenders *list = zkt_contenders(s.w);
    assert_int_equal(zkr_contenders_count(list), 2);
    assert_non_null(strstr(zkr_contenders_get(list, 0)->node, "__READ__"));
    assert_non_null(strstr(zkr_contenders_get(list, 1)->node, "__WRIT__"));
    assert_true(zkr_contenders_get(list, 0)->fencing_token == token_of(s.r));
    ZKT_MUST(zkr_mutex_cancel(s.w));
    zkt_actor_is_refused(&writer, ZKR_ECANCELED);
    ZKT_MUST(zkr_mutex_release(s.r));
}

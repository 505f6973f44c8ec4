/* SPDX-License-Identifier: Apache-2.0 */
/* Multi-locks: all paths are held or none. */
#include <string.h>

#include <zkr/guard.h>

#include "multi_locks.h"

/* The message names the path that is held by another contender, and how long the call waited. */
ZKT_CASE(it_says_what_is_in_the_way)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_multi_lock *l = MULTI_LOCK(c, 2, 0, 1);
    zkr_mutex *m = zkt_mutex_at(c, path_of(1), NULL);
    zkr_ticket *none = NULL;
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    expect(zkr_multi_lock_acquire(l, 0, &none), ZKR_ETIMEDOUT);
    assert_non_null(strstr(zkr_last_error()->message, path_of(1)));
    expect(zkr_multi_lock_acquire(l, 1000, &none), ZKR_ETIMEDOUT);
    assert_non_null(strstr(zkr_last_error()->message, "not acquired within 1000 ms"));
    ZKT_MUST(zkr_mutex_release(m));
}

/* The position of a multi-lock is its position in the longest of its queues, on whichever path that is. */
ZKT_CASE(its_position_is_that_of_the_longest_queue)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *other = zkt_client(zkt_servers(), SESSION_MS);
    zkr_multi_lock *l = MULTI_LOCK(c, 0, 1, 2);
    for (int longest = 0; longest < 3; longest++) {
        zkr_ticket *ahead[4] = {NULL}, *t = NULL;
        int64_t place = 0;
        /* One ticket waits on each path, and a second one on the path with the longest queue. */
        for (int i = 0; i < 4; i++) {
            zkr_mutex *m = zkt_mutex_at(other, path_of(i < 3 ? i : longest), NULL);
            ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, NULL, NULL, &ahead[i]));
        }
        ZKT_BECOMES(nodes_of(3), 4, PATIENCE_MS);
        ZKT_MUST(zkr_multi_lock_request(l, ZKR_FOREVER, NULL, NULL, &t));
        ZKT_EVENTUALLY(zkr_ticket_position(t, &place) == ZKR_OK && place > 1,
                       PATIENCE_MS);
        assert_int_equal(place, 2);
        zkt_end_ticket(t);
        for (int i = 3; i >= 0; i--) {
            zkt_end_ticket(ahead[i]);
        }
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        ZKT_MUST(zkr_client_flush(other, PATIENCE_MS));
    }
}

/* Guarded writes check every node, and a release with a write deletes every node. */
ZKT_CASE(writes_are_guarded_by_every_node)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_multi_lock *l = MULTI_LOCK(c, 0, 1, 2);
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    for (int gone = -1; gone < 3; gone++) {
        char node[2 * PATH_ROOM], text[16] = "";
        zoo_op_t op, guard;
        zkr_ticket *t = NULL;
        ZKT_MUST(zkr_multi_lock_acquire(l, PATIENCE_MS, &t));
        ZKT_MUST(zkr_ticket_guard(t, &guard));
        ZKT_MUST(zkr_ticket_node(t, node, sizeof(node)));
        assert_string_equal(guard.check_op.path, node);
        zoo_set_op_init(&op, zkt_path(), "new", 3, -1, NULL);
        ZKT_MUST(zkr_ticket_multi(t, 1, &op, NULL, PATIENCE_MS));
        zoo_check_op_init(&op, path_of(7), -1); /* refused; all nodes remain */
        expect(zkr_ticket_multi(t, 1, &op, NULL, PATIENCE_MS), ZKR_ENONODE);
        expect(zkr_ticket_release_multi(t, 1, &op, NULL, PATIENCE_MS), ZKR_ENONODE);
        assert_int_equal(nodes_of(3), 3);
        zoo_set_op_init(&op, zkt_path(), "newer", 5, -1, NULL);
        if (gone >= 0) { /* the write notices, if not the watch */
            last_at(gone, node, sizeof(node));
            assert_int_equal(zkt_delete(zkt_servers(), node), 0);
        }
        int rc = gone == 2 ? zkr_ticket_multi(t, 1, &op, NULL, PATIENCE_MS)
                           : zkr_ticket_release_multi(t, 1, &op, NULL, PATIENCE_MS);
        assert_string_equal(zkr_err_name(rc),
                            zkr_err_name(gone < 0 ? ZKR_OK : ZKR_ESESSION));
        assert_int_equal(zkt_get(zkt_servers(), zkt_path(), text, sizeof(text), NULL),
                         0);
        assert_string_equal(text, gone < 0 ? "newer" : "new");
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        ZKT_BECOMES(nodes_of(3), 0, PATIENCE_MS);
        (void)zkr_ticket_release(t);
        ZKT_MUST(zkr_ticket_destroy(t));
    }
    expect_nothing_left(c, 3);
}

static int try_paths(zkr_client *c, const char *const *paths, size_t count)
{
    zkr_multi_lock *l = NULL;
    int rc = zkr_multi_lock_create(&l, c, paths, count, NULL);
    assert_int_equal(rc == ZKR_OK, l != NULL);
    end_multi_lock(l);
    return rc;
}

/* The limits for the number and the length of paths, similar paths, and a multi-lock in use. */
ZKT_CASE(there_is_room_for_some_paths)
{
    enum { MANY = ZKR_MULTI_LOCK_MAX + 1, LONG = 2000 };
    static char names[MANY][16], longs[MANY][LONG];
    static const char *many[MANY], *large[MANY];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_multi_lock *l = NULL;
    zkr_ticket *t = NULL;
    ZKT_MUST(try_paths(c, (const char *[]){"/a", "/ab", "/a-b"}, 3));
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "/%d", i);
        many[i] = names[i];
        memset(longs[i], 'x', LONG - 1);
        memcpy(longs[i], "/0000", 5);
        (void)snprintf(longs[i] + 1, 5, "%04d", i);
        longs[i][5] = 'x';
        large[i] = longs[i];
    }
    expect(try_paths(c, many, MANY), ZKR_EINVAL);
    ZKT_MUST(try_paths(c, many, MANY - 1));
    expect(try_paths(c, large, MANY - 1), ZKR_EINVAL);
    ZKT_MUST(try_paths(c, large, 400));
    l = MULTI_LOCK(c, 0, 1);
    ZKT_MUST(zkr_multi_lock_acquire(l, PATIENCE_MS, &t));
    expect(zkr_multi_lock_destroy(l), ZKR_EBUSY);
    expect(zkr_client_close(c), ZKR_EBUSY);
    end(t);
    end_multi_lock(l);
    expect_nothing_left(c, 2);
}

/* The maximum number of paths works. */
ZKT_CASE(a_thousand_paths_are_taken)
{
    static char names[ZKR_MULTI_LOCK_MAX][PATH_ROOM];
    static const char *paths[ZKR_MULTI_LOCK_MAX];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_multi_lock *l = NULL;
    zkr_ticket *t = NULL;
    for (int i = 0; i < ZKR_MULTI_LOCK_MAX; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "%s/%d", zkt_path(), i);
        paths[i] = names[i];
    }
    ZKT_MUST(zkr_multi_lock_create(&l, c, paths, ZKR_MULTI_LOCK_MAX, NULL));
    ZKT_MUST(zkr_multi_lock_acquire(l, PATIENCE_MS, &t));
    assert_int_equal(nodes_at(0) + nodes_at(99), 2);
    end(t);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    end_multi_lock(l);
    expect_nothing_left(c, 2);
}

/*
 * Refused credentials end the handle at any moment, and libzookeeper crashes if that happens while it serializes a
 * transaction. Therefore no transaction is sent before the credentials are accepted.
 */
ZKT_CASE(refused_credentials_end_large_requests)
{
    enum { RUNS = 30, TICKETS = 10, LARGE = 20 };
    const char *paths[LARGE];
    for (int i = 0; i < LARGE; i++) {
        paths[i] = path_of(i);
    }
    for (int run = 0; run < RUNS; run++) {
        zkr_client *c = NULL;
        zkr_ticket *tickets[TICKETS];
        ZKT_MUST(zkr_client_open(&c, zkt_servers(), &zkt_bad_credentials));
        zkr_multi_lock *l = NULL;
        ZKT_MUST(zkr_multi_lock_create(&l, c, paths, LARGE, NULL));
        for (int i = 0; i < TICKETS; i++) {
            tickets[i] = ask(l, PATIENCE_MS, NULL);
        }
        for (int i = 0; i < TICKETS; i++) {
            ZKT_RC(zkr_ticket_wait(tickets[i], PATIENCE_MS), ZKR_EAUTH);
            ZKT_MUST(zkr_ticket_destroy(tickets[i]));
        }
        ZKT_MUST(zkr_multi_lock_destroy(l));
        zkt_close(c);
    }
}

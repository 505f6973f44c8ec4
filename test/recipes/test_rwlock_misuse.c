/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong calls on read-write locks: each is an error with a message, and nothing is lost. Guarded writes under
 * both sides.
 */
#include <string.h>

#include <zkr/guard.h>

#include "rwlocks.h"
#include "tickets.h"

/* A side belongs to its lock, and cannot be destroyed separately. */
ZKT_CASE(a_side_is_not_destroyed_by_itself)
{
    struct sides s = new_sides();
    assert_ptr_equal(zkr_rwlock_reader(s.l), s.r);
    assert_ptr_equal(zkr_rwlock_writer(s.l), s.w);
    expect(zkr_mutex_destroy(s.r), ZKR_ESTATE);
    expect(zkr_mutex_destroy(s.w), ZKR_ESTATE);
    expect(zkr_client_close(s.c), ZKR_EBUSY);
    zkt_in_and_out(s.r);
}

/* While a thread holds either side, the lock is not destroyed. */
ZKT_CASE(a_lock_is_not_destroyed_while_a_side_is_held)
{
    struct sides s = new_sides();
    zkr_mutex *sides[] = {s.r, s.w};
    for (int i = 0; i < 2; i++) {
        ZKT_MUST(zkr_mutex_acquire(sides[i], PATIENCE_MS));
        ZKT_RC(zkr_rwlock_destroy(s.l), ZKR_EBUSY);
        ZKT_MUST(zkr_mutex_release(sides[i]));
    }
}

static void *hold_and_end(void *arg)
{
    const struct sides *s = arg;
    ZKT_MUST(zkr_mutex_acquire(s->w, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_acquire(s->w, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_acquire(s->r, PATIENCE_MS));
    return NULL;
}

/* A thread that ends while it holds both sides releases both. */
ZKT_CASE(a_thread_that_ends_releases_both)
{
    struct sides s = new_sides();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, hold_and_end, &s), 0);
    (void)pthread_join(thread, NULL);
    zkt_in_and_out(s.w);
}

/* --- guarded writes --- */

static int write_under(zkr_mutex *m, const char *path)
{
    zoo_op_t op;
    zoo_set_op_init(&op, path, "x", 1, -1, NULL);
    return zkr_mutex_multi(m, 1, &op, NULL, PATIENCE_MS);
}

/* While both sides are held, both guard writes. After a downgrade, the read side does so at once. */
ZKT_CASE(both_sides_guard_writes)
{
    const char *resource = zkt_unique_path("resource");
    assert_int_equal(zkt_create_path(zkt_servers(), resource), 0);
    struct sides s = new_sides();
    zoo_op_t check;
    hold_both(&s);
    ZKT_MUST(write_under(s.w, resource));
    ZKT_MUST(write_under(s.r, resource));
    expect(zkr_mutex_release_multi(s.w, 0, NULL, NULL, PATIENCE_MS), ZKR_ESTATE);
    expect(zkr_mutex_release_multi(s.r, 0, NULL, NULL, PATIENCE_MS), ZKR_ESTATE);
    ZKT_MUST(zkr_mutex_release(s.w));
    ZKT_MUST(write_under(s.r, resource));
    expect(write_under(s.w, resource), ZKR_ENOTOWNER);
    ZKT_MUST(zkr_mutex_guard(s.r, &check));
    assert_non_null(strstr(check.check_op.path, "__READ__"));
    ZKT_MUST(zkr_mutex_release_multi(s.r, 0, NULL, NULL, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 0);
    /* A release with a write also works right after the downgrade was sent. */
    hold_both(&s);
    ZKT_MUST(zkr_mutex_release(s.w));
    ZKT_MUST(zkr_mutex_release_multi(s.r, 0, NULL, NULL, PATIENCE_MS));
    ZKT_RC(zkr_mutex_release(s.r), ZKR_ENOTOWNER);
    assert_int_equal(zkt_nodes(), 0);
    assert_int_equal(zkt_delete(zkt_servers(), resource), 0);
}

/* A write that follows a refused downgrade finds no READ node. It is sent again, with the WRIT node. */
ZKT_CASE(writes_behind_a_refused_downgrade_are_made)
{
    const char *resource = zkt_unique_path("resource");
    assert_int_equal(zkt_create_path(zkt_servers(), resource), ZKT_OK);
    struct sides s = new_sides();
    zkt_stat st;
    for (int release = 0; release < 2; release++) {
        hold_both(&s);
        assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL & ~ZKT_CREATE),
                         ZKT_OK);
        ZKT_MUST(zkr_mutex_release(s.w));
        if (release) {
            zoo_op_t op;
            zoo_set_op_init(&op, resource, "y", 1, 1, NULL);
            ZKT_MUST(zkr_mutex_release_multi(s.r, 1, &op, NULL, PATIENCE_MS));
        } else {
            ZKT_MUST(write_under(s.r, resource));
            ZKT_MUST(zkr_mutex_release(s.r));
        }
        ZKT_MUST(zkr_client_flush(s.c, PATIENCE_MS));
        assert_int_equal(zkt_nodes(), 0);
        assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL), ZKT_OK);
    }
    char text[8];
    assert_int_equal(zkt_get(zkt_servers(), resource, text, sizeof(text), &st), ZKT_OK);
    assert_int_equal(st.version, 2);
    assert_int_equal(zkt_delete(zkt_servers(), resource), ZKT_OK);
}

/* --- strangers --- */

static atomic_int warnings;

static void on_log(int level, const char *line, void *ctx)
{
    if (level == ZKR_LOG_WARN && strncmp(line, "event=stranger ", 15) == 0) {
        atomic_fetch_add(&warnings, 1);
    }
}

/* A mutex warns once that readers and writers may ignore it. Read-write locks expect mutexes, and do not warn. */
ZKT_CASE(only_the_mutex_warns)
{
    zkr_client *c =
        ZKT_CLIENT_WITH(zkt_servers(), .session_timeout_ms = SESSION_MS, .log = on_log);
    struct sides s = sides_of(c);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_RC(zkr_mutex_acquire(s.r, 0), ZKR_ETIMEDOUT);
    ZKT_RC(zkr_mutex_acquire(s.w, 0), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkr_mutex_acquire(s.r, PATIENCE_MS));
    ZKT_RC(zkr_mutex_acquire(m, 0), ZKR_ETIMEDOUT);
    ZKT_RC(zkr_mutex_acquire(m, 0), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_mutex_release(s.r));
    zkt_destroy(m);
    end_sides(&s);
    ZKT_EVENTUALLY(atomic_load(&warnings) > 0, PATIENCE_MS);
    zkt_close(c); /* by then, all lines are logged */
    assert_int_equal(atomic_load(&warnings), 1);
}

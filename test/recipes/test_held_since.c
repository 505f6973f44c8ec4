/* SPDX-License-Identifier: Apache-2.0 */
/* The time of the grant in the holder's node: which nodes have it, and that writing it harms nobody. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "latches.h"
#include "rwlocks.h"

enum { SESSION_MS = 4000, PATIENCE_MS = 30000 };

static int64_t wall_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Returns the time of contender @i at @path, or -1 if there is no such contender. */
static int64_t since_at(zkr_client *c, const char *path, size_t i)
{
    zkr_contenders *list = NULL;
    zkr_mutex *m = zkt_mutex_at(c, path, NULL);
    ZKT_MUST(zkr_mutex_contenders(zkt_settled(m), &list));
    const zkr_contender *entry = zkr_contenders_get(list, i);
    int64_t since = entry ? entry->held_since_ms : -1;
    zkr_contenders_free(list);
    zkt_destroy(m);
    return since;
}

static int64_t since(zkr_client *c, size_t i)
{
    return since_at(c, zkt_path(), i);
}

/* The time is that of the grant, by the holder's clock. Waiters have no time. */
ZKT_CASE(a_holder_says_since_when)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    int64_t before = wall_ms();
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    int64_t after = wall_ms();
    int64_t joined = zkr_contenders_get(zkt_contenders(m), 0)->created_ms;
    zkr_ticket *t = zkt_ticket(zkt_mutex(c));
    ZKT_EVENTUALLY(since(c, 0) != 0, PATIENCE_MS);
    ZKT_IN_RANGE(since(c, 0), before, after);
    assert_int_equal(zkr_contenders_get(zkt_contenders(m), 0)->created_ms, joined);
    assert_int_equal(since(c, 1), 0);
    before = wall_ms();
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    after = wall_ms();
    ZKT_EVENTUALLY(since(c, 0) > 0, PATIENCE_MS);
    ZKT_IN_RANGE(since(c, 0), before, after);
}

/* The write keeps the fields of the owner text, the negotiated session timeout, and long texts. */
ZKT_CASE(the_owner_text_stays)
{
    static char text[3000];
    (void)memset(text, 'x', sizeof(text) - 1);
    (void)memcpy(text + 2000, "\nuser=me\ncommand=", 17);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = ZKT_MUTEX_WITH(c, .owner = text);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_EVENTUALLY(since(c, 0) != 0, PATIENCE_MS);
    const zkr_contender *entry = zkr_contenders_get(zkt_contenders(m), 0);
    assert_int_equal(strlen(entry->owner), 2000);
    assert_string_equal(zkr_contender_field(entry, "user"), "me");
    assert_int_equal(strlen(zkr_contender_field(entry, "command")), 3000 - 1 - 2017);
    assert_string_equal(zkr_contender_field(entry, "session_timeout_ms"), "4000");
    ZKT_MUST(zkr_mutex_release(m));
}

/* The session timeout in the node is the granted timeout, not the requested one. */
ZKT_CASE(the_granted_timeout_is_told)
{
    zkt_server_options so = ZKR_TEST_SERVER_OPTIONS_INIT;
    so.max_session_ms = SESSION_MS;
    zkr_client *c = zkt_client(zkt_server_host(zkt_server_start(&so)), 3 * SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_EVENTUALLY(since(c, 0) != 0, PATIENCE_MS);
    const zkr_contender *entry = zkr_contenders_get(zkt_contenders(m), 0);
    assert_string_equal(zkr_contender_field(entry, "session_timeout_ms"), "4000");
    assert_int_equal(zkr_client_session_timeout_ms(c), SESSION_MS);
    ZKT_MUST(zkr_mutex_release(m));
}

/* A client that writes all the time sends no probes. Its long holds still get their times. */
ZKT_CASE(a_busy_client_says_so_too)
{
    char other[256];
    (void)snprintf(other, sizeof(other), "%s-other", zkt_path());
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *looks = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c), *busy = zkt_mutex_at(c, other, NULL);
    ZKT_MUST(zkr_mutex_acquire(busy, PATIENCE_MS)); /* creates the parents */
    ZKT_MUST(zkr_mutex_release(busy));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    int64_t end = zkt_now_ms() + PATIENCE_MS;
    while (since(looks, 0) == 0 && zkt_now_ms() < end) {
        for (int i = 0; i < 20; i++) {
            zkt_in_and_out(busy);
        }
    }
    assert_true(since(looks, 0) > 0);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    (void)zkt_delete(zkt_servers(), other);
}

/*
 * A write triggers the watches on the node. Clients with Curator's names read the queue again. A waiter of aiozk or of
 * an unknown client may sleep forever, so the node before such a waiter is not written.
 */
ZKT_CASE(a_node_with_a_stranger_behind_it_is_not_written_to)
{
    static const char *const behind[] = {
        "lock-0123456789ab4def8123456789abcdef-0000000009", "other-0000000009",
        "_c_01234567-89ab-4def-8123-456789abcdef-lock-0000000009"};
    enum { STRANGERS = 2, COUNT = 3 };
    for (int i = 0; i < COUNT; i++) {
        char dir[200], path[320];
        (void)snprintf(dir, sizeof(dir), "%s/%d", zkt_path(), i);
        (void)snprintf(path, sizeof(path), "%s/%s", dir, behind[i]);
        zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
        zkr_mutex *m = zkt_mutex_at(c, dir, NULL);
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        zkt_create(zkt_servers(), path, "", 0);
        if (i < STRANGERS) {
            const int64_t probes = zkt_stats(c).probes;
            ZKT_EVENTUALLY(zkt_stats(c).probes >= probes + 5, PATIENCE_MS);
            assert_int_equal(since_at(c, dir, 0), 0);
        } else {
            ZKT_EVENTUALLY(since_at(c, dir, 0) > 0, PATIENCE_MS);
        }
        ZKT_MUST(zkr_mutex_release(m));
        zkt_delete(zkt_servers(), path);
    }
}

/* --- revocation requests --- */

static atomic_int asked;

static void on_revoke(zkr_mutex *m, void *ctx)
{
    asked++;
}

static char wished_at[256];

static void wish(void *ctx)
{
    (void)zkt_set(zkt_servers(), wished_at, "__REVOKE__");
}

/*
 * A revocation request arrives right before the write. The write is refused, but the hold is not lost. The request is
 * reported, and then the time is written.
 */
ZKT_CASE(a_wish_before_it_is_no_loss)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = ZKT_MUTEX_WITH(c, .owner = "me", .on_revoke = on_revoke);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_node(m, wished_at, sizeof(wished_at)));
    ZKT_BECOMES(zkt_watches(), 1, PATIENCE_MS);
    zkt_door_focus(c);
    zkt_door_before(1, wish, NULL); /* before the first probe */
    ZKT_BECOMES(asked, 1, PATIENCE_MS);
    assert_true(zkt_door_fired());
    ZKT_EVENTUALLY(since(c, 0) > 0, PATIENCE_MS);
    int checks = zkt_door_count(ZKR__OP_CHECK);
    ZKT_EVENTUALLY(zkt_door_count(ZKR__OP_CHECK) > checks + 2, PATIENCE_MS);
    assert_true(zkr_mutex_is_held(m));
    assert_int_equal(asked, 1);
    assert_int_equal(zkt_stats(c).losses, 0);
    ZKT_MUST(zkr_mutex_release(m));
}

/* --- other recipes --- */

/* All permits of a ticket, and all paths of a multi-lock, have the time. */
ZKT_CASE(every_node_says_so)
{
    static const char *const names[] = {"leases", "locks", "a", "b"};
    enum { LEASES, GATE, A, B, PATHS };
    char paths[PATHS][256];
    for (size_t i = 0; i < PATHS; i++) {
        (void)snprintf(paths[i], sizeof(paths[i]), "%s/%s", zkt_path(), names[i]);
    }
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_semaphore *s = NULL;
    zkr_multi_lock *l = NULL;
    zkr_ticket *permits = NULL, *both = NULL;
    ZKT_MUST(zkr_semaphore_create(&s, c, zkt_path(), 2, NULL));
    ZKT_MUST(zkr_multi_lock_create(&l, c, (const char *const[]){paths[A], paths[B]}, 2,
                                   NULL));
    ZKT_MUST(zkr_semaphore_acquire(s, 2, PATIENCE_MS, &permits));
    ZKT_MUST(zkr_multi_lock_acquire(l, PATIENCE_MS, &both));
    ZKT_EVENTUALLY(since_at(c, paths[LEASES], 0) > 0 &&
                       since_at(c, paths[LEASES], 1) > 0,
                   PATIENCE_MS);
    ZKT_EVENTUALLY(since_at(c, paths[A], 0) > 0 && since_at(c, paths[B], 0) > 0,
                   PATIENCE_MS);
    zkt_end_ticket(both);
    zkt_end_ticket(permits);
    ZKT_MUST(zkr_multi_lock_destroy(l));
    ZKT_MUST(zkr_semaphore_destroy(s));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    for (size_t i = 0; i < PATHS; i++) {
        (void)zkt_delete(zkt_servers(), paths[i]);
    }
}

/* After a downgrade, the reader has the time at which it was granted as a writer. */
ZKT_CASE(a_downgrade_keeps_the_time)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = sides_of(c);
    ZKT_MUST(zkr_mutex_acquire(s.w, PATIENCE_MS));
    ZKT_EVENTUALLY(since(c, 0) > 0, PATIENCE_MS);
    int64_t written = since(c, 0);
    ZKT_MUST(zkr_mutex_acquire(s.r, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_release(s.w));
    const zkr_contender *reader = zkr_contenders_get(zkt_contenders(s.r), 0);
    assert_int_equal(reader->kind, ZKR_KIND_READ);
    assert_int_equal(reader->held_since_ms, written);
    ZKT_MUST(zkr_mutex_release(s.r));
}

/* The data of a leader's node is its ID, and is not overwritten. */
ZKT_CASE(elections_are_not_written_to)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    char leader[64], node[512];
    zkt_stat st = {0};
    zkt_door_focus(c);
    ZKT_MUST(zkr_leader_latch_start(zkt_latch(c, "me", NULL)));
    ZKT_EVENTUALLY(zkt_door_count(ZKR__OP_CHECK) > 3, PATIENCE_MS);
    zkt_lone_node(node, sizeof(node));
    assert_int_equal(zkt_get(zkt_servers(), node, leader, sizeof(leader), &st), ZKT_OK);
    assert_string_equal(leader, "me");
    assert_int_equal(st.version, 0);
}

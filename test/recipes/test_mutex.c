/* SPDX-License-Identifier: Apache-2.0 */
/* The promises of the mutex without faults. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "actor.h"
#include "fixture.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000, THREADS = 10 };

/* The holder acquires again at once, keeps the token, and must release as often. */
ZKT_CASE(the_holder_may_acquire_again)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    int64_t first, again;
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_fencing_token(m, &first));
    zkt_door_focus(c);
    ZKT_MUST(zkr_mutex_acquire(m, 0));
    ZKT_MUST(zkr_mutex_acquire(m, ZKR_FOREVER));
    ZKT_MUST(zkr_mutex_fencing_token(m, &again));
    assert_int_equal(first, again);
    assert_int_equal(zkr_mutex_depth(m), 3);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkr_mutex_release(m));
    assert_int_equal(zkt_door_count(ZKR__OP_CREATE) + zkt_door_count(ZKR__OP_DELETE),
                     0);
    assert_true(zkr_mutex_is_held(m));
    ZKT_MUST(zkr_mutex_release(m));
    assert_int_equal(zkr_mutex_depth(m), 0);
    ZKT_RC(zkr_mutex_release(m), ZKR_ENOTOWNER);
}

/* A cancel ends the current waits, but not later ones, and leaves no node. */
ZKT_CASE(cancel_ends_every_wait)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    struct zkt_actor actors[THREADS];
    ZKT_MUST(zkr_mutex_cancel(m));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    for (int i = 0; i < THREADS; i++) {
        zkt_actor_start(&actors[i], m, ZKR_FOREVER, NULL);
    }
    ZKT_BECOMES(zkt_waiting(c), THREADS, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_cancel(m));
    for (int i = 0; i < THREADS; i++) {
        zkt_actor_is_refused(&actors[i], ZKR_ECANCELED);
    }
    assert_true(zkr_mutex_is_held(m));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 1);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_in_and_out(m);
}

/* Only the owner may release. Other threads do not count as holders. */
ZKT_CASE(only_the_owner_may_release)
{
    zkr_mutex *m = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    struct zkt_actor actor;
    zkt_actor_start(&actor, m, PATIENCE_MS, NULL);
    ZKT_MUST(zkt_actor_acquired(&actor));
    ZKT_RC(zkr_mutex_release(m), ZKR_ENOTOWNER);
    assert_int_equal(zkr_mutex_depth(m), 0);
    assert_int_equal(zkr_mutex_valid_for_ms(m), 0);
    assert_false(zkr_mutex_is_held(m));
    assert_true(zkr_mutex_is_held_in_process(m));
    ZKT_MUST(zkt_actor_end(&actor));
}

/* The contenders are listed in queue order, with owner texts and sessions. */
ZKT_CASE(contenders_are_listed_in_order)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = ZKT_MUTEX_WITH(c, .owner = "holder \x01 text");
    zkr_contenders *list = zkt_contenders(m);
    assert_int_equal(zkr_contenders_count(list), 0);
    assert_null(zkr_contenders_get(list, 0));

    zkr_mutex *waiter = zkt_mutex(c);
    struct zkt_actor actor;
    int64_t token;
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_fencing_token(m, &token));
    zkt_actor_queue(&actor, c, waiter, NULL);
    list = zkt_contenders(m);
    assert_int_equal(zkr_contenders_count(list), 2);
    const zkr_contender *first = zkr_contenders_get(list, 0);
    const zkr_contender *second = zkr_contenders_get(list, 1);
    assert_string_equal(first->owner, "holder ? text");
    assert_int_equal(first->fencing_token, token);
    assert_int_equal(first->session_id, zkr_client_session_id(c));
    assert_true(first->created_ms > 0);
    assert_true(second->sequence > first->sequence);
    char pid[32];
    (void)snprintf(pid, sizeof(pid), "/%ld/", (long)getpid());
    assert_non_null(strstr(second->owner, pid));
    ZKT_MUST(zkr_mutex_release(m));
    (void)zkt_actor_end(&actor);
}

/* Tokens rise from hold to hold, even if the path is deleted and sequence numbers restart. */
ZKT_CASE(tokens_rise_even_when_the_path_is_made_anew)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    int64_t last = 0;
    for (int i = 0; i < 6; i++) {
        int64_t token;
        char node[256];
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        ZKT_MUST(zkr_mutex_fencing_token(m, &token));
        ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
        assert_true(token > last);
        last = token;
        assert_string_equal(node + strlen(node) - 10,
                            i % 2 ? "0000000001" : "0000000000");
        ZKT_MUST(zkr_mutex_release(m));
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        if (i % 2) {
            assert_int_equal(zkt_delete(zkt_servers(), zkt_path()), 0);
        }
    }
}

/* With wait_on_release, a release returns when the node is deleted. */
ZKT_CASE(a_release_can_wait_for_the_delete)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = ZKT_MUTEX_WITH(c, .wait_on_release = 1);
    for (int i = 0; i < 20; i++) {
        zkt_in_and_out(m);
        ZKT_MUST(zkr_client_flush(c, 0));
        assert_int_equal(zkt_nodes(), 0);
    }
}

/* Create a child as another program would. */
static const char *make_child(const char *name)
{
    static char child[256];
    (void)snprintf(child, sizeof(child), "%s/%s", zkt_path(), name);
    assert_int_equal(zkt_create_path(zkt_servers(), child), 0);
    return child;
}

/* Children without a sequence number are not contenders. */
ZKT_CASE(strangers_without_a_number_are_ignored)
{
    static const char *const names[] = {"0", "config", "lock-", "lock-12", "\xc3\xa4"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        make_child(names[i]);
    }
    zkr_mutex *m = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    zkt_in_and_out(m);
}

static void take_turns(zkr_mutex *m, zkr_client *other, zkr_mutex *others)
{
    enum { TURNS = 5 };
    struct zkt_actor actor;
    for (int i = 0; i < TURNS; i++) {
        zkt_in_and_out(m);
    }
    for (int i = 0; i < TURNS; i++) {
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        zkt_actor_queue(&actor, other, others, NULL);
        ZKT_MUST(zkr_mutex_release(m));
        zkt_actor_is_served(&actor);
    }
}

/* Children with a higher number than the servers have assigned are ignored, too, in every later acquire. */
ZKT_CASE(strangers_with_a_higher_number_are_ignored)
{
    static const char *const names[] = {"backup-2026112100", "x-0000500000",
                                        "job-2512312359", "x-2147483647",
                                        "_c_x-lock-9999999999"};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *other = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c), *others = zkt_mutex(other);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        make_child(names[i]);
        take_turns(m, other, others);
    }
}

/* A numbered child of another recipe, with a lower number, is waited for. */
ZKT_CASE(strangers_with_a_lower_number_are_waited_for)
{
    const char *child = make_child("0123456789abcdef__lock__0000000000");
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_RC(zkr_mutex_acquire(m, 0), ZKR_ETIMEDOUT);
    struct zkt_actor actor;
    zkt_actor_queue(&actor, c, m, NULL);
    assert_int_equal(zkt_delete(zkt_servers(), child), 0);
    zkt_actor_is_served(&actor);
}

/*
 * A list that was sent before a neighbour's release is answered after the release, and still shows the neighbour's
 * node. That node is not waited for, however long the path is.
 */
ZKT_CASE(a_node_on_its_way_out_is_known_at_any_length)
{
    /* The watches of two nodes fit into the limit of a client. */
    enum { LONGEST = 499800, ANSWER_MS = 200 };
    static char path[LONGEST];
    int start = snprintf(path, sizeof(path), "%s/", zkt_path());
    memset(path + start, 'x', sizeof(path) - 1 - (size_t)start);
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = zkt_mutex_at(c, path, NULL);
    struct zkt_actor actor;
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_door_focus(c);
    zkt_proxy_delay(p, ZKT_TO_CLIENT, ANSWER_MS);
    int64_t before = zkt_now_ms();
    zkt_actor_start(&actor, m, PATIENCE_MS, NULL);
    ZKT_BECOMES(zkt_door_count(ZKR__OP_CHILDREN), 1, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkt_actor_acquired(&actor));
    assert_true(zkt_now_ms() - before >= ANSWER_MS);
    ZKT_MUST(zkt_actor_end(&actor));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_delete(zkt_servers(), path), 0);
}

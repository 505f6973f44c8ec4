/* SPDX-License-Identifier: Apache-2.0 */
/* What the mutex promises while nothing breaks. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <zkr/guard.h>

#include "actor.h"
#include "lock.h"

enum { SESSION_MS = 10000, THREADS = 10 };

/* A free lock is granted, gives a token and a node, is surely held, and leaves nothing. */
static void a_free_lock_is_granted(void **state)
{
    (void)state;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    assert_false(zkt_is_held(m));
    ZKT_MUST(zkt_acquire(m, 5000));
    assert_true(zkt_is_held(m));
    assert_int_equal(zkr_mutex_is_held_in_process(m), !zkt_by_ticket());
    assert_true(zkt_valid_for_ms(m) > 0);
    int64_t token = 0;
    ZKT_MUST(zkt_fencing_token(m, &token));
    assert_true(token > 0);
    char node[256];
    ZKT_MUST(zkt_node_of(m, node, sizeof(node)));
    assert_memory_equal(node, zkt_path(), strlen(zkt_path()));
    assert_int_equal(zkt_children_count(zkt_servers(), zkt_path()), 1);
    ZKT_MUST(zkt_release(m));
    assert_false(zkt_is_held(m));
    assert_int_equal(zkt_fencing_token(m, &token), ZKR_ENOTOWNER);
    ZKT_MUST(zkr_client_flush(c, 5000));
    assert_int_equal(zkt_children_count(zkt_servers(), zkt_path()), 0);
    zkt_destroy(m);
    zkt_close(c);
}

/* Nested calls by the holder succeed at once, keep the token, and each needs a release. */
static void the_holder_may_acquire_again(void **state)
{
    (void)state;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    int64_t first, again;
    ZKT_MUST(zkr_mutex_acquire(m, 5000));
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
    assert_int_equal(zkr_mutex_release(m), ZKR_ENOTOWNER);
    zkt_destroy(m);
    zkt_close(c);
}

/* A try behind another returns at once with ZKR_ETIMEDOUT and leaves no node. */
static void a_try_behind_another_fails(void **state)
{
    (void)state;
    zkr_client *one = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *two = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *held = zkt_mutex(one);
    zkr_mutex *tried = zkt_mutex(two);
    ZKT_MUST(zkt_acquire(held, 5000));
    assert_int_equal(zkt_acquire(tried, 0), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_client_flush(two, 5000));
    assert_int_equal(zkt_children_count(zkt_servers(), zkt_path()), 1);
    ZKT_MUST(zkt_release(held));
    ZKT_MUST(zkt_acquire(tried, 5000));
    ZKT_MUST(zkt_release(tried));
    zkt_destroy(held);
    zkt_destroy(tried);
    zkt_close(one);
    zkt_close(two);
}

/* Two objects on one path exclude each other, also within one thread. */
static void two_objects_on_one_path_exclude_each_other(void **state)
{
    (void)state;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *one = zkt_mutex(c);
    zkr_mutex *two = zkt_mutex(c);
    ZKT_MUST(zkt_acquire(one, 5000));
    assert_int_equal(zkt_acquire(two, 0), ZKR_ETIMEDOUT);
    assert_int_equal(zkt_acquire(two, 500), ZKR_ETIMEDOUT);
    ZKT_MUST(zkt_release(one));
    ZKT_MUST(zkt_acquire(two, 5000));
    ZKT_MUST(zkt_release(two));
    zkt_destroy(one);
    zkt_destroy(two);
    zkt_close(c);
}

/* Threads of one object are served in the order in which they queued. */
static void threads_are_served_in_order(void **state)
{
    (void)state;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    struct zkt_actor actors[THREADS];
    atomic_int turn = 0;
    ZKT_MUST(zkt_acquire(m, 5000));
    for (int i = 0; i < THREADS; i++) {
        zkt_actor_queue(&actors[i], c, m, &turn);
    }
    ZKT_MUST(zkt_release(m));
    int64_t token = 0;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(zkt_actor_acquired(&actors[i]), ZKR_OK);
        assert_int_equal(actors[i].granted_as, i + 1);
        assert_true(actors[i].token > token);
        token = actors[i].token;
        assert_int_equal(zkt_actor_end(&actors[i]), ZKR_OK);
    }
    zkt_destroy(m);
    zkt_close(c);
}

/* Clients are served in the order in which they queued, also past one that gave up. */
static void clients_are_served_in_order(void **state)
{
    (void)state;
    enum { CLIENTS = 6, GIVES_UP = 2 };
    zkr_client *clients[CLIENTS];
    zkr_mutex *mutexes[CLIENTS];
    struct zkt_actor actors[CLIENTS];
    atomic_int turn = 0;
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = zkt_client(zkt_servers(), SESSION_MS);
        mutexes[i] = zkt_mutex(clients[i]);
    }
    for (int i = 0; i < CLIENTS; i++) {
        zkt_actor_queue(&actors[i], clients[i], mutexes[i], &turn);
        if (i == 0) {
            assert_int_equal(zkt_actor_acquired(&actors[0]), ZKR_OK);
        }
    }
    ZKT_MUST(zkt_cancel(mutexes[GIVES_UP]));
    assert_int_equal(zkt_actor_acquired(&actors[GIVES_UP]), ZKR_ECANCELED);
    int expected = 0;
    for (int i = 0; i < CLIENTS; i++) {
        if (i != GIVES_UP) {
            assert_int_equal(zkt_actor_acquired(&actors[i]), ZKR_OK);
            assert_int_equal(actors[i].granted_as, ++expected);
        }
        (void)zkt_actor_end(&actors[i]);
        zkt_destroy(mutexes[i]);
        zkt_close(clients[i]);
    }
}

/* A thread that gives up between two others of its client: the one behind it moves up. */
static void a_neighbour_that_gives_up_is_passed_over(void **state)
{
    (void)state;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    zkr_mutex *other = zkt_mutex(c);
    struct zkt_actor gives_up, stays;
    ZKT_MUST(zkt_acquire(m, 5000));
    zkt_actor_queue(&gives_up, c, other, NULL);
    zkt_actor_queue(&stays, c, m, NULL);
    ZKT_MUST(zkt_cancel(other));
    assert_int_equal(zkt_actor_acquired(&gives_up), ZKR_ECANCELED);
    (void)zkt_actor_end(&gives_up);
    ZKT_MUST(zkr_client_flush(c, 5000));
    ZKT_MUST(zkt_release(m));
    assert_int_equal(zkt_actor_acquired(&stays), ZKR_OK);
    assert_int_equal(zkt_actor_end(&stays), ZKR_OK);
    zkt_destroy(m);
    zkt_destroy(other);
    zkt_close(c);
}

/* Cancel ends the waits of now, not those to come, and leaves no node. */
static void cancel_ends_every_wait(void **state)
{
    (void)state;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    struct zkt_actor actors[THREADS];
    ZKT_MUST(zkt_cancel(m));
    ZKT_MUST(zkt_acquire(m, 5000));
    for (int i = 0; i < THREADS; i++) {
        zkt_actor_start(&actors[i], m, ZKR_FOREVER, NULL);
    }
    ZKT_EVENTUALLY(zkt_waiting(c) == THREADS, 5000);
    ZKT_MUST(zkt_cancel(m));
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(zkt_actor_acquired(&actors[i]), ZKR_ECANCELED);
        (void)zkt_actor_end(&actors[i]);
    }
    assert_true(zkt_is_held(m));
    ZKT_MUST(zkr_client_flush(c, 5000));
    assert_int_equal(zkt_children_count(zkt_servers(), zkt_path()), 1);
    ZKT_MUST(zkt_release(m));
    ZKT_MUST(zkt_acquire(m, 5000));
    ZKT_MUST(zkt_release(m));
    zkt_destroy(m);
    zkt_close(c);
}

static void *acquire_and_end(void *m)
{
    int rc = zkt_acquire(m, 5000);
    return rc == ZKR_OK ? m : NULL;
}

/* A thread that ends while it holds releases by that. */
static void a_thread_that_ends_releases(void **state)
{
    (void)state;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        void *held = NULL;
        assert_int_equal(pthread_create(&thread, NULL, acquire_and_end, m), 0);
        pthread_join(thread, &held);
        assert_non_null(held);
        assert_false(zkr_mutex_is_held_in_process(m));
    }
    ZKT_MUST(zkr_mutex_acquire(m, 5000));
    ZKT_MUST(zkr_mutex_release(m));
    zkt_destroy(m);
    zkt_close(c);
}

/* Only the owner may release; the others' state is theirs. */
static void only_the_owner_may_release(void **state)
{
    (void)state;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    struct zkt_actor actor;
    zkt_actor_start(&actor, m, 5000, NULL);
    assert_int_equal(zkt_actor_acquired(&actor), ZKR_OK);
    assert_int_equal(zkr_mutex_release(m), ZKR_ENOTOWNER);
    assert_int_equal(zkr_mutex_depth(m), 0);
    assert_int_equal(zkr_mutex_valid_for_ms(m), 0);
    assert_false(zkr_mutex_is_held(m));
    assert_true(zkr_mutex_is_held_in_process(m));
    assert_int_equal(zkt_actor_end(&actor), ZKR_OK);
    zkt_destroy(m);
    zkt_close(c);
}

/* Busy objects refuse to be destroyed, and stay usable. */
static void busy_objects_refuse_to_go(void **state)
{
    (void)state;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    assert_int_equal(zkr_client_close(c), ZKR_EBUSY);
    ZKT_MUST(zkr_mutex_acquire(m, 5000));
    assert_int_equal(zkr_mutex_destroy(m), ZKR_EBUSY);
    assert_int_equal(zkr_client_close(c), ZKR_EBUSY);
    struct zkt_actor actor;
    zkt_actor_queue(&actor, c, m, NULL);
    ZKT_MUST(zkr_mutex_release(m));
    assert_int_equal(zkt_actor_acquired(&actor), ZKR_OK);
    assert_int_equal(zkr_mutex_destroy(m), ZKR_EBUSY);
    assert_int_equal(zkt_actor_end(&actor), ZKR_OK);
    zkt_destroy(m);
    zkt_close(c);
    ZKT_MUST(zkr_mutex_destroy(NULL));
    ZKT_MUST(zkr_client_close(NULL));
}

/* The contenders are listed in queue order with the owners' texts and sessions. */
static void contenders_are_listed_in_order(void **state)
{
    (void)state;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex_options options = ZKR_MUTEX_OPTIONS_INIT;
    options.owner = "holder \x01 text";
    zkr_mutex *m = NULL;
    ZKT_MUST(zkr_mutex_create(&m, c, zkt_path(), &options));
    zkr_contenders *list = NULL;
    ZKT_MUST(zkr_mutex_contenders(m, &list));
    assert_int_equal(zkr_contenders_count(list), 0);
    assert_null(zkr_contenders_get(list, 0));
    zkr_contenders_free(list);

    zkr_mutex *waiter = zkt_mutex(c);
    struct zkt_actor actor;
    int64_t token;
    ZKT_MUST(zkt_acquire(m, 5000));
    ZKT_MUST(zkt_fencing_token(m, &token));
    zkt_actor_queue(&actor, c, waiter, NULL);
    ZKT_MUST(zkr_mutex_contenders(m, &list));
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
    zkr_contenders_free(list);
    ZKT_MUST(zkt_release(m));
    (void)zkt_actor_end(&actor);
    zkt_destroy(m);
    zkt_destroy(waiter);
    zkt_close(c);
}

/* Tokens rise from hold to hold, also when the path is deleted and numbers restart. */
static void tokens_rise_even_when_the_path_is_made_anew(void **state)
{
    (void)state;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    int64_t last = 0;
    for (int i = 0; i < 6; i++) {
        int64_t token;
        char node[256];
        ZKT_MUST(zkt_acquire(m, 5000));
        ZKT_MUST(zkt_fencing_token(m, &token));
        ZKT_MUST(zkt_node_of(m, node, sizeof(node)));
        assert_true(token > last);
        last = token;
        assert_string_equal(node + strlen(node) - 10,
                            i % 2 ? "0000000001" : "0000000000");
        ZKT_MUST(zkt_release(m));
        ZKT_MUST(zkr_client_flush(c, 5000));
        if (i % 2) {
            assert_int_equal(zkt_delete(zkt_servers(), zkt_path()), 0);
        }
    }
    zkt_destroy(m);
    zkt_close(c);
}

/* The option makes release return when the node is gone. */
static void a_release_can_wait_for_the_delete(void **state)
{
    (void)state;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex_options options = ZKR_MUTEX_OPTIONS_INIT;
    options.wait_on_release = 1;
    zkr_mutex *m = NULL;
    ZKT_MUST(zkr_mutex_create(&m, c, zkt_path(), &options));
    for (int i = 0; i < 20; i++) {
        ZKT_MUST(zkr_mutex_acquire(m, 5000));
        ZKT_MUST(zkr_mutex_release(m));
        ZKT_MUST(zkr_client_flush(c, 0));
        assert_int_equal(zkt_children_count(zkt_servers(), zkt_path()), 0);
    }
    zkt_destroy(m);
    zkt_close(c);
}

/* Children without a sequence number are no contenders. */
static void strangers_without_a_number_are_ignored(void **state)
{
    (void)state;
    static const char *const names[] = {"0", "config", "lock-", "lock-12", "\xc3\xa4"};
    char child[256];
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(child, sizeof(child), "%s/%s", zkt_path(), names[i]);
        assert_int_equal(zkt_create(zkt_servers(), child, "", 0), 0);
    }
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkt_acquire(m, 5000));
    ZKT_MUST(zkt_release(m));
    zkt_destroy(m);
    zkt_close(c);
    zkt_delete_children(zkt_servers(), zkt_path());
}

/* A numbered child of another recipe that is ahead of us is waited for. */
static void strangers_with_a_lower_number_are_waited_for(void **state)
{
    (void)state;
    char child[256];
    (void)snprintf(child, sizeof(child), "%s/0123456789abcdef__lock__0000000000",
                   zkt_path());
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    assert_int_equal(zkt_create(zkt_servers(), child, "", 0), 0);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    assert_int_equal(zkt_acquire(m, 0), ZKR_ETIMEDOUT);
    struct zkt_actor actor;
    zkt_actor_queue(&actor, c, m, NULL);
    assert_int_equal(zkt_delete(zkt_servers(), child), 0);
    assert_int_equal(zkt_actor_acquired(&actor), ZKR_OK);
    assert_int_equal(zkt_actor_end(&actor), ZKR_OK);
    zkt_destroy(m);
    zkt_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ZKT_BOTH(a_free_lock_is_granted),
        ZKT_TEST(the_holder_may_acquire_again),
        ZKT_BOTH(a_try_behind_another_fails),
        ZKT_BOTH(two_objects_on_one_path_exclude_each_other),
        ZKT_BOTH(threads_are_served_in_order),
        ZKT_BOTH(clients_are_served_in_order),
        ZKT_BOTH(a_neighbour_that_gives_up_is_passed_over),
        ZKT_BOTH(cancel_ends_every_wait),
        ZKT_TEST(a_thread_that_ends_releases),
        ZKT_TEST(only_the_owner_may_release),
        ZKT_TEST(busy_objects_refuse_to_go),
        ZKT_BOTH(contenders_are_listed_in_order),
        ZKT_BOTH(tokens_rise_even_when_the_path_is_made_anew),
        ZKT_TEST(a_release_can_wait_for_the_delete),
        ZKT_BOTH(strangers_without_a_number_are_ignored),
        ZKT_BOTH(strangers_with_a_lower_number_are_waited_for),
    };
    return cmocka_run_group_tests(tests, zkt_group_setup, zkt_group_teardown);
}

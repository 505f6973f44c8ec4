/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node of a claim is deleted, and another client creates a node with the same name: on the fake, in virtual time.
 * Lists and checks show the name, but not the owner of the node.
 */
#include <string.h>

#include "base/path.h"
#include "keep.h"
#include "on_fake.h"
#include "queue/names.h"

enum { STEP_MS = 5, WHILE_MS = 3 * SECOND };

static zkr_client *c;

/*
 * Open a client that does not look ahead. Its waiters that are not first in the queue do not watch their own nodes for
 * a moment.
 */
static void open_world(void)
{
    const zkr_client_options o = {.size = sizeof(o), .look_ahead = -1};
    c = open_client(&o);
}

/* Returns the only node of the client in this directory. */
static const char *own_node(const char *dir)
{
    const char *own = NULL;
    for (const struct zkf_node *node = zkf_nodes(); node; node = node->next) {
        const char *name = zkr__path_name(node->path);
        bool inside = strncmp(node->path, dir, strlen(dir)) == 0 &&
                      name == node->path + strlen(dir) + 1;
        if (inside && strncmp(name, ZKR__PROTECTED, strlen(ZKR__PROTECTED)) == 0) {
            assert_null(own);
            own = node->path;
        }
    }
    assert_non_null(own);
    return own;
}

static void make_again_in(const char *dir, char path[256])
{
    const char *own = own_node(dir);
    assert_true(strlen(own) < 256);
    (void)strcpy(path, own);
    assert_true(zkf_stranger_delete(path));
    assert_true(zkf_stranger_create_for(path, 0));
}

static void make_again(char path[256])
{
    make_again_in("/lock", path);
}

static void watch_state(zkr_ticket *t, int never, int64_t ms)
{
    for (int64_t passed = 0; passed < ms; passed += STEP_MS) {
        zkf_pass(c, STEP_MS);
        assert_int_not_equal(zkr_ticket_state(t), never);
    }
}

/* Check that the claim is granted after the deletion of the other node, with a new node. */
static void expect_grant_after(zkr_ticket *t, const char *path)
{
    char node[256];
    assert_true(zkf_stranger_delete(path));
    zkf_pass_to(c, WHILE_MS, t, ZKR_TICKET_HELD);
    ZKT_MUST(zkr_ticket_node(t, node, sizeof(node)));
    assert_string_not_equal(node, path);
}

/* A waiter is behind two other nodes, which are deleted before it has a watch on its own node. */
ZKT_UNIT_CASE(a_waiter_is_not_granted_by_a_list_that_shows_the_node_of_another)
{
    char path[256];
    open_world();
    assert_true(zkf_stranger_create("/lock", false));
    assert_true(zkf_stranger_create("/lock/x-lock-", true));
    assert_true(zkf_stranger_create("/lock/x-lock-", true));
    zkr_ticket *t = ask(mutex_at(c, "/lock", NULL), ZKR_FOREVER);
    zkf_pass_to(c, 8 * STEP_MS, t, ZKR_TICKET_WAITING);
    make_again(path);
    assert_true(zkf_stranger_delete("/lock/x-lock-0000000000"));
    assert_true(zkf_stranger_delete("/lock/x-lock-0000000001"));
    watch_state(t, ZKR_TICKET_HELD, WHILE_MS);
    expect_grant_after(t, path);
}

/* Before the hold has a watch on its own node, it is released, and the node is kept and reused. */
ZKT_UNIT_CASE(a_kept_node_is_not_taken_when_another_has_made_it_again)
{
    char path[256];
    open_world();
    const zkr_mutex_options o = {.size = sizeof(o), .keep_ms = 10 * SECOND};
    zkr_mutex *m = mutex_at(c, "/lock", &o);
    zkr_ticket *t = ask(m, ZKR_FOREVER);
    zkf_pass_to(c, 8 * STEP_MS, t, ZKR_TICKET_HELD);
    end(t);
    zkf_pass(c, 2 * STEP_MS);
    make_again(path);
    zkf_pass(c, 2 * STEP_MS);
    t = ask(m, ZKR_FOREVER);
    watch_state(t, ZKR_TICKET_HELD, WHILE_MS);
    expect_grant_after(t, path);
}

/* A multi-lock is first on one of its paths, and waits for the other. */
ZKT_UNIT_CASE(a_lock_of_several_is_not_granted_by_the_node_of_another)
{
    const char *const paths[] = {"/a", "/b"};
    char path[256];
    zkr_multi_lock *l = NULL;
    zkr_ticket *t = NULL;
    open_world();
    for (int i = 0; i < 2; i++) {
        assert_true(zkf_stranger_create(paths[i], false));
    }
    assert_true(zkf_stranger_create("/b/x-lock-", true));
    ZKT_MUST(zkr_multi_lock_create(&l, c, paths, 2, NULL));
    ZKT_MUST(zkr_multi_lock_request(l, ZKR_FOREVER, NULL, NULL, &t));
    zkf_pass_to(c, 8 * STEP_MS, t, ZKR_TICKET_WAITING);
    make_again_in("/a", path);
    assert_true(zkf_stranger_delete("/b/x-lock-0000000000"));
    watch_state(t, ZKR_TICKET_HELD, WHILE_MS);
    assert_true(zkf_stranger_delete(path));
    zkf_pass_to(c, WHILE_MS, t, ZKR_TICKET_HELD);
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
    ZKT_MUST(zkr_multi_lock_destroy(l));
}

/* A list of the directory of leases would grant the permits. */
ZKT_UNIT_CASE(permits_are_not_had_by_the_node_of_another)
{
    char path[256];
    zkr_semaphore *s = NULL;
    zkr_ticket *t = NULL;
    open_world();
    assert_true(zkf_stranger_create("/permits", false));
    assert_true(zkf_stranger_create("/permits/leases", false));
    assert_true(zkf_stranger_create("/permits/leases/x-lease-", true));
    ZKT_MUST(zkr_semaphore_create(&s, c, "/permits", 1, NULL));
    ZKT_MUST(zkr_semaphore_request(s, 1, ZKR_FOREVER, NULL, NULL, &t));
    zkf_pass_to(c, 12 * STEP_MS, t, ZKR_TICKET_WAITING);
    make_again_in("/permits/leases", path);
    assert_true(zkf_stranger_delete("/permits/leases/x-lease-0000000000"));
    watch_state(t, ZKR_TICKET_HELD, WHILE_MS);
    assert_true(zkf_stranger_delete(path));
    zkf_pass_to(c, WHILE_MS, t, ZKR_TICKET_HELD);
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
    ZKT_MUST(zkr_semaphore_destroy(s));
}

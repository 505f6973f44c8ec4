/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list shows that a claim is first, but another client may have created the claim's node again by then. These tests
 * run on the fake, in virtual time.
 */
#include <stdio.h>
#include <string.h>

#include "on_fake.h"

enum { SOON = SECOND / 50 };

static int gets;

static void on_submit(struct zkr__op *op)
{
    gets += op->kind == ZKR__OP_GET;
}

static const char *own_node(void)
{
    for (const struct zkf_node *node = zkf_nodes(); node; node = node->next) {
        if (strncmp(node->path, "/lock/_c_", strlen("/lock/_c_")) == 0) {
            return node->path;
        }
    }
    return NULL;
}

static zkr_client *client_that_lists(void)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.look_ahead = -1;
    return open_client(&o);
}

/* Returns a waiter behind two foreign contenders, the first of which has been deleted. */
static zkr_ticket *wait_behind_two(zkr_client *c)
{
    zkr_mutex *m = mutex_at(c, "/lock", NULL);
    assert_true(zkf_stranger_create("/lock", false));
    assert_true(zkf_stranger_create("/lock/x-lock-", true));
    assert_true(zkf_stranger_create("/lock/x-lock-", true));
    zkr_ticket *t = ask(m, ZKR_FOREVER);
    zkf_pass_to(c, SOON, t, ZKR_TICKET_WAITING);
    assert_true(zkf_stranger_delete("/lock/x-lock-0000000000"));
    zkf_pass(c, SOON);
    gets = 0;
    between.on_submit = on_submit;
    return t;
}

static void behind_nobody(void)
{
}

static void with_one_behind(void)
{
    assert_true(zkf_stranger_create("/lock/x-lock-", true));
}

static void with_one_who_left(void)
{
    with_one_behind();
    assert_true(zkf_stranger_delete("/lock/x-lock-0000000003"));
}

/* The list itself proves the owner if it contains every node that was created after ours. */
ZKT_UNIT_CASE(a_full_list_grants_without_a_get)
{
    static const struct {
        void (*join)(void);
        int gets;
    } rows[] = {{behind_nobody, 0}, {with_one_behind, 0}, {with_one_who_left, 1}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        zkr_client *c = client_that_lists();
        zkr_ticket *t = wait_behind_two(c);
        rows[i].join();
        assert_true(zkf_stranger_delete("/lock/x-lock-0000000001"));
        zkf_pass_to(c, SOON, t, ZKR_TICKET_HELD);
        assert_int_equal(gets, rows[i].gets);
        end(t);
    }
}

/* Somebody else deletes our node and creates one with its name. That node grants nothing. */
ZKT_UNIT_CASE(a_node_created_with_our_name_grants_nothing)
{
    static void (*const joins[])(void) = {behind_nobody, with_one_behind,
                                          with_one_who_left};
    for (size_t i = 0; i < sizeof(joins) / sizeof(joins[0]); i++) {
        char path[256];
        zkr_client *c = client_that_lists();
        zkr_ticket *t = wait_behind_two(c);
        (void)snprintf(path, sizeof(path), "%s", own_node());
        joins[i]();
        assert_true(zkf_stranger_delete(path));
        assert_true(zkf_stranger_create(path, false));
        assert_true(zkf_stranger_delete("/lock/x-lock-0000000001"));
        zkf_pass_to(c, SOON, t, ZKR_TICKET_WAITING);
        assert_int_equal(gets > 0, 1);
        assert_true(zkf_stranger_delete(path));
        end(t);
    }
}

/*
 * The directory is deleted and created again, too, and its count is as expected. The foreign node still grants nothing.
 */
ZKT_UNIT_CASE(a_new_directory_proves_nothing)
{
    char path[256];
    zkr_client *c = client_that_lists();
    zkr_ticket *t = wait_behind_two(c);
    (void)snprintf(path, sizeof(path), "%s", own_node());
    assert_true(zkf_stranger_delete(path));
    assert_true(zkf_stranger_delete("/lock/x-lock-0000000001"));
    assert_true(zkf_stranger_delete("/lock"));
    assert_true(zkf_stranger_create("/lock", false));
    assert_true(zkf_stranger_create(path, false));
    zkf_count_from("/lock", 3);
    zkf_pass_to(c, SOON, t, ZKR_TICKET_WAITING);
    assert_true(zkf_stranger_delete(path));
    end(t);
}

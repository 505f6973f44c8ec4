/* SPDX-License-Identifier: Apache-2.0 */
/* Guardians and servers that give each connection a new session: the guardian deletes the nodes of the old session. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "guarded.h"
#include "guardian/wire.h"

/* The effects of the end of a session take longer than SOON_MS. */
enum { SESSION_MS = 30000, SOON_MS = 5000 };

static zkr_client_options guarded(void)
{
    return guarded_for(SESSION_MS);
}

static zkt_proxy *give_new_sessions(const char *server)
{
    zkt_proxy *p = zkt_proxy_start(server);
    zkt_proxy_habits(p, ZKR_TEST_NEW_SESSIONS);
    return p;
}

/* Create a lock node of another session. That session does not create it again when it is deleted. */
static zkt_raw *make_node_in(const char *path)
{
    char node[256];
    zkt_raw *s = zkt_raw_open(zkt_servers(), SESSION_MS);
    assert_non_null(s);
    (void)snprintf(node, sizeof(node),
                   "%s/_c_00000000-0000-4000-8000-000000000000-lock-", path);
    const zkt_node wanted = {.path = node, .flags = ZKT_EPHEMERAL | ZKT_SEQUENCE};
    assert_int_equal(zkt_raw_create(s, &wanted, NULL, 0), ZKT_OK);
    return s;
}

/* The nodes of the replaced session are deleted in each directory. The nodes of other sessions stay. */
ZKT_CASE(a_replaced_session_leaves_no_nodes)
{
    struct zkt_actor next, last;
    struct holder *h = fork_holder(SESSION_MS);
    zkr_client *one = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *two = zkt_client(zkt_servers(), SESSION_MS);
    (void)snprintf(h->path, sizeof(h->path), "%s", zkt_child("first"));
    (void)snprintf(h->second, sizeof(h->second), "%s", zkt_child("second"));
    let_hold(h, zkt_proxy_host(give_new_sessions(zkt_servers())));
    zkt_actor_queue(&next, one, zkt_mutex_at(one, h->path, NULL), NULL);
    zkt_actor_queue(&last, two, zkt_mutex_at(two, h->path, NULL), NULL);
    zkt_raw *s = make_node_in(h->second);
    const int64_t begin = zkt_now_ms();
    kill_holder(h);
    assert_int_equal(zkt_actor_acquired(&next), ZKR_OK);
    ZKT_BECOMES(zkt_children_count(zkt_servers(), h->second), 1, SOON_MS);
    assert_true(zkt_now_ms() - begin < SOON_MS);
    ZKT_MUST(zkt_actor_end(&next));
    zkt_actor_is_served(&last);
    assert_int_equal(zkt_children_count(zkt_servers(), h->second), 1);
    assert_int_equal(zkt_raw_close(s), ZKT_OK);
}

/* The guardian begins with the directory that the client used last, but may not list it. */
ZKT_CASE(a_directory_without_permission_holds_no_other_up)
{
    struct holder *h = fork_holder(SESSION_MS);
    (void)snprintf(h->path, sizeof(h->path), "%s", zkt_child("first"));
    (void)snprintf(h->second, sizeof(h->second), "%s", zkt_child("second"));
    let_hold(h, zkt_proxy_host(give_new_sessions(zkt_servers())));
    assert_int_equal(zkt_set_acl(zkt_servers(), h->second, ZKT_ALL & ~ZKT_READ),
                     ZKT_OK);
    kill_holder(h);
    ZKT_BECOMES(zkt_children_count(zkt_servers(), h->path), 0, SOON_MS);
    assert_int_equal(zkt_set_acl(zkt_servers(), h->second, ZKT_ALL), ZKT_OK);
    (void)zkt_delete_children(zkt_servers(), h->second); /* its session lives on */
}

/* The guardian uses the chroot and the credentials of the client. */
ZKT_CASE(private_nodes_of_a_replaced_session_go_too)
{
    char hosts[512];
    struct holder *h = fork_holder(SESSION_MS);
    zkt_server *s = zkt_server_start(NULL);
    zkr_client_options o = guarded();
    zkr_client *c = zkt_client_with(zkt_server_host(s), &o);
    zkr_mutex *above = zkt_mutex_at(c, zkt_child("above"), NULL);
    ZKT_MUST(zkr_mutex_acquire(above, PATIENCE_MS)); /* this creates the chroot */
    h->private = true;
    (void)snprintf(h->path, sizeof(h->path), "/locks");
    (void)snprintf(hosts, sizeof(hosts), "%s%s",
                   zkt_proxy_host(give_new_sessions(zkt_server_host(s))), zkt_path());
    let_hold(h, hosts);
    zkr_mutex *m = zkt_mutex_at(c, zkt_child("locks"), NULL);
    ZKT_RC(zkr_mutex_acquire(m, 0), ZKR_ETIMEDOUT);
    kill_holder(h);
    ZKT_MUST(zkr_mutex_acquire(m, SOON_MS));
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkr_mutex_release(above));
}

/* For a close that no server has received, the guardian deletes the nodes. */
ZKT_CASE(a_close_is_made_up_for_although_the_session_was_replaced)
{
    close_unheard(give_new_sessions(zkt_servers()), SESSION_MS, SOON_MS);
}

static atomic_int unknown;

static void count_unknown(int level, const char *line, void *ctx)
{
    unknown += level == ZKR_LOG_INFO && strstr(line, "event=guardian_full ");
}

static int known(zkr_client *c)
{
    zkr__lock(c);
    int count = c->guardian_directories;
    zkr__unlock(c);
    return count;
}

static void let_know(zkr_client *c, int count)
{
    zkr__lock(c);
    c->guardian_directories = count;
    zkr__unlock(c);
}

/* Acquire once in the directory @name. Returns how many directories the guardian knows afterwards. */
static int use_directory(zkr_client *c, const char *name)
{
    zkr_mutex *m = zkt_mutex_at(c, zkt_child(name), NULL);
    zkt_in_and_out(m);
    const int after = known(c);
    zkt_destroy(m);
    return after;
}

/* A directory that is no longer used makes room for another one. The log reports a lack of room. */
ZKT_CASE(the_guardian_knows_the_directories_in_use)
{
    enum { MOST = ZKR__GUARDIAN_DIRECTORIES };
    zkr_client_options o = guarded();
    o.log = count_unknown;
    o.log_level = ZKR_LOG_INFO;
    atomic_store(&unknown, 0);
    zkr_client *c = zkt_client_with(zkt_servers(), &o);
    assert_int_equal(use_directory(c, "one"), 1);
    ZKT_BECOMES(known(c), 0, PATIENCE_MS);
    let_know(c, MOST - 1);
    assert_int_equal(use_directory(c, "two"), MOST);
    ZKT_BECOMES(known(c), MOST - 1, PATIENCE_MS);
    assert_int_equal(atomic_load(&unknown), 0);
    let_know(c, MOST);
    assert_int_equal(use_directory(c, "three"), MOST);
    assert_int_equal(use_directory(c, "four"), MOST);
    ZKT_BECOMES(atomic_load(&unknown), 1, PATIENCE_MS);
}

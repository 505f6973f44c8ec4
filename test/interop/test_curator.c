/* SPDX-License-Identifier: Apache-2.0 */
/* Apache Curator and we on one path, in both directions. Argument: curator.bsh. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "fixture.h"
#include "peer.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000 };

static const char *script;

/* Curator holds: a try fails, and a wait ends with its release. */
static void we_respect_curator(void **state)
{
    (void)state;
    struct peer j = {.script = script};
    peer_start(&j);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    peer_ask(&j, "acquire 5000", "true");
    assert_int_equal(zkr_mutex_acquire(m, 0), ZKR_ETIMEDOUT);
    struct zkt_actor actor;
    zkt_actor_queue(&actor, c, m, NULL);
    peer_ask(&j, "release", "ok");
    assert_int_equal(zkt_actor_acquired(&actor), ZKR_OK);
    assert_int_equal(zkt_actor_end(&actor), ZKR_OK);
    zkt_destroy(m);
    zkt_close(c);
    peer_end(&j);
}

/* We hold: Curator's time-out passes, and a wait of it ends with our release. */
static void curator_respects_us(void **state)
{
    (void)state;
    struct peer j = {.script = script};
    peer_start(&j);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    peer_ask(&j, "acquire 300", "false");
    peer_say(&j, "acquire 20000");
    ZKT_EVENTUALLY(zkt_children_count(zkt_servers(), zkt_path()) == 2, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(m));
    peer_expect(&j, "true");
    peer_ask(&j, "release", "ok");
    zkt_destroy(m);
    zkt_close(c);
    peer_end(&j);
}

/* First come, first served, whatever the language. */
static void the_queue_is_one(void **state)
{
    (void)state;
    struct peer j = {.script = script};
    peer_start(&j);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    peer_say(&j, "acquire 20000");
    ZKT_EVENTUALLY(zkt_children_count(zkt_servers(), zkt_path()) == 2, PATIENCE_MS);
    struct zkt_actor actor;
    zkt_actor_queue(&actor, c, m, NULL);
    zkr_contenders *list = NULL;
    ZKT_MUST(zkr_mutex_contenders(m, &list));
    assert_int_equal(zkr_contenders_count(list), 3);
    assert_int_not_equal(zkr_contenders_get(list, 1)->session_id,
                         zkr_client_session_id(c));
    zkr_contenders_free(list);
    ZKT_MUST(zkr_mutex_release(m));
    peer_expect(&j, "true");
    assert_int_equal(zkt_waiting(c), 1);
    peer_ask(&j, "release", "ok");
    assert_int_equal(zkt_actor_acquired(&actor), ZKR_OK);
    assert_int_equal(zkt_actor_end(&actor), ZKR_OK);
    zkt_destroy(m);
    zkt_close(c);
    peer_end(&j);
}

/* One leader among latches of both, each of which can name the other. */
static void latches_elect_together(void **state)
{
    (void)state;
    struct peer j = {.script = script};
    char id[64];
    peer_start(&j);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *l = NULL;
    ZKT_MUST(zkr_leader_latch_create(&l, c, zkt_path(), "ours", NULL));
    peer_ask(&j, "start theirs", "ok");
    peer_ask(&j, "leads 10000", "true");
    ZKT_MUST(zkr_leader_latch_start(l));
    assert_int_equal(zkr_leader_latch_await(l, 300), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_leader_latch_leader(l, id, sizeof(id)));
    assert_string_equal(id, "theirs");
    peer_ask(&j, "stop", "ok");
    ZKT_MUST(zkr_leader_latch_await(l, PATIENCE_MS));
    peer_ask(&j, "start again", "ok");
    peer_ask(&j, "leads 300", "false");
    peer_ask(&j, "leader", "ours");
    assert_true(zkr_leader_latch_has_leadership(l));
    ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_SILENT));
    peer_ask(&j, "leads 10000", "true");
    peer_ask(&j, "stop", "ok");
    ZKT_MUST(zkr_leader_latch_destroy(l));
    zkt_close(c);
    peer_end(&j);
}

static void count(zkr_mutex *m, void *ctx)
{
    (void)m;
    atomic_fetch_add((atomic_int *)ctx, 1);
}

/* Curator's Revoker asks us, once; it writes nothing again when we have written our text back. */
static void curator_asks_us_to_let_go(void **state)
{
    (void)state;
    struct peer j = {.script = script};
    atomic_int asked = 0;
    char node[256], text[64];
    peer_start(&j);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.owner = "ours";
    o.on_revoke = count;
    o.on_revoke_ctx = &asked;
    zkr_mutex *m = NULL;
    ZKT_MUST(zkr_mutex_create(&m, c, zkt_path(), &o));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    peer_ask(&j, "revoke", "ok");
    ZKT_EVENTUALLY(atomic_load(&asked) == 1, PATIENCE_MS);
    ZKT_EVENTUALLY(zkt_get(zkt_servers(), node, text, sizeof(text), NULL) == 0 &&
                       strcmp(text, "ours") == 0,
                   PATIENCE_MS);
    peer_say(&j, "acquire 20000");
    ZKT_EVENTUALLY(zkt_children_count(zkt_servers(), zkt_path()) == 2, PATIENCE_MS);
    assert_int_equal(atomic_load(&asked), 1);
    ZKT_MUST(zkr_mutex_release(m));
    peer_expect(&j, "true");
    peer_ask(&j, "release", "ok");
    zkt_destroy(m);
    zkt_close(c);
    peer_end(&j);
}

/* We ask Curator, which listens, and lets go. Its node says that it was asked, for it writes nothing back. */
static void we_ask_curator_to_let_go(void **state)
{
    (void)state;
    struct peer j = {.script = script};
    peer_start(&j);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    peer_ask(&j, "revocable", "ok");
    peer_ask(&j, "acquire 5000", "true");
    struct zkt_actor actor;
    zkt_actor_queue(&actor, c, m, NULL);
    ZKT_MUST(zkr_mutex_revoke(m));
    peer_expect(&j, "asked");
    zkr_contenders *list = NULL;
    ZKT_MUST(zkr_mutex_contenders(m, &list));
    assert_true(zkr_contenders_get(list, 0)->asked);
    assert_string_equal(zkr_contenders_get(list, 0)->owner, "");
    zkr_contenders_free(list);
    peer_ask(&j, "release", "ok");
    assert_int_equal(zkt_actor_acquired(&actor), ZKR_OK);
    assert_int_equal(zkt_actor_end(&actor), ZKR_OK);
    zkt_destroy(m);
    zkt_close(c);
    peer_end(&j);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        ZKT_TEST(we_respect_curator),        ZKT_TEST(curator_respects_us),
        ZKT_TEST(the_queue_is_one),          ZKT_TEST(latches_elect_together),
        ZKT_TEST(curator_asks_us_to_let_go), ZKT_TEST(we_ask_curator_to_let_go),
    };
    if (argc != 2) {
        return 64;
    }
    script = argv[1];
    return cmocka_run_group_tests(tests, zkt_group_setup, zkt_group_teardown);
}

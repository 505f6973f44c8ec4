/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recipes other than the plain lock, together with Apache Curator: elections, revocation, long holds, several locks.
 * Argument: curator_peer.bsh.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../recipes/latches.h"
#include "actor.h"
#include "peer.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000 };

/* Latches of both libraries elect one leader, and each can name the leader of the other library. */
ZKT_CASE(latches_elect_together)
{
    struct peer *j = peer_start(CURATOR);
    char id[64];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *l = zkt_latch(c, "ours", NULL);
    peer_ask(j, "start theirs", "ok");
    peer_ask(j, "leads 10000", "true");
    ZKT_MUST(zkr_leader_latch_start(l));
    ZKT_RC(zkr_leader_latch_await(l, 300), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_leader_latch_leader(l, id, sizeof(id)));
    assert_string_equal(id, "theirs");
    peer_ask(j, "stop", "ok");
    ZKT_MUST(zkr_leader_latch_await(l, PATIENCE_MS));
    peer_ask(j, "start again", "ok");
    peer_ask(j, "leads 300", "false");
    peer_ask(j, "leader", "ours");
    assert_true(zkr_leader_latch_has_leadership(l));
    ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_SILENT));
    peer_ask(j, "leads 10000", "true");
    peer_ask(j, "stop", "ok");
}

static void lead_until_told(zkr_leadership *lead, void *ctx)
{
    ZKT_RC(zkr_leadership_wait(lead, ZKR_FOREVER), ZKR_ECANCELED);
}

/* Selectors of both libraries elect one leader. Each leads for a while, and queues again behind the other. */
ZKT_CASE(selectors_elect_together)
{
    struct peer *j = peer_start(CURATOR);
    char id[64];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_selector *s = NULL;
    ZKT_MUST(zkr_leader_selector_create(&s, c, zkt_path(), "ours", lead_until_told,
                                        NULL, NULL));
    peer_ask(j, "select theirs", "ok");
    peer_ask(j, "elected 20000", "true");
    for (int turn = 0; turn < 3; turn++) {
        if (turn == 0) {
            ZKT_MUST(zkr_leader_selector_start(s));
        } else {
            ZKT_MUST(zkr_leader_selector_requeue(s));
            ZKT_MUST(zkr_leader_selector_interrupt(s));
            peer_ask(j, "elected 20000", "true");
        }
        ZKT_BECOMES(zkt_waiting(c), 1, PATIENCE_MS);
        assert_int_equal(zkr_leader_selector_state(s), ZKR_SELECTOR_QUEUED);
        ZKT_MUST(zkr_leader_selector_leader(s, id, sizeof(id)));
        assert_string_equal(id, "theirs");
        peer_ask(j, "resign", "ok");
        ZKT_BECOMES(zkr_leader_selector_state(s), ZKR_SELECTOR_LEADING, PATIENCE_MS);
        ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
        peer_ask(j, "elected 300", "false");
        peer_ask(j, "chosen", "ours");
        assert_true(zkr_leader_selector_has_leadership(s));
    }
    ZKT_MUST(zkr_leader_selector_stop(s, PATIENCE_MS));
    peer_ask(j, "elected 20000", "true");
    ZKT_MUST(zkr_leader_selector_destroy(s));
}

/* Returns the data of the node of @m. */
static const char *data_of(zkr_mutex *m)
{
    static char text[256];
    char node[256];
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    assert_int_equal(zkt_get(zkt_servers(), node, text, sizeof(text), NULL), ZKT_OK);
    return text;
}

static void count(zkr_mutex *m, void *ctx)
{
    atomic_fetch_add((atomic_int *)ctx, 1);
}

/* Curator's Revoker sends us one revocation request. It does not write again after we have restored the owner text. */
ZKT_CASE(curator_asks_us_to_let_go)
{
    struct peer *j = peer_start(CURATOR);
    atomic_int asked = 0;
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.owner = "ours";
    o.on_revoke = count;
    o.on_revoke_ctx = &asked;
    zkr_mutex *m = zkt_mutex_with(zkt_client(zkt_servers(), SESSION_MS), &o);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    peer_ask(j, "revoke", "ok");
    ZKT_BECOMES(atomic_load(&asked), 1, PATIENCE_MS);
    ZKT_BECOMES(strncmp(data_of(m), "ours\nheld_since_ms=", 19), 0, PATIENCE_MS);
    peer_say(j, "acquire 20000");
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    assert_int_equal(atomic_load(&asked), 1);
    ZKT_MUST(zkr_mutex_release(m));
    peer_expect(j, "true");
    peer_ask(j, "release", "ok");
}

/*
 * A long hold writes the time of its grant into its node, which Curator watches. Curator goes on waiting, and can still
 * send us a revocation request.
 */
ZKT_CASE(curator_waits_behind_a_hold_that_lasts)
{
    enum { SHORT_MS = 4000 };
    struct peer *j = peer_start(CURATOR);
    atomic_int asked = 0;
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.on_revoke = count;
    o.on_revoke_ctx = &asked;
    zkr_mutex *m = zkt_mutex_with(zkt_client(zkt_servers(), SHORT_MS), &o);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    peer_say(j, "acquire 20000");
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    ZKT_EVENTUALLY(strstr(data_of(m), "\nheld_since_ms="), PATIENCE_MS);
    zkt_sleep_ms(SHORT_MS / 4); /* time for something to go wrong */
    assert_int_equal(zkt_nodes(), 2);
    assert_true(zkr_mutex_is_held(m));
    ZKT_MUST(zkr_mutex_release(m));
    peer_expect(j, "true");
    peer_ask(j, "release", "ok");
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_EVENTUALLY(strstr(data_of(m), "\nheld_since_ms="), PATIENCE_MS);
    peer_ask(j, "revoke", "ok");
    ZKT_BECOMES(atomic_load(&asked), 1, PATIENCE_MS);
    ZKT_EVENTUALLY(strstr(data_of(m), "\nheld_since_ms="), PATIENCE_MS);
    assert_int_equal(atomic_load(&asked), 1);
    ZKT_MUST(zkr_mutex_release(m));
}

/* A latch that leads for long writes nothing to its node. The Curator latch behind it learns of its end. */
ZKT_CASE(a_curator_latch_waits_behind_a_long_term)
{
    enum { SHORT_MS = 4000 };
    struct peer *j = peer_start(CURATOR);
    zkr_client *c = zkt_client(zkt_servers(), SHORT_MS);
    zkr_leader_latch *l = zkt_latch(c, "ours", NULL);
    ZKT_MUST(zkr_leader_latch_start(l));
    ZKT_MUST(zkr_leader_latch_await(l, PATIENCE_MS));
    peer_ask(j, "start theirs", "ok");
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    zkt_door_focus(c);
    ZKT_EVENTUALLY(zkt_door_count(ZKR__OP_CHECK) > 3, PATIENCE_MS);
    ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_SILENT));
    peer_ask(j, "leads 10000", "true");
    peer_ask(j, "stop", "ok");
}

/*
 * The record of a robust mutex is the data of the path, which Curator neither reads nor writes. Therefore the next
 * robust holder learns of an end without release even if Curator has held since. It does not learn of Curator's ends.
 */
ZKT_CASE(a_robust_mutex_takes_turns_with_curator)
{
    struct peer *j = peer_start(CURATOR);
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.robust = 1;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex_with(c, &o);
    struct zkt_actor actor;
    peer_ask(j, "acquire 20000", "true");
    zkt_actor_queue(&actor, c, m, NULL);
    peer_ask(j, "release", "ok");
    zkt_actor_is_served(&actor);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    peer_say(j, "acquire 20000");
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    zkt_expire(c);
    peer_expect(j, "true");
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    peer_ask(j, "release", "ok");
    ZKT_RC(zkr_mutex_acquire(m, PATIENCE_MS), ZKR_EOWNERDEAD);
    ZKT_MUST(zkr_mutex_release(m));
}

/*
 * We send a revocation request to Curator, whose listener releases. Its node still contains the request, because
 * Curator does not restore the data.
 */
ZKT_CASE(we_ask_curator_to_let_go)
{
    struct peer *j = peer_start(CURATOR);
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    peer_ask(j, "revocable", "ok");
    peer_ask(j, "acquire 5000", "true");
    struct zkt_actor actor;
    zkt_actor_queue(&actor, c, m, NULL);
    ZKT_MUST(zkr_mutex_revoke(m));
    peer_expect(j, "asked");
    zkr_contenders *list = NULL;
    ZKT_MUST(zkr_mutex_contenders(m, &list));
    assert_true(zkr_contenders_get(list, 0)->asked);
    assert_string_equal(zkr_contenders_get(list, 0)->owner, "");
    zkr_contenders_free(list);
    peer_ask(j, "release", "ok");
    zkt_actor_is_served(&actor);
}

/* A multi-lock excludes Curator's multi-lock on the same paths, and Curator's mutex on one of the paths. */
ZKT_CASE_WAYS(multi_lock,
              {"a_multi_lock_of_curators", multi_lock, 0, NULL},
              {"a_mutex_of_curators_on_one_of_the_paths", multi_lock, 1, NULL})
{
    struct peer *j = peer_start(CURATOR);
    const char *const paths[] = {zkt_child("z"), zkt_child("a")};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_multi_lock *l = NULL;
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_multi_lock_create(&l, c, paths, 2, NULL));
    peer_ask(j, zkt_way() == 0 ? "lock multi" : "lock mutex-a", "ok");
    /* While Curator holds, a try leaves no node, and a ticket gets all paths when Curator releases. */
    peer_ask(j, "acquire 10000", "true");
    ZKT_RC(zkr_multi_lock_acquire(l, 0, &t), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_multi_lock_request(l, PATIENCE_MS, NULL, NULL, &t));
    ZKT_RC(zkr_ticket_wait(t, 200), ZKR_ETIMEDOUT);
    peer_ask(j, "release", "ok");
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
    /* While we hold, Curator waits. */
    ZKT_MUST(zkr_multi_lock_acquire(l, PATIENCE_MS, &t));
    peer_ask(j, "acquire 300", "false");
    peer_say(j, "acquire 20000");
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
    peer_expect(j, "true");
    peer_ask(j, "release", "ok");
    ZKT_MUST(zkr_multi_lock_destroy(l));
}

static void make_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "we");
    assert_true(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static int number_in(const char *name)
{
    int number = 0;
    FILE *f = fopen(name, "re");
    assert_non_null(f);
    if (fscanf(f, "%d", &number) != 1) {
        number = 0; /* it is being written */
    }
    (void)fclose(f);
    return number;
}

/* A program that acquires mutexes in the order of Curator's multi-lock cannot deadlock with it. Our multi-lock can. */
ZKT_CASE(locks_in_their_order_beside_a_multi_lock_of_curators)
{
    enum { ROUNDS = 100 };
    struct peer *j = peer_start(CURATOR);
    char file[64], stop[80], line[80];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *a = zkt_mutex_at(c, zkt_child("a"), NULL);
    zkr_mutex *z = zkt_mutex_at(c, zkt_child("z"), NULL);
    (void)snprintf(file, sizeof(file), "/tmp/zkt-multi-%d", (int)getpid());
    (void)snprintf(stop, sizeof(stop), "%s-end", file);
    (void)snprintf(line, sizeof(line), "soak %s", file);
    (void)unlink(stop);
    make_file(file, "0\n");
    peer_ask(j, "lock multi", "ok");
    peer_say(j, line);
    ZKT_EVENTUALLY(number_in(file) > 0, PATIENCE_MS);
    const int before = number_in(file);
    for (int i = 0; i < ROUNDS; i++) {
        ZKT_MUST(zkr_mutex_acquire(a, PATIENCE_MS));
        zkt_in_and_out(z);
        ZKT_MUST(zkr_mutex_release(a));
    }
    make_file(stop, "");
    assert_true(atoi(peer_hear(j)) > before);
    (void)unlink(file);
    (void)unlink(stop);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* options.keep_ms beside the locks of other libraries. Arguments: --two, and all peers. */
#include "actor.h"
#include "fixture.h"
#include "peer.h"

enum { SESSION_MS = 10000, LONG_MS = 600000, PATIENCE_MS = 30000 };

static void cycle(zkr_mutex *m)
{
    zkt_in_and_out(m);
}

/* Returns a mutex that has kept its node. Its client is new, so it has not seen other contenders yet. */
static zkr_mutex *keeper(zkr_client **c)
{
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.keep_ms = LONG_MS;
    *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex_with(*c, &o);
    cycle(m);
    assert_int_equal(zkt_nodes(), 1);
    return m;
}

static void beside(struct peer *p)
{
    zkr_client *c;
    struct zkt_actor ours;
    zkr_mutex *m = keeper(&c);
    peer_ask(p, "acquire 20000", "true"); /* unused: the node is deleted at once */
    zkt_actor_start(&ours, m, ZKR_FOREVER, NULL);
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    assert_int_equal(atomic_load(&ours.acquired), ZKT_NOT_YET);
    peer_ask(p, "release", "ok");
    zkt_actor_is_served(&ours);
    zkt_destroy(m);
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
    m = keeper(&c);
    ZKT_MUST(zkr_mutex_acquire(m, 0));
    peer_say(p, "acquire 20000"); /* in use: the node is deleted at the release */
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    assert_true(zkr_mutex_is_held(m));
    assert_true(peer_is_silent(p));
    ZKT_MUST(zkr_mutex_release(m));
    peer_expect(p, "true");
    peer_ask(p, "release", "ok");
    cycle(m);
}

/*
 * Curator, go-zookeeper, kazoo and our library each have their turn, whether the kept node is in use or not, and we
 * wait for them.
 */
ZKT_CASE(others_have_their_turn_beside_a_keeper)
{
    for (int kind = 0; kind < PEERS; kind++) {
        if (peer_is_there((enum peer_kind)kind)) {
            struct peer *p = peer_with_lock((enum peer_kind)kind, NULL, SESSION_MS);
            print_message("beside peer %d\n", kind);
            beside(p);
            peer_end(p);
        }
    }
}

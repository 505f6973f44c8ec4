/* SPDX-License-Identifier: Apache-2.0 */
/* Our multi-lock, and Curator's locks on the same paths, in both directions. Argument: curator_peer.bsh. */
#include <stdio.h>

#include "fixture.h"
#include "peer.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000 };

/* Both on two paths below that of the test. */
struct both {
    struct peer *curator;
    zkr_client *c;
    zkr_multi_lock *l;
};

static void begin(struct both *b, const char *kind)
{
    char a[128], z[128];
    (void)snprintf(a, sizeof(a), "%s/a", zkt_path());
    (void)snprintf(z, sizeof(z), "%s/z", zkt_path());
    const char *const paths[] = {z, a};
    b->curator = peer_start(CURATOR);
    peer_ask(b->curator, kind, "ok");
    b->c = zkt_client(zkt_servers(), SESSION_MS);
    ZKT_MUST(zkr_multi_lock_create(&b->l, b->c, paths, 2, NULL));
}

static void end(struct both *b)
{
    ZKT_MUST(zkr_multi_lock_destroy(b->l));
    ZKT_MUST(zkr_client_flush(b->c, PATIENCE_MS));
    zkt_close(b->c);
    assert_int_equal(zkt_delete_children(zkt_servers(), zkt_path()), 0);
}

static void let_go(zkr_ticket *t)
{
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
}

/* While Curator holds: a try leaves nothing, and a ticket gets all paths when Curator lets go. */
static void we_wait(struct both *b)
{
    zkr_ticket *t = NULL;
    peer_ask(b->curator, "acquire 10000", "true");
    ZKT_RC(zkr_multi_lock_acquire(b->l, 0, &t), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_multi_lock_request(b->l, PATIENCE_MS, NULL, NULL, &t));
    ZKT_RC(zkr_ticket_wait(t, 200), ZKR_ETIMEDOUT);
    peer_ask(b->curator, "release", "ok");
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    let_go(t);
}

static void curator_waits(struct both *b)
{
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_multi_lock_acquire(b->l, PATIENCE_MS, &t));
    peer_ask(b->curator, "acquire 300", "false");
    peer_say(b->curator, "acquire 20000");
    let_go(t);
    peer_expect(b->curator, "true");
    peer_ask(b->curator, "release", "ok");
}

ZKT_CASE(a_multi_lock_of_curators)
{
    struct both b;
    begin(&b, "lock multi");
    we_wait(&b);
    curator_waits(&b);
    end(&b);
}

/* One of the paths alone keeps us from all of them. */
ZKT_CASE(a_mutex_of_curators_on_one_of_the_paths)
{
    struct both b;
    begin(&b, "lock mutex-a");
    we_wait(&b);
    curator_waits(&b);
    end(&b);
}

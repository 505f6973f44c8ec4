/* SPDX-License-Identifier: Apache-2.0 */
#include "holder.h"

#include "actor.h"
#include "fixture.h"

enum { PATIENCE_MS = 60000 };

struct holder *holder_new(zkr_client *c)
{
    enum { HOLDERS = 64 };
    static struct holder all[HOLDERS];
    static int used;
    assert_true(used < HOLDERS);
    struct holder *h = &all[used++];
    h->c = c;
    return h;
}

static void on_lost(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    struct holder *h = ctx;
    atomic_store(&h->lost_at, zkt_now_ms());
    atomic_fetch_add(&h->lost, 1);
}

bool holder_look(struct holder *h)
{
    int64_t now = zkt_now_ms();
    int64_t left = zkr_mutex_valid_for_ms(h->m);
    atomic_store(&h->valid_for, left);
    if (left > 0 && now + left > atomic_load(&h->sure_until)) {
        atomic_store(&h->sure_until, now + left);
    }
    return left > 0;
}

static void *hold(void *arg)
{
    struct holder *h = arg;
    int rc = zkr_mutex_acquire(h->m, ZKR_FOREVER);
    atomic_store(&h->granted_at, zkt_now_ms());
    if (rc == ZKR_OK) {
        (void)zkr_mutex_fencing_token(h->m, &h->token);
        (void)zkr_mutex_node(h->m, h->node, sizeof(h->node));
        (void)holder_look(h);
    }
    atomic_store(&h->acquired, rc);
    if (rc == ZKR_OK) {
        while (!atomic_load(&h->let_go)) {
            (void)holder_look(h);
            zkt_sleep_ms(1);
        }
        if (holder_look(h)) {
            atomic_store(&h->sure_until, zkt_now_ms());
        }
        rc = zkr_mutex_release(h->m);
    }
    atomic_store(&h->released, rc);
    return NULL;
}

struct holder *holder_begin(zkr_client *c, const char *path, int ahead)
{
    struct holder *h = holder_new(c);
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.on_lost = on_lost;
    o.on_lost_ctx = h;
    atomic_store(&h->acquired, ZKT_NOT_YET);
    atomic_store(&h->released, ZKT_NOT_YET);
    ZKT_MUST(zkr_mutex_create(&h->m, c, path, &o));
    assert_int_equal(pthread_create(&h->thread, NULL, hold, h), 0);
    ZKT_BECOMES(zkt_children_count(zkt_servers(), path), ahead + 1, PATIENCE_MS);
    if (ahead == 0) {
        ZKT_EVENTUALLY(atomic_load(&h->acquired) != ZKT_NOT_YET, PATIENCE_MS);
        ZKT_MUST(atomic_load(&h->acquired));
    }
    return h;
}

void holder_await_grant(struct holder *h)
{
    ZKT_EVENTUALLY(atomic_load(&h->acquired) != ZKT_NOT_YET, PATIENCE_MS);
    ZKT_MUST(atomic_load(&h->acquired));
}

int holder_finish(struct holder *h)
{
    atomic_store(&h->let_go, true);
    ZKT_EVENTUALLY(atomic_load(&h->released) != ZKT_NOT_YET, PATIENCE_MS);
    pthread_join(h->thread, NULL);
    return atomic_load(&h->released);
}

void holder_close(struct holder *h)
{
    zkt_destroy(h->m);
    zkt_close(h->c);
}

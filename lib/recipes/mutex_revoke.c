/* SPDX-License-Identifier: Apache-2.0 */
/* Revocation: to ask for the lock, and to be asked. */
#include "engine/revoke.h"
#include "recipes/mutex.h"

static void post(zkr_mutex *m) ZKR__LOCKED
{
    if (!m->revoke_posted) {
        m->revoke_posted = true;
        zkr__dispatch_post(&m->c->dispatch, &m->revoke);
    }
}

static void on_wish(struct zkr__queue *q) ZKR__LOCKED
{
    post(q->on_wish_ctx);
}

/* On the dispatch thread. The callback may end the mutex. */
static bool run(struct zkr__call *call)
{
    zkr_mutex *m = ZKR__OWNER_OF(call, zkr_mutex, revoke);
    zkr_client *c = m->c;
    zkr_mutex_revoke_fn fn = m->on_revoke;
    void *ctx = m->on_revoke_ctx;
    zkr__lock(c);
    m->revoke_posted = false;
    bool more, asked = zkr__wish_take(m->lock.queue, &more);
    if (more) {
        post(m);
    }
    zkr__unlock(c);
    if (asked) {
        fn(m, ctx);
    }
    return asked;
}

void zkr__mutex_make_revocable(zkr_mutex *m, zkr_mutex_revoke_fn fn, void *ctx)
{
    m->on_revoke = fn;
    m->on_revoke_ctx = ctx;
    m->revoke = (struct zkr__call){.owner = m, .run = run};
    m->lock.queue->on_wish = fn ? on_wish : NULL;
    m->lock.queue->on_wish_ctx = m;
}

int zkr_mutex_revoke(zkr_mutex *m)
{
    int rc = zkr__mutex_enter_blocking(m);
    return rc == ZKR_OK ? zkr__queue_revoke(m->lock.queue) : rc;
}

int zkr_mutex_revoke_node(zkr_mutex *m, const char *node)
{
    int rc = zkr__mutex_enter_blocking(m);
    return rc == ZKR_OK ? zkr__queue_revoke_node(m->lock.queue, node) : rc;
}

int zkr_mutex_evict(zkr_mutex *m, const char *node)
{
    int rc = zkr__mutex_enter_blocking(m);
    return rc == ZKR_OK ? zkr__queue_evict(m->lock.queue, node) : rc;
}

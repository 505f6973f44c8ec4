/* SPDX-License-Identifier: Apache-2.0 */
/* What a mutex can be asked. */
#include <zkr/guard.h>

#include "base/error.h"
#include "recipes/mutex.h"
#include "session/bound.h"
#include "session/zk_value.h"

static int no_mutex(void)
{
    return zkr__fail(ZKR_EINVAL, NULL, "the mutex is NULL");
}

int zkr__mutex_enter(const zkr_mutex *m)
{
    return m ? zkr__client_enter(m->c) : no_mutex();
}

int zkr__mutex_enter_blocking(const zkr_mutex *m)
{
    return m ? zkr__client_enter_blocking(m->c) : no_mutex();
}

bool zkr_mutex_is_held(zkr_mutex *m)
{
    if (zkr__mutex_enter(m) != ZKR_OK) {
        return false;
    }
    zkr__lock(m->c);
    bool held = zkr__reentrant_is_held(&m->lock);
    zkr__unlock(m->c);
    return held;
}

bool zkr_mutex_is_held_in_process(zkr_mutex *m)
{
    if (zkr__mutex_enter(m) != ZKR_OK) {
        return false;
    }
    zkr__lock(m->c);
    bool held = zkr__reentrant_is_held_by_any(&m->lock);
    zkr__unlock(m->c);
    return held;
}

int zkr_mutex_depth(zkr_mutex *m)
{
    if (zkr__mutex_enter(m) != ZKR_OK) {
        return 0;
    }
    zkr__lock(m->c);
    int depth = zkr__reentrant_depth(&m->lock);
    zkr__unlock(m->c);
    return depth;
}

int64_t zkr_mutex_valid_for_ms(zkr_mutex *m)
{
    if (zkr__mutex_enter(m) != ZKR_OK) {
        return 0;
    }
    zkr__lock(m->c);
    bool sure = zkr__reentrant_is_held(&m->lock);
    int64_t left = sure ? zkr__valid_for_ms(m->c) : 0;
    zkr__unlock(m->c);
    return left;
}

static int no_room(const zkr_mutex *m)
{
    return zkr__fail(ZKR_EINVAL, m->lock.queue->dir, "there is no room for the result");
}

int zkr_mutex_fencing_token(zkr_mutex *m, int64_t *token)
{
    int rc = zkr__mutex_enter(m);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!token) {
        return no_room(m);
    }
    zkr__lock(m->c);
    const struct zkr__claim *claim = zkr__reentrant_hold(&m->lock, &rc);
    if (claim) {
        *token = claim->czxid;
    }
    zkr__unlock(m->c);
    return rc;
}

int zkr_mutex_node(zkr_mutex *m, char *buf, size_t size)
{
    int rc = zkr__mutex_enter(m);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!buf) {
        return no_room(m);
    }
    zkr__lock(m->c);
    const struct zkr__claim *claim = zkr__reentrant_hold(&m->lock, &rc);
    if (claim) {
        rc = zkr__place_node(claim, buf, size);
    }
    zkr__unlock(m->c);
    return rc;
}

int zkr_mutex_guard(zkr_mutex *m, struct zoo_op *op)
{
    int rc = zkr__mutex_enter(m);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!op) {
        return no_room(m);
    }
    zkr__lock(m->c);
    const struct zkr__claim *claim = zkr__reentrant_hold(&m->lock, &rc);
    if (claim) {
        zkr__zk_guard(op, claim->node);
    }
    zkr__unlock(m->c);
    return rc;
}

int zkr_mutex_contenders(zkr_mutex *m, zkr_contenders **out)
{
    int rc = zkr__mutex_enter_blocking(m);
    return rc == ZKR_OK ? zkr__contenders_list(out, m->lock.queue, &m->lookout) : rc;
}

int zkr_mutex_watch(zkr_mutex *m, int64_t timeout_ms)
{
    int rc = zkr__mutex_enter_blocking(m);
    return rc == ZKR_OK
               ? zkr__contenders_await_change(m->lock.queue, &m->lookout, timeout_ms)
               : rc;
}

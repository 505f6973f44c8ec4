/* SPDX-License-Identifier: Apache-2.0 */
/* What a mutex can be asked. */
#include <string.h>

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

/* Surely held now. What is not is lost from here on, even if the session proves to be alive. */
static bool is_sure(const struct zkr__holder *holder) ZKR__LOCKED
{
    if (!holder) {
        return false;
    }
    zkr__claim_check(holder->claim);
    return zkr__claim_sure(holder->claim);
}

bool zkr_mutex_is_held(zkr_mutex *m)
{
    if (zkr__mutex_enter(m) != ZKR_OK) {
        return false;
    }
    zkr__lock(m->c);
    bool held = is_sure(zkr__holders_find(m->holders));
    zkr__unlock(m->c);
    return held;
}

bool zkr_mutex_is_held_in_process(zkr_mutex *m)
{
    if (zkr__mutex_enter(m) != ZKR_OK) {
        return false;
    }
    bool held = false;
    struct zkr__holder *holder, *next;
    zkr__lock(m->c);
    HASH_ITER (hh, m->holders, holder, next) {
        held = held || (holder->depth > 0 && is_sure(holder));
    }
    zkr__unlock(m->c);
    return held;
}

int zkr_mutex_depth(zkr_mutex *m)
{
    if (zkr__mutex_enter(m) != ZKR_OK) {
        return 0;
    }
    zkr__lock(m->c);
    const struct zkr__holder *holder = zkr__holders_find(m->holders);
    int depth = holder ? holder->depth : 0;
    zkr__unlock(m->c);
    return depth;
}

int64_t zkr_mutex_valid_for_ms(zkr_mutex *m)
{
    if (zkr__mutex_enter(m) != ZKR_OK) {
        return 0;
    }
    zkr__lock(m->c);
    bool sure = is_sure(zkr__holders_find(m->holders));
    int64_t left = sure ? zkr__valid_for_ms(m->c) : 0;
    zkr__unlock(m->c);
    return left;
}

/* The claim by which the calling thread surely holds, or NULL and a code. */
static const struct zkr__claim *find_hold(zkr_mutex *m, int *rc) ZKR__LOCKED
{
    const char *dir = m->queue->dir;
    const struct zkr__holder *holder = zkr__holders_find(m->holders);
    if (!holder) {
        *rc =
            zkr__fail(ZKR_ENOTOWNER, dir, "%s is not held by the calling thread", dir);
        return NULL;
    }
    if (!is_sure(holder)) {
        *rc = zkr__fail(ZKR_ESESSION, dir, "%s was lost while held", dir);
        return NULL;
    }
    return holder->claim;
}

static int no_room(const zkr_mutex *m)
{
    return zkr__fail(ZKR_EINVAL, m->queue->dir, "there is no room for the result");
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
    const struct zkr__claim *claim = find_hold(m, &rc);
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
    const struct zkr__claim *claim = find_hold(m, &rc);
    size_t need = claim ? strlen(claim->node) + 1 : 0;
    if (claim && need <= size) {
        memcpy(buf, claim->node, need);
    } else if (claim) {
        rc = zkr__fail(ZKR_EINVAL, claim->node, "the node needs a buffer of %zu bytes",
                       need);
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
    const struct zkr__claim *claim = find_hold(m, &rc);
    if (claim) {
        zkr__zk_guard(op, claim->node);
    }
    zkr__unlock(m->c);
    return rc;
}

int zkr_mutex_contenders(zkr_mutex *m, zkr_contenders **out)
{
    int rc = zkr__mutex_enter_blocking(m);
    return rc == ZKR_OK ? zkr__contest_list(out, m->queue, &m->lookout) : rc;
}

int zkr_mutex_watch(zkr_mutex *m, int64_t timeout_ms)
{
    int rc = zkr__mutex_enter_blocking(m);
    return rc == ZKR_OK ? zkr__contest_watch(m->queue, &m->lookout, timeout_ms) : rc;
}

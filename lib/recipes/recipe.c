/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/options.h"
#include "queue/claim_run.h"
#include "session/bound.h"

/* --- the checks of public functions --- */

static zkr_client *client_of(const void *object)
{
    return *(zkr_client *const *)object;
}

static int refuse(void)
{
    return zkr__fail(ZKR_EINVAL, NULL, "the object is NULL");
}

int zkr__recipe_enter(const void *object)
{
    return object ? zkr__client_enter(client_of(object)) : refuse();
}

int zkr__recipe_enter_blocking(const void *object)
{
    return object ? zkr__client_enter_blocking(client_of(object)) : refuse();
}

int zkr__recipe_options(const zkr_client *c,
                        const void *out,
                        const char *what,
                        void *o,
                        size_t size,
                        const void *from)
{
    int rc = zkr__client_enter(c);
    if (rc == ZKR_OK && !out) {
        rc = zkr__fail(ZKR_EINVAL, NULL, "cannot store the %s: out is NULL", what);
    }
    return rc == ZKR_OK ? zkr__options_take(o, size, from, what) : rc;
}

int zkr__recipe_check_warning(const zkr_client *c,
                              const char *path,
                              const char *what,
                              int64_t warn_ms,
                              bool told)
{
    enum { PART = 3 };
    int64_t most = c->options.session_timeout_ms / PART;
    if (warn_ms < 0 || (warn_ms == 0 && told)) {
        return zkr__fail(
            ZKR_EINVAL, path,
            "options of a %s: on_warn is set without warn_ms, or warn_ms is negative",
            what);
    }
    if (warn_ms > most) {
        return zkr__fail(ZKR_EINVAL, path,
                         "options of a %s: warn_ms is at most a third of the session "
                         "timeout, %lld ms; make session_timeout_ms longer",
                         what, (long long)most);
    }
    return warn_ms > 0 && c->options.lease_probe_ms < 0
               ? zkr__fail(ZKR_EINVAL, path,
                           "options of a %s: warn_ms needs lease probes, which "
                           "lease_probe_ms turns off",
                           what)
               : ZKR_OK;
}

/* --- creation and destruction --- */

void *zkr__recipe_make(size_t size,
                       zkr_client *c,
                       const char *what,
                       const struct zkr__queue *chosen,
                       int *rc)
{
    struct zkr__queue *q;
    *rc = zkr__queue_create(&q, c, what, chosen);
    if (*rc != ZKR_OK) {
        return NULL;
    }
    struct zkr__recipe *r = zkr__mem_alloc(size);
    zkr__lock(c);
    *rc =
        r ? zkr__client_enlist(c, chosen->dir)
          : zkr__fail(ZKR_ENOMEM, chosen->dir, "cannot make a %s: out of memory", what);
    bool made = r && *rc == ZKR_OK;
    if (!made) {
        zkr__queue_unref(q);
    }
    zkr__unlock(c);
    if (!made) {
        zkr__mem_free(r);
        return NULL;
    }
    r->c = c;
    r->queue = q;
    zkr__cv_init(&r->changed);
    return r;
}

int zkr__recipe_follow(struct zkr__recipe *r,
                       const char *path,
                       enum zkr__node_watch_kind kind,
                       void (*on_change)(void *object, int64_t number))
{
    zkr__lock(r->c);
    int rc = zkr__node_watch_create(&r->watch, r->c, path, kind, on_change, r);
    zkr__unlock(r->c);
    return rc == ZKR_OK ? rc
                        : zkr__fail(rc, path, "cannot watch %s: out of memory", path);
}

int zkr__recipe_busy(const struct zkr__recipe *r, bool used)
{
    const char *dir = r->queue->dir;
    if (used || r->waiting > 0 || zkr__node_watch_busy(r->watch)) {
        return zkr__fail(ZKR_EBUSY, dir,
                         "the object for %s is in use, or a thread is waiting on it",
                         dir);
    }
    return r->tickets > 0 ? zkr__fail(ZKR_EBUSY, dir,
                                      "%lld tickets of the object for %s still exist",
                                      (long long)r->tickets, dir)
                          : ZKR_OK;
}

void zkr__recipe_free(struct zkr__recipe *r)
{
    zkr_client *c = r->c;
    zkr__lock(c);
    zkr__node_watch_end(r->watch); /* the watch posts no more calls */
    zkr__unlock(c);
    zkr__dispatch_cancel(&c->dispatch, r);
    zkr__lock(c);
    if (r->queue->keep_ms > 0 && c->engine) {
        zkr__claims_end_keeping(c->engine, r->queue);
    }
    zkr__queue_unref(r->queue);
    c->recipes--;
    zkr__unlock(c);
    zkr__cv_destroy(&r->changed);
    zkr__mem_free(r);
}

/* --- queries of a holder --- */

int zkr__recipe_get(void *object,
                    zkr__recipe_hold hold,
                    zkr__hold_getter getter,
                    void *out,
                    size_t size)
{
    int rc = zkr__recipe_enter(object);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!out) {
        return zkr__fail(ZKR_EINVAL, NULL, "the output pointer is NULL");
    }
    zkr_client *c = client_of(object);
    zkr__lock(c);
    const struct zkr__claim *claim = hold(object, &rc);
    rc = claim ? getter(claim, out, size) : rc;
    zkr__unlock(c);
    return rc;
}

int64_t zkr__recipe_valid_for_ms(void *object, zkr__recipe_hold hold)
{
    if (zkr__recipe_enter(object) != ZKR_OK) {
        return 0;
    }
    zkr_client *c = client_of(object);
    zkr__lock(c);
    int64_t left = hold(object, NULL) ? zkr__valid_for_ms(c) : 0;
    zkr__unlock(c);
    return left;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "session/client.h"

#include <errno.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "session/zk_value.h"

static int init_sync(zkr_client *c)
{
    int rc = zkr__mu_init(&c->mu);
    if (rc != 0) {
        return rc;
    }
    rc = zkr__cv_init(&c->changed);
    if (rc != 0) {
        goto no_changed;
    }
    rc = zkr__cv_init(&c->service_cv);
    if (rc != 0) {
        goto no_service_cv;
    }
    rc = zkr__dispatch_init(&c->dispatch);
    if (rc == 0) {
        return 0;
    }
    zkr__cv_destroy(&c->service_cv);
no_service_cv:
    zkr__cv_destroy(&c->changed);
no_changed:
    zkr__mu_destroy(&c->mu);
    return rc;
}

int zkr__client_new(zkr_client **out)
{
    zkr_client *c = zkr__mem_alloc(sizeof(*c));
    if (!c) {
        return ENOMEM;
    }
    int rc = init_sync(c);
    if (rc != 0) {
        zkr__mem_free(c);
        return rc;
    }
    c->holders = 1;
    c->service_at = ZKR__NEVER;
    c->fork_generation = zkr__fork_generation();
    *out = c;
    return 0;
}

static void free_memory(zkr_client *c)
{
    for (size_t i = 0; i < c->auth_count; i++) {
        zkr__mem_free((void *)(uintptr_t)c->auths[i].scheme);
        zkr__mem_free((void *)(uintptr_t)c->auths[i].cert);
    }
    zkr__mem_free(c->auths);
    zkr__mem_free(c->servers);
    zkr__mem_free(c->next_servers);
    zkr__mem_free(c->lookup.servers);
    zkr__mem_free(c->owner);
    zkr__mem_free(c->tls_cert);
    zkr__zk_acl_free(c->acl);
    zkr__meters_free(&c->meters);
    zkr__mem_free(c);
}

static void destroy_sync(zkr_client *c)
{
    zkr__dispatch_destroy(&c->dispatch);
    zkr__cv_destroy(&c->service_cv);
    zkr__cv_destroy(&c->changed);
    zkr__mu_destroy(&c->mu);
}

void zkr__client_keep(zkr_client *c)
{
    (void)__atomic_add_fetch(&c->holders, 1, __ATOMIC_RELAXED);
}

void zkr__client_free(zkr_client *c)
{
    if (__atomic_sub_fetch(&c->holders, 1, __ATOMIC_ACQ_REL) == 0) {
        destroy_sync(c);
        free_memory(c);
    }
}

int zkr__client_enter(const zkr_client *c)
{
    if (!c) {
        return zkr__fail(ZKR_EINVAL, NULL, "the client is NULL");
    }
    if (c->fork_generation != zkr__fork_generation()) {
        return zkr__fail(
            ZKR_ESTATE, NULL,
            "a forked child cannot use its parent's client; open one there");
    }
    return ZKR_OK;
}

int zkr__client_enter_blocking(const zkr_client *c)
{
    int rc = zkr__client_enter(c);
    if (rc == ZKR_OK && zkr__dispatch_is_self(&c->dispatch)) {
        return zkr__fail(ZKR_ESTATE, NULL,
                         "a callback must not wait; do it in another thread");
    }
    return rc;
}

int zkr__timeout_check(int64_t timeout_ms, const char *path)
{
    return timeout_ms < ZKR_FOREVER
               ? zkr__fail(ZKR_EINVAL, path, "a timeout of %lld ms is not valid",
                           (long long)timeout_ms)
               : ZKR_OK;
}

int zkr__client_enlist(zkr_client *c, const char *path)
{
    if (c->closing || c->shut) {
        return zkr__fail(ZKR_ECLOSED, path, "the client is %s",
                         c->closing ? "being closed" : "shut down");
    }
    c->recipes++;
    return ZKR_OK;
}

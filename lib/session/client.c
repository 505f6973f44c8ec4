/* SPDX-License-Identifier: Apache-2.0 */
#include "session/client.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "session/log.h"
#include "session/zk_value.h"

zkr_client *zkr__client_new(const zkr_client_options *options)
{
    zkr_client *c = zkr__mem_alloc(sizeof(*c));
    if (c) {
        zkr__mu_init(&c->mu);
        zkr__cv_init(&c->changed);
        zkr__cv_init(&c->service_cv);
        zkr__dispatch_init(&c->dispatch);
        c->options = *options;
        c->holders = 1;
        c->service_at = ZKR__NEVER;
        c->fork_generation = zkr__fork_generation();
    }
    return c;
}

void zkr__client_keep(zkr_client *c)
{
    (void)__atomic_add_fetch(&c->holders, 1, __ATOMIC_RELAXED);
}

void zkr__client_free(zkr_client *c)
{
    if (!c || __atomic_sub_fetch(&c->holders, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    zkr__dispatch_destroy(&c->dispatch);
    zkr__cv_destroy(&c->service_cv);
    zkr__cv_destroy(&c->changed);
    zkr__mu_destroy(&c->mu);
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
    zkr__mem_free(c->guardian_tls);
    zkr__zk_acl_free(c->acl);
    zkr__meters_free(&c->meters);
    zkr__mem_free(c);
}

int zkr__client_enter(const zkr_client *c)
{
    if (!c) {
        return zkr__fail(ZKR_EINVAL, NULL, "the client is NULL");
    }
    if (c->fork_generation != zkr__fork_generation()) {
        return zkr__fail(ZKR_ESTATE, NULL,
                         "a forked child cannot use the client of its parent; open a "
                         "client in the child");
    }
    return ZKR_OK;
}

int zkr__client_enter_blocking(const zkr_client *c)
{
    int rc = zkr__client_enter(c);
    if (rc == ZKR_OK && (zkr__dispatch_is_self(&c->dispatch) || zkr__thread_is_of(c))) {
        return zkr__fail(ZKR_ESTATE, NULL,
                         "a callback must not wait; wait in another thread");
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
    bool closing = c->closing || c->finishing;
    if (closing || c->shut) {
        return zkr__fail(ZKR_ECLOSED, path, "the client is %s",
                         closing ? "being closed" : "shut down");
    }
    c->recipes++;
    return ZKR_OK;
}

/* --- states --- */

const char *zkr_client_state_name(int state)
{
    static const char *const names[] = {"?",    "CONNECTING",  "CONNECTED", "SUSPENDED",
                                        "LOST", "AUTH_FAILED", "CLOSED"};
    bool known = state > 0 && state < (int)(sizeof(names) / sizeof(names[0]));
    return names[known ? state : 0];
}

struct state_call {
    struct zkr__call call;
    zkr_client *c;
    int state;
};

static bool run_state(struct zkr__call *call)
{
    const struct state_call s = *(struct state_call *)call;
    zkr__mem_free(call);
    s.c->options.on_state(s.c, s.state, s.c->options.on_state_ctx);
    return true;
}

void zkr__tell_listeners(zkr_client *c)
{
    struct zkr__listener *listener;
    DL_FOREACH(c->listeners, listener)
    {
        listener->on_state(listener, c->state);
    }
}

void zkr__set_state(zkr_client *c, int state)
{
    if (c->state == state) {
        return;
    }
    c->state = state;
    __atomic_fetch_add(&c->log_connected, state == ZKR_STATE_CONNECTED,
                       __ATOMIC_RELAXED);
    zkr__cv_broadcast(&c->changed);
    zkr__log_more(c, ZKR_LOG_INFO, ZKR__EVENT("state"), "state=%s",
                  zkr_client_state_name(state));
    zkr__tell_listeners(c);
    struct state_call *s = c->options.on_state ? zkr__mem_alloc(sizeof(*s)) : NULL;
    if (s) {
        s->c = c;
        s->state = state;
        s->call.run = run_state;
        zkr__dispatch_post(&c->dispatch, &s->call);
    }
}

void zkr__listen(zkr_client *c, struct zkr__listener *listener)
{
    DL_APPEND(c->listeners, listener);
}

void zkr__unlisten(zkr_client *c, struct zkr__listener *listener)
{
    DL_DELETE(c->listeners, listener);
}

void zkr__shut(zkr_client *c)
{
    if (!c->shut) {
        c->shut = true;
        zkr__cv_broadcast(&c->changed);
        if (c->up && c->up->shutdown) {
            c->up->shutdown(c->engine);
        }
        zkr__tell_listeners(c);
    }
}

void zkr__deletes_done(zkr_client *c)
{
    zkr__cv_broadcast(&c->changed); /* for zkr_client_flush() */
    if (c->finishing) {
        zkr__wake_by(c, zkr__now(c));
    }
}

int64_t zkr__to_boot(const zkr_client *c, int64_t at)
{
    int64_t boot = c->door->boot(), pause = zkr__later(at - zkr__now(c), 0);
    return pause < ZKR__NEVER - boot ? boot + pause : ZKR__NEVER;
}

void zkr__wake_by(zkr_client *c, int64_t at)
{
    if (at < c->service_at) {
        c->service_at = at;
        if (c->due != 0) { /* 0 = the service may be blocked (bound.h) */
            c->due = zkr__sooner(c->due, zkr__to_boot(c, at));
        }
        zkr__cv_signal(&c->service_cv);
    }
}

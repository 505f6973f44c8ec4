/* SPDX-License-Identifier: Apache-2.0 */
#include "session/state.h"

#include "base/mem.h"
#include "session/log.h"

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
    struct state_call *s = (struct state_call *)call;
    s->c->options.on_state(s->c, s->state, s->c->options.on_state_ctx);
    zkr__mem_free(s);
    return true;
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
    struct zkr__listener *listener;
    DL_FOREACH(c->listeners, listener)
    {
        listener->on_state(listener, state);
    }
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

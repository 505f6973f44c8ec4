/* SPDX-License-Identifier: Apache-2.0 */
/* What the handle tells about the session, and what that means for the client. */
#include <stdio.h>

#include "base/mem.h"
#include "session/session.h"

struct state_call {
    struct zkr__call call;
    zkr_client *c;
    int state;
};

static void run_state(struct zkr__call *call)
{
    struct state_call *s = (struct state_call *)call;
    s->c->options.on_state(s->c, s->state, s->c->options.on_state_ctx);
    zkr__mem_free(s);
}

void zkr__set_state(zkr_client *c, int state)
{
    if (c->state == state) {
        return;
    }
    c->state = state;
    zkr__cv_broadcast(&c->changed);
    zkr__log(c, ZKR_LOG_INFO, "%s, session 0x%llx", zkr_client_state_name(state),
             (unsigned long long)c->session_id);
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

static void session_up(zkr_client *c, struct zkr__link *link) ZKR__LOCKED
{
    if (link->was_up) {
        c->stats.reconnects++;
        zkr__lease_reconnected(&c->lease);
    } else {
        link->was_up = true;
        c->epoch++;
        c->stats.sessions++;
        c->open_failures = 0;
        c->session_id = c->door->session_id(link->zh);
        c->session_ms = c->door->timeout_ms(link->zh);
        int64_t pause = c->options.lease_probe_ms > 0 ? c->options.lease_probe_ms : 0;
        zkr__lease_begin(&c->lease, c->session_ms * ZKR__MS, pause * ZKR__MS,
                         link->begun);
        if (c->auth_scheme) {
            /* Goes out ahead of all that follows; its refusal comes as a session event. */
            (void)c->door->add_auth(link->zh, c->auth_scheme, c->auth_cert,
                                    c->options.auth_cert_len);
        }
    }
    c->obstacle[0] = '\0';
    zkr__set_state(c, ZKR_STATE_CONNECTED);
    if (c->up) {
        c->up->up(c->engine);
    }
    zkr__service_by(c, zkr__now(c));
}

void zkr__no_answer_yet(zkr_client *c)
{
    (void)snprintf(c->obstacle, sizeof(c->obstacle), "no answer from %.150s",
                   c->link->servers);
}

static void session_down(zkr_client *c) ZKR__LOCKED
{
    zkr__no_answer_yet(c);
    if (zkr__connected(c)) {
        c->suspended_at = zkr__now(c);
        zkr__set_state(c, ZKR_STATE_SUSPENDED);
        zkr__service_by(c, c->suspended_at);
    }
}

/* The order matters: the engine forgets the session first, so late answers find nothing to do. */
void zkr__session_end(zkr_client *c, int state)
{
    struct zkr__link *link = c->link;
    c->link = NULL;
    link->over = true;
    link->next = c->dead;
    c->dead = link;
    c->session_id = 0;
    c->probing = false;
    zkr__lease_end(&c->lease);
    zkr__set_state(c, state);
    if (c->up) {
        c->up->over(c->engine);
    }
    zkr__link_fail(link);
    c->open_at = zkr__now(c);
    zkr__service_by(c, c->open_at);
}

void zkr__session_over(zkr_client *c, const char *why)
{
    zkr__log(c, ZKR_LOG_WARN, "session 0x%llx is over: %s",
             (unsigned long long)c->session_id, why);
    zkr__session_end(c, c->link->was_up ? ZKR_STATE_LOST : ZKR_STATE_CONNECTING);
}

void zkr__link_session(void *ctx, enum zkr__session_event event)
{
    struct zkr__link *link = ctx;
    zkr_client *c = link->c;
    zkr__lock(c);
    while (!link->opened) { /* faster than the call that opens it */
        (void)zkr__wait(c, &c->changed, ZKR__NEVER);
    }
    if (!link->over && link == c->link) {
        switch (event) {
        case ZKR__SESSION_UP:
            session_up(c, link);
            break;
        case ZKR__SESSION_DOWN:
            session_down(c);
            break;
        case ZKR__SESSION_OVER:
            zkr__session_over(c, "expired");
            break;
        case ZKR__SESSION_AUTH_FAILED:
            zkr__log(c, ZKR_LOG_ERROR, "authentication failed");
            zkr__session_end(c, ZKR_STATE_AUTH_FAILED);
            if (c->up) {
                c->up->refused(c->engine);
            }
            break;
        }
    }
    zkr__unlock(c);
}

/* --- lease --- */

bool zkr__sure(zkr_client *c)
{
    return c->options.lease_probe_ms < 0 ||
           zkr__lease_alive(&c->lease, c->door->boot());
}

bool zkr__amply_sure(zkr_client *c)
{
    int64_t margin = c->session_ms * ZKR__MS / 6;
    return c->options.lease_probe_ms < 0 ||
           zkr__lease_alive(&c->lease, c->door->boot() + margin);
}

int64_t zkr__valid_for_ms(zkr_client *c)
{
    if (c->options.lease_probe_ms < 0) {
        return c->session_id != 0 ? ZKR_UNKNOWN : 0;
    }
    int64_t left = (c->lease.until - c->door->boot()) / ZKR__MS;
    return left > 0 ? left : 0;
}

void zkr__probe_done(zkr_client *c, bool answered)
{
    c->probing = false;
    c->probe_after = answered ? 0 : c->door->boot() + c->session_ms * ZKR__MS / 32;
    zkr__service_by(c, zkr__now(c));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "session/session.h"

#include <stdio.h>

#include "session/log.h"
#include "session/observed.h"
#include "session/state.h"
#include "session/wake.h"
#include "session/zk_value.h"

static struct zkr__lease_terms lease_terms(const zkr_client_options *o)
{
    return (struct zkr__lease_terms){
        .tick = o->server_tick_ms * ZKR__MS,
        .pause = o->lease_probe_ms > 0 ? o->lease_probe_ms * ZKR__MS : 0,
        .margin_ppm = o->lease_margin_ppm,
        .no_stopgap = o->lease_no_stopgap != 0,
    };
}

static void session_begins(zkr_client *c, struct zkr__link *link) ZKR__LOCKED
{
    link->was_up = true;
    c->epoch++;
    c->stats.sessions++;
    c->open_failures = 0;
    c->admitted = c->auth_count == 0;
    c->session_id = c->door->session_id(link->zh);
    c->session_ms = c->door->timeout_ms(link->zh);
    const struct zkr__lease_terms terms = lease_terms(&c->options);
    zkr__lease_begin(&c->lease, &terms, c->session_ms * ZKR__MS, link->begun);
}

/* Limits of the servers may have changed, and each connection negotiates the time-out anew. */
static void session_goes_on(zkr_client *c, const struct zkr__link *link) ZKR__LOCKED
{
    int64_t before = c->session_ms;
    c->stats.reconnects++;
    c->session_ms = c->door->timeout_ms(link->zh);
    zkr__lease_reconnected(&c->lease, c->session_ms * ZKR__MS, c->door->boot());
    if (c->session_ms != before) {
        zkr__log_more(c, ZKR_LOG_WARN, ZKR__EVENT("session_timeout_changed"),
                      "session_timeout_ms=%lld before_ms=%lld",
                      (long long)c->session_ms, (long long)before);
    }
}

static void
on_admitted(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    zkr_client *c = ctx;
    (void)tag;
    if (answer->code != ZKR_ECONNLOSS && answer->code != ZKR_ESESSION &&
        answer->code != ZKR_EAUTH) {
        c->admitted = true;
        zkr__cv_broadcast(&c->changed);
    }
}

/*
 * A server that takes credentials says nothing of its own; one that refuses them says so and answers
 * nothing that was sent behind. So any answer tells.
 */
static void ask_admission(zkr_client *c) ZKR__LOCKED
{
    struct zkr__op op = {.kind = ZKR__OP_EXISTS, .path = "/"};
    zkr__submit(c, &op, on_admitted, c, 0);
}

/*
 * They go out ahead of all that follows, and a refusal comes as a session event. libzookeeper does not take them
 * when the connection has gone again since we were told of it.
 */
static int hand_in_credentials(zkr_client *c, struct zkr__link *link) ZKR__LOCKED
{
    int rc = 0;
    while (rc == 0 && link->authorized < c->auth_count) {
        const zkr_auth *auth = &c->auths[link->authorized];
        rc = c->door->add_auth(link->zh, auth->scheme, auth->cert, auth->cert_len);
        link->authorized += rc == 0;
    }
    return zkr__zk_code(rc);
}

/* Without credentials nothing may be sent: what is refused then counts as refused for good. */
static void stay_out(zkr_client *c, int code) ZKR__LOCKED
{
    if (code == ZKR_ECONNLOSS) { /* told in a moment, and then up again */
        c->suspended_at = zkr__now(c);
        zkr__wake_by(c, c->suspended_at);
    } else {
        zkr__session_over(c, "its credentials cannot be sent");
    }
}

static void session_up(zkr_client *c, struct zkr__link *link) ZKR__LOCKED
{
    if (link->was_up) {
        session_goes_on(c, link);
    } else {
        session_begins(c, link);
    }
    int code = hand_in_credentials(c, link);
    if (code != ZKR_OK) {
        stay_out(c, code);
        return;
    }
    if (c->session_ms < 2 * c->options.server_tick_ms) {
        zkr__log_more(c, ZKR_LOG_WARN,
                      ZKR__EVENT("session_timeout_too_short",
                                 .reason =
                                     "less than two ticks of the servers: no hold "
                                     "can be proven"),
                      "session_timeout_ms=%lld", (long long)c->session_ms);
    }
    c->obstacle[0] = '\0';
    zkr__set_state(c, ZKR_STATE_CONNECTED);
    if (!c->admitted) {
        ask_admission(c);
    }
    zkr__request_deliver(c); /* they tell of the time before */
    if (c->up) {
        c->up->connected(c->engine);
    }
    zkr__wake_by(c, zkr__now(c));
}

void zkr__no_answer_yet(zkr_client *c)
{
    (void)snprintf(c->obstacle, sizeof(c->obstacle), "no answer from %.150s",
                   c->link->servers);
}

void zkr__session_down(zkr_client *c)
{
    zkr__no_answer_yet(c);
    if (zkr__connected(c)) {
        c->suspended_at = zkr__now(c);
        c->link->check_at = c->suspended_at;
        zkr__set_state(c, ZKR_STATE_SUSPENDED);
        zkr__wake_by(c, c->suspended_at);
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
    zkr__observe_end(c);
    c->session_id = 0;
    c->probing = c->probe_wanted = false;
    zkr__lease_end(&c->lease);
    zkr__set_state(c, state);
    if (c->up) {
        c->up->session_over(c->engine);
    }
    zkr__link_fail(link);
    zkr__request_deliver(c);
    c->open_at = zkr__now(c);
    zkr__wake_by(c, c->open_at);
}

void zkr__session_over(zkr_client *c, const char *why)
{
    const struct zkr__observed o = zkr__observe(c);
    zkr__log_more(c, ZKR_LOG_WARN, ZKR__EVENT("session_over", .reason = why),
                  "last_write_ms=%lld silent_ms=%lld disconnected_ms=%lld "
                  "stopped_ms=%lld",
                  (long long)o.last_write_ms, (long long)o.silent_ms,
                  (long long)o.disconnected_ms, (long long)o.stopped_ms);
    c->stats.expirations += c->link->was_up;
    zkr__session_end(c, c->link->was_up ? ZKR_STATE_LOST : ZKR_STATE_CONNECTING);
}

static void carry_out(struct zkr__link *link, enum zkr__session_event event) ZKR__LOCKED
{
    zkr_client *c = link->c;
    if (link->over || link != c->link) {
        return;
    }
    switch (event) {
    case ZKR__SESSION_UP:
        session_up(c, link);
        break;
    case ZKR__SESSION_DOWN:
        zkr__session_down(c);
        break;
    case ZKR__SESSION_OVER:
        zkr__session_over(c, "expired");
        break;
    case ZKR__SESSION_AUTH_FAILED:
        zkr__log(
            c, ZKR_LOG_ERROR,
            ZKR__EVENT("auth_failed", .reason = "the servers refuse the credentials"));
        zkr__session_end(c, ZKR_STATE_AUTH_FAILED);
        if (c->up) {
            c->up->auth_refused(c->engine);
        }
        break;
    }
}

/* That it came up, and what became of it then: the rest makes no difference. */
static void remember(struct zkr__link *link, enum zkr__session_event event) ZKR__LOCKED
{
    bool came_up = link->early_count > 0 && link->early[0] == ZKR__SESSION_UP;
    unsigned at = came_up && event != ZKR__SESSION_UP ? 1 : 0;
    link->early[at] = event;
    link->early_count = at + 1;
}

void zkr__link_opened(struct zkr__link *link)
{
    link->opened = true;
    for (unsigned i = 0; i < link->early_count; i++) {
        carry_out(link, link->early[i]);
    }
}

/* Never waits: whoever opens the handle may be waiting for this thread, to close it again. */
void zkr__link_session(struct zkr__handle_owner *owner, enum zkr__session_event event)
{
    struct zkr__link *link = ZKR__OWNER_OF(owner, struct zkr__link, owner);
    zkr_client *c = link->c;
    zkr__lock(c);
    if (link->opened) {
        carry_out(link, event);
    } else {
        remember(link, event);
    }
    zkr__unlock(c);
}

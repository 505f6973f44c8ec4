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
    c->connections = c->unheard = 0;
    c->heard_at = c->suspended_at = zkr__now(c);
    c->session_id = c->door->session_id(link->zh);
    c->session_ms = c->granted_ms = c->door->timeout_ms(link->zh);
    const struct zkr__lease_terms terms = lease_terms(&c->options);
    zkr__lease_begin(&c->lease, &terms, c->session_ms * ZKR__MS, link->begun);
}

/* Limits of the servers may have changed, and each connection negotiates the time-out anew. */
static void session_goes_on(zkr_client *c, const struct zkr__link *link) ZKR__LOCKED
{
    int64_t before = c->granted_ms;
    c->stats.reconnects++;
    c->connections++;
    c->unheard++;
    c->granted_ms = c->door->timeout_ms(link->zh);
    zkr__lease_reconnected(&c->lease, c->granted_ms * ZKR__MS);
    c->session_ms = c->lease.session / ZKR__MS;
    if (c->granted_ms != before) {
        zkr__log_more(c, ZKR_LOG_WARN, ZKR__EVENT("session_timeout_changed"),
                      "session_timeout_ms=%lld before_ms=%lld",
                      (long long)c->granted_ms, (long long)before);
    }
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

/*
 * Why there is none, whatever was answered; NULL: there may be one. With another time-out there would be no pause between
 * requests, or no end; and what is nobody's has owner 0. The lease has to know what each connection was granted.
 *
 * We read the timeout of a connection when we are told that it is up. By then libzookeeper may have the next one, and shows
 * that one's. It had not if a request that was made after the reading is completed before we are told of the next, be
 * it with an answer or because the connection ended: what is told comes in the order in which it happened.
 */
static const char *session_fault(const zkr_client *c, const struct zkr__link *link)
{
    int timeout = c->door->timeout_ms(link->zh);
    return timeout < ZKR__SESSION_LEAST_MS || timeout > ZKR__SESSION_MOST_MS
               ? "what answers grants a session timeout that cannot be"
           : c->door->session_id(link->zh) == 0 ? "what answers grants no session"
           : link->ups > link->timed + 1
               ? "what timeout a connection before was granted is not known"
               : NULL;
}

void zkr__open_later(zkr_client *c, const char *why)
{
    int64_t pause =
        zkr__retry_pause(&c->retry, c->open_failures++, zkr__retry_random(&c->random));
    c->open_at = zkr__now(c) + pause;
    (void)snprintf(c->obstacle, sizeof(c->obstacle), "%s", why);
    zkr__log_more(c, ZKR_LOG_WARN, ZKR__EVENT("no_session", .reason = why),
                  "again_in_ms=%lld", (long long)(pause / ZKR__MS));
}

/*
 * Its handle is given up, too: libzookeeper already works with what it was told. But the session may live at the servers,
 * and what is held in it may be relied upon for as long as was promised. So we end it only if nothing is held.
 */
static void no_session(zkr_client *c, const char *why) ZKR__LOCKED
{
    if (c->link->was_up) {
        c->link->abandoned = c->stats.held > 0;
        zkr__session_over(c, why);
    } else {
        zkr__session_end(c, ZKR_STATE_CONNECTING);
    }
    zkr__open_later(c, why);
}

/* From here on there is a connection for all others. */
static void come_up(zkr_client *c) ZKR__LOCKED
{
    c->obstacle[0] = '\0';
    zkr__set_state(c, ZKR_STATE_CONNECTED);
    zkr__request_deliver(c); /* they tell of the time before */
    if (c->up) {
        c->up->connected(c->engine);
    }
    zkr__wake_by(c, zkr__now(c));
}

static void on_first_answer(void *ctx,
                            unsigned connection,
                            const struct zkr__answer *answer) ZKR__LOCKED
{
    enum { API_ERROR = -100, REFUSED = -115 /* ZAUTHFAILED: an event says so, too */ };
    zkr_client *c = ctx;
    bool over = answer->code == ZKR_ECONNLOSS || answer->code == ZKR_ESESSION;
    bool late = !c->link || connection != (unsigned)c->connections || zkr__connected(c);
    if (late || over || answer->zk_rc == REFUSED) {
        return;
    }
    if (answer->code == ZKR_OK || answer->zk_rc < API_ERROR) {
        come_up(c);
    } else {
        zkr__session_over(c, "its credentials cannot be checked");
    }
}

/*
 * A server that takes credentials may say nothing of its own; one that refuses them says so and answers
 * nothing that was sent behind. So any answer tells. It tells as well that the timeout of this connection was read in
 * time: session_fault().
 */
static void ask_first(zkr_client *c) ZKR__LOCKED
{
    struct zkr__op op = {.kind = ZKR__OP_EXISTS, .path = "/"};
    zkr__submit_early(c, &op, on_first_answer, c, (unsigned)c->connections);
}

/*
 * A server, or what stands before it, takes our connections and drops each of them for what libzookeeper sends first,
 * or for no reason that we know. Each of them renews the session, so it would never end.
 */
static bool is_unheard(const zkr_client *c)
{
    enum { UNHEARD_MOST = 8 };
    return c->unheard >= UNHEARD_MOST &&
           zkr__now(c) - c->heard_at >= c->granted_ms * ZKR__MS;
}

/*
 * Until the credentials are taken nothing else is sent: a refusal ends the handle at any moment, and libzookeeper
 * does not survive that while it packs a transaction (zk_multi.c). An open_handle may have handed in some of its own.
 */
static void session_up(zkr_client *c, struct zkr__link *link) ZKR__LOCKED
{
    const char *fault = session_fault(c, link);
    if (fault) {
        no_session(c, fault);
        return;
    }
    if (link->was_up) {
        session_goes_on(c, link);
    } else {
        session_begins(c, link);
    }
    c->sent_at = 0; /* when the handshake was sent is not known */
    if (is_unheard(c)) {
        no_session(c, "connected again and again without an answer");
        return;
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
    bool credentials = c->auth_count > 0 || c->options.open_handle;
    if (credentials) {
        zkr__session_down(c); /* a handle can come up again without a word of that */
    }
    if (credentials || c->unheard > 0) {
        ask_first(c);
    }
    if (!credentials) {
        come_up(c);
    }
    if (c->sent_at == 0) {
        ask_first(c);
    }
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
    c->probe_failures = 0;
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
    link->ups += event == ZKR__SESSION_UP;
    if (link->opened) {
        carry_out(link, event);
    } else {
        remember(link, event);
    }
    zkr__unlock(c);
}

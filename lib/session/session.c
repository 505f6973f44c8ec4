/* SPDX-License-Identifier: Apache-2.0 */
#include "session/session.h"

#include <stdio.h>

#include "guardian/guardian.h"
#include "session/bound.h"
#include "session/lease_invariant.h"
#include "session/log.h"
#include "session/must.h"
#include "session/support.h"
#include "session/zk_log.h"
#include "session/zk_value.h"

/* Check at each new connection that session, lease and link agree. */
static void check_session(zkr_client *c) ZKR__LOCKED
{
    ZKR__MUST_NOT(c, zkr__lease_invariant(&c->lease));
    ZKR__MUST(c, c->link && c->session_id != 0 && c->epoch > 0);
    ZKR__MUST(c, c->session_ms == c->lease.session / ZKR__MS);
    ZKR__MUST(c, c->session_ms > 0 && c->granted_ms >= c->session_ms);
    ZKR__MUST(c, c->connections >= 0 && c->unheard <= c->connections);
}

static void session_begins(zkr_client *c, const struct zkr__link *link) ZKR__LOCKED
{
    ZKR__MUST(c, c->session_id == 0 && c->lease.session == 0 && !c->probing);
    ZKR__MUST(c, c->stats.held == 0 && c->prepared == 0);
    c->epoch++;
    c->stats.sessions++;
    c->connections = c->unheard = 0;
    c->heard_at = c->suspended_at = zkr__now(c);
    c->session_id = c->door->session_id(link->zh);
    c->session_ms = c->granted_ms = c->door->timeout_ms(link->zh);
    const zkr_client_options *o = &c->options;
    const struct zkr__lease_terms terms = {
        .tick = o->server_tick_ms * ZKR__MS,
        .pause = o->lease_probe_ms > 0 ? o->lease_probe_ms * ZKR__MS : 0,
        .margin_ppm = o->lease_margin_ppm,
        .no_stopgap = o->lease_no_stopgap != 0,
    };
    c->told = 0;
    zkr__support_begin(c);
    zkr__lease_begin(&c->lease, &terms, c->session_ms * ZKR__MS, link->begun);
    check_session(c);
}

/* Each connection negotiates the timeout anew, and the limits of the servers may have changed. */
static void session_goes_on(zkr_client *c, const struct zkr__link *link) ZKR__LOCKED
{
    int64_t before = c->granted_ms;
    c->stats.reconnects++;
    c->connections++;
    c->unheard++;
    c->told = zkr__later(c->told, c->lease.until);
    c->granted_ms = c->door->timeout_ms(link->zh);
    zkr__lease_reconnected(&c->lease, c->granted_ms * ZKR__MS);
    c->session_ms = c->lease.session / ZKR__MS;
    if (c->granted_ms != before) {
        zkr__log_more(c, ZKR_LOG_WARN, ZKR__EVENT("session_timeout_changed"),
                      "session_timeout_ms=%lld before_ms=%lld",
                      (long long)c->granted_ms, (long long)before);
    }
    check_session(c);
}

/*
 * Pass the credentials to libzookeeper, before any later request. A refusal arrives as a session event. If the
 * connection has been lost again meanwhile, libzookeeper does not accept credentials.
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

/*
 * Returns why the client must refuse this session, or NULL if it need not. With a timeout out of range, requests would
 * be sent without a pause, or waits would not end. In a session with ID 0, every node that is not ephemeral would seem
 * to be our own. And the lease must know the shortest timeout granted.
 *
 * The client reads the timeout of a connection when the event of that connection arrives. By then, libzookeeper may
 * already have the next connection, and may return the timeout of that connection. The value is right if a request
 * that the client made after reading the value completes, by an answer or by the end of the connection, before the
 * event of the next connection arrives, because events arrive in order. Only the first connection needs this check.
 * Each later handshake asks for the timeout granted to the previous connection (prime_connection() in zookeeper.c), so
 * a shorter timeout stays in force, unless the minimum of one server is above the maximum of another.
 */
static const char *session_fault(const zkr_client *c, const struct zkr__link *link)
{
    int timeout = c->door->timeout_ms(link->zh);
    return timeout < ZKR__SESSION_LEAST_MS || timeout > ZKR__SESSION_MOST_MS
               ? "the server grants an impossible session timeout"
           : c->door->session_id(link->zh) == 0
               ? "a server without a leader grants no session"
           : link->ups > 1 && !link->timed
               ? "the timeout granted to the first connection is not known"
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

/* Give up the session and its handle, because libzookeeper already uses the values that it received. */
static void no_session(zkr_client *c, const char *why) ZKR__LOCKED
{
    if (c->session_id != 0) {
        zkr__session_over(c, why);
    } else {
        zkr__session_end(c, ZKR_STATE_CONNECTING, NULL);
    }
    zkr__open_later(c, why);
}

/*
 * Send nothing on a handle without its credentials. A request that the server refused for lack of credentials would
 * count as refused for good.
 */
static void stay_out(zkr_client *c, int code) ZKR__LOCKED
{
    if (code == ZKR_ECONNLOSS) { /* a session event will follow */
        c->suspended_at = zkr__now(c);
        zkr__wake_by(c, c->suspended_at);
    } else {
        no_session(c, "its credentials cannot be sent");
    }
}

/* From here on, requests may be sent. */
static void come_up(zkr_client *c) ZKR__LOCKED
{
    /* A handle may report a connection again without having reported a loss (zk_real.c). */
    ZKR__MUST(c, c->link && c->session_id != 0);
    c->obstacle[0] = '\0';
    c->open_failures = 0;
    zkr__set_state(c, ZKR_STATE_CONNECTED);
    zkr__request_deliver(c); /* answers from before the connection */
    if (c->up) {
        c->up->connected(c->engine);
    }
    zkr__wake_by(c, zkr__now(c));
}

static void on_first_answer(void *ctx,
                            unsigned connection,
                            const struct zkr__answer *answer) ZKR__LOCKED
{
    enum { API_ERROR = -100, REFUSED = -115 /* ZAUTHFAILED; an event reports it */ };
    zkr_client *c = ctx;
    bool over = answer->code == ZKR_ECONNLOSS || answer->code == ZKR_ESESSION;
    bool late = !c->link || connection != (unsigned)c->connections;
    if (late || over || answer->zk_rc == REFUSED) {
        return;
    }
    c->keeper = answer->code == ZKR_OK;
    if (zkr__connected(c)) {
        return;
    }
    if (answer->code == ZKR_OK || answer->zk_rc < API_ERROR) {
        come_up(c);
    } else {
        no_session(c, "its credentials cannot be checked");
    }
}

/*
 * Send the first request of a connection. A server may accept credentials silently. A server that refuses them reports
 * that, and does not answer later requests. So any answer proves that the credentials were accepted. It also proves
 * that the timeout was read in time (session_fault()). The request also identifies ClickHouse Keeper, the only server
 * that has this node.
 */
static void ask_first(zkr_client *c) ZKR__LOCKED
{
    struct zkr__op op = {.kind = ZKR__OP_EXISTS, .path = "/keeper/api_version"};
    zkr__submit_early(c, &op, on_first_answer, c, (unsigned)c->connections);
}

/*
 * Returns whether a server, or a proxy in front of it, accepts connections and then drops each one, because of
 * libzookeeper's first packet or for an unknown reason. Each connection renews the session, so the session would never
 * end.
 */
static bool is_unheard(const zkr_client *c)
{
    enum { UNHEARD_MOST = 8 };
    return c->unheard >= UNHEARD_MOST &&
           zkr__now(c) - c->heard_at >= c->granted_ms * ZKR__MS;
}

void zkr__session_guard(zkr_client *c)
{
    zkr__lock(c);
    struct zkr__link *now = c->link;
    if (c->session_id != 0 && now->guarded == 0) {
        now->guarded = zkr__guardian_session(c, now->zh, now->servers);
    }
    zkr__unlock(c);
}

/*
 * Before the credentials are accepted, the client sends nothing else. zkr__zk_multi_submit() relies on that. An
 * open_handle function may have added its own credentials.
 */
static void session_up(zkr_client *c, struct zkr__link *link) ZKR__LOCKED
{
    const char *fault = session_fault(c, link);
    if (fault) {
        no_session(c, fault);
        return;
    }
    if (c->session_id != 0) {
        session_goes_on(c, link);
    } else {
        session_begins(c, link);
    }
    link->guarded = zkr__guardian_session(c, link->zh, link->servers);
    c->sent_at = 0; /* the time at which the handshake was sent is unknown */
    if (is_unheard(c)) {
        no_session(c, "repeated connections brought no answer");
        return;
    }
    int code = hand_in_credentials(c, link);
    if (code != ZKR_OK) {
        stay_out(c, code);
        return;
    }
    if (c->session_ms < 2 * c->options.server_tick_ms) {
        zkr__log_more(
            c, ZKR_LOG_WARN,
            ZKR__EVENT(
                "session_timeout_too_short",
                .reason =
                    "shorter than two ticks of the servers, so no hold can be proven"),
            "session_timeout_ms=%lld", (long long)c->session_ms);
    }
    bool credentials = c->auth_count > 0 || c->options.open_handle;
    if (credentials) {
        /* A handle can connect again without having reported a loss. */
        zkr__session_down(c);
    }
    ask_first(c);
    if (!credentials) {
        come_up(c);
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
        ZKR__MUST(c, c->session_id != 0);
        c->suspended_at = zkr__now(c);
        c->link->check_at = c->suspended_at;
        zkr__set_state(c, ZKR_STATE_SUSPENDED);
        zkr__wake_by(c, c->suspended_at);
    }
}

/*
 * Closing the handle ends the session, and lets the guardian end it. But the application may rely on its holds until
 * the promised time or, without probes, for a session timeout. So if the session may still be alive at the servers, the
 * handle stays open until then, whatever the reason for the end here. A table in lib/README.md lists the reasons.
 */
static void close_later(zkr_client *c) ZKR__LOCKED
{
    int64_t until = c->ended.promised_until;
    if (until > zkr__now(c)) {
        c->link->close_at = until;
        zkr__log_slow(1);
    }
}

/* Servers that obey the timeout end a session no earlier than one timeout after they answered a write. */
static struct zkr__ended look_at_end(const zkr_client *c) ZKR__LOCKED
{
    const struct zkr__lease *lease = &c->lease;
    int64_t told = zkr__later(c->told, lease->until), now = zkr__now(c);
    bool proved = c->options.lease_probe_ms >= 0, by_servers = c->link->settled;
    return (struct zkr__ended){
        .by_servers = by_servers,
        .early = by_servers && c->door->boot() < lease->last.answered + lease->session,
        .promised_until =
            proved ? zkr__from_boot(c, told) : now + c->session_ms * ZKR__MS,
        .gone_at = now + c->granted_ms * ZKR__MS,
    };
}

/*
 * Returns the pause before the next session. Servers that lack an operation close the connection instead of answering.
 * If such servers also give each connection a new session, each attempt costs them the write that creates it.
 */
static int64_t pause_after_end(zkr_client *c) ZKR__LOCKED
{
    enum { AT_ONCE = 2, TOLD = 4 };
    if (!c->unanswered) {
        return 0;
    }
    c->unanswered = false;
    c->fruitless++;
    if (c->fruitless == TOLD) {
        zkr__log(c, ZKR_LOG_WARN,
                 ZKR__EVENT(
                     "sessions_fruitless",
                     .reason = "sessions keep ending before a server answers a write"));
    }
    return c->fruitless < AT_ONCE ? 0
                                  : zkr__retry_pause(&c->retry, c->fruitless - AT_ONCE,
                                                     zkr__retry_random(&c->random));
}

/* The engine forgets the session first, so that late answers have no effect. */
void zkr__session_end(zkr_client *c, int state, const char *why)
{
    struct zkr__link *link = c->link;
    ZKR__MUST(c, link->c == c && link->close_at == 0);
    ZKR__MUST(c, (c->session_id == 0) == (c->lease.session == 0));
    c->ended = look_at_end(c);
    /* After a fault, the count itself may be wrong. */
    bool held = c->stats.held > 0 || c->broken;
    if (c->session_id != 0 && held && !link->settled) {
        close_later(c);
    }
    c->at_end = zkr__observe(c);
    c->gave_up = link->settled ? NULL : why;
    if (why) {
        const zkr_lost *seen = &c->at_end;
        zkr__log_more(c, ZKR_LOG_WARN, ZKR__EVENT("session_over", .reason = why),
                      "last_write_ms=%lld silent_ms=%lld disconnected_ms=%lld "
                      "stopped_ms=%lld",
                      (long long)seen->last_write_ms, (long long)seen->silent_ms,
                      (long long)seen->disconnected_ms, (long long)seen->stopped_ms);
    }
    int64_t pause = pause_after_end(c);
    c->link = NULL;
    /*
     * If earlier requests are still unanswered, the close may get no answer either. Pending deletes depend on the
     * close, too.
     */
    link->settled = link->settled || (zkr__connected(c) && !link->pending &&
                                      c->stats.pending_deletes == 0);
    link->next = c->dead;
    c->dead = link;
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
    c->open_at = zkr__now(c) + pause;
    zkr__wake_by(c, c->open_at);
    ZKR__MUST(c, !c->link && c->session_id == 0 && c->lease.session == 0);
    ZKR__MUST(c, c->stats.held == 0 && c->prepared == 0 && !c->probing);
}

void zkr__session_over(zkr_client *c, const char *why)
{
    bool was_up = c->session_id != 0;
    c->stats.expirations += was_up;
    zkr__session_end(c, was_up ? ZKR_STATE_LOST : ZKR_STATE_CONNECTING, why);
}

void zkr__session_break(zkr_client *c)
{
    if (c->link) {
        zkr__session_over(c, "a fault of the library");
    }
}

bool zkr__session_cut_short(zkr_client *c)
{
    if (c->broken) {
        bool broken = c->link != NULL;
        zkr__session_break(c);
        return broken;
    }
    bool early = !zkr__sure(c) && c->door->boot() < c->told;
    if (early) {
        zkr__session_over(c, "a shorter timeout has ended its lease early");
    }
    return early;
}

void zkr__session_refused(zkr_client *c, const char *why)
{
    zkr__log(c, ZKR_LOG_ERROR, ZKR__EVENT("auth_failed", .reason = why));
    zkr__session_end(c, ZKR_STATE_AUTH_FAILED, NULL);
    if (c->up) {
        c->up->auth_refused(c->engine);
    }
}

/* ClickHouse Keeper may still have nodes of earlier sessions, so the client makes no tap for it. */
bool zkr__session_tap(zkr_client *c)
{
    struct zkr__link *link = c->link;
    bool may = c->door->tap && !c->tls_cert && !c->options.open_handle &&
               !link->moved && !c->keeper &&
               !(c->up && c->up->has_sequel && c->up->has_sequel(c->engine));
    int tap = may && zkr__connected(c) ? c->door->tap(link->zh) : -1;
    link->tap = tap > 0 ? tap : 0;
    link->broke = false;
    return tap > 0;
}

/* Close a handle that was opened to learn whether the session has ended. */
static void end_again(struct zkr__link *link, bool over) ZKR__LOCKED
{
    zkr_client *c = link->c;
    int tap = over ? -1 : c->door->tap(link->zh);
    link->settled = over;
    link->tap = tap > 0 ? tap : 0;
    c->link = NULL;
    c->rest.closing = true;
    link->next = c->dead;
    c->dead = link;
    zkr__wake_by(c, zkr__now(c));
}

static void carry_out(struct zkr__link *link, enum zkr__session_event event) ZKR__LOCKED
{
    zkr_client *c = link->c;
    if (link != c->link) {
        return;
    }
    if (link->last) {
        if (event == ZKR__SESSION_UP || event == ZKR__SESSION_OVER) {
            end_again(link, event == ZKR__SESSION_OVER);
        }
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
        link->settled = true;
        zkr__session_over(c, "expired");
        break;
    case ZKR__SESSION_AUTH_FAILED:
        zkr__session_refused(c, "the servers refuse the credentials");
        break;
    }
}

/* Keep the event that the session is connected, and the last event after that. Other events make no difference. */
static void remember(struct zkr__link *link, enum zkr__session_event event) ZKR__LOCKED
{
    bool came_up = link->early_count > 0 && link->early[0] == ZKR__SESSION_UP;
    unsigned at = came_up && event != ZKR__SESSION_UP ? 1 : 0;
    link->early[at] = event;
    link->early_count = at + 1;
}

void zkr__link_opened(struct zkr__link *link)
{
    for (unsigned i = 0; i < link->early_count; i++) {
        carry_out(link, link->early[i]);
    }
}

/* Must not block, because the thread that opens the handle may close it again, and then waits for this thread. */
void zkr__link_session(struct zkr__handle_owner *owner, enum zkr__session_event event)
{
    struct zkr__link *link = ZKR__OWNER_OF(owner, struct zkr__link, owner);
    zkr_client *c = link->c;
    zkr__lock(c);
    link->ups += event == ZKR__SESSION_UP;
    link->expired = event == ZKR__SESSION_UP ? ZKR__UNEXPIRED : link->expired;
    if (link->zh) {
        carry_out(link, event);
    } else {
        remember(link, event);
    }
    zkr__unlock(c);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "session/service.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/thread.h"
#include "guardian/guardian.h"
#include "session/bound.h"
#include "session/finish.h"
#include "session/log.h"
#include "session/must.h"
#include "session/rebalance.h"
#include "session/request.h"
#include "session/resolve.h"
#include "session/servers.h"
#include "session/session.h"

int64_t zkr__close_dead(zkr_client *c, int64_t by)
{
    int64_t next = ZKR__NEVER;
    struct zkr__link **at = &c->dead;
    while (*at) {
        struct zkr__link *link = *at;
        if (link->close_at > by) {
            next = zkr__sooner(next, link->close_at);
            at = &link->next;
            continue;
        }
        ZKR__MUST(c, link->c == c && link != c->link);
        *at = link->next;
        bool last = link->last;
        zkr__service_leaves(c);
        zkr__unlock(c);
        bool over = zkr__link_close(link);
        zkr__lock(c);
        if (last) {
            zkr__finish_closed(c, over);
        }
        next = ZKR__NEVER;
        at = &c->dead; /* the list may have changed meanwhile */
    }
    return next;
}

/* A call of the application's open_handle. */
struct opening {
    zkr_client *c;
    const char *servers;
    zkr_watcher_fn watcher;
    int timeout_ms;
    void *context;
    struct _zhandle *zh;
};

static void *run(void *client);

/* Record that the thread has finished its work. */
static void end_thread(zkr_client *c) ZKR__LOCKED
{
    c->service_over = true;
    zkr__cv_broadcast(&c->changed);
}

static void not_opened(zkr_client *c, const char *cause) ZKR__LOCKED
{
    struct zkr__link *link = c->link;
    char why[sizeof(c->obstacle)];
    (void)snprintf(why, sizeof(why), "cannot open a handle for %.100s: %s",
                   link->servers, cause);
    c->link = NULL;
    zkr__link_free(link);
    zkr__open_later(c, why);
}

/* Start another thread, because open_handle has ended the calling thread. */
static void give_up_thread(zkr_client *c) ZKR__LOCKED
{
    int error = EAGAIN;
    while (!c->closing &&
           (error = zkr__thread_replace(&c->service, "zkr-service", run, c)) != 0) {
        zkr__unlock(c);
        zkr__thread_rest();
        zkr__lock(c);
    }
    if (error != 0) {
        end_thread(c);
    }
}

static void call_open_handle(void *arg)
{
    struct opening *o = arg;
    const zkr_client_options *options = &o->c->options;
    o->zh = options->open_handle(o->servers, o->watcher, o->timeout_ms, o->context,
                                 options->open_handle_ctx);
}

static void after_open_handle(void *arg, bool cut)
{
    const struct opening *o = arg;
    zkr_client *c = o->c;
    if (cut) {
        zkr__lock(c);
        not_opened(c, "open_handle has ended its thread");
        give_up_thread(c);
        zkr__unlock(c);
    }
}

static struct _zhandle *open_by_application(const char *servers,
                                            zkr_watcher_fn watcher,
                                            int timeout_ms,
                                            void *context,
                                            void *client)
{
    struct opening o = {.c = client,
                        .servers = servers,
                        .watcher = watcher,
                        .timeout_ms = timeout_ms,
                        .context = context};
    zkr__thread_call(call_open_handle, after_open_handle, &o);
    return o.zh;
}

static void *open_handle(zkr_client *c, struct zkr__link *link)
{
    struct zkr__open_args args = {
        .servers = link->servers,
        .timeout_ms = (int)c->options.session_timeout_ms,
        .open_handle = c->options.open_handle ? open_by_application : NULL,
        .open_handle_ctx = c,
        .tls_cert = c->tls_cert,
        .owner = &link->owner,
        .log_slot = c->log_slot,
        .session = c->rest.session,
        .password = c->rest.password,
    };
    errno = 0;
    return c->door->open(&args);
}

/* Returns NULL if memory runs out. */
static struct zkr__link *make_link(zkr_client *c, char *servers) ZKR__LOCKED
{
    struct zkr__link *link = zkr__mem_alloc(sizeof(*link));
    if (!link) {
        return NULL;
    }
    link->owner.session = zkr__link_session;
    link->owner.node = zkr__link_node;
    link->c = c;
    link->servers = servers;
    link->watches.most = c->watch_most;
    link->watches.bytes.needed = c->watch_reserved;
    link->watches.prefix = strlen(zkr__servers_chroot(servers));
    link->begun = c->door->boot();
    link->last = c->rest.session != 0;
    zkr__follow_begin(link);
    return link;
}

/*
 * Opening a handle may block, so the lock is released meanwhile. The link already exists before its first event
 * arrives.
 */
static void open_link(zkr_client *c) ZKR__LOCKED
{
    enum { CAUSE_ROOM = 72 };
    char *servers = zkr__lookup_take(c);
    struct zkr__link *link = servers ? make_link(c, servers) : NULL;
    ZKR__MUST(c, !c->link && c->session_id == 0);
    if (!link) {
        zkr__open_later(c, servers ? "out of memory" : c->lookup.why);
        zkr__mem_free(servers);
        return;
    }
    c->link = link;
    zkr__no_answer_yet(c);
    if (!link->last) {
        zkr__set_state(c, ZKR_STATE_CONNECTING);
    }
    zkr__service_leaves(c);
    zkr__unlock(c);
    void *zh = open_handle(c, link);
    int error = errno;
    zkr__lock(c);
    ZKR__MUST(c, c->link == link && !link->zh && c->session_id == 0);
    link->zh = zh;
    if (zh) {
        zkr__link_opened(link);
        return;
    }
    char cause[CAUSE_ROOM];
    bool no_ipv6 = error == EINVAL && !zkr__servers_takes(ZKR__IPV6);
    (void)snprintf(cause, sizeof(cause), "errno %d%s", error,
                   no_ipv6 ? ", because this host has no IPv6 address except loopback"
                           : "");
    not_opened(c, cause);
}

static int64_t open_session(zkr_client *c, int64_t now) ZKR__LOCKED
{
    if (now < c->open_at) {
        return c->open_at;
    }
    int64_t next = ZKR__NEVER;
    if (!zkr__lookup(c) && !zkr__lookup_addresses(c, now, &next)) {
        if (c->obstacle[0] == '\0') {
            (void)snprintf(c->obstacle, sizeof(c->obstacle),
                           "no answer from the resolver for %.140s", c->servers);
        }
        return next; /* the answer will wake the service */
    }
    if (!c->closing) {
        open_link(c);
    }
    return c->link ? c->link->check_at : c->open_at;
}

/*
 * Give up a handle that gets no session in time. The handle may have stopped trying an address that works
 * (zkr__servers_odd() describes one cause), but the next handle tries every address again. The limit leaves enough time
 * for three silent servers.
 */
static int64_t run_attempt(zkr_client *c, int64_t now) ZKR__LOCKED
{
    enum { LEAST_MS = 5000 };
    int64_t most = zkr__later(2 * c->options.session_timeout_ms, LEAST_MS) * ZKR__MS;
    int64_t end = zkr__from_boot(c, c->link->begun + most);
    if (now < end) {
        return end;
    }
    zkr__session_end(c, ZKR_STATE_CONNECTING, NULL);
    return now;
}

static int64_t run_session(zkr_client *c, int64_t now) ZKR__LOCKED
{
    int64_t at = ZKR__NEVER;
    enum zkr__finish_step step = zkr__finish_run(c, now, &at);
    if (step == ZKR__FINISH_WAITS) {
        return at;
    }
    if (c->state == ZKR_STATE_AUTH_FAILED || c->broken) {
        return ZKR__NEVER;
    }
    if (!c->link) {
        return zkr__sooner(at, open_session(c, now));
    }
    int64_t next = zkr__follow_list(c, now);
    if (!c->link) {
        return now;
    }
    next = zkr__sooner(next, zkr__rebalance_run(c, now));
    if (zkr__connected(c)) {
        zkr__lookup_drop(c);
        return next;
    }
    next = zkr__sooner(next, zkr__follow_names(c, now));
    if (!c->link) {
        return now;
    }
    if (c->session_id == 0) {
        return zkr__sooner(next, run_attempt(c, now));
    }
    /* No server can report the end, but by now the leader must have ended the session. */
    int64_t end = c->suspended_at + c->granted_ms * ZKR__MS;
    if (now >= end) {
        zkr__session_over(c, "no server reached for a session timeout");
        return now;
    }
    return zkr__sooner(end, next);
}

/* Returns when to check for warnings again (CLOCK_BOOTTIME). If the lease has ended, nothing needs a warning. */
static int64_t run_warnings(zkr_client *c, int64_t boot) ZKR__LOCKED
{
    bool runs = c->up->lease_runs && zkr__lease_alive(&c->lease, boot);
    return runs ? c->up->lease_runs(c->engine) : ZKR__NEVER;
}

static int64_t run_lease(zkr_client *c) ZKR__LOCKED
{
    ZKR__MUST(c, c->session_id != 0 || (!c->probing && c->stats.held == 0));
    ZKR__MUST(c, c->stats.held >= 0 && c->prepared >= 0);
    if (c->broken) {
        return ZKR__NEVER;
    }
    int64_t boot = c->door->boot();
    if (c->options.lease_probe_ms < 0) {
        return ZKR__NEVER;
    }
    if (c->stats.held > 0 && !zkr__lease_alive(&c->lease, boot) &&
        !zkr__session_cut_short(c)) {
        c->up->lease_expired(c->engine); /* after this, nothing is held */
    }
    if (c->stats.held == 0 && c->prepared == 0) {
        return ZKR__NEVER;
    }
    int64_t next = c->stats.held > 0
                       ? zkr__sooner(c->lease.until, run_warnings(c, boot))
                       : ZKR__NEVER;
    if (zkr__connected(c) && !c->probing) {
        int64_t at = c->probe_wanted ? boot : zkr__lease_probe_at(&c->lease);
        at = zkr__later(at, c->probe_after);
        if (boot >= at) {
            c->probing = true;
            c->probe_wanted = false;
            c->stats.probes++;
            c->up->send_probe(c->engine);
        } else {
            next = zkr__sooner(next, at);
        }
    }
    return zkr__from_boot(c, next);
}

static void ignore_answer(void *ctx, unsigned tag, const struct zkr__answer *answer)
{
    (void)ctx;
    (void)tag;
    (void)answer;
}

static void keep_alive(zkr_client *c) ZKR__LOCKED
{
    const struct zkr__op op = {.kind = ZKR__OP_EXISTS, .path = "/"};
    zkr__submit(c, &op, ignore_answer, NULL, 0);
}

/*
 * Send a nudge, which is a read behind a request whose answer is late. A server may leave a lone write unanswered until
 * another request arrives (ZOOKEEPER-4537). Also, libzookeeper sends no pings while a request waits, but the session
 * and rule 3 of the lease need them. If the client will leave the connection as soon as no request is in flight, it
 * nudges only requests that a caller waits for.
 */
static int64_t run_nudge(zkr_client *c, int64_t now) ZKR__LOCKED
{
    int64_t oldest = zkr__connected(c) ? zkr__link_oldest(c->link) : ZKR__NEVER;
    bool leaves = (c->new_list && now < c->list_by) || zkr__rebalance_due(c, now);
    if (oldest == ZKR__NEVER || (leaves && !zkr__link_awaited(c->link))) {
        return ZKR__NEVER;
    }
    int64_t at = zkr__from_boot(c, oldest) + zkr__patience(c);
    at = zkr__later(at, c->nudge_after);
    if (now < at) {
        return at;
    }
    int64_t pause = c->nudge_pause > 0 ? c->nudge_pause : zkr__patience(c);
    c->nudge_after = now + pause;
    c->nudge_pause = zkr__sooner(2 * pause, c->session_ms * ZKR__MS / 10);
    keep_alive(c);
    return c->nudge_after;
}

/*
 * Send a read in place of a ping. libzookeeper's ping interval follows the current timeout, but rule 3 of the lease
 * needs the interval of the shortest timeout.
 */
static int64_t run_ping(zkr_client *c, int64_t now) ZKR__LOCKED
{
    if (!zkr__connected(c) || c->granted_ms <= c->session_ms) {
        return ZKR__NEVER;
    }
    int64_t pause = c->session_ms * ZKR__MS / 3;
    int64_t at = zkr__from_boot(c, c->sent_at) + pause;
    if (now < at) {
        return at;
    }
    keep_alive(c);
    return now + pause;
}

/* Give up the session because an answer could not be stored (see zkr__submit()). */
static void give_up(zkr_client *c) ZKR__LOCKED
{
    c->overrun = false;
    if (c->link) {
        zkr__session_over(c, "out of memory");
    } else if (c->up) {
        c->up->session_over(c->engine);
    }
}

void zkr__service_run(zkr_client *c)
{
    c->service_at = ZKR__NEVER;
    if (c->broken) {
        zkr__shut(c);
        zkr__session_break(c);
    }
    if (c->overrun) {
        give_up(c);
    }
    if (c->link && c->link->demanded) {
        zkr__session_refused(c, "the servers demand credentials that the client does "
                                "not have");
    }
    zkr__request_deliver(c);
    zkr__service_runs(c);
    zkr__resolvers_join(c);
    int64_t next = zkr__close_dead(c, zkr__now(c));
    next = zkr__sooner(next, run_session(c, zkr__now(c)));
    if (c->up) {
        next = zkr__sooner(next, c->up->run_timers(c->engine, zkr__now(c)));
        next = zkr__sooner(next, run_lease(c));
    }
    next = zkr__sooner(next, run_nudge(c, zkr__now(c)));
    next = zkr__sooner(next, run_ping(c, zkr__now(c)));
    next = zkr__sooner(next, zkr__guardian_look(c, zkr__now(c)));
    /* The lock was released at times, so something may have become due sooner. */
    c->service_at = zkr__sooner(c->service_at, next);
    zkr__service_rests(c);
}

static void *run(void *client)
{
    zkr_client *c = client;
    zkr__lock(c);
    while (!c->closing) {
        zkr__service_run(c);
        while (!c->closing && zkr__now(c) < c->service_at) {
            (void)zkr__wait(c, &c->service_cv, c->service_at);
        }
    }
    end_thread(c);
    zkr__unlock(c);
    return NULL;
}

int zkr__service_start(zkr_client *c)
{
    int rc = zkr__thread_start(&c->service, "zkr-service", run, c);
    c->service_started = rc == 0;
    return rc;
}

void zkr__service_stop(zkr_client *c)
{
    zkr__lock(c);
    c->closing = true;
    zkr__cv_signal(&c->service_cv);
    while (c->service_started && !c->service_over) {
        /* The service thread may replace itself, so c->service is joined only after the service is over. */
        (void)zkr__wait(c, &c->changed, ZKR__NEVER);
    }
    zkr__unlock(c);
    if (c->service_started) {
        zkr__thread_join(c->service);
    }
}

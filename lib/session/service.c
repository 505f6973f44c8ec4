/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service thread: opens sessions, closes handles, sends lease probes, tells the engine the
 * time. It sleeps until the earliest thing due; with nothing held, queued or in flight that is never.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "session/resolve.h"
#include "session/session.h"

enum { CHECK_ADDRESSES_MS = 5000 };

static int64_t sooner(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

/* A moment on the lease's clock, on the timers' one. */
static int64_t from_boot(const zkr_client *c, int64_t boot)
{
    return boot == ZKR__NEVER ? ZKR__NEVER : zkr__now(c) + (boot - c->door->boot());
}

static int64_t timeout_ns(const zkr_client *c)
{
    return c->session_ms * ZKR__MS;
}

static void close_dead(zkr_client *c) ZKR__LOCKED
{
    while (c->dead) {
        struct zkr__link *link = c->dead;
        c->dead = link->next;
        zkr__unlock(c);
        c->door->close(link->zh);
        zkr__link_free(link);
        zkr__lock(c);
    }
}

static void open_failed(zkr_client *c, const char *why) ZKR__LOCKED
{
    int64_t pause =
        zkr__retry_pause(&c->retry, c->open_failures++, zkr__retry_random(&c->random));
    c->open_at = zkr__now(c) + pause;
    (void)snprintf(c->obstacle, sizeof(c->obstacle), "%s", why);
    zkr__log(c, ZKR_LOG_WARN, "no session: %s; next attempt in %lld ms", why,
             (long long)(pause / ZKR__MS));
}

static void *open_handle(zkr_client *c, struct zkr__link *link)
{
    struct zkr__open_args args = {
        .servers = link->servers,
        .timeout_ms = (int)c->options.session_timeout_ms,
        .log = c->options.log != NULL,
        .open_handle = c->options.open_handle,
        .open_handle_ctx = c->options.open_handle_ctx,
        .ctx = link,
    };
    errno = 0;
    return c->door->open(&args);
}

/* Both may block, so the lock is dropped meanwhile; the link exists before its first event can. */
static void open_link(zkr_client *c) ZKR__LOCKED
{
    char why[sizeof(c->obstacle)] = "out of memory";
    char *servers = NULL;
    zkr__unlock(c);
    int rc = zkr__servers_resolve(c->servers, &servers, why, sizeof(why));
    zkr__lock(c);
    struct zkr__link *link = rc == ZKR_OK ? zkr__mem_alloc(sizeof(*link)) : NULL;
    if (!link || c->closing) {
        zkr__mem_free(servers);
        zkr__mem_free(link);
        open_failed(c, c->closing ? "closing" : why);
        return;
    }
    link->c = c;
    link->servers = servers;
    link->pending_tail = &link->pending;
    link->begun = c->door->boot();
    link->check_at = zkr__now(c) + CHECK_ADDRESSES_MS * ZKR__MS;
    c->link = link;
    zkr__no_answer_yet(c);
    zkr__set_state(c, ZKR_STATE_CONNECTING);
    zkr__unlock(c);
    void *zh = open_handle(c, link);
    int error = errno;
    zkr__lock(c);
    link->zh = zh;
    link->opened = true;
    zkr__cv_broadcast(&c->changed);
    if (!zh) {
        c->link = NULL;
        (void)snprintf(why, sizeof(why), "cannot open a handle for %.100s: errno %d",
                       servers, error);
        zkr__link_free(link);
        open_failed(c, why);
    }
}

/* Never connected for long: the servers may have moved. */
static void check_addresses(zkr_client *c) ZKR__LOCKED
{
    struct zkr__link *link = c->link;
    char *servers = NULL;
    char why[sizeof(c->obstacle)];
    zkr__unlock(c);
    int rc = zkr__servers_resolve(c->servers, &servers, why, sizeof(why));
    zkr__lock(c);
    if (c->link != link) {
        zkr__mem_free(servers);
        return;
    }
    if (rc == ZKR_OK && strcmp(servers, link->servers) != 0 && !link->was_up) {
        zkr__session_over(c, "the servers have other addresses now");
    } else {
        link->check_at = zkr__now(c) + CHECK_ADDRESSES_MS * ZKR__MS;
    }
    zkr__mem_free(servers);
}

static int64_t run_session(zkr_client *c, int64_t now) ZKR__LOCKED
{
    close_dead(c);
    if (c->state == ZKR_STATE_AUTH_FAILED) {
        return ZKR__NEVER;
    }
    if (!c->link) {
        if (now < c->open_at) {
            return c->open_at;
        }
        open_link(c);
        return c->link ? c->link->check_at : c->open_at;
    }
    if (!c->link->was_up) {
        if (now >= c->link->check_at) {
            check_addresses(c);
        }
        return c->link ? c->link->check_at : now;
    }
    if (c->state == ZKR_STATE_SUSPENDED) {
        /* Only a server would tell us of the end. By now any that leads has ended it. */
        if (now >= c->suspended_at + timeout_ns(c)) {
            zkr__session_over(c, "no server reached for a session time-out");
            return now;
        }
        return c->suspended_at + timeout_ns(c);
    }
    return ZKR__NEVER;
}

static int64_t run_lease(zkr_client *c) ZKR__LOCKED
{
    if (c->stats.held == 0 || c->options.lease_probe_ms < 0) {
        return ZKR__NEVER;
    }
    int64_t boot = c->door->boot();
    if (!zkr__lease_alive(&c->lease, boot)) {
        c->up->lease_over(c->engine);
        return ZKR__NEVER;
    }
    int64_t next = c->lease.until;
    if (zkr__connected(c) && !c->probing) {
        int64_t at = zkr__lease_probe_at(&c->lease);
        at = at > c->probe_after ? at : c->probe_after;
        if (boot >= at) {
            c->probing = true;
            c->stats.probes++;
            c->up->probe(c->engine);
        } else {
            next = sooner(next, at);
        }
    }
    return from_boot(c, next);
}

static void ignore_answer(void *ctx, unsigned tag, const struct zkr__answer *answer)
{
    (void)ctx;
    (void)tag;
    (void)answer;
}

/* See ZOOKEEPER-4537 in zkr__submit(). */
static int64_t run_nudge(zkr_client *c, int64_t now) ZKR__LOCKED
{
    if (!zkr__connected(c)) {
        return ZKR__NEVER;
    }
    int64_t oldest = zkr__link_oldest(c->link);
    if (oldest == ZKR__NEVER) {
        return ZKR__NEVER;
    }
    int64_t patience = timeout_ns(c) / 10;
    int64_t at = from_boot(c, oldest) + patience;
    if (at < c->nudge_after) {
        at = c->nudge_after;
    }
    if (now < at) {
        return at;
    }
    struct zkr__op op = {.kind = ZKR__OP_EXISTS, .path = "/"};
    c->nudge_after = now + patience;
    (void)zkr__submit(c, &op, ignore_answer, NULL, 0);
    return c->nudge_after;
}

int64_t zkr__service_run(zkr_client *c)
{
    int64_t now = zkr__now(c);
    int64_t next = run_session(c, now);
    if (c->up) {
        next = sooner(next, c->up->tick(c->engine, zkr__now(c)));
        next = sooner(next, run_lease(c));
    }
    return sooner(next, run_nudge(c, zkr__now(c)));
}

static void *run(void *arg)
{
    zkr_client *c = arg;
    zkr__lock(c);
    while (!c->closing) {
        c->service_at = ZKR__NEVER;
        int64_t next = zkr__service_run(c);
        /* What came up meanwhile, the lock being dropped at times, may be sooner. */
        c->service_at = sooner(c->service_at, next);
        while (!c->closing && zkr__now(c) < c->service_at) {
            (void)zkr__wait(c, &c->service_cv, c->service_at);
        }
    }
    zkr__unlock(c);
    return NULL;
}

void zkr__service_by(zkr_client *c, int64_t at)
{
    if (at < c->service_at) {
        c->service_at = at;
        zkr__cv_signal(&c->service_cv);
    }
}

int zkr__service_start(zkr_client *c)
{
    int rc = pthread_create(&c->service, NULL, run, c);
    c->service_started = rc == 0;
    return rc;
}

void zkr__service_stop(zkr_client *c)
{
    zkr__lock(c);
    c->closing = true;
    zkr__cv_signal(&c->service_cv);
    zkr__unlock(c);
    if (c->service_started) {
        (void)pthread_join(c->service, NULL);
    }
}

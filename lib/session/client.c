/* SPDX-License-Identifier: Apache-2.0 */
/* The public client, but for its opening. */
#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "session/session.h"

enum { QUIESCE_MS = 1000 };

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
               ? zkr__fail(ZKR_EINVAL, path, "a time-out of %lld ms makes no sense",
                           (long long)timeout_ms)
               : ZKR_OK;
}

int zkr__client_enlist(zkr_client *c, const char *path)
{
    if (c->closing) {
        return zkr__fail(ZKR_ECLOSED, path, "the client is being closed");
    }
    c->recipes++;
    return ZKR_OK;
}

int zkr_client_wait_connected(zkr_client *c, int64_t timeout_ms)
{
    int rc = zkr__client_enter_blocking(c);
    if (rc == ZKR_OK) {
        rc = zkr__timeout_check(timeout_ms, NULL);
    }
    if (rc != ZKR_OK) {
        return rc;
    }
    int64_t deadline = zkr__clock_deadline(zkr__now(c), timeout_ms);
    zkr__lock(c);
    bool in_time = timeout_ms != 0;
    while (!zkr__admitted(c) && c->state != ZKR_STATE_AUTH_FAILED && in_time) {
        in_time = zkr__wait(c, &c->changed, deadline);
    }
    if (zkr__admitted(c)) {
        rc = ZKR_OK;
    } else if (c->state == ZKR_STATE_AUTH_FAILED) {
        rc = zkr__fail(ZKR_EAUTH, NULL,
                       "the servers refused the credentials; check scheme '%s'",
                       c->auth_scheme ? c->auth_scheme : "");
    } else {
        const char *why =
            zkr__connected(c) ? "the credentials are not confirmed" : c->obstacle;
        rc = zkr__fail(ZKR_ETIMEDOUT, NULL,
                       "no session with %.100s within %lld ms%s%.120s", c->servers,
                       (long long)timeout_ms, why[0] ? ": " : "", why);
    }
    zkr__unlock(c);
    return rc;
}

int zkr_client_state(zkr_client *c)
{
    if (!c || c->fork_generation != zkr__fork_generation()) {
        return ZKR_STATE_CLOSED;
    }
    zkr__lock(c);
    int state = c->state;
    zkr__unlock(c);
    return state;
}

const char *zkr_client_state_name(int state)
{
    static const char *const names[] = {"?",    "CONNECTING",  "CONNECTED", "SUSPENDED",
                                        "LOST", "AUTH_FAILED", "CLOSED"};
    bool known = state > 0 && state < (int)(sizeof(names) / sizeof(names[0]));
    return names[known ? state : 0];
}

static int64_t read_number(zkr_client *c, int64_t (*read)(zkr_client *c))
{
    if (!c || c->fork_generation != zkr__fork_generation()) {
        return 0;
    }
    zkr__lock(c);
    int64_t value = read(c);
    zkr__unlock(c);
    return value;
}

static int64_t read_session_id(zkr_client *c)
{
    return c->session_id;
}

static int64_t read_session_ms(zkr_client *c)
{
    return c->session_ms;
}

int64_t zkr_client_session_id(zkr_client *c)
{
    return read_number(c, read_session_id);
}

int64_t zkr_client_session_timeout_ms(zkr_client *c)
{
    return read_number(c, read_session_ms);
}

int64_t zkr_client_valid_for_ms(zkr_client *c)
{
    return read_number(c, zkr__valid_for_ms);
}

int zkr_client_flush(zkr_client *c, int64_t timeout_ms)
{
    int rc = zkr__client_enter_blocking(c);
    if (rc == ZKR_OK) {
        rc = zkr__timeout_check(timeout_ms, NULL);
    }
    if (rc != ZKR_OK) {
        return rc;
    }
    int64_t deadline = zkr__clock_deadline(zkr__now(c), timeout_ms);
    zkr__lock(c);
    bool in_time = timeout_ms != 0;
    while (c->stats.pending_deletes > 0 && in_time) {
        in_time = zkr__wait(c, &c->changed, deadline);
    }
    if (c->stats.pending_deletes > 0) {
        rc = zkr__fail(ZKR_ETIMEDOUT, NULL, "%lld nodes are not yet confirmed gone",
                       (long long)c->stats.pending_deletes);
    }
    zkr__unlock(c);
    return rc;
}

int zkr_client_stats(zkr_client *c, zkr_stats *out, size_t size)
{
    int rc = zkr__client_enter(c);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!out || size == 0 || size > INT_MAX) {
        return zkr__fail(ZKR_EINVAL, NULL, "zkr_client_stats: no room for the result");
    }
    zkr__lock(c);
    zkr_stats stats = c->stats;
    stats.dropped_log = __atomic_load_n(&c->log_dropped, __ATOMIC_RELAXED);
    zkr__unlock(c);
    memset(out, 0, size);
    memcpy(out, &stats, size < sizeof(stats) ? size : sizeof(stats));
    return ZKR_OK;
}

/* --- closing --- */

/*
 * zookeeper_close() closes the socket with answers still unread in it, and the reset that follows
 * can overtake what was sent last, the end of the session included. So let the answers come first.
 */
static void await_answers(zkr_client *c) ZKR__LOCKED
{
    int64_t deadline = zkr__clock_deadline(zkr__now(c), QUIESCE_MS);
    bool in_time = true;
    while (in_time && zkr__connected(c) && zkr__link_oldest(c->link) != ZKR__NEVER) {
        in_time = zkr__wait(c, &c->changed, deadline);
    }
}

static void close_link(zkr_client *c)
{
    zkr__lock(c);
    await_answers(c);
    if (c->link) {
        zkr__session_end(c, ZKR_STATE_CLOSED);
    }
    zkr__set_state(c, ZKR_STATE_CLOSED);
    struct zkr__link *dead = c->dead;
    c->dead = NULL;
    zkr__unlock(c);
    while (dead) {
        struct zkr__link *link = dead;
        dead = link->next;
        c->door->close(link->zh);
        zkr__link_free(link);
    }
}

/* From here on no recipe can be made on it, by a callback for one. */
static int begin_closing(zkr_client *c)
{
    zkr__lock(c);
    int64_t recipes = c->recipes;
    c->closing = recipes == 0;
    zkr__unlock(c);
    return recipes == 0 ? ZKR_OK
                        : zkr__fail(ZKR_EBUSY, NULL,
                                    "%lld recipes still use the client; destroy "
                                    "them first",
                                    (long long)recipes);
}

int zkr_client_close(zkr_client *c)
{
    if (!c) {
        return ZKR_OK;
    }
    int rc = zkr__client_enter_blocking(c);
    if (rc == ZKR_OK) {
        rc = begin_closing(c);
    }
    if (rc != ZKR_OK) {
        return rc;
    }
    int cancel_state = zkr__cancel_hold();
    zkr__service_stop(c);
    close_link(c);
    zkr__log_leave(c);
    /* A callback that runs may keep a claim, also when it has destroyed its recipe. */
    zkr__dispatch_stop(&c->dispatch);
    zkr__lock(c);
    if (c->up) {
        c->up->free(c->engine);
    }
    zkr__unlock(c);
    zkr__client_free(c);
    zkr__cancel_restore(cancel_state);
    return ZKR_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of a client, except those that open and close it. */
#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "session/bound.h"
#include "session/must.h"

static int enter_wait(const zkr_client *c, int64_t timeout_ms)
{
    int rc = zkr__client_enter_blocking(c);
    return rc == ZKR_OK ? zkr__timeout_check(timeout_ms, NULL) : rc;
}

int zkr_client_wait_connected(zkr_client *c, int64_t timeout_ms)
{
    int rc = enter_wait(c, timeout_ms);
    if (rc != ZKR_OK) {
        return rc;
    }
    int64_t deadline = zkr__clock_deadline(zkr__now(c), timeout_ms);
    zkr__lock(c);
    bool in_time = timeout_ms != 0;
    while (!zkr__connected(c) && c->state != ZKR_STATE_AUTH_FAILED && !c->shut &&
           in_time) {
        in_time = zkr__wait(c, &c->changed, deadline);
    }
    if (c->shut) {
        rc = zkr__fail(ZKR_ECLOSED, NULL, "the client is shut down");
    } else if (c->state == ZKR_STATE_AUTH_FAILED) {
        rc = zkr__fail(ZKR_EAUTH, NULL,
                       "the servers refused the credentials; check scheme '%s'",
                       c->auth_count > 0 ? c->auths[0].scheme : "");
    } else if (!zkr__connected(c)) {
        const char *why = c->obstacle;
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
    int rc = enter_wait(c, timeout_ms);
    if (rc != ZKR_OK) {
        return rc;
    }
    int64_t deadline = zkr__clock_deadline(zkr__now(c), timeout_ms);
    zkr__lock(c);
    if (c->up && c->up->flush) {
        c->up->flush(c->engine);
    }
    bool in_time = timeout_ms != 0;
    c->flushing++;
    while (c->stats.pending_deletes > 0 && !c->shut && in_time) {
        in_time = zkr__wait(c, &c->changed, deadline);
    }
    ZKR__MUST(c, c->flushing > 0);
    c->flushing--;
    if (c->stats.pending_deletes > 0 && c->refused_deletes > 0 && !c->shut) {
        enum { NO_AUTH = -102 };
        rc = zkr__fail_zk(
            ZKR_ETIMEDOUT, NO_AUTH, NULL,
            "the servers refuse to delete a node, or to list its directory");
    } else if (c->stats.pending_deletes > 0) {
        rc = zkr__fail(c->shut ? ZKR_ECLOSED : ZKR_ETIMEDOUT, NULL,
                       "the deletion of %lld nodes is not confirmed yet",
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
        return zkr__fail(ZKR_EINVAL, NULL,
                         "zkr_client_stats: out is NULL, or size is not valid");
    }
    zkr__lock(c);
    zkr_stats stats = c->stats;
    stats.last_answer_ms = zkr__observe(c).last_write_ms;
    stats.slow_answer_ms = zkr__slow_ms(c);
    if (c->session_id == 0) {
        stats.last_answer_ms = -1;
    }
    stats.dropped_log = __atomic_load_n(&c->log_dropped, __ATOMIC_RELAXED);
    zkr__unlock(c);
    memset(out, 0, size);
    memcpy(out, &stats, size < sizeof(stats) ? size : sizeof(stats));
    return ZKR_OK;
}

/* --- callbacks that the application runs --- */

static int enter_by_hand(const zkr_client *c, const char *name)
{
    int rc = zkr__client_enter(c);
    if (rc == ZKR_OK && !zkr__dispatch_by_hand(&c->dispatch)) {
        return zkr__fail(ZKR_ESTATE, NULL,
                         "%s: the client was not opened with dispatch_by_application",
                         name);
    }
    return rc;
}

int zkr_client_event_fd(zkr_client *c)
{
    int rc = enter_by_hand(c, "zkr_client_event_fd");
    return rc == ZKR_OK ? c->dispatch.event_fd : rc;
}

int zkr_client_dispatch(zkr_client *c, int max)
{
    int rc = enter_by_hand(c, "zkr_client_dispatch");
    if (rc != ZKR_OK) {
        return rc;
    }
    if (max < 0) {
        return zkr__fail(ZKR_EINVAL, NULL, "zkr_client_dispatch: max is %d", max);
    }
    if (zkr__dispatch_is_self(&c->dispatch)) {
        return zkr__fail(ZKR_ESTATE, NULL, "zkr_client_dispatch: called in a callback");
    }
    int cancel_state = zkr__cancel_hold();
    int ran = zkr__dispatch_run(&c->dispatch, max);
    zkr__cancel_restore(cancel_state);
    return ran >= 0 ? ran
                    : zkr__fail(ZKR_EBUSY, NULL,
                                "another thread runs the callbacks of the client");
}

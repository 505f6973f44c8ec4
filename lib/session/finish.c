/* SPDX-License-Identifier: Apache-2.0 */
#include "session/finish.h"

#include "base/error.h"
#include "session/log.h"
#include "session/must.h"
#include "session/request.h"
#include "session/session.h"

/* --- on the service thread --- */

static void finish(zkr_client *c) ZKR__LOCKED
{
    c->finished = true;
    zkr__cv_broadcast(&c->changed);
}

/* End the session. The service closes the handle at its next turn. */
static void end_session(zkr_client *c) ZKR__LOCKED
{
    struct zkr__link *link = c->link;
    c->rest = (struct zkr__rest){.session = c->session_id,
                                 .timeout_ms = c->granted_ms,
                                 .has_nodes = c->stats.pending_deletes > 0,
                                 .closing = true};
    c->door->password(link->zh, c->rest.password);
    link->last = true;
    zkr__session_end(c, ZKR_STATE_CLOSED, NULL);
}

void zkr__finish_closed(zkr_client *c, bool over)
{
    struct zkr__rest *rest = &c->rest;
    int64_t now = zkr__now(c);
    ZKR__MUST(c, c->finishing && rest->session != 0 && !c->link);
    rest->closing = false;
    if (over || !rest->has_nodes) {
        finish(c);
        return;
    }
    /* The servers may end the session up to a tick late, and a tick is at most half of the timeout. */
    rest->gone_at = now + rest->timeout_ms * ZKR__MS * 3 / 2;
    int64_t pause =
        zkr__retry_pause(&c->retry, rest->failures, zkr__retry_random(&c->random));
    c->open_at = now + (rest->failures++ > 0 ? pause : 0);
    zkr__log(c, ZKR_LOG_WARN,
             ZKR__EVENT("end_unconfirmed",
                        .reason = "no server has confirmed the end of the session"));
    zkr__wake_by(c, c->open_at);
}

/* Decide the next step after the handle was closed without a confirmation that the session has ended. */
static enum zkr__finish_step
look_again(zkr_client *c, int64_t now, int64_t *next) ZKR__LOCKED
{
    struct zkr__link *link = c->link;
    if (c->rest.closing) {
        return ZKR__FINISH_WAITS;
    }
    *next = c->rest.gone_at;
    if (now < c->rest.gone_at) {
        return link ? ZKR__FINISH_WAITS : ZKR__FINISH_OPENS;
    }
    finish(c);
    return ZKR__FINISH_WAITS; /* zkr_client_close() closes the handle */
}

enum zkr__finish_step zkr__finish_run(zkr_client *c, int64_t now, int64_t *next)
{
    if (!c->finishing) {
        return ZKR__FINISH_LATER;
    }
    if (c->finished) {
        return ZKR__FINISH_WAITS;
    }
    if (c->rest.session != 0) {
        return look_again(c, now, next);
    }
    bool left = c->stats.pending_deletes > 0;
    if (!zkr__connected(c) && !left) {
        finish(c);
        return ZKR__FINISH_WAITS;
    }
    bool idle = !left && c->link && !c->link->pending;
    if (!zkr__connected(c) || !(zkr__session_tap(c) || idle)) {
        return ZKR__FINISH_LATER;
    }
    end_session(c);
    return ZKR__FINISH_WAITS;
}

/* --- functions for the application --- */

static int say_unfinished(const zkr_client *c)
{
    enum { NO_AUTH = -102 };
    if (c->refused_deletes > 0) {
        return zkr__fail_zk(
            ZKR_ETIMEDOUT, NO_AUTH, NULL,
            "the servers refuse to delete a node, or to list its directory");
    }
    return zkr__fail(ZKR_ETIMEDOUT, NULL,
                     "the deletion of some nodes of the client is not confirmed");
}

int zkr_client_finish(zkr_client *c, int64_t timeout_ms)
{
    int rc = zkr__client_enter_blocking(c);
    rc = rc == ZKR_OK ? zkr__timeout_check(timeout_ms, NULL) : rc;
    if (rc != ZKR_OK) {
        return rc;
    }
    int64_t deadline = zkr__clock_deadline(zkr__now(c), timeout_ms);
    zkr__lock(c);
    bool in_time = timeout_ms != 0;
    if (c->recipes > 0) {
        rc = zkr__fail(ZKR_EBUSY, NULL,
                       "%lld recipes still use the client; destroy them first",
                       (long long)c->recipes);
    } else {
        c->finishing = true;
        zkr__wake_by(c, zkr__now(c));
        while (!c->finished && in_time) {
            in_time = zkr__wait(c, &c->changed, deadline);
        }
        rc = c->finished ? ZKR_OK : say_unfinished(c);
    }
    zkr__unlock(c);
    return rc;
}

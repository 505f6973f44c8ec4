/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a client: shutdown, then close. */
#include "base/error.h"
#include "session/client.h"
#include "session/guardian.h"
#include "session/request.h"
#include "session/service.h"
#include "session/session.h"
#include "session/zk_log.h"

enum { QUIESCE_MS = 1000 };

/*
 * zookeeper_close() closes the socket with answers unread, and the reset that follows can overtake what was sent last,
 * which is the end of the session. So let the answers come first.
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
        zkr__session_end(c, ZKR_STATE_CLOSED, NULL);
    }
    zkr__set_state(c, ZKR_STATE_CLOSED);
    (void)zkr__close_dead(c, ZKR__NEVER);
    zkr__unlock(c);
}

/* From here on no recipe can be made on the client, not even by a callback. */
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
    zkr__guardian_leave(c);
    zkr__log_leave(c);
    /* A callback that runs may keep a claim, even when it has destroyed its recipe. */
    zkr__dispatch_stop(&c->dispatch);
    zkr__lock(c);
    zkr__request_finish(c);
    if (c->up) {
        c->up->free(c->engine);
    }
    zkr__unlock(c);
    zkr__client_free(c);
    zkr__cancel_restore(cancel_state);
    return ZKR_OK;
}

int zkr_client_shutdown(zkr_client *c)
{
    int rc = zkr__client_enter(c);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(c);
    if (!c->shut) {
        c->shut = true;
        zkr__cv_broadcast(&c->changed);
        if (c->up && c->up->shutdown) {
            c->up->shutdown(c->engine);
        }
        zkr__tell_listeners(c);
    }
    zkr__unlock(c);
    return ZKR_OK;
}

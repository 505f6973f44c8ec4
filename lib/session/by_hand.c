/* SPDX-License-Identifier: Apache-2.0 */
/* A client whose callbacks the application runs: options.dispatch_by_application. */
#include "base/error.h"
#include "session/client.h"

static int enter(const zkr_client *c, const char *name)
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
    int rc = enter(c, "zkr_client_event_fd");
    return rc == ZKR_OK ? c->dispatch.event_fd : rc;
}

int zkr_client_dispatch(zkr_client *c, int max)
{
    int rc = enter(c, "zkr_client_dispatch");
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

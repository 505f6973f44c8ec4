/* SPDX-License-Identifier: Apache-2.0 */
/* What this floor tells the engine. All are called with the client's lock held; none may block. */
#ifndef ZKR_SESSION_UPCALLS_H
#define ZKR_SESSION_UPCALLS_H

#include <stdint.h>

#include "session/zk.h"

struct zkr__upcalls {
    void (*connected)(void *engine);     /* for the first time, or again */
    void (*session_over)(void *engine);  /* the session ended, and its nodes with it */
    void (*auth_refused)(void *engine);  /* for good: no session will follow */
    void (*lease_expired)(void *engine); /* nothing that is held is sure any more */
    void (*node_event)(void *engine, const char *path, enum zkr__node_event event);
    void (*send_probe)(void *engine); /* one quorum write, then zkr__probe_done() */
    /* Do what is due at @now. Returns when to call next, or ZKR__NEVER. */
    int64_t (*run_timers)(void *engine, int64_t now);
    /* End all waits with ZKR_ECLOSED. Called once. May be NULL. */
    void (*shutdown)(void *engine);
    void (*free)(void *engine);
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a client as the application sees it, and who is told when it changes. */
#ifndef ZKR_SESSION_STATE_H
#define ZKR_SESSION_STATE_H

#include "session/client.h"

/* Someone who is told each state the client enters, with mu held. Embedded in what it is about. */
struct zkr__listener {
    struct zkr__listener *prev, *next;
    /* Must not block, nor add or remove listeners. */
    void (*on_state)(struct zkr__listener *listener, int state);
};

/* Enter a state: tell waits, listeners, the log, and options.on_state. */
void zkr__set_state(zkr_client *c, int state) ZKR__LOCKED;

void zkr__listen(zkr_client *c, struct zkr__listener *listener) ZKR__LOCKED;
void zkr__unlisten(zkr_client *c, struct zkr__listener *listener) ZKR__LOCKED;

#endif

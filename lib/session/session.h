/* SPDX-License-Identifier: Apache-2.0 */
/* The present session: what its handle tells of it, and what that means for the client. */
#ifndef ZKR_SESSION_SESSION_H
#define ZKR_SESSION_SESSION_H

#include "session/client.h"
#include "session/request.h"

/* What a handle tells; a zkr__handle_owner's function. Never waits. */
void zkr__link_session(struct zkr__handle_owner *owner, enum zkr__session_event event);
/* The handle is final: carry out what it told before. */
void zkr__link_opened(struct zkr__link *link) ZKR__LOCKED;
/* What zkr_client_wait_connected() says of a handle that gets no answer. */
void zkr__no_answer_yet(zkr_client *c) ZKR__LOCKED;
/* There is no session, and none is to be opened before a pause, which grows. */
void zkr__open_later(zkr_client *c, const char *why) ZKR__LOCKED;
/* There is no connection any more; the session may still live. */
void zkr__session_down(zkr_client *c) ZKR__LOCKED;
/* The present session is over, or given up; the service opens the next. */
void zkr__session_over(zkr_client *c, const char *why) ZKR__LOCKED;
/* The same, into a state from which nothing follows by itself. */
void zkr__session_end(zkr_client *c, int state) ZKR__LOCKED;

#endif

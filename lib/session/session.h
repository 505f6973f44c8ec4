/* SPDX-License-Identifier: Apache-2.0 */
/* The present session: what its handle tells, and what the client makes of it. */
#ifndef ZKR_SESSION_SESSION_H
#define ZKR_SESSION_SESSION_H

#include "session/client.h"
#include "session/request.h"

/* zkr__handle_owner.session of links. Never waits. */
void zkr__link_session(struct zkr__handle_owner *owner, enum zkr__session_event event);
/* The handle is final: carry out what it has told before. */
void zkr__link_opened(struct zkr__link *link) ZKR__LOCKED;
/* Sets what zkr_client_wait_connected() says of a handle that gets no answer. */
void zkr__no_answer_yet(zkr_client *c) ZKR__LOCKED;
/* There is no session, and the next is opened after a pause, which grows. */
void zkr__open_later(zkr_client *c, const char *why) ZKR__LOCKED;
/* The client has a guardian since a moment ago, which may not know the session. Not with the client's lock. */
void zkr__session_guard(zkr_client *c);
/* The connection is gone; the session may still live. */
void zkr__session_down(zkr_client *c) ZKR__LOCKED;
/* The session is over, or given up. The service opens the next. */
void zkr__session_over(zkr_client *c, const char *why) ZKR__LOCKED;
/* The same, into @state. @why: NULL = the log gets no line. */
void zkr__session_end(zkr_client *c, int state, const char *why) ZKR__LOCKED;
/* After a fault of the library (must.h) there is no session any more. The promises about its holds are kept. */
void zkr__session_break(zkr_client *c) ZKR__LOCKED;
/* The servers refuse the credentials of the client, and @why says how: no session will follow. */
void zkr__session_refused(zkr_client *c, const char *why) ZKR__LOCKED;
/*
 * Before the end of a session that is up: make a tap, so that its end is sent at once, behind all requests without an
 * answer. False: let their answers come first.
 */
bool zkr__session_tap(zkr_client *c) ZKR__LOCKED;
/*
 * The lease bound has passed. After a shorter timeout it can pass before what was told of it: then the session is given
 * up, so that the nodes of its holds stay until then; and so it is after a fault of the library. False: it is not.
 */
bool zkr__session_cut_short(zkr_client *c) ZKR__LOCKED;

#endif

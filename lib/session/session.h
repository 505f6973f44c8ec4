/* SPDX-License-Identifier: Apache-2.0 */
/* The current session: the events of its handle, and how the client reacts to them. */
#ifndef ZKR_SESSION_SESSION_H
#define ZKR_SESSION_SESSION_H

#include "session/client.h"
#include "session/request.h"

/* The callback zkr__handle_owner.session of links. Never blocks. */
void zkr__link_session(struct zkr__handle_owner *owner, enum zkr__session_event event);
/* Carry out the events that arrived while the handle was being opened. */
void zkr__link_opened(struct zkr__link *link) ZKR__LOCKED;
/* Set the reason that zkr_client_wait_connected() reports for a handle without an answer. */
void zkr__no_answer_yet(zkr_client *c) ZKR__LOCKED;
/* Record that there is no session. The service opens the next one after a pause, which grows with each failure. */
void zkr__open_later(zkr_client *c, const char *why) ZKR__LOCKED;
/*
 * Report the current session to a guardian that the client joined after the session began. Called without the client's
 * lock.
 */
void zkr__session_guard(zkr_client *c);
/* Record that the connection is lost. The session may still be alive. */
void zkr__session_down(zkr_client *c) ZKR__LOCKED;
/* End the session, which has ended at the servers or is given up. The service opens the next one. */
void zkr__session_over(zkr_client *c, const char *why) ZKR__LOCKED;
/* Like zkr__session_over(), but enter @state. If @why is NULL, log nothing. */
void zkr__session_end(zkr_client *c, int state, const char *why) ZKR__LOCKED;
/* End the session after a fault of the library (must.h). The promises about its holds are kept. */
void zkr__session_break(zkr_client *c) ZKR__LOCKED;
/* End the session for good, because the servers refuse the client's credentials. @why gives the details. */
void zkr__session_refused(zkr_client *c, const char *why) ZKR__LOCKED;
/*
 * Make a tap (zk_tap.h) before ending a session that is connected. The end can then be sent at once, behind all
 * unanswered requests. If this returns false, the caller must first wait for the answers to those requests.
 */
bool zkr__session_tap(zkr_client *c) ZKR__LOCKED;
/*
 * Called when the lease bound has passed. If a reconnection has shortened the session timeout, the bound can pass before
 * the time promised to the holders. The client then gives up the session, so that the nodes of its holds stay until the promised time. It also
 * gives up the session after a fault of the library. Returns false if the session goes on.
 */
bool zkr__session_cut_short(zkr_client *c) ZKR__LOCKED;

#endif

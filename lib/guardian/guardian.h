/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guardian: a separate process that ends the sessions of this process if this process dies without closing them
 * (zkr/guardian.h, lib/guardian/program/). The client sends in advance everything that the guardian needs: a session
 * before any node is created in it, and a process group before its command is started.
 *
 * Sending never blocks. The client gives up a guardian that does not read. A guardian that died or was given up is not
 * replaced for its clients. A new one would not know their process groups, and could end a session too early.
 */
#ifndef ZKR_GUARDIAN_GUARDIAN_H
#define ZKR_GUARDIAN_GUARDIAN_H

#include "session/client.h"

/*
 * Find or start the guardian that c->options.guardian asks for. A required guardian is ready before the client's
 * threads start. Any other guardian may join after the first session was granted (zkr__session_guard()). With
 * ZKR_GUARDIAN_TRY a failure is only logged. Called without the client's lock.
 */
int zkr__guardian_join(zkr_client *c);
/*
 * Leave the guardian, after the last session. The last client that leaves ends the guardian, and waits until it has
 * ended. Called without the client's lock.
 */
void zkr__guardian_leave(zkr_client *c);

/* Part of a turn of the service: check whether the guardian watches this process. Returns the time of the next call. */
int64_t zkr__guardian_look(zkr_client *c, int64_t now) ZKR__LOCKED;

/*
 * Report the client's session, on handle @zh and numeric @servers, to the guardian. Called before anything is done in
 * the session, and again when the timeout or the servers have changed. Returns the session, or 0 if the guardian does
 * not know it.
 */
int64_t zkr__guardian_session(zkr_client *c, void *zh, const char *servers) ZKR__LOCKED;
/*
 * Report that the handle of @session was closed. Without @settled it is possible that no server knows of the close, so
 * the guardian ends the session.
 */
void zkr__guardian_over(const zkr_client *c, int64_t session, bool settled);

/*
 * Report the directory @path to the guardian, once. With @used, a node is about to be created there. Otherwise the
 * client has no node left there, and "" means all directories. Returns false if the guardian does not know the
 * directory.
 */
bool zkr__guardian_directory(zkr_client *c, const char *path, bool used) ZKR__LOCKED;

struct zkr__guardian_record;

/*
 * Send a record of this client, with @count descriptors. Returns 0 or errno. EPIPE: the client has no guardian, or the
 * guardian has ended.
 */
int zkr__guardian_send(const zkr_client *c,
                       struct zkr__guardian_record *record,
                       const int *fds,
                       size_t count);

#endif

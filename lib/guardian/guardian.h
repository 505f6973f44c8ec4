/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guardian: a process beside this one that ends our sessions when this process has died without closing them
 * (zkr/guardian.h, lib/guardian/program/). The client sends all that it needs in advance: a session before any node is
 * made in it, a process group before its command is started.
 *
 * What is told never waits: a guardian that does not read is given up. A guardian that was given up, or has died, is
 * not replaced for its clients: the new one would not know their process groups, and could end a session too early.
 */
#ifndef ZKR_GUARDIAN_GUARDIAN_H
#define ZKR_GUARDIAN_GUARDIAN_H

#include "session/client.h"

/*
 * Find or start the guardian that c->options.guardian asks for. A guardian that is required is there before the threads
 * of the client; otherwise a server may have granted the first session already: zkr__session_guard(). Without a guardian,
 * for ZKR_GUARDIAN_TRY, only a line is logged. Not with the client's lock.
 */
int zkr__guardian_join(zkr_client *c);
/* After the last session. The last client lets the guardian end, and waits for that. Not with the client's lock. */
void zkr__guardian_leave(zkr_client *c);

/* A part of a turn of the service: does the guardian do its work? Returns when to call it again. */
int64_t zkr__guardian_look(zkr_client *c, int64_t now) ZKR__LOCKED;

/*
 * The client has this session, by the handle @zh, on these servers, which are numeric: tell of it before anything is
 * done in it, and again when the timeout or the servers have changed. Returns the session, or 0 when the guardian does
 * not know it.
 */
int64_t zkr__guardian_session(zkr_client *c, void *zh, const char *servers) ZKR__LOCKED;
/*
 * The handle of that session was closed. Not @settled: perhaps no server has heard of that, and the guardian ends the
 * session.
 */
void zkr__guardian_over(const zkr_client *c, int64_t session, bool settled);

/*
 * Tell the guardian of the directory @path, once. @used: a node is about to be made there; else no node of ours is left
 * there, and "" stands for all directories. False: the guardian does not know the directory.
 */
bool zkr__guardian_directory(zkr_client *c, const char *path, bool used) ZKR__LOCKED;

struct zkr__guardian_record;

/* Send a record of this client, with @count descriptors. 0 or errno; EPIPE: the client has no guardian, or it has ended. */
int zkr__guardian_send(const zkr_client *c,
                       struct zkr__guardian_record *record,
                       const int *fds,
                       size_t count);

#endif

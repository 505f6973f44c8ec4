/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ghosts: nodes of a session that the servers have declared over although it lives on.
 *
 * ZooKeeper gives a client that connects again its session, or ends that session and deletes its nodes. ClickHouse Keeper
 * gives a new session, and the old one lives until its timeout. Its nodes keep their places, and everybody waits for
 * them, the client that made them included. libzookeeper reports the same in both cases. So the client deletes its nodes
 * of the old session by their names:
 *  - the node of a claim that did not hold, at once;
 *  - the node of a hold when the owner has let go of it, or when the time is over for which valid_for() promised the hold.
 *    Until then the owner may rely on the hold, and the ghost keeps the others out.
 *
 * One delete is on its way at a time. If the node is missing, the servers have ended the session as ZooKeeper does, and
 * the other ghosts are forgotten: the end of a session costs one request there. A node that the client does not know yet,
 * as its create has no answer, stays until the servers end the session.
 */
#ifndef ZKR_QUEUE_GHOSTS_H
#define ZKR_QUEUE_GHOSTS_H

#include "queue/engine_state.h"

struct zkr__ghost;

/* The session has ended; the claims are as before. Returns their nodes, if the servers say that it has ended. */
struct zkr__ghost *zkr__ghosts_of_session(const struct zkr__engine *engine) ZKR__LOCKED;
/* The claims have heard of that end: from now on delete the nodes. */
void zkr__ghosts_add(struct zkr__engine *engine, struct zkr__ghost *ghosts) ZKR__LOCKED;
/* There is a connection, and what has to go ahead of all writes is sent. */
void zkr__ghosts_connected(struct zkr__engine *engine) ZKR__LOCKED;
/* The owner of a hold by this node, which is over, lets go of it. */
void zkr__ghost_let_go(struct zkr__engine *engine, const char *path) ZKR__LOCKED;
/* At the end of the client. */
void zkr__ghosts_free(struct zkr__engine *engine) ZKR__LOCKED;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ghosts: nodes of a session that is still alive although the servers have reported its end.
 *
 * When a client reconnects, ZooKeeper either resumes its session, or ends that session and deletes its nodes.
 * ClickHouse Keeper opens a new session, and keeps the old session until its timeout. The nodes of the old session keep
 * their places, and all contenders wait for them, even contenders of the same client. libzookeeper reports the same
 * event in both cases. So the client deletes its nodes of the old session by name:
 * - It deletes the node of a claim that did not hold at once.
 * - It deletes the node of a hold when the owner releases the hold, or when the time promised by valid_for() ends.
 *   Until then the owner may rely on the hold, and the ghost keeps other contenders out.
 *
 * One delete is in flight at a time. If the node is missing, the servers have ended the session as ZooKeeper does, and
 * the client forgets the other ghosts. So on ZooKeeper the end of a session costs one request. If the create of a node
 * was not answered, the client does not know the node, which stays until the servers end the session.
 */
#ifndef ZKR_QUEUE_GHOSTS_H
#define ZKR_QUEUE_GHOSTS_H

#include "queue/engine_state.h"

struct zkr__ghost;

/*
 * Called after the end of the session, before the claims process it. Returns the claims' nodes if the servers reported
 * the end.
 */
struct zkr__ghost *zkr__ghosts_of_session(const struct zkr__engine *engine) ZKR__LOCKED;
/*
 * Take ownership of the ghosts, and delete their nodes. Called when the claims have processed the end of the session.
 */
void zkr__ghosts_add(struct zkr__engine *engine, struct zkr__ghost *ghosts) ZKR__LOCKED;
/* Called when the client is connected, after the requests that must precede all writes have been sent. */
void zkr__ghosts_connected(struct zkr__engine *engine) ZKR__LOCKED;
/* Delete the node at @path now, because its owner has released the lost hold. */
void zkr__ghost_let_go(struct zkr__engine *engine, const char *path) ZKR__LOCKED;
/* Called when the client is freed. */
void zkr__ghosts_free(struct zkr__engine *engine) ZKR__LOCKED;

#endif

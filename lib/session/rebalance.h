/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection that is left for another server, in the same session.
 *
 * The handle gets one other server at a time, at random, and has an eighth of the session timeout to connect to it. If
 * it has not, it gets the server that it has left, for as long, and after that all servers. A server is left only with
 * nothing in flight, and while the lease of what is held lasts for three of these eighths. So a move that fails
 * costs no hold unless the old server fails, too. When the other server has answered, the handle gets all servers at
 * the end of that connection: libzookeeper might leave it at once otherwise.
 */
#ifndef ZKR_SESSION_REBALANCE_H
#define ZKR_SESSION_REBALANCE_H

#include "session/client.h"

/* Does the client only wait for a moment to leave its server? */
bool zkr__rebalance_due(const zkr_client *c, int64_t now) ZKR__LOCKED;
/* A part of a turn of the service, with a link. Returns when to call it again. */
int64_t zkr__rebalance_run(zkr_client *c, int64_t now) ZKR__LOCKED;

#endif

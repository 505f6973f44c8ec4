/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves the connection to another server, in the same session.
 *
 * The handle gets one other server of its list at a time, beginning with a random one, and has an eighth of the session
 * timeout to connect to it. If that fails, the handle gets its previous server for the same time, and after that all
 * servers. The client leaves a server only with no request in flight and, if anything is held, only with at least three
 * eighths of the session timeout left on the lease. So a failed move costs no hold unless the previous server fails,
 * too. After a successful move, the handle gets all servers only when the new connection ends, because libzookeeper
 * might otherwise leave that connection at once.
 */
#ifndef ZKR_SESSION_REBALANCE_H
#define ZKR_SESSION_REBALANCE_H

#include "session/client.h"

/* Returns whether a move is due. If it is, the client waits only for a suitable moment to leave its server. */
bool zkr__rebalance_due(const zkr_client *c, int64_t now) ZKR__LOCKED;
/* Part of a turn of the service, with a link. Returns when to call this again. */
int64_t zkr__rebalance_run(zkr_client *c, int64_t now) ZKR__LOCKED;

#endif

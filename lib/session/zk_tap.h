/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tap: a second descriptor of the connection of a handle. zookeeper_close() sends the end of the session behind all that
 * was submitted, waits until anything comes, and drops it. The owner of a tap reads the answers instead, and so learns
 * whether a server has ended the session, without a wait for the earlier answers first. Nothing is read before the handle
 * is closed.
 */
#ifndef ZKR_SESSION_ZK_TAP_H
#define ZKR_SESSION_ZK_TAP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A tap of the handle; -1: it is not connected, there is no descriptor, or several sockets of this process are connected to
 * its server. Not for a connection with TLS, whose answers cannot be read.
 */
int zkr__zk_tap(void *zh);
/*
 * The handle was closed: wait for its last answers, and close the tap. @answers: so many are to come, the last of them to
 * the end of the session. True: a server has ended the session, and with it all its nodes. False: that is not known.
 */
bool zkr__zk_tap_end(int tap, size_t answers);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tap: a second descriptor for a handle's connection. zookeeper_close() sends the end of the session behind all
 * submitted requests, waits until any data arrives, and drops the data. The owner of a tap reads the answers instead.
 * So it learns whether a server has ended the session, and need not wait for the earlier answers before it ends the
 * session. Nothing is read before the handle is closed.
 */
#ifndef ZKR_SESSION_ZK_TAP_H
#define ZKR_SESSION_ZK_TAP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns a tap of the handle, or -1 if the handle is not connected, no descriptor is available, or several sockets of
 * this process are connected to its server. Not for a connection with TLS, whose answers cannot be read.
 */
int zkr__zk_tap(void *zh);
/*
 * After the handle was closed, wait for its last answers, and close the tap. @answers is the number of answers still to
 * arrive. The last of them answers the end of the session. Returns true if a server has ended the session, and so
 * deleted all its nodes, or false if that is unknown.
 */
bool zkr__zk_tap_end(int tap, size_t answers);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up the servers' addresses without blocking, and follows their changes.
 *
 * A resolver may take arbitrarily long, so a separate thread resolves names. Each client has at most one such thread at
 * a time. Not even zkr_client_close() waits for the thread. A thread that outlives the close keeps the client's memory
 * until it ends, and keeps the library's code mapped for good. If memory is too short to pin the code, the close does
 * wait.
 */
#ifndef ZKR_SESSION_SERVERS_H
#define ZKR_SESSION_SERVERS_H

#include "session/request.h"

/*
 * Start a look-up unless one is running or done. Returns true if the answer has arrived. A later answer wakes the
 * service.
 */
bool zkr__lookup(zkr_client *c) ZKR__LOCKED;

/*
 * If the answer is late, and the list has addresses besides its names, use those addresses as the answer until the real
 * one arrives, and return true. Otherwise set *next to the time of the next call, and return false.
 */
bool zkr__lookup_addresses(zkr_client *c, int64_t now, int64_t *next) ZKR__LOCKED;

/*
 * Take the answer, so that another look-up may start. Returns NULL if no address is known. Then lookup.why has the
 * reason.
 */
char *zkr__lookup_take(zkr_client *c) ZKR__LOCKED;

/* Drop an answer that would be outdated when it is used. */
void zkr__lookup_drop(zkr_client *c) ZKR__LOCKED;

/* Join the resolver threads that have finished. Releases the lock meanwhile. The service and the close call this. */
void zkr__resolvers_join(zkr_client *c) ZKR__LOCKED;

/*
 * Join the threads that have finished, and detach the others. Called after the end of the service, which starts no more
 * threads. If the code cannot be pinned, join all threads.
 */
void zkr__resolvers_end(zkr_client *c);

/*
 * --- following changes in a turn of the service; may end the session; an int64_t result is the time of the next call
 * ---
 */

/* Record that the service is opening @link with the newest list. */
void zkr__follow_begin(struct zkr__link *link) ZKR__LOCKED;
/* Give an update of the list to the handle, now or when the connection is lost. */
int64_t zkr__follow_list(zkr_client *c, int64_t now) ZKR__LOCKED;
/* Give @servers to the handle. With @anew the handle may be connected, and then leaves its connection. */
void zkr__follow_tell(zkr_client *c, const char *servers, bool anew) ZKR__LOCKED;
/* Adopt a pending update of the list. Called before the handle leaves its server. */
void zkr__follow_adopt(zkr_client *c) ZKR__LOCKED;
/* While disconnected, look up the names again, and give changed addresses to the handle. */
int64_t zkr__follow_names(zkr_client *c, int64_t now) ZKR__LOCKED;

#endif

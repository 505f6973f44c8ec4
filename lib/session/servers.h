/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up the servers' addresses without blocking, and follows their changes.
 *
 * A resolver may take arbitrarily long, so a separate thread resolves names, one thread per client at a time. Not even
 * zkr_client_close() waits for that thread. A thread that outlives the close keeps the client's memory until it ends,
 * and the library's code mapped for good. The close waits only if memory is too short to pin the code.
 */
#ifndef ZKR_SESSION_SERVERS_H
#define ZKR_SESSION_SERVERS_H

#include "session/request.h"

/*
 * Start a look-up, unless one is running or done. Returns true if the answer has arrived. A later answer wakes the
 * service.
 */
bool zkr__lookup(zkr_client *c) ZKR__LOCKED;

/*
 * If the answer is late and the list has addresses beside its names, make those addresses the answer until the real one
 * replaces them, and return true. Otherwise set *next to when to call again.
 */
bool zkr__lookup_addresses(zkr_client *c, int64_t now, int64_t *next) ZKR__LOCKED;

/* Take the answer, so that another look-up may start. Returns NULL if no address is known; lookup.why says why. */
char *zkr__lookup_take(zkr_client *c) ZKR__LOCKED;

/* Drop an answer, which would be outdated by the time it is used. */
void zkr__lookup_drop(zkr_client *c) ZKR__LOCKED;

/* Join the resolver threads that have finished. Releases the lock meanwhile. Called by the service and at the close. */
void zkr__resolvers_join(zkr_client *c) ZKR__LOCKED;

/*
 * After the end of the service, which starts no more threads: join the threads that have finished, and detach the
 * others. If the code cannot be pinned, join all.
 */
void zkr__resolvers_end(zkr_client *c);

/* --- following changes in a turn of the service; may end the session. An int64_t result is when to call again --- */

/* Note that the service opens @link, with the newest list. */
void zkr__follow_begin(struct zkr__link *link) ZKR__LOCKED;
/* Give an update of the list to the handle, now or when the connection breaks. */
int64_t zkr__follow_list(zkr_client *c, int64_t now) ZKR__LOCKED;
/* Give @servers to the handle. With @anew the handle may be connected, and leaves its connection. */
void zkr__follow_tell(zkr_client *c, const char *servers, bool anew) ZKR__LOCKED;
/* Adopt a pending update of the list. Call this before the handle leaves its server. */
void zkr__follow_adopt(zkr_client *c) ZKR__LOCKED;
/* While disconnected, look the names up again, and give changed addresses to the handle. */
int64_t zkr__follow_names(zkr_client *c, int64_t now) ZKR__LOCKED;

#endif

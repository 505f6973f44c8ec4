/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The servers' addresses: looked up without blocking, and followed when they change.
 *
 * A resolver may take arbitrarily long, so a separate thread resolves names, one thread per client at a time. Nobody
 * waits for that thread, not even zkr_client_close(): a thread that still runs then keeps the client's memory until it
 * ends, and the library's code mapped for good. The close waits only if there is no memory to pin the code.
 */
#ifndef ZKR_SESSION_SERVERS_H
#define ZKR_SESSION_SERVERS_H

#include "session/request.h"

/*
 * Start a look-up, unless one is running or done. Returns whether the answer is here. A later answer wakes the service.
 */
bool zkr__lookup(zkr_client *c) ZKR__LOCKED;

/*
 * While the answer is late: does the list have addresses beside the names? If so, they are the answer until the real
 * one replaces them. If not, *next is when to call again.
 */
bool zkr__lookup_addresses(zkr_client *c, int64_t now, int64_t *next) ZKR__LOCKED;

/* Take the answer, so that another look-up may start. Returns NULL if no address is known; lookup.why says why. */
char *zkr__lookup_take(zkr_client *c) ZKR__LOCKED;

/* Drop an answer, which would be outdated when it is needed. */
void zkr__lookup_drop(zkr_client *c) ZKR__LOCKED;

/* Join the resolver threads that have finished. Releases the lock meanwhile. For the service and the close. */
void zkr__resolvers_join(zkr_client *c) ZKR__LOCKED;

/*
 * After the end of the service, which starts no more threads: join the threads that have finished, and detach the
 * others. If the code cannot be pinned, join all.
 */
void zkr__resolvers_end(zkr_client *c);

/*
 * --- following changes: parts of a turn of the service. Each returns when to call it again, and may end the session
 * ---
 */

/* Note that the service opens @link, with the newest list. */
void zkr__follow_begin(struct zkr__link *link) ZKR__LOCKED;
/* Give an update of the list to the handle, now or when the connection breaks. */
int64_t zkr__follow_list(zkr_client *c, int64_t now) ZKR__LOCKED;
/* Give @servers to the handle. With @anew the handle may be connected, and leaves its connection. */
void zkr__follow_tell(zkr_client *c, const char *servers, bool anew) ZKR__LOCKED;
/* Before the handle leaves its server: adopt an update of the list that waits. */
void zkr__follow_adopt(zkr_client *c) ZKR__LOCKED;
/* Without a connection: find out whether the names have other addresses now. */
int64_t zkr__follow_names(zkr_client *c, int64_t now) ZKR__LOCKED;

#endif

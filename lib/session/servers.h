/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The servers' addresses: looked up without waiting, and followed when they change.
 *
 * A resolver may take as long as it likes, so names are resolved in a thread of their own, one for a client at a time.
 * Nobody waits for that thread, not even zkr_client_close(): a thread that still runs then keeps the client's memory until
 * it ends, and the code of the library for good. Only if there is no memory to pin the code does the close wait.
 */
#ifndef ZKR_SESSION_SERVERS_H
#define ZKR_SESSION_SERVERS_H

#include "session/request.h"

/* Ask for the addresses, unless that was done. Is the answer here? If not, it wakes the service when it comes. */
bool zkr__lookup(zkr_client *c) ZKR__LOCKED;

/*
 * While the answer is late: are there addresses beside the names? They are the answer until the real one replaces it.
 * If not, *next is when to ask again.
 */
bool zkr__lookup_addresses(zkr_client *c, int64_t now, int64_t *next) ZKR__LOCKED;

/* Take the answer that is here, so that another may be asked for. NULL: no address is known; lookup.why says why. */
char *zkr__lookup_take(zkr_client *c) ZKR__LOCKED;

/* Forget an answer that is here: it will be old when it is wanted. */
void zkr__lookup_drop(zkr_client *c) ZKR__LOCKED;

/* Join the resolver threads that have their answers. Drops the lock meanwhile. For the service, and for the close. */
void zkr__resolvers_join(zkr_client *c) ZKR__LOCKED;

/*
 * The service has ended, so no thread is started any more. Join the threads that have their answers, and detach the others.
 * If the code cannot be pinned, join all.
 */
void zkr__resolvers_end(zkr_client *c);

/* --- following: parts of a turn of the service. Each returns when to call it again, and may end the session --- */

/* The service opens @link, with the newest list. */
void zkr__follow_begin(struct zkr__link *link) ZKR__LOCKED;
/* Bring an update of the list to the handle, now or when the connection breaks. */
int64_t zkr__follow_list(zkr_client *c, int64_t now) ZKR__LOCKED;
/* Without a connection: have the names got other addresses? */
int64_t zkr__follow_names(zkr_client *c, int64_t now) ZKR__LOCKED;

#endif

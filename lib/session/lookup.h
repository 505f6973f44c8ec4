/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The servers' addresses, asked for without waiting.
 *
 * A list of addresses is its own answer. Names are resolved in a thread of their own, one at a
 * time for a client, since a resolver may take as long as it likes. Nobody waits for that thread,
 * nor does zkr_client_close(): it keeps the client's memory until it is back.
 */
#ifndef ZKR_SESSION_LOOKUP_H
#define ZKR_SESSION_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>

#include "session/client.h"

/* Ask, unless that was done. Is the answer here? If not, the service is woken when it is. */
bool zkr__lookup(zkr_client *c) ZKR__LOCKED;

/*
 * While the names' answer is late: are there addresses beside them? They are the answer for now, and that of the names
 * replaces it. If not, *next is when to ask again.
 */
bool zkr__lookup_addresses(zkr_client *c, int64_t now, int64_t *next) ZKR__LOCKED;

/* Take the answer that is here: as of zkr__servers_resolve(), and another one may be asked for. */
int zkr__lookup_take(zkr_client *c, char **servers, char *why, size_t why_size)
    ZKR__LOCKED;

/* Forget the answer, if one is here: it will be old when it is wanted. */
void zkr__lookup_drop(zkr_client *c) ZKR__LOCKED;

/* The list is another one: what was asked before is not waited for, nor its answer taken. */
void zkr__lookup_restart(zkr_client *c) ZKR__LOCKED;

#endif

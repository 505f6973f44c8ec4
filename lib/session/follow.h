/* SPDX-License-Identifier: Apache-2.0 */
/* Following the servers: names that get other addresses, and zkr_client_set_servers(). */
#ifndef ZKR_SESSION_FOLLOW_H
#define ZKR_SESSION_FOLLOW_H

#include "session/request.h"

/* The service opens @link, with the newest list. */
void zkr__follow_begin(struct zkr__link *link) ZKR__LOCKED;

/*
 * Parts of a turn of the service, with a link. Each returns when to call it again, and may end the
 * session.
 */

/* A list that the handle does not have yet: bring it there, now or when its connection breaks. */
int64_t zkr__follow_list(zkr_client *c, int64_t now) ZKR__LOCKED;
/* Without a connection: have the names other addresses now? */
int64_t zkr__follow_names(zkr_client *c, int64_t now) ZKR__LOCKED;

#endif

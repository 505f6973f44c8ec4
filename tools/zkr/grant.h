/* SPDX-License-Identifier: Apache-2.0 */
/* The object of the library that grants a lock (a ticket) or a leadership (a latch). */
#ifndef ZKR_CLI_GRANT_H
#define ZKR_CLI_GRANT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zkr/zkr.h>

struct grant {
    zkr_client *client;
    zkr_leader_latch *latch; /* grants a leadership; NULL for a lock */
    zkr_ticket *ticket;      /* grants a lock; NULL: not in the queue */
    char *node;
    size_t node_size;
    _Atomic(int64_t) token;
    int64_t session_id;
};

/** Allocates room for the name of a node at @path. False: out of memory. */
bool grant_begin(struct grant *g, const char *path);
void grant_end(struct grant *g);
/** Waits at most @ms for the grant. Returns a code of the library. */
int grant_await(const struct grant *g, int64_t ms);
/** Can a grant still come? False: a ticket was granted, failed or timed out. */
bool grant_may_come(const struct grant *g);
/** Ends grant_await() in another thread. */
void grant_cancel(const struct grant *g);
/** Reads node, token and session of the grant. False: the grant is lost. */
bool grant_read(struct grant *g);
/** Releases the ticket, or leaves the queue. No callback of the ticket runs afterwards. */
void grant_leave(struct grant *g);

/** How long the lease is still valid, in ms. */
int64_t grant_valid_ms(const struct grant *g);
/** The session timeout, in ms. A server with a smaller limit can shorten it at any time. */
int64_t grant_session_ms(const struct grant *g);

#endif

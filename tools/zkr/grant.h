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
    zkr_leader_latch *latch; /* grants leadership; NULL for a lock */
    zkr_ticket *ticket;      /* grants a lock; NULL: not in the queue */
    char *node;
    size_t node_size;
    _Atomic(int64_t) token;
    int64_t session_id;
};

/** Allocates room for the name of a node at @path. Returns false if memory runs out. */
bool grant_begin(struct grant *g, const char *path);
void grant_end(struct grant *g);
/** Waits at most @ms for the grant. Returns a code of the library. */
int grant_await(const struct grant *g, int64_t ms);
/** Returns whether a grant can still arrive. It cannot if a ticket was granted, failed or timed out. */
bool grant_may_come(const struct grant *g);
/** Ends grant_await() in another thread. */
void grant_cancel(const struct grant *g);
/** Reads node, token and session of the grant. Returns false if the grant is lost. */
bool grant_read(struct grant *g);
/** Releases the ticket, or leaves the queue. After this, no callback of the ticket runs. */
void grant_leave(struct grant *g);

/** Returns for how many milliseconds the lease is still valid. */
int64_t grant_valid_ms(const struct grant *g);
/** Returns the session timeout in milliseconds. A server with a smaller limit can shorten it at any time. */
int64_t grant_session_ms(const struct grant *g);

#endif

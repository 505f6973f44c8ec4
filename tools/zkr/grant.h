/* SPDX-License-Identifier: Apache-2.0 */
/* What grants a lock or a leadership: a ticket or a latch of the library. */
#ifndef ZKR_CLI_GRANT_H
#define ZKR_CLI_GRANT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zkr/zkr.h>

struct grant {
    zkr_client *client;
    zkr_leader_latch *latch; /* grants a leadership; NULL: it is a lock */
    zkr_ticket *ticket;      /* grants the lock; NULL: not in the queue */
    char *node;
    size_t node_size;
    _Atomic(int64_t) token;
    int64_t session_id;
};

/** Makes room for the name of a node at @path. False: out of memory. */
bool grant_begin(struct grant *g, const char *path);
void grant_end(struct grant *g);
/** Waits at most @ms. Returns a code of the library. */
int grant_await(const struct grant *g, int64_t ms);
/** Can a grant still come? False: a ticket was granted, failed or timed out. */
bool grant_may_come(const struct grant *g);
/** Ends the wait of another thread. */
void grant_cancel(const struct grant *g);
/** Reads node, token and session of what was granted. False: it is lost. */
bool grant_read(struct grant *g);
/** Releases the ticket, or leaves the queue. No callback of the ticket runs afterwards. */
void grant_leave(struct grant *g);

/** The rest of the lease, for which it is still surely held. */
int64_t grant_valid_ms(const struct grant *g);
/** The session timeout. A server with a smaller limit can shorten it at any time. */
int64_t grant_session_ms(const struct grant *g);

#endif

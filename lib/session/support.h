/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that some servers lack. ZooKeeper before 3.5 answers create2 and createContainer with -6, and closes the
 * connection. RaftKeeper, and ClickHouse Keeper before its releases of 2026, close the connection without an answer. On
 * such servers a transaction creates the lock nodes, and parents are persistent.
 */
#ifndef ZKR_SESSION_SUPPORT_H
#define ZKR_SESSION_SUPPORT_H

#include "session/client.h"

/*
 * If the servers lack the operation, replace it with an operation that all servers have. @one has room for the
 * creation, and must live as long as @op.
 */
void zkr__support_adapt(zkr_client *c,
                        struct zkr__op *op,
                        struct zkr__creation *one) ZKR__LOCKED;

struct zkr__support_sent {
    enum zkr__op_kind kind;
    bool container;
    int64_t connection; /* a different number for each connection */
};

/* Learn from the answer to a request that was sent. ZKR__UNIMPLEMENTED becomes a code that leads to a retry. */
void zkr__support_learn(zkr_client *c,
                        const struct zkr__support_sent *sent,
                        struct zkr__answer *answer) ZKR__LOCKED;

/* Record a new session, which may be on other servers. */
void zkr__support_begin(zkr_client *c) ZKR__LOCKED;
/* Record a new list of servers. The client tries missing operations again. */
void zkr__support_forget(zkr_client *c) ZKR__LOCKED;

#endif

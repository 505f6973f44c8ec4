/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Revocation asks a holder to release. A revocation request is ZKR__REVOKE_DATA, written as the data of the holder's
 * node. The watch on its own node notifies the holder's claim, which then calls its queue's on_revocation, and writes
 * the owner text back.
 */
#ifndef ZKR_LOOK_REVOKE_H
#define ZKR_LOOK_REVOKE_H

#include "queue/queue.h"
#include "session/client.h"

enum zkr__act {
    ZKR__ASK_HOLDERS, /* every contender that holds: zkr_mutex_revoke() */
    ZKR__ASK_NODE,    /* zkr_mutex_revoke_node() */
    ZKR__DELETE_NODE  /* zkr_mutex_evict() */
};

/*
 * Apply @what to the child @node of @q, or for ZKR__ASK_HOLDERS to all holders. Blocks without the lock. Never writes
 * to the node of a leader latch. Curator's latches watch the data of the node ahead, and would not read it again after
 * a write.
 */
int zkr__queue_act(struct zkr__queue *q, enum zkr__act what, const char *node);

/*
 * Take one revocation request that has not been reported to the holders in @q yet. Returns false if there is none. Sets
 * *@more if others remain.
 */
bool zkr__revocation_take(const struct zkr__queue *q, bool *more) ZKR__LOCKED;

#endif

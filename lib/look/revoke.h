/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Revocation asks a holder to release. The revocation request is ZKR__REVOKE_DATA, written as data of the holder's
 * node. The holder's claim notices the request by the watch on its own node, calls its queue's on_revocation, and
 * writes the owner text back.
 */
#ifndef ZKR_LOOK_REVOKE_H
#define ZKR_LOOK_REVOKE_H

#include "queue/queue.h"
#include "session/client.h"

enum zkr__act {
    ZKR__ASK_HOLDERS, /* all contenders that hold: zkr_mutex_revoke() */
    ZKR__ASK_NODE,    /* zkr_mutex_revoke_node() */
    ZKR__DELETE_NODE  /* zkr_mutex_evict() */
};

/*
 * Do @what in @q, to the child @node unless it is ZKR__ASK_HOLDERS. Blocks without the lock. Never writes to the node
 * of a leader latch, because Curator's latches watch the data of the node ahead, and do not read it again after a
 * write.
 */
int zkr__queue_act(struct zkr__queue *q, enum zkr__act what, const char *node);

/*
 * Take one revocation request not yet reported to the holders in @q. Returns false if there is none. Sets *@more if
 * others remain.
 */
bool zkr__revocation_take(const struct zkr__queue *q, bool *more) ZKR__LOCKED;

#endif

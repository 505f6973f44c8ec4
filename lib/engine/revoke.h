/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holders asked to let go. The wish is ZKR__WISH as data of the holder's node. The claim sees it by the
 * watch on its node, tells its queue's on_wish, and writes its text back.
 */
#ifndef ZKR_ENGINE_REVOKE_H
#define ZKR_ENGINE_REVOKE_H

#include "engine/queue.h"

/*
 * Ask those who hold in @q: the first, and if it holds beside others, those behind it that do, too. Blocks
 * without the lock, as zkr_mutex_revoke() says. A leader latch is never written to: those of Curator watch the data of
 * the one ahead, and do not look again after a write.
 */
int zkr__queue_revoke(struct zkr__queue *q);
/* Ask the child @node, as zkr_mutex_revoke_node() says. */
int zkr__queue_revoke_node(struct zkr__queue *q, const char *node);
/* Delete the child @node, as zkr_mutex_evict() says. */
int zkr__queue_evict(struct zkr__queue *q, const char *node);

/* One of the wishes that holders in @q have not been told of yet is told now. False: there is none.
 * @more: there are others. */
bool zkr__wish_take(const struct zkr__queue *q, bool *more) ZKR__LOCKED;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * News between the processes of one host: which are sent, and which are believed. The ways are those of nearby/nearby.h.
 *
 * A waiter that reads the node ahead finds there the address of the client that made it. If that is of this host, the
 * waiter tells it NEXT. When the holder releases, it sends its delete, and RELEASED to the waiter that has told it NEXT
 * last. A waiter whose NEXT comes between the release and the end of the node gets RELEASED at once.
 *
 * --- Why RELEASED may grant, though the node of the holder is still there. Its owner has let go, so nobody holds by the
 * node again. The waiter stands directly behind it, and numbers only grow, so nobody comes between. Nodes before it: the
 * holder held, so each of them was deleted or released before. The waiter may hold in its turn and tell the next one: so
 * the lock goes from process to process, and each node goes when the servers get to its delete. Clients of other hosts and
 * libraries see nodes only, in their order. A node whose delete is late, or whose owner has died meanwhile, delays them,
 * and harms nobody.
 *
 * RELEASED is never sent
 * 1. by a hold with a write of its owner on the way (ZKR__DO_LET_LOOK then stands for ZKR__DO_HAND_OVER), or
 *    whose answer was lost, or with zkr_mutex_guard(): the write could come after one of the next holder;
 * 2. by zkr_mutex_release_multi() before the servers have answered;
 * 3. by a robust mutex, a member of several locks, a hold by a kept node, a read-write lock, a semaphore, a leader;
 * 4. when the lease is not sure at that moment, or the delete is not on its way.
 *
 * RELEASED is believed only by a claim that is parked, has told NEXT, and still stands behind the node that the news is
 * about; from the socket in the data of that node, and the process with the uid and the pid there, as the kernel says;
 * with the token of the node, and with the key of that NEXT, which only the holder's socket has got. So news of an older
 * hold, late, doubled and forged news, and news from another process with the pid of a dead holder are ignored, and
 * counted. A process of another process namespace is not on this host. Only processes of our own user are believed, as
 * other users may be allowed to write into the node.
 */
#ifndef ZKR_QUEUE_NEWS_H
#define ZKR_QUEUE_NEWS_H

#include "nearby/nearby.h"
#include "queue/claim.h"

/* The node ahead was read: does @answer tell who made it, and is that a client of this host? */
bool zkr__news_find(struct zkr__claim *claim,
                    const struct zkr__answer *answer) ZKR__LOCKED;
/* The claim has made a step: tell the process ahead that the claim is next, once. */
void zkr__news_settle(struct zkr__claim *claim) ZKR__LOCKED;
/* The claim has released (ZKR__DO_HAND_OVER): tell the next one, if that may be told. */
void zkr__news_pass_on(struct zkr__claim *claim) ZKR__LOCKED;
/* Take @news. Returns the claim for which ZKR__EV_AHEAD_TOLD is true, or NULL. */
struct zkr__claim *zkr__news_believe(struct zkr__engine *engine,
                                     const struct zkr__news *news) ZKR__LOCKED;

#endif

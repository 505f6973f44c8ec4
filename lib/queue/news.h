/* SPDX-License-Identifier: Apache-2.0 */
/*
 * News between the processes of one host: which news are sent and which are believed. nearby/nearby.h carries them.
 *
 * A waiter that reads the node ahead finds there the address of the client that made the node. If that client is on
 * this host, the waiter sends it NEXT. On release the holder sends its delete, and then RELEASED to the waiter that
 * sent NEXT last. A waiter whose NEXT arrives between the release and the end of the node gets RELEASED at once.
 *
 * --- Why RELEASED may grant although the holder's node still exists. Its owner has released, so nobody holds by the
 * node again. The waiter is directly behind it, and numbers only grow, so no node comes between. The holder held, so
 * every node before it was deleted or released earlier. The waiter may hold in its turn and send RELEASED in its turn:
 * the lock moves from process to process, and each node is deleted when the servers process its delete. Clients of
 * other hosts and libraries see only nodes, in their order. A node whose delete is late, or whose owner has died
 * meanwhile, delays them but does no harm.
 *
 * RELEASED is never sent
 * 1. by a hold with a write of its owner in flight (the action is then ZKR__DO_LET_LOOK instead of ZKR__DO_HAND_OVER),
 *    or with a write whose answer was lost, or with zkr_mutex_guard(): the write could arrive after one of the next
 *    holder;
 * 2. by zkr_mutex_release_multi() before the servers have answered;
 * 3. by a robust mutex, a member of several locks, a hold by a kept node, a read-write lock, a semaphore, a leader;
 * 4. when the lease is not sure at that moment, or the delete has not been sent.
 *
 * A claim believes RELEASED only if the claim is parked, has sent NEXT, and is still behind the node that the news is
 * about; if the news comes from the socket named in that node's data, and from a process with the uid and pid there, as
 * the kernel reports them; and if the news has the token of the node and the key of that NEXT, which only the holder's
 * socket received. Other news are ignored and counted: late, repeated, forged, about an older hold, or from another
 * process with the pid of a dead holder. A process of another process namespace is not on this host. Only processes of
 * our own user are believed, because other users may be allowed to write into the node.
 */
#ifndef ZKR_QUEUE_NEWS_H
#define ZKR_QUEUE_NEWS_H

#include "nearby/nearby.h"
#include "queue/claim.h"

/* The node ahead was read: does @answer name its maker, and is that a client of this host? */
bool zkr__news_find(struct zkr__claim *claim,
                    const struct zkr__answer *answer) ZKR__LOCKED;
/* After a step: send NEXT to the process ahead, once. */
void zkr__news_settle(struct zkr__claim *claim) ZKR__LOCKED;
/* The claim has released (ZKR__DO_HAND_OVER): send RELEASED to the next claim, if that is allowed. */
void zkr__news_pass_on(struct zkr__claim *claim) ZKR__LOCKED;
/* Process @news. Returns the claim to which ZKR__EV_AHEAD_TOLD applies, or NULL. */
struct zkr__claim *zkr__news_believe(struct zkr__engine *engine,
                                     const struct zkr__news *news) ZKR__LOCKED;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * News between the processes of one host: which messages are sent, and which are believed. nearby/nearby.h transports
 * them.
 *
 * The data of a node have the address of the client that created the node. A waiter reads the node ahead and, if that
 * client is on this host, sends NEXT to it. On release the holder sends its delete, and then RELEASED to the waiter
 * that sent NEXT last. A waiter whose NEXT arrives between the release and the end of the node gets RELEASED at once.
 *
 * --- Why RELEASED may grant although the holder's node still exists. The owner of the node has released, so the node
 * will not hold again. The waiter's node is directly behind it, and numbers only grow, so no node can come between. The
 * holder held, so every node before it was deleted or released earlier. The waiter may hold and in turn send RELEASED,
 * so the lock moves from process to process, and each node is deleted when the servers process its delete. Clients on
 * other hosts and other libraries see only nodes, in their order. If the delete of a node is late, or its owner has
 * died meanwhile, these clients are delayed but not harmed.
 *
 * RELEASED is never sent
 * 1. by a hold with a write of its owner in flight (the action is then ZKR__DO_LET_LOOK instead of ZKR__DO_HAND_OVER),
 *    or with a write whose answer was lost, or with zkr_mutex_guard(), because the write could arrive after a write of
 *    the next holder;
 * 2. by zkr_mutex_release_multi() before the servers have answered;
 * 3. by a robust mutex, a member of a multi-lock, a hold of a kept node, a read-write lock, a semaphore, or a leader;
 * 4. when the lease is not sure at that moment, or the delete has not been sent.
 *
 * A claim believes RELEASED only if all of this is true:
 * - The claim is parked, has sent NEXT, and is still behind the node in the news.
 * - The news comes from the socket listed in that node's data, and from a process with the uid and pid listed there, as
 *   the kernel reports them.
 * - The news has the token of the node and the key of that NEXT, which only the holder's socket received.
 *
 * The client ignores and counts all other news: late, repeated or forged news, news about an older hold, and news from
 * another process that has the pid of a dead holder. A process in another process namespace is not on this host. Only
 * processes of our own user are believed, because other users may have permission to write to the node.
 */
#ifndef ZKR_QUEUE_NEWS_H
#define ZKR_QUEUE_NEWS_H

#include "nearby/nearby.h"
#include "queue/claim.h"

/*
 * Record from @answer, a get of the node ahead, which process created the node. Returns true if a client on this host
 * did.
 */
bool zkr__news_find(struct zkr__claim *claim,
                    const struct zkr__answer *answer) ZKR__LOCKED;
/* After a step: send NEXT to the process ahead, once. */
void zkr__news_settle(struct zkr__claim *claim) ZKR__LOCKED;
/* After a release (ZKR__DO_HAND_OVER): send RELEASED to the next claim, if that is allowed. */
void zkr__news_pass_on(struct zkr__claim *claim) ZKR__LOCKED;
/* Process @news. Returns the claim to which ZKR__EV_AHEAD_TOLD applies, or NULL. */
struct zkr__claim *zkr__news_believe(struct zkr__engine *engine,
                                     const struct zkr__news *news) ZKR__LOCKED;

#endif

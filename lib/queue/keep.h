/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock that nobody else wants stays with its client: the node of a released hold is kept for the next hold of the
 * same client and path, which costs no request then. Opt-in: keep_ms of the queue.
 *
 *            released                       news, time over, asked to release
 *   HELD <--------------> HELD and kept ------------------------------------> REMOVING
 *            taken            |
 *                             +-- session over, lease bound passed, node gone: as a hold, but it counts as no loss
 *
 * A kept claim is HELD, but has no owner. Its node is there, and is probed as that of any hold, so the next owner may rely
 * on what any holder may rely on. From the first release on, the node serves for keep_ms. Then, or at news of another
 * contender, the node is deleted: at once if it has no holder, else when its holder releases.
 *
 * News. At the first release the children are listed, with a watch. Any other node in the list is news, also a node of this
 * client in a queue that does not keep; later, any change of the children is. If the list or its watch is refused, no
 * contender would be noticed, so that counts as news. From the first release on, the node itself is watched, too. A
 * watch may be lost without an event, so a node is kept no longer than until zkr__engine_doubts_at().
 *
 * Order. While a claim of a path has a node, or is about to have one, further claims of this client make no nodes there, and
 * wait in the line of the directory. They may hold by that one node, one after the other. At news all of them make nodes,
 * and so get places in the queue. For a while after news, claims make nodes at once, and no node is kept.
 *
 * keep.c knows which node is kept, and which claims wait for it. claim_run.c moves the claims, and kept_node.c keeps and takes
 * nodes. For a directory where no queue has keep_ms, all of these do nothing. All need the client's lock.
 */
#ifndef ZKR_QUEUE_KEEP_H
#define ZKR_QUEUE_KEEP_H

#include "queue/claim.h"

/* --- the line of a directory --- */

/* Another claim of this client stands in the directory, and its node is to serve: @claim is to wait in line for it. */
bool zkr__keep_shares(const struct zkr__claim *claim) ZKR__LOCKED;
/* A new claim of @q would have to wait in line. */
bool zkr__keep_would_share(const struct zkr__queue *q) ZKR__LOCKED;
void zkr__keep_line_up(struct zkr__claim *claim) ZKR__LOCKED;
void zkr__keep_leave_line(struct zkr__claim *claim) ZKR__LOCKED;
/* The first claim in line that was not canceled; NULL: there is none. */
struct zkr__claim *zkr__keep_first_in_line(const struct zkr__directory *d) ZKR__LOCKED;
/* How many contenders are in front of a claim in line. */
int64_t zkr__keep_place(const struct zkr__claim *claim) ZKR__LOCKED;

/* --- news --- */

/* Others contend in @d: for a while no node is kept there. */
void zkr__keep_contended(struct zkr__directory *d) ZKR__LOCKED;
/* The same, if there are nodes of others among the @children. */
void zkr__keep_listed(struct zkr__directory *d,
                      const struct zkr__children *children) ZKR__LOCKED;
/* The claim is about to take a step because of @e; its requests have been sent; it has settled. */
void zkr__keep_event(struct zkr__claim *claim,
                     const struct zkr__claim_event *e) ZKR__LOCKED;
void zkr__keep_sent(struct zkr__claim *claim) ZKR__LOCKED;
void zkr__keep_settle(struct zkr__claim *claim) ZKR__LOCKED;

/* --- the end --- */

/* The claim whose node is kept, or would be after a release. NULL: there is none. */
struct zkr__claim *zkr__keep_find(const struct zkr__directory *d) ZKR__LOCKED;
/* Until when the node of the claim is kept, or would be; 0 = it is not. */
int64_t zkr__keep_until(const struct zkr__claim *claim) ZKR__LOCKED;
/* The node of the claim, which stands, is kept until then; or not any more. */
void zkr__keep_begin(struct zkr__claim *claim, int64_t until) ZKR__LOCKED;
void zkr__keep_end(struct zkr__claim *claim) ZKR__LOCKED;
/*
 * Call this after a step of @claim. Returns the claim without an owner whose node must not be kept any more, because
 * @claim was asked to release, has ended, or joined the line too late to take that node. NULL: there is none.
 */
struct zkr__claim *zkr__keep_over(struct zkr__claim *claim) ZKR__LOCKED;
/* The next claim in line that must make its own node; then call zkr__keep_went(). NULL: none, or one is leaving. */
struct zkr__claim *zkr__keep_next(struct zkr__directory *d) ZKR__LOCKED;
void zkr__keep_went(struct zkr__claim *claim) ZKR__LOCKED;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client keeps the node of a lock that no other client wants. After a release the node stays for the next hold of the
 * same client and path, which then costs no request. The queue's keep_ms enables this.
 *
 *            released                       news, time over, asked to release
 *   HELD <--------------> HELD and kept ------------------------------------> REMOVING
 *            taken            |
 *                             +-- session over, lease bound passed, node gone: as a hold, but it counts as no loss
 *
 * A kept claim is HELD without an owner. Probes check its node like that of any hold, so the next owner has all
 * guarantees of a holder. The node serves for keep_ms from the first release on. After that time, or at news of another
 * contender, the client deletes the node: at once if it has no holder, else when its holder releases.
 *
 * News. At the first release the client lists the children, with a watch. Any other node in the list is news, even a
 * node of this client in a queue that does not keep. After the list, any change of the children is news. If the list or
 * its watch is refused, the client could not notice a contender, so the refusal counts as news. From the first release
 * on, the node itself is watched, too. A watch may be lost without an event, so a node is kept at most until
 * zkr__engine_doubts_at().
 *
 * Order. While a claim of a path has a node, or is about to create one, further claims of this client wait in the
 * directory's line without nodes. These claims may take over that one node, one after the other. At news, each claim in
 * line creates its own node, and so gets its place in the queue. For a while after news, claims create nodes at once,
 * and no node is kept.
 *
 * keep.c records which node is kept and which claims wait for it. claim_run.c moves the claims. kept_node.c keeps and
 * takes nodes. In a directory where no queue has keep_ms, these files do nothing. All functions need the client's lock.
 */
#ifndef ZKR_QUEUE_KEEP_H
#define ZKR_QUEUE_KEEP_H

#include "queue/claim.h"

/* --- the line of a directory --- */

/*
 * Returns true if @claim must wait in line, because another claim of this client has a node in the directory or is
 * about to create one.
 */
bool zkr__keep_shares(const struct zkr__claim *claim) ZKR__LOCKED;
/* Returns true if a new claim of @q would have to wait in line. */
bool zkr__keep_would_share(const struct zkr__queue *q) ZKR__LOCKED;
void zkr__keep_line_up(struct zkr__claim *claim) ZKR__LOCKED;
void zkr__keep_leave_line(struct zkr__claim *claim) ZKR__LOCKED;
/* Returns the first claim in line that was not canceled, or NULL if there is none. */
struct zkr__claim *zkr__keep_first_in_line(const struct zkr__directory *d) ZKR__LOCKED;
/* Returns the number of contenders ahead of a claim in line. */
int64_t zkr__keep_place(const struct zkr__claim *claim) ZKR__LOCKED;

/* --- news --- */

/* Record that other clients contend in @d, so that no node is kept there for a while. */
void zkr__keep_contended(struct zkr__directory *d) ZKR__LOCKED;
/* Call zkr__keep_contended() if nodes of other clients are among the @children. */
void zkr__keep_listed(struct zkr__directory *d,
                      const struct zkr__children *children) ZKR__LOCKED;
/*
 * Called at each step of a claim: before the step at @e, after its requests are sent, and after the claim has settled.
 */
void zkr__keep_event(struct zkr__claim *claim,
                     const struct zkr__claim_event *e) ZKR__LOCKED;
void zkr__keep_sent(struct zkr__claim *claim) ZKR__LOCKED;
void zkr__keep_settle(struct zkr__claim *claim) ZKR__LOCKED;

/* --- the end of a kept node --- */

/* Returns the claim whose node is kept or would be kept after a release, or NULL if there is none. */
struct zkr__claim *zkr__keep_find(const struct zkr__directory *d) ZKR__LOCKED;
/*
 * Returns the time until which the node of the claim is kept, or would be kept after a release. Returns 0 if it would not
 * be kept.
 */
int64_t zkr__keep_until(const struct zkr__claim *claim) ZKR__LOCKED;
/* Keep the claim's node until @until, or stop keeping it. */
void zkr__keep_begin(struct zkr__claim *claim, int64_t until) ZKR__LOCKED;
void zkr__keep_end(struct zkr__claim *claim) ZKR__LOCKED;
/*
 * Called after a step of @claim. Returns the claim without an owner whose node must no longer be kept, because @claim
 * received a revocation request, has ended, or lined up too late to take that node. Returns NULL if there is none.
 */
struct zkr__claim *zkr__keep_over(struct zkr__claim *claim) ZKR__LOCKED;
/*
 * Returns the next claim in line that must create its own node. The caller then calls zkr__keep_went(). Returns NULL if
 * there is none, or another claim is still leaving the line.
 */
struct zkr__claim *zkr__keep_next(struct zkr__directory *d) ZKR__LOCKED;
void zkr__keep_went(struct zkr__claim *claim) ZKR__LOCKED;

#endif

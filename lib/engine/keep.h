/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock that nobody else wants stays with its client: the node of a released hold is kept for the next hold of the
 * same client and path, which costs no request then. Opt-in: keep_ms of the queue.
 *
 *            released                       news, time over, asked to release
 *   HELD <--------------> HELD and kept ------------------------------------> REMOVING
 *            taken            |  by nobody
 *                             +-- session over, lease bound passed, node gone: as a hold, but nobody's loss
 *
 * A claim that is kept is HELD by nobody. It is probed as any hold, and its node is there, so what a hold may rely on, the
 * next owner may. From the first release on the node serves for keep_ms. Then, or at news of another contender, it is
 * deleted: at once if nobody holds by it, else when its holder releases.
 *
 * News. At the first release the children are listed, with a watch. From then on any change of them is news; to
 * begin with, each other node in the list, also one of this client in a queue that does not keep. Without the list or its watch no
 * contender would be heard, so that is as news. A watch may be spent in silence, so a node is not kept for longer than
 * zkr__engine_doubts_at() says.
 *
 * Order. While a claim of a path has a node, or is about to, further claims there make none, and wait in the line of the
 * directory (claim_run.c). They may hold by that node one after the other. News lets all of them make nodes: from then on
 * they have their places in the queue. They make them at once while others have contended lately, and nothing is kept then.
 *
 * All functions need the client's lock, and a queue with keep_ms.
 */
#ifndef ZKR_ENGINE_KEEP_H
#define ZKR_ENGINE_KEEP_H

#include "engine/claim.h"

/*
 * In place of zkr__claim_leave(): true when the node stays. The claim is the engine's then, until it is taken. False:
 * nothing has changed.
 */
bool zkr__claim_keep(struct zkr__claim *claim) ZKR__LOCKED;
/* The next in line for the node, which has not given up; NULL: nobody. */
struct zkr__claim *zkr__claim_next_in_line(const struct zkr__directory *d) ZKR__LOCKED;

/* In place of zkr__claim_enter(): false when there is none to take. */
bool zkr__claim_take(struct zkr__claim **out,
                     struct zkr__queue *q,
                     const struct zkr__entry *entry) ZKR__LOCKED;
/* A claim of @q would have to wait for one of this client. */
bool zkr__claim_would_line_up(const struct zkr__queue *q) ZKR__LOCKED;

#endif

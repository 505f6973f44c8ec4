/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a semaphore grants a request for permits, in the steps of a group. The first members of the group are nodes in
 * `leases`, one for each permit. The last member is a node in the queue at the gate, `locks`.
 *
 *            the gate was empty                enough is free: leave the gate, if a node is there
 *   DIRECT ------------------------> RANKED ------------------------------------------------------> held
 *      | the gate was not: the leases leave                                                          ^
 *      v         first in the queue: the leases are created                                          |
 *   QUEUED ----------------------------------------> INSIDE -----------------------------------------+
 *                                                              enough is free: leave the gate
 *
 * Safety depends on the rule alone, not on the gate: see zkr__rule_permits(). The gate makes the semaphore fair, keeps
 * two requests from each holding a part of the permits that both need, and keeps the watches on the leases few.
 *
 * **The order.** A DIRECT request lists the gate after the creates of its leases. If the list is empty, the request
 * precedes all requests that will ever queue at the gate, and is RANKED. Ranked requests are served by the numbers of
 * their leases. So a ranked request keeps its leases until it is served, because giving them up would let others
 * overtake it. When the rule refuses its leases, a ranked request creates a node at the gate as well, so that later
 * requests queue there. Requests that pass the gate create their leases in the order of that queue, behind all ranked
 * requests.
 *
 * The client also orders its own requests for one path (struct zkr__permits_order). The client decides for one request
 * after another whether the request is ranked or goes to the gate. When one request goes to the gate, all requests
 * behind it follow. While one waits at the gate, no other goes DIRECT. No request is served before an earlier one. So a
 * request overtakes no earlier request of its client, and at the gate it overtakes no request that was there before. A
 * request starts again when it loses its place, because the session ended or somebody deleted a node, and when the
 * directory does not exist yet.
 *
 * A client ranks no more requests than all permits together can serve, because each ranked request watches the leases.
 * The other requests queue.
 *
 * A try has no steps. It takes free permits, and creates no leases if too few seem free.
 */
#ifndef ZKR_QUEUE_PERMITS_H
#define ZKR_QUEUE_PERMITS_H

#include "queue/group.h"

/* Shared by all requests for one semaphore. */
struct zkr__gate {
    struct zkr__queue *locks;
    struct zkr__queue *leases;
    /*
     * Like `leases`, but with a rule that always grants. All leases of a request except the last use this queue,
     * because the place of the last lease decides.
     */
    struct zkr__queue *lower_leases;
};

/*
 * Returns the queues for a hold of @permits permits that is not in a queue yet, or NULL if memory runs out. on_free
 * frees the queues.
 */
const struct zkr__hold_queues *zkr__permits_ask(struct zkr__gate *gate,
                                                uint32_t permits);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a request for permits of a semaphore is granted: the steps of a group. Its first members are nodes in `leases`,
 * one for each permit. Its last member is a node in the queue at the gate, `locks`.
 *
 *            the gate was empty                enough is free: leave the gate, if a node is there
 *   DIRECT ------------------------> RANKED ------------------------------------------------------> held
 *      | the gate was not: the leases leave                                                          ^
 *      v         first in the queue: the leases are made                                             |
 *   QUEUED ----------------------------------------> INSIDE -----------------------------------------+
 *                                                              enough is free: leave the gate
 *
 * Safety depends on the rule alone, not on the gate: see zkr__rule_permits(). The gate makes the semaphore fair. It
 * keeps two requests from having a part each of what both need. It keeps the watches on the leases few.
 *
 * **The order.** A DIRECT request lists the gate behind the creates of its leases. If the list is empty, the request
 * comes before all that ever queue at the gate, and is RANKED. Ranked requests are served by the numbers of their
 * leases. So a ranked request keeps its leases until it is served: to give them up and to queue would let others pass.
 * When its leases are refused, a ranked request makes a node at the gate as well, so that later requests queue there.
 * Requests that come by the gate make their leases in the order of the queue there, and behind all ranked ones.
 *
 * The requests of one client for one path are ordered in the client, too (struct zkr__permits_order). They learn one
 * after the other whether they are ranked or go to the gate. As soon as one request goes to the gate, all requests behind
 * it do. While one waits at the gate, no other goes DIRECT. None is served before an earlier one. So a request passes no
 * earlier request of its client, and once it is at the gate, it passes no request that was there before. A request begins
 * anew when its place is lost, with the session or by hand, and when the directory does not exist yet.
 *
 * A client ranks no more requests than all permits together serve, since each ranked request watches the leases. The
 * others queue.
 *
 * A try has no steps: it takes what is free, and makes no leases when it sees too few.
 */
#ifndef ZKR_QUEUE_PERMITS_H
#define ZKR_QUEUE_PERMITS_H

#include "queue/group.h"

/* What all requests for one semaphore share. */
struct zkr__gate {
    struct zkr__queue *locks;
    struct zkr__queue *leases;
    /* As leases, but with a rule that always grants: for all leases of a request but the last, whose place decides. */
    struct zkr__queue *lower_leases;
};

/*
 * The queues of a hold, not yet entered, that is to have @permits permits; on_free frees them. NULL: no memory.
 */
const struct zkr__hold_queues *zkr__permits_ask(struct zkr__gate *gate,
                                                uint32_t permits);

#endif

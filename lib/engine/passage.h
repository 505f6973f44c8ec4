/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How one who asks for permits of a semaphore gets them: the steps of a group whose members are nodes in `leases`,
 * one a permit, and after them one in the queue at the gate, `locks`.
 *
 *              nobody was at the gate             enough is free: leave the gate, if it has come there
 *   STRAIGHT ------------------------> IN_LINE ------------------------------------------------------> held
 *      | somebody was: the leases leave                                                                 ^
 *      v         first in the queue: the leases are made                                                |
 *   QUEUED ----------------------------------------> INSIDE --------------------------------------------+
 *                                                               enough is free: leave the gate
 *
 * Safety does not depend on the gate, but on the rule: see zkr__rule_permits(). The gate makes it fair, sees that no
 * two have a part each of what both need, and that few watch the leases.
 *
 * **Who is before whom.** That nobody was at the gate is asked behind the making of the leases. So whoever is IN_LINE
 * is before all who ever come to the gate, and among their like the numbers of the leases decide. Therefore they keep
 * them until they are served: to give them up and to queue would be to let others pass. When they are too few they
 * come to the gate besides, so that others come there, too. Those who come by the gate make their leases in the order
 * of the queue, and behind all who are IN_LINE.
 *
 * The requests of one client for one path stand in a line (struct zkr__line), in which they learn in order whether
 * they are IN_LINE or go to the gate: as soon as one of them goes there, all behind it do, and while one waits there
 * nobody goes straight. None is served before one that stands before it. So a request passes neither an earlier one of
 * its client nor, once it has come to the gate, anybody who was there. One whose place is lost, with the session or by
 * hand, comes anew, and so does one whose directory is not there yet.
 *
 * No more are IN_LINE, of one client, than all permits together serve: the others queue. Each of them watches the
 * leases.
 *
 * A try has no steps: it takes what is free, and makes no leases when it sees that they are too few.
 */
#ifndef ZKR_ENGINE_PASSAGE_H
#define ZKR_ENGINE_PASSAGE_H

#include "engine/place.h"

/* What all who ask one semaphore share. */
struct zkr__gate {
    struct zkr__queue *locks;
    struct zkr__queue *leases;
    /* The same, for all leases of a group but the last: with that one's place, theirs is settled. */
    struct zkr__queue *lower_leases;
};

/*
 * The queues of a place, not yet entered, that is to have @permits of them; NULL: no memory. The ticket's request
 * takes them, and drops them at the ticket's end; one that fails does not.
 */
const struct zkr__place_queues *zkr__passage_make(struct zkr__gate *gate,
                                                  uint32_t permits);
void zkr__passage_drop(const struct zkr__place_queues *queues) ZKR__LOCKED;

#endif

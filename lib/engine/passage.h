/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How one who asks for permits of a semaphore gets them: the steps of a group whose members are nodes in `leases`,
 * one a permit, and after them one in the queue at the gate, `locks`.
 *
 *              nobody at the gate, and enough is free
 *   STRAIGHT ----------------------------------------------------> held
 *      | else: the leases leave                                      ^
 *      v         first in the queue: the leases are made             |
 *   QUEUED ---------------------------------------------> INSIDE ----+
 *                                                           enough is free: leave the gate
 *
 * Safety does not depend on the gate, but on the rule: see zkr__rule_permits(). The gate makes it fair, sees that no
 * two have a part each of what both need, and that only one watches the leases. That nobody was at the gate is
 * asked behind the making of the leases, so whoever comes to it later is behind us.
 *
 * A try has no steps: it takes what is free.
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
    /* Others waited when somebody of ours last looked: who comes queues at once. */
    bool crowded;
};

/*
 * The queues of a place, not yet entered, that is to have @permits of them; NULL: no memory. The ticket's request
 * takes them, and drops them at the ticket's end; one that fails does not.
 */
const struct zkr__place_queues *zkr__passage_make(struct zkr__gate *gate,
                                                  uint32_t permits);
void zkr__passage_drop(const struct zkr__place_queues *queues) ZKR__LOCKED;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hold of several threads by one place, and so by one node. One thread has waited for it, others join; whoever comes
 * last leaves the queue. Freed with that. All functions need the client's lock.
 *
 * Others may join for a fixed time only. Writers of other clients that wait behind the node are not known here, and
 * without a bound readers that overlap would keep them waiting for ever.
 */
#ifndef ZKR_ENGINE_SHARED_HOLD_H
#define ZKR_ENGINE_SHARED_HOLD_H

#include "engine/place.h"

struct zkr__shared_hold {
    struct zkr__place place;
    void *lock; /* whose threads share it */
    int64_t members;
    int64_t closes_at; /* nobody joins from then on */
};

/*
 * Of the hold @from, which it takes over, with one member; others may join for @open_ms from now. The caller sets the
 * place's on_change. NULL: no memory, and @from stays.
 */
struct zkr__shared_hold *
zkr__shared_hold_make(struct zkr__place *from, void *lock, int64_t open_ms) ZKR__LOCKED;

/*
 * One more member. False: it may not join. The time is over, the hold is not sure, or was asked to end, or the client is
 * shut down or has somebody else than a reader waiting for the path.
 */
bool zkr__shared_hold_join(struct zkr__shared_hold *shared) ZKR__LOCKED;

/*
 * A member leaves; true: the hold had been lost. The last one leaves the queue, as zkr__place_leave() with @wait says,
 * and frees it; nobody may join meanwhile.
 */
bool zkr__shared_hold_leave(struct zkr__shared_hold *shared, bool wait) ZKR__LOCKED;

#endif

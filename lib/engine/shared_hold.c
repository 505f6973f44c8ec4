/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/shared_hold.h"

#include <string.h>

#include "base/mem.h"

struct zkr__shared_hold *
zkr__shared_hold_make(struct zkr__place *from, void *lock, int64_t open_ms)
{
    struct zkr__shared_hold *shared = zkr__mem_alloc(sizeof(*shared));
    if (!shared) {
        return NULL;
    }
    shared->lock = lock;
    shared->members = 1;
    shared->closes_at = zkr__clock_deadline(zkr__now(from->queue->c), open_ms);
    shared->place.queue = from->queue;
    zkr__place_move(from, &shared->place);
    return shared;
}

/* Somebody of this client who is not to hold beside a reader. */
static bool writer_waits(const struct zkr__queue *q) ZKR__LOCKED
{
    const struct zkr__engine *engine = q->c->engine;
    const struct zkr__claim *claim;
    if (q->c->stats.waiting == 0) {
        return false;
    }
    DL_FOREACH(engine->claims, claim)
    {
        bool waits = !claim->k.leaving && !zkr__claim_decided(&claim->k);
        if (waits && claim->q->kind != q->kind && strcmp(claim->q->dir, q->dir) == 0) {
            return true;
        }
    }
    return false;
}

bool zkr__shared_hold_join(struct zkr__shared_hold *shared)
{
    struct zkr__place *place = &shared->place;
    const zkr_client *c = place->queue->c;
    bool open = zkr__place_sure(place) && zkr__now(c) < shared->closes_at && !c->shut;
    bool asked_to_end = open && place->claim->k.told != 0;
    if (!open || asked_to_end || writer_waits(place->queue)) {
        return false;
    }
    shared->members++;
    return true;
}

bool zkr__shared_hold_leave(struct zkr__shared_hold *shared, bool wait)
{
    if (--shared->members > 0) {
        return zkr__place_look(&shared->place) == ZKR__PLACE_LOST;
    }
    bool lost = zkr__place_leave(&shared->place, wait);
    zkr__mem_free(shared);
    return lost;
}

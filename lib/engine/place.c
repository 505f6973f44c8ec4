/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/place.h"

#include <string.h>

#include "base/error.h"
#include "session/log.h"

int64_t zkr__place_try_ms(const zkr_client *c)
{
    int64_t third = c->session_ms / 3;
    return third < c->options.connect_timeout_ms ? third
                                                 : c->options.connect_timeout_ms;
}

static void on_claim(struct zkr__claim *claim, void *ctx) ZKR__LOCKED
{
    struct zkr__place *place = ctx;
    if (place->state == ZKR__PLACE_HELD && claim->k.lost != 0) {
        place->state = ZKR__PLACE_LOST;
        zkr__log(claim->q->c, ZKR_LOG_WARN, "%s: lost while held (%s)", claim->node,
                 claim->k.lost == ZKR_LOST_SESSION ? "session ended"
                 : claim->k.lost == ZKR_LOST_LEASE ? "no answer from a quorum in time"
                                                   : "node deleted");
    }
    if (place->on_change) {
        place->on_change(place);
    }
}

static void give_up(struct zkr__place *place, int code) ZKR__LOCKED
{
    struct zkr__claim *claim = place->claim;
    place->state = ZKR__PLACE_FAILED;
    place->failure = code;
    place->detail = claim ? claim->detail : 0;
    place->claim = NULL;
    if (claim) {
        zkr__claim_leave(claim);
    }
}

/* @thread: for the owner text; 0 = the calling one. */
static void join(struct zkr__place *place, long thread) ZKR__LOCKED
{
    bool timer = place->timed && place->deadline != ZKR__NEVER;
    const struct zkr__entry entry = {.once = place->once,
                                     .deadline = timer ? place->deadline : 0,
                                     .thread = thread,
                                     .on_change = on_claim,
                                     .ctx = place};
    place->claim = NULL;
    place->state = ZKR__PLACE_WAITING;
    int rc = zkr__claim_enter(&place->claim, place->queue, &entry);
    if (rc != ZKR_OK) {
        give_up(place, rc);
    }
}

void zkr__place_enter(struct zkr__place *place, int64_t timeout_ms, int64_t started)
{
    zkr_client *c = place->queue->c;
    place->once = timeout_ms == 0;
    place->deadline =
        zkr__clock_deadline(started, place->once ? zkr__place_try_ms(c) : timeout_ms);
    if (place->once && !zkr__connected(c) && !c->shut) {
        give_up(place, ZKR_ENOANSWER);
    } else {
        join(place, 0);
    }
}

/* What was granted came to nothing before anybody was told. */
static void join_anew(struct zkr__place *place) ZKR__LOCKED
{
    struct zkr__claim *claim = place->claim;
    long thread = claim->thread;
    zkr__claim_leave(claim);
    join(place, thread);
}

/* One that waits. @over: the deadline has passed. */
static void move_on(struct zkr__place *place, bool take, bool over) ZKR__LOCKED
{
    struct zkr__claim *claim = place->claim;
    bool granted = claim->k.phase == ZKR__HELD;
    if (granted && !take) {
        return;
    }
    if (granted && zkr__claim_sure(claim)) {
        place->state = ZKR__PLACE_HELD;
    } else if (claim->k.failure != 0) {
        give_up(place, claim->k.failure);
    } else if (claim->canceled) {
        give_up(place, ZKR_ECANCELED);
    } else if (over) {
        give_up(place, claim->k.phase == ZKR__PARKED ? ZKR_ETIMEDOUT : ZKR_ENOANSWER);
    } else if (granted || claim->k.lost != 0) {
        join_anew(place);
    }
}

static bool is_over(const struct zkr__place *place)
{
    return place->timed && zkr__now(place->queue->c) >= place->deadline;
}

enum zkr__place_state zkr__place_look(struct zkr__place *place)
{
    if (place->state == ZKR__PLACE_WAITING) {
        move_on(place, true, is_over(place));
    } else if (place->state == ZKR__PLACE_HELD) {
        zkr__claim_check(place->claim);
    }
    return place->state;
}

enum zkr__place_state zkr__place_follow(struct zkr__place *place)
{
    if (place->state == ZKR__PLACE_WAITING) {
        move_on(place, false, is_over(place));
    }
    return place->state;
}

enum zkr__place_state zkr__place_await(struct zkr__place *place)
{
    while (place->state == ZKR__PLACE_WAITING) {
        struct zkr__claim *claim = place->claim;
        zkr__claim_wait(claim, place->deadline);
        move_on(place, true, !zkr__claim_decided(&claim->k) && !claim->canceled);
    }
    return place->state;
}

void zkr__place_cancel(struct zkr__place *place)
{
    if (place->state == ZKR__PLACE_WAITING) {
        zkr__claim_cancel(place->claim);
    }
}

bool zkr__place_granted(const struct zkr__place *place)
{
    return place->state == ZKR__PLACE_HELD ||
           (place->state == ZKR__PLACE_WAITING && place->claim->k.phase == ZKR__HELD);
}

bool zkr__place_sure(struct zkr__place *place)
{
    if (place->state == ZKR__PLACE_HELD) {
        zkr__claim_check(place->claim);
    }
    return place->state == ZKR__PLACE_HELD && zkr__claim_sure(place->claim);
}

int zkr__place_node(const struct zkr__claim *claim, char *buf, size_t size)
{
    size_t need = strlen(claim->node) + 1;
    if (need > size) {
        return zkr__fail(ZKR_EINVAL, claim->node,
                         "the node needs a buffer of %zu bytes", need);
    }
    memcpy(buf, claim->node, need);
    return ZKR_OK;
}

bool zkr__place_leave(struct zkr__place *place, bool wait)
{
    if (place->state == ZKR__PLACE_HELD) {
        zkr__claim_check(place->claim);
    }
    bool lost = place->state == ZKR__PLACE_LOST;
    struct zkr__claim *claim = place->claim;
    place->claim = NULL;
    place->state = ZKR__PLACE_NONE;
    if (claim && wait) {
        zkr__claim_leave_wait(claim);
    } else if (claim) {
        zkr__claim_leave(claim);
    }
    return lost;
}

int zkr__place_fail(const struct zkr__place *place, int64_t timeout_ms)
{
    const char *dir = place->queue->dir;
    const zkr_client *c = place->queue->c;
    int code = place->failure;
    switch (code) {
    case ZKR_ETIMEDOUT:
        return place->once
                   ? zkr__fail(code, dir, "%s is held by another", dir)
                   : zkr__fail(code, dir,
                               "%s not acquired within %lld ms: held by another", dir,
                               (long long)timeout_ms);
    case ZKR_ENOANSWER:
        return place->once && !zkr__connected(c)
                   ? zkr__fail(code, dir, "not connected: %s",
                               c->obstacle[0] ? c->obstacle : "no session yet")
                   : zkr__fail(code, dir, "no answer about %s in time", dir);
    case ZKR_ECANCELED:
        return zkr__fail(code, dir, "the wait for %s was canceled", dir);
    case ZKR_ESEQUENCE:
        return zkr__fail(code, dir,
                         "%s has used up its sequence numbers; let it be empty for a "
                         "moment and delete it, or use another path",
                         dir);
    case ZKR_ENONODE:
        return zkr__fail(code, dir,
                         "cannot make %s: is the chroot of the server list missing?",
                         dir);
    case ZKR_ECLOSED:
        return zkr__fail(code, dir, "the client is shut down");
    case ZKR_ENOMEM:
    case ZKR_ESYS:
        return zkr__fail(code, dir, "cannot join %s: out of resources", dir);
    default:
        return zkr__fail_zk(code, place->detail, dir, "cannot acquire");
    }
}

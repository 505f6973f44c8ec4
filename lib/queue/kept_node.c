/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/kept_node.h"

#include <limits.h>

#include "base/thread.h"
#include "queue/claim_run.h"
#include "queue/directory.h"
#include "queue/engine_state.h"
#include "queue/keep.h"
#include "session/must.h"

/* --- news of other contenders --- */

/* Our own deletes cause this event, too, but then no node is kept. */
static void on_event(struct zkr__path_watcher *watcher,
                     enum zkr__node_event event) ZKR__LOCKED
{
    if (event == ZKR__NODE_CHILDREN) {
        zkr__claims_contended(
            ZKR__OWNER_OF(watcher, struct zkr__keep, news)->directory);
    }
}

/* Returns true if the list has a node that this client neither holds nor is deleting. */
static bool shows_others(const struct zkr__directory *d,
                         const struct zkr__answer *answer) ZKR__LOCKED
{
    bool others = false;
    enum zkr__name_kind kind;
    int64_t sequence;
    for (size_t i = 0; i < answer->name_count && !others; i++) {
        const char *name = answer->names[i];
        const struct zkr__claim *own = name ? zkr__claim_in(d, name) : NULL;
        bool fine = own && (own->k.phase == ZKR__HELD ||
                            zkr__claim_stage(&own->k) == ZKR__REMOVING);
        others = !name || (zkr__name_parse(name, &kind, &sequence) && !fine);
    }
    return others;
}

static void
on_children(void *ctx, unsigned asked, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__directory *d = ctx;
    bool deaf = answer->code != ZKR_OK || answer->unwatched;
    if (asked == d->keep->news_asked && (deaf || shows_others(d, answer))) {
        zkr__claims_contended(d);
    }
    zkr__directory_unref(d);
}

/* Watch and list the directory. Returns false if memory runs out. */
static bool listen(struct zkr__directory *d) ZKR__LOCKED
{
    const struct zkr__op op = {
        .kind = ZKR__OP_CHILDREN, .path = d->path, .watch = ZKR__WATCH_SPARE};
    struct zkr__keep *keep = d->keep;
    keep->news.on_event = on_event;
    if (!zkr__path_watch(&d->engine->watchers, &keep->news, d->path)) {
        return false;
    }
    keep->news_asked++;
    d->refs++;
    zkr__submit(d->engine->c, &op, on_children, d, keep->news_asked);
    return true;
}

/* --- keep and take --- */

/*
 * Returns true if another claim of this client has a node behind this one. The queue of that claim does not keep nodes,
 * or did not when the claim began.
 */
static bool has_one_behind(const struct zkr__claim *claim)
{
    const struct zkr__claim *behind = claim->ours_next;
    while (behind && zkr__claim_stage(&behind->k) == ZKR__REMOVING) {
        behind = behind->ours_next;
    }
    return behind;
}

/*
 * Returns whether the node may be kept. It may if this client knows of no other contender, and has no request about the
 * node in flight.
 */
static bool may_stay(struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__claim_state *k = &claim->k;
    const struct zkr__keep *keep = claim->directory->keep;
    const zkr_client *c = claim->q->c;
    if (!zkr__claim_sure(claim) || !zkr__connected(c) || c->shut || c->flushing > 0) {
        return false;
    }
    bool wanted = k->told != 0 || k->revocation != 0;
    bool busy = k->writing > 0 || k->departure != ZKR__STAYS || k->holds == UINT_MAX;
    int64_t now = zkr__now(claim->q->c);
    return !wanted && !busy && keep->standing == 1 && !has_one_behind(claim) &&
           !keep->over && now >= keep->contended_until &&
           (keep->until == 0 || now < keep->until);
}

bool zkr__claim_keep(struct zkr__claim *claim)
{
    const struct zkr__keep *keep = claim->directory->keep;
    if (claim->q->keep_ms == 0) {
        return false;
    }
    if (!may_stay(claim) || (keep->until == 0 && !listen(claim->directory))) {
        if (claim->stands) {
            zkr__keep_end(claim); /* this watch must not keep a later node */
        }
        return false;
    }
    if (keep->until == 0) {
        int64_t until = zkr__clock_deadline(zkr__now(claim->q->c), claim->q->keep_ms);
        /* When to doubt the watch on the children. */
        int64_t doubts_at = zkr__engine_doubts_at(claim->engine);
        zkr__keep_begin(claim, until < doubts_at ? until : doubts_at);
    }
    claim->on_change = NULL;
    claim->taken = false;
    ZKR__MUST(claim->engine->c, keep->until != 0 && !keep->over && !claim->k.kept);
    zkr__claim_tell(claim, ZKR__EV_KEPT);
    return true;
}

static struct zkr__claim *find_free(struct zkr__queue *q) ZKR__LOCKED
{
    const struct zkr__directory *d =
        q->c->engine ? zkr__queue_directory(q, q->c->engine) : NULL;
    struct zkr__claim *claim = d ? d->ours : NULL;
    while (claim && !claim->k.kept) {
        claim = claim->ours_next;
    }
    return claim;
}

/* A kept claim whose lease bound has passed is not taken, but ends as a hold does. */
bool zkr__claim_take(struct zkr__claim **out,
                     struct zkr__queue *q,
                     const struct zkr__entry *entry)
{
    bool passed = entry->thread != 0; /* the hold enters again after a wait */
    struct zkr__claim *claim = q->keep_ms > 0 ? find_free(q) : NULL;
    if (claim) {
        zkr__claim_check(claim);
        claim = find_free(q);
    }
    if (!claim || q->c->shut || q->c->state == ZKR_STATE_AUTH_FAILED ||
        !zkr__claim_reserve(claim, q)) {
        return false;
    }
    ZKR__MUST(q->c, claim->k.kept && claim->k.phase == ZKR__HELD && !claim->taken);
    q->refs++;
    zkr__queue_unref(claim->q);
    claim->q = q;
    claim->once = entry->once;
    claim->give_up_at = 0;
    claim->thread = passed ? entry->thread : zkr__thread_os_id();
    claim->on_change = entry->on_change;
    claim->on_change_ctx = entry->ctx;
    claim->canceled = false;
    claim->held_at = zkr__now(q->c);
    zkr__queue_meter(q)->n.hand_overs[ZKR__BY_NEIGHBOUR] += passed;
    *out = claim;
    zkr__claim_run(claim,
                   (struct zkr__claim_event){.kind = ZKR__EV_TAKEN, .passed = passed});
    if (q->watch_node) {
        zkr__claim_tell(claim, ZKR__EV_QUIET);
    }
    return true;
}

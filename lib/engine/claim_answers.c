/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/claim_answers.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "engine/claim_requests.h"
#include "engine/lists.h"
#include "engine/reckon.h"
#include "engine/strangers.h"
#include "session/log.h"

/* --- our node --- */

static bool is_spent(const struct zkr__claim *claim)
{
    return claim->sequence < 0 || claim->sequence >= ZKR__SEQUENCE_LIMIT;
}

/* A node of ours has been seen. */
static void note_node(struct zkr__claim *claim,
                      struct zkr__claim_event *e,
                      const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__queue *q = claim->q;
    claim->czxid = answer->czxid;
    claim->epoch = q->c->epoch;
    e->spent = is_spent(claim);
    if (claim->sequence >= ZKR__SEQUENCE_WARN && !q->warned_sequence) {
        q->warned_sequence = true;
        zkr__log_more(q->c, ZKR_LOG_WARN,
                      ZKR__EVENT("sequence_high", .path = q->dir,
                                 .reason =
                                     "the count starts again when the path is empty "
                                     "for a moment, else use another path"),
                      "sequence=%lld limit=%lld", (long long)claim->sequence,
                      (long long)ZKR__SEQUENCE_LIMIT);
    }
}

/*
 * Names are ours alone, so under ours another session never made a node but to replace one. The owner tells; the czxid
 * would tell no more, and that of a reader's node that was a writer's is not known.
 */
static void whose(struct zkr__claim *claim,
                  struct zkr__claim_event *e,
                  const struct zkr__answer *answer) ZKR__LOCKED
{
    e->ours = answer->code == ZKR_OK && answer->owner == claim->q->c->session_id;
    if (answer->code == ZKR_OK && !e->ours) {
        zkr__reckon_forget(claim->directory); /* it is among the others there */
        zkr__log(
            claim->q->c, ZKR_LOG_WARN,
            ZKR__EVENT("node_replaced", .path = claim->q->dir,
                       .node = zkr__path_name(claim->node),
                       .reason = "under its name stands a node of another session"));
    }
}

static void on_own(struct zkr__claim *claim,
                   struct zkr__claim_event *e,
                   const struct zkr__answer *answer) ZKR__LOCKED
{
    if (answer->code == ZKR_OK) {
        whose(claim, e, answer);
        e->version = answer->version;
        e->wish = zkr__is_wish(answer->data, answer->data_len) ? answer->version : 0;
        e->noted = zkr__is_noted(answer->data, answer->data_len);
    }
    if (answer->code == ZKR_OK && claim->k.phase == ZKR__ADOPTING) {
        note_node(claim, e, answer);
        e->code = claim->czxid > 0 ? ZKR_OK : ZKR_ECONNLOSS; /* nobody made it */
    }
}

/* Refused for another reason than that our node is gone: then it is there, and no reader's was made. */
static void on_downgraded(struct zkr__claim *claim,
                          struct zkr__claim_event *e,
                          const struct zkr__answer *answer) ZKR__LOCKED
{
    if (answer->code == ZKR_OK) {
        return;
    }
    bool gone = answer->failed_at == 0 && answer->code == ZKR_ENONODE;
    e->refused = !gone && answer->failed_at != SIZE_MAX;
    e->code = gone ? ZKR_ENONODE : ZKR_ECONNLOSS;
    if (e->refused) {
        zkr__claim_turn(claim, ZKR__NAME_WRITE);
        zkr__reckon_forget(
            claim->directory); /* a list meanwhile took it for another's */
        zkr__log_more(claim->q->c, ZKR_LOG_WARN,
                      ZKR__EVENT("downgrade_refused", .path = claim->q->dir,
                                 .node = zkr__path_name(claim->node),
                                 .reason = "others wait for it as for a writer's node"),
                      "zookeeper_code=%d", answer->zk_rc);
    }
}

/* --- lists --- */

/* Note what the verdict says to wait for. */
static void wait_as_told(struct zkr__claim *claim,
                         struct zkr__claim_event *e,
                         const struct zkr__verdict *verdict,
                         const struct zkr__children *children) ZKR__LOCKED
{
    bool noted;
    if (verdict->watch == ZKR__ALL_CHILDREN) {
        e->wait = ZKR__WAIT_CHILDREN;
        noted = zkr__claim_watch_children(claim);
    } else {
        const struct zkr__child *ahead = &children->list[verdict->watch];
        noted = zkr__claim_stand_behind(claim, ahead->name);
        e->wait = claim->ahead ? ZKR__WAIT_NEIGHBOUR : ZKR__WAIT_NODE;
        e->ahead = ahead->sequence;
    }
    e->then = verdict->then;
    if (!noted) {
        e->code = ZKR_ENOMEM;
    }
}

/* A writer may have become a reader, or may not have yet. */
static bool may_be_own(const struct zkr__claim *claim,
                       const struct zkr__child *child) ZKR__LOCKED
{
    const unsigned shared = 1U << ZKR__NAME_READ | 1U << ZKR__NAME_WRITE;
    unsigned kind = 1U << claim->q->kind, is = 1U << child->kind;
    bool may_be = is == kind || ((is & shared) && (kind & shared));
    return may_be && zkr__claim_is_node(claim, child->name, child->kind);
}

static void find_own(struct zkr__claim *claim,
                     struct zkr__claim_event *e,
                     const struct zkr__children *children) ZKR__LOCKED
{
    size_t self = 0;
    while (self < children->count && !may_be_own(claim, &children->list[self])) {
        self++;
    }
    if (self == children->count) {
        return;
    }
    const struct zkr__child *own = &children->list[self];
    char *path = zkr__path_join(claim->q->dir, own->name);
    e->found = path && zkr__claim_know_node(claim, path, own->kind);
    zkr__reckon_forget(claim->directory); /* it may be among the others there */
    if (!e->found) {
        e->code = ZKR_ENOMEM;
    }
    zkr__mem_free(path);
}

static void judge(struct zkr__claim *claim,
                  struct zkr__claim_event *e,
                  const struct zkr__children *children) ZKR__LOCKED
{
    const struct zkr__queue *q = claim->q;
    size_t self = zkr__children_find(children, zkr__path_name(claim->node));
    e->found = self < children->count;
    if (!e->found) { /* gone, or of another number than we were told */
        find_own(claim, e, children);
        e->found = false;
        return;
    }
    struct zkr__verdict verdict = q->rule(children, self, q->rule_arg);
    e->granted = verdict.granted;
    e->once = claim->once;
    if (!verdict.granted && !claim->once) {
        wait_as_told(claim, e, &verdict, children);
    }
}

static void on_listed(struct zkr__claim *claim,
                      struct zkr__claim_event *e,
                      const struct zkr__answer *answer) ZKR__LOCKED
{
    bool told = answer->code == ZKR_OK || answer->code == ZKR_ENONODE;
    if (told && claim->k.phase == ZKR__FINDING && !claim->written) {
        e->code = ZKR_ECONNLOSS; /* see write_first() */
        return;
    }
    if (answer->code != ZKR_OK) {
        return;
    }
    const struct zkr__children *children;
    e->code = zkr__lists_children(claim->directory, &children);
    if (e->code != ZKR_OK) {
        return;
    }
    zkr__strangers_warn(claim->q, children, answer);
    if (claim->k.phase == ZKR__LOOKING) {
        return;
    }
    if (claim->k.phase == ZKR__FINDING) {
        find_own(claim, e, children);
    } else {
        judge(claim, e, children);
    }
}

/* --- a node is made --- */

/* A node of another client may be gone by now: a try must not fail by it, nor be parked while a list is on its way. */
static bool may_be_gone(const struct zkr__claim *claim, const char *name) ZKR__LOCKED
{
    bool doubted = claim->once || zkr__lists_wanted(claim);
    return doubted && !zkr__claim_in(claim->directory, name);
}

/* Its number may tell all that a list would. Without memory to note whom it waits for, the list will fail. */
static void judge_by_number(struct zkr__claim *claim,
                            struct zkr__claim_event *e) ZKR__LOCKED
{
    struct zkr__verdict verdict;
    struct zkr__children who;
    e->bare = !zkr__lists_wanted(claim);
    e->placed = !claim->k.leaving && !e->spent && zkr__reckon(claim, &verdict, &who) &&
                (verdict.granted || !may_be_gone(claim, who.list[verdict.watch].name));
    if (e->placed) {
        zkr__strangers_warn(claim->q, &who, NULL);
        e->granted = verdict.granted;
        e->once = claim->once;
    }
    if (e->placed && !verdict.granted && !claim->once) {
        wait_as_told(claim, e, &verdict, &who);
        e->placed = e->code == ZKR_OK;
        e->code = ZKR_OK;
        claim->engine->spared.behind += e->placed && e->wait == ZKR__WAIT_NODE;
    }
    claim->engine->spared.wrong += e->bare && !e->placed;
}

static void on_created(struct zkr__claim *claim,
                       struct zkr__claim_event *e,
                       const struct zkr__answer *answer) ZKR__LOCKED
{
    if (answer->code == ZKR_OK &&
        zkr__claim_know_node(claim, answer->path, claim->q->kind)) {
        note_node(claim, e, answer);
        zkr__reckon_made(claim);
        judge_by_number(claim, e);
    } else if (answer->code == ZKR_OK) {
        /* Another path than ours, or no memory for the table. The node is found by its GUID. */
        e->code = ZKR_ECONNLOSS;
    } else if (answer->code == ZKR_ENONODE && claim->k.made_parents &&
               claim->parent_code != 0) {
        e->code = claim->parent_code;
        e->hopeless = true;
    }
}

/* --- the end --- */

static void
on_deleted_parent(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    (void)tag;
    zkr_client *c = ctx;
    if (answer->code == ZKR_OK) {
        zkr__log(c, ZKR_LOG_INFO,
                 ZKR__EVENT("empty_path_deleted",
                            .reason = "so that its sequence numbers start again"));
    }
}

static void on_removed(struct zkr__claim *claim,
                       const struct zkr__answer *answer) ZKR__LOCKED
{
    zkr_client *c = claim->q->c;
    if (answer->code == ZKR_OK && claim->sequence >= ZKR__SEQUENCE_WARN) {
        /* Refused while others wait, which is as well. */
        struct zkr__op op = {.kind = ZKR__OP_DELETE, .path = claim->q->dir};
        zkr__submit(c, &op, on_deleted_parent, c, 0);
    } else if (answer->code == ZKR_EAUTH && !claim->k.refused) {
        zkr__reckon_forget(claim->directory);
        zkr__log(c, ZKR_LOG_ERROR,
                 ZKR__EVENT("delete_refused", .path = claim->q->dir,
                            .node = zkr__path_name(claim->node),
                            .reason = "not allowed; it is tried again until it is, or "
                                      "until the session ends"));
    }
}

bool zkr__claim_take_answer(struct zkr__claim *claim,
                            unsigned tag,
                            const struct zkr__answer *answer,
                            struct zkr__claim_event *e)
{
    static const enum zkr__event_kind kinds[] = {
        [ZKR__ASKED_CREATE] = ZKR__EV_CREATED,
        [ZKR__ASKED_LIST] = ZKR__EV_LISTED,
        [ZKR__ASKED_OWN] = ZKR__EV_GOT_OWN,
        [ZKR__ASKED_AHEAD] = ZKR__EV_GOT_AHEAD,
        [ZKR__ASKED_PROVE] = ZKR__EV_PROVED,
        [ZKR__ASKED_REMOVE] = ZKR__EV_REMOVED,
        [ZKR__ASKED_DOWNGRADE] = ZKR__EV_DOWNGRADED,
        [ZKR__ASKED_RESTORE] = ZKR__EV_RESTORED,
        [ZKR__ASKED_OWNER] = ZKR__EV_GOT_OWNER,
    };
    if (!zkr__asked_in_round(tag, claim->k.round)) {
        return false;
    }
    enum zkr__asked asked = zkr__asked_of(tag);
    *e = (struct zkr__claim_event){
        .kind = kinds[asked], .code = answer->code, .unwatched = answer->unwatched};
    if (answer->code != ZKR_OK) {
        claim->detail = answer->zk_rc;
    }
    switch (asked) {
    case ZKR__ASKED_CREATE:
        on_created(claim, e, answer);
        break;
    case ZKR__ASKED_LIST:
        on_listed(claim, e, answer);
        break;
    case ZKR__ASKED_OWN:
        on_own(claim, e, answer);
        break;
    case ZKR__ASKED_OWNER:
        whose(claim, e, answer);
        break;
    case ZKR__ASKED_REMOVE:
        on_removed(claim, answer);
        break;
    case ZKR__ASKED_DOWNGRADE:
        on_downgraded(claim, e, answer);
        break;
    case ZKR__ASKED_AHEAD:
    case ZKR__ASKED_PROVE:
    case ZKR__ASKED_RESTORE:
        break;
    }
    return true;
}

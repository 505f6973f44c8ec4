/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/batch.h"

#include "base/mem.h"
#include "engine/claim_io.h"
#include "engine/lists.h"

/* A claim that waits for an answer, with a reference, and the tag of what it asked. */
struct ask {
    struct zkr__claim *claim;
    unsigned tag;
};

/* One request for several claims. */
struct joint {
    zkr__answer_fn fn;
    size_t count;
    struct ask asks[];
};

static bool share_dir(const struct zkr__claim *a, const struct zkr__claim *b)
{
    return a->directory == b->directory;
}

unsigned zkr__batch_keep(struct zkr__claim *claim, unsigned todo)
{
    const struct zkr__batch *batch = claim->batch;
    unsigned joint = ZKR__DO_CREATE;
    if (batch->gathering) {
        joint |= ZKR__DO_REMOVE | ZKR__DO_PROVE;
    }
    if (claim->k.failure != 0 || claim->k.lost != 0) {
        joint |= ZKR__DO_REMOVE; /* the others are about to leave for that */
    }
    claim->unsent |= todo & joint;
    for (uint32_t i = 1; i < batch->count; i++) {
        if (batch->claims[i] == claim && batch->claims[i - 1] &&
            share_dir(batch->claims[i - 1], claim)) {
            joint |= ZKR__DO_PARENTS; /* made for its neighbour */
        }
    }
    return todo & ~joint;
}

/* --- answers --- */

static void
tell(const struct joint *j, size_t i, const struct zkr__answer *answer) ZKR__LOCKED
{
    j->fn(j->asks[i].claim, j->asks[i].tag, answer);
}

/* The one that it failed for first: what that says decides for all. */
static void tell_refusal(const struct joint *j,
                         size_t failed,
                         const struct zkr__answer *answer) ZKR__LOCKED
{
    if (failed < j->count) {
        tell(j, failed, answer);
    }
    for (size_t i = 0; i < j->count; i++) {
        if (i != failed) {
            tell(j, i, answer);
        }
    }
}

static void
on_created(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct joint *j = ctx;
    (void)tag;
    if (answer->code != ZKR_OK) {
        tell_refusal(j, answer->failed_at, answer);
    }
    for (size_t i = 0; i < j->count && answer->code == ZKR_OK; i++) {
        struct zkr__answer own = *answer;
        own.path = i < answer->name_count ? answer->names[i] : NULL;
        tell(j, i, &own);
    }
    zkr__mem_free(j);
}

/* Nothing is proved for the others: they ask again, if they are still to. */
static void
on_proved(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    static const struct zkr__answer unknown = {.code = ZKR_ECONNLOSS};
    struct joint *j = ctx;
    (void)tag;
    bool missing = answer->code == ZKR_ENONODE && answer->bad_check < j->count;
    if (missing) {
        tell(j, answer->bad_check, answer);
    }
    for (size_t i = 0; i < j->count; i++) {
        if (!missing || i != answer->bad_check) {
            tell(j, i, missing ? &unknown : answer);
        }
    }
    zkr__mem_free(j);
}

static void
on_removed(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct joint *j = ctx;
    (void)tag;
    bool refused = answer->code != ZKR_OK && answer->failed_at != SIZE_MAX;
    for (size_t i = 0; i < j->count; i++) {
        struct zkr__claim *claim = j->asks[i].claim;
        const struct zkr__op one = {.kind = ZKR__OP_DELETE, .path = claim->node};
        if (refused && zkr__asked_in_round(j->asks[i].tag, claim->k.round)) {
            zkr__submit(claim->q->c, &one, j->fn, claim, j->asks[i].tag);
        } else {
            tell(j, i, answer);
        }
    }
    zkr__mem_free(j);
}

/* --- requests --- */

static struct joint *make_joint(size_t count, zkr__answer_fn fn)
{
    struct joint *j = zkr__mem_alloc(sizeof(*j) + count * sizeof(struct ask));
    if (j) {
        j->fn = fn;
    }
    return j;
}

static void
join(struct joint *j, struct zkr__claim *claim, enum zkr__asked asked) ZKR__LOCKED
{
    zkr__claim_ref(claim);
    j->asks[j->count++] =
        (struct ask){.claim = claim, .tag = zkr__asked_tag(asked, claim->k.round)};
}

/* It could not even be asked. */
static void refuse(struct zkr__claim *claim,
                   enum zkr__asked asked,
                   int code,
                   zkr__answer_fn fn) ZKR__LOCKED
{
    zkr__claim_ref(claim);
    zkr__answer_later(claim->q->c, code, fn, claim,
                      zkr__asked_tag(asked, claim->k.round));
}

/* --- deletes, checks --- */

static void send_nodes(struct zkr__batch *batch,
                       unsigned action,
                       enum zkr__asked asked,
                       zkr__answer_fn fn) ZKR__LOCKED
{
    struct joint *j = NULL;
    const char **nodes = zkr__mem_alloc(batch->count * sizeof(*nodes));
    zkr_client *c = NULL;
    if (nodes) {
        j = make_joint(batch->count, fn);
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        struct zkr__claim *claim = batch->claims[i];
        if (!claim || !(claim->unsent & action)) {
            continue;
        }
        claim->unsent &= ~action;
        if (j) {
            c = claim->q->c;
            nodes[j->count] = claim->node;
            join(j, claim, asked);
        } else {
            refuse(claim, asked, ZKR_ENOMEM, fn);
        }
    }
    struct zkr__op op = {.kind = ZKR__OP_CHECK};
    if (c && action == ZKR__DO_REMOVE && j->count == 1) {
        op.kind = ZKR__OP_DELETE;
        op.path = nodes[0];
        zkr__submit(c, &op, fn, j->asks[0].claim, j->asks[0].tag);
        zkr__mem_free(j);
    } else if (c && action == ZKR__DO_PROVE) {
        op.paths = nodes;
        op.path_count = j->count;
        zkr__submit(c, &op, on_proved, j, 0);
    } else if (c) {
        op.kind = ZKR__OP_MULTI;
        op.deleted = nodes;
        op.deleted_count = j->count;
        zkr__submit(c, &op, on_removed, j, 0);
    } else {
        zkr__mem_free(j);
    }
    zkr__mem_free(nodes);
}

/* --- creates --- */

static bool wants_node(const struct zkr__batch *batch, uint32_t i) ZKR__LOCKED
{
    const struct zkr__claim *claim = batch->claims[i];
    return claim && claim->k.phase == ZKR__CREATING && !claim->k.leaving &&
           (claim->unsent & ZKR__DO_CREATE);
}

/* It is paused before its create, or looks first, or the answer to the last one is still to come. */
static bool is_behind(const struct zkr__batch *batch, uint32_t i) ZKR__LOCKED
{
    const struct zkr__claim *claim = batch->claims[i];
    if (!claim || claim->k.leaving) {
        return false;
    }
    return claim->k.phase == ZKR__LOOKING ||
           (zkr__claim_stage(&claim->k) == ZKR__CREATING && !wants_node(batch, i));
}

/* How many creates there are to send; 0 also while one of the claims is not as far. */
static size_t creates_due(const struct zkr__batch *batch) ZKR__LOCKED
{
    size_t due = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        if (is_behind(batch, i)) {
            return 0;
        }
        due += wants_node(batch, i);
    }
    return due;
}

/* One list for the claims of one directory from @i on. Returns the index behind them. */
static uint32_t
list(struct zkr__batch *batch, uint32_t i, zkr__answer_fn fn) ZKR__LOCKED
{
    struct zkr__claim *first = batch->claims[i];
    for (; i < batch->count && batch->claims[i] && share_dir(batch->claims[i], first);
         i++) {
        if (wants_node(batch, i)) {
            zkr__lists_want(batch->claims[i], fn);
        }
    }
    zkr__lists_send(first->directory);
    return i;
}

/* A node alone needs no transaction. */
static bool create_one(struct zkr__batch *batch, zkr__answer_fn fn) ZKR__LOCKED
{
    char text[ZKR__OWNER_TEXT_MAX];
    struct zkr__creation creation;
    uint32_t i = 0;
    while (!wants_node(batch, i)) {
        i++;
    }
    struct zkr__claim *claim = batch->claims[i];
    if (zkr__claim_creation(claim, &creation, text) != 0) {
        return false;
    }
    const struct zkr__op op = {.kind = ZKR__OP_CREATE,
                               .path = creation.path,
                               .data = creation.data,
                               .data_len = creation.data_len,
                               .acl = claim->q->c->acl};
    zkr__claim_ref(claim);
    zkr__submit(claim->q->c, &op, fn, claim,
                zkr__asked_tag(ZKR__ASKED_CREATE, claim->k.round));
    return true;
}

static bool create(struct zkr__batch *batch, size_t due, zkr__answer_fn fn) ZKR__LOCKED
{
    char text[ZKR__OWNER_TEXT_MAX]; /* the same for all */
    struct zkr__creation *creations = zkr__mem_alloc(due * sizeof(*creations));
    struct joint *j = make_joint(due, fn);
    bool done = creations && j;
    zkr_client *c = NULL;
    for (uint32_t i = 0; i < batch->count && done; i++) {
        if (wants_node(batch, i)) {
            struct zkr__claim *claim = batch->claims[i];
            c = claim->q->c;
            done = zkr__claim_creation(claim, &creations[j->count], text) == 0;
            join(j, claim, ZKR__ASKED_CREATE);
        }
    }
    done = done && c;
    if (done) {
        const struct zkr__op op = {.kind = ZKR__OP_CREATES,
                                   .creations = creations,
                                   .creation_count = due,
                                   .acl = c->acl};
        zkr__submit(c, &op, on_created, j, 0);
    } else {
        for (size_t i = 0; j && i < j->count; i++) {
            zkr__claim_unref(j->asks[i].claim);
        }
        zkr__mem_free(j);
    }
    zkr__mem_free(creations);
    return done;
}

void zkr__batch_create(struct zkr__batch *batch, zkr__answer_fn on_answer)
{
    size_t due = batch->gathering ? 0 : creates_due(batch);
    if (due == 0) {
        return;
    }
    bool created =
        due == 1 ? create_one(batch, on_answer) : create(batch, due, on_answer);
    for (uint32_t i = 0; i < batch->count;) {
        if (!wants_node(batch, i)) {
            i++;
        } else if (created) {
            i = list(batch, i, on_answer);
        } else {
            refuse(batch->claims[i++], ZKR__ASKED_CREATE, ZKR_ENOMEM, on_answer);
        }
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        if (wants_node(batch, i)) {
            batch->claims[i]->unsent &= ~(unsigned)ZKR__DO_CREATE;
        }
    }
}

void zkr__batch_send(struct zkr__batch *batch, zkr__answer_fn on_answer)
{
    batch->gathering = false;
    zkr__batch_create(batch, on_answer);
    send_nodes(batch, ZKR__DO_REMOVE, ZKR__ASKED_REMOVE, on_answer);
    send_nodes(batch, ZKR__DO_PROVE, ZKR__ASKED_PROVE, on_answer);
}

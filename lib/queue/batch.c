/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/batch.h"

#include "base/mem.h"
#include "queue/children_cache.h"
#include "queue/claim.h"
#include "queue/claim_io.h"
#include "queue/engine_state.h"
#include "queue/group.h"
#include "session/must.h"

/* A claim that waits for an answer, with one reference, and the tag of its request. */
struct ask {
    struct zkr__claim *claim;
    unsigned tag;
};

/* One request for several claims. */
struct joint {
    size_t count;
    struct ask asks[];
};

bool zkr__batch_defers(struct zkr__claim *claim, unsigned action)
{
    const struct zkr__group *group = claim->group;
    unsigned joint = ZKR__DO_CREATE;
    if (group->gathering) {
        joint |= ZKR__DO_REMOVE | ZKR__DO_PROVE;
    }
    if (claim->k.failure != 0 || claim->k.lost != 0) {
        joint |= ZKR__DO_REMOVE; /* the other members are about to leave, too */
    }
    claim->unsent |= action & joint;
    for (uint32_t i = 1; i < group->count; i++) {
        const struct zkr__claim *before = group->members[i - 1];
        if (group->members[i] == claim && before &&
            before->directory == claim->directory) {
            joint |= ZKR__DO_PARENTS; /* @before already creates the same parents */
        }
    }
    return (action & joint) != 0;
}

/* --- answers --- */

static void
tell(const struct joint *j, size_t i, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__claim *claim = j->asks[i].claim;
    ZKR__MUST(claim->engine->c, claim->refs > 0);
    claim->engine->on_answer(claim, j->asks[i].tag, answer);
}

/* Send the request for this claim alone. */
static void send_to(const struct ask *ask, const struct zkr__op *op) ZKR__LOCKED
{
    zkr__submit(ask->claim->q->c, op, ask->claim->engine->on_answer, ask->claim,
                ask->tag);
}

/*
 * Deliver @answer to claim @first, if there is such a claim, and then @others to the rest. The claim at fault is first
 * because its failure decides for all.
 */
static void tell_all(struct joint *j,
                     size_t first,
                     const struct zkr__answer *answer,
                     const struct zkr__answer *others) ZKR__LOCKED
{
    if (first < j->count) {
        tell(j, first, answer);
    }
    for (size_t i = 0; i < j->count; i++) {
        if (i != first) {
            tell(j, i, others);
        }
    }
    zkr__mem_free(j);
}

static void
on_created(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct joint *j = ctx;
    (void)tag;
    if (answer->code != ZKR_OK) {
        tell_all(j, answer->failed_at, answer, answer);
        return;
    }
    for (size_t i = 0; i < j->count; i++) {
        struct zkr__answer own = *answer;
        own.path = i < answer->name_count ? answer->names[i] : NULL;
        tell(j, i, &own);
    }
    zkr__mem_free(j);
}

/* A missing node proves nothing about the other nodes, so their claims repeat the request if they still need it. */
static void
on_proved(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    static const struct zkr__answer unknown = {.code = ZKR_ECONNLOSS};
    struct joint *j = ctx;
    (void)tag;
    bool missing = answer->code == ZKR_ENONODE;
    tell_all(j, missing ? answer->failed_at : SIZE_MAX, answer,
             missing ? &unknown : answer);
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
            send_to(&j->asks[i], &one);
        } else {
            tell(j, i, answer);
        }
    }
    zkr__mem_free(j);
}

/* --- requests --- */

static struct joint *make_joint(size_t count)
{
    return zkr__mem_alloc(sizeof(struct joint) + count * sizeof(struct ask));
}

static void
join(struct joint *j, struct zkr__claim *claim, enum zkr__asked asked) ZKR__LOCKED
{
    zkr__claim_ref(claim);
    j->asks[j->count++] =
        (struct ask){.claim = claim, .tag = zkr__asked_tag(asked, claim->k.round)};
}

/* --- deletes and checks --- */

static void send_nodes(const struct zkr__group *group,
                       unsigned action,
                       enum zkr__asked asked) ZKR__LOCKED
{
    const char **nodes = zkr__mem_alloc(group->count * sizeof(*nodes));
    struct joint *j = nodes ? make_joint(group->count) : NULL;
    for (uint32_t i = 0; i < group->count; i++) {
        struct zkr__claim *claim = group->members[i];
        if (!claim || !(claim->unsent & action)) {
            continue;
        }
        claim->unsent &= ~action;
        if (j) {
            nodes[j->count] = claim->node;
            join(j, claim, asked);
        } else {
            zkr__claim_refuse(claim, asked, ZKR_ENOMEM);
        }
    }
    if (!j || j->count == 0) {
        zkr__mem_free(j);
    } else if (action == ZKR__DO_PROVE) {
        const struct zkr__op op = {
            .kind = ZKR__OP_CHECK, .paths = nodes, .path_count = j->count};
        zkr__submit(j->asks[0].claim->q->c, &op, on_proved, j, 0);
    } else if (j->count == 1) {
        const struct zkr__op op = {.kind = ZKR__OP_DELETE, .path = nodes[0]};
        send_to(&j->asks[0], &op);
        zkr__mem_free(j);
    } else {
        const struct zkr__op op = {
            .kind = ZKR__OP_MULTI, .deleted = nodes, .deleted_count = j->count};
        zkr__submit(j->asks[0].claim->q->c, &op, on_removed, j, 0);
    }
    zkr__mem_free(nodes);
}

/* --- creates --- */

/* Returns member @i if its create is due, else NULL. */
static struct zkr__claim *due_at(const struct zkr__group *group, uint32_t i) ZKR__LOCKED
{
    struct zkr__claim *claim = group->members[i];
    bool due = claim && claim->k.phase == ZKR__CREATING && !claim->k.leaving &&
               (claim->unsent & ZKR__DO_CREATE);
    return due ? claim : NULL;
}

/*
 * Returns true if member @i is not ready: it pauses before its create, is LOOKING, or waits for the answer to its last
 * create.
 */
static bool is_behind(const struct zkr__group *group, uint32_t i) ZKR__LOCKED
{
    const struct zkr__claim *claim = group->members[i];
    if (!claim || claim->k.leaving) {
        return false;
    }
    return claim->k.phase == ZKR__LOOKING ||
           (zkr__claim_stage(&claim->k) == ZKR__CREATING && !due_at(group, i));
}

/* Returns the number of creates to send, or 0 while any member is not ready to create its node. */
static size_t creates_due(const struct zkr__group *group) ZKR__LOCKED
{
    size_t due = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        if (is_behind(group, i)) {
            return 0;
        }
        due += due_at(group, i) != NULL;
    }
    return due;
}

/*
 * Create the @due nodes in one transaction. Returns false if there is no memory, or there are no random bytes for a
 * name.
 */
static bool create(const struct zkr__group *group, size_t due) ZKR__LOCKED
{
    char text[ZKR__OWNER_TEXT_MAX]; /* all nodes have the same owner text */
    struct zkr__creation *creations = zkr__mem_alloc(due * sizeof(*creations));
    struct joint *j = make_joint(due);
    bool done = creations && j;
    for (uint32_t i = 0; i < group->count && done; i++) {
        struct zkr__claim *claim = due_at(group, i);
        if (claim) {
            done = zkr__claim_creation(claim, &creations[j->count], text) == 0;
            join(j, claim, ZKR__ASKED_CREATE);
        }
    }
    if (done) {
        zkr_client *c = j->asks[0].claim->q->c;
        ZKR__MUST(c, j->count == due);
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

void zkr__batch_create(struct zkr__group *group)
{
    size_t due = group->gathering ? 0 : creates_due(group);
    bool created = due <= 1 || create(group, due);
    for (uint32_t i = 0; i < group->count && due > 0; i++) {
        struct zkr__claim *claim = due_at(group, i);
        if (claim && due == 1) {
            zkr__claim_create(claim); /* a single node needs no transaction */
        }
        if (claim && created) {
            zkr__list_want(claim);
        } else if (claim) {
            zkr__claim_refuse(claim, ZKR__ASKED_CREATE, ZKR_ENOMEM);
        }
    }
    for (uint32_t i = 0; i < group->count && due > 0; i++) {
        struct zkr__claim *claim = due_at(group, i);
        if (claim) {
            zkr__list_send(claim->directory);
            claim->unsent &= ~(unsigned)ZKR__DO_CREATE;
        }
    }
}

void zkr__batch_send(struct zkr__group *group)
{
    group->gathering = false;
    zkr__batch_create(group);
    send_nodes(group, ZKR__DO_REMOVE, ZKR__ASKED_REMOVE);
    send_nodes(group, ZKR__DO_PROVE, ZKR__ASKED_PROVE);
}

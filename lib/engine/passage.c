/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/passage.h"

#include "base/mem.h"
#include "session/request.h"

enum stage { TRYING, STRAIGHT, QUEUED, INSIDE };
enum gate_seen { NOT_SEEN, SEEN_EMPTY, SEEN_BUSY };

struct passage {
    struct zkr__gate *gate;
    const struct zkr__place *place;
    struct zkr__group *group; /* the place's, until that leaves */
    /* Members 0 ... permits - 1 are leases, the next one is at the gate. */
    uint32_t permits;
    enum stage stage;
    enum gate_seen seen;
    unsigned asked; /* lists of the gate; answers to earlier ones are dropped */
    unsigned round; /* of the leases, when the last one was asked for */
    int64_t refs;   /* its owner's, and one for each list in flight */
    struct zkr__place_queues queues;
    struct zkr__queue *list[]; /* of the members */
};

static struct passage *passage_of(const struct zkr__place_queues *queues)
{
    return ZKR__OWNER_OF((uintptr_t)queues, struct passage, queues);
}

static void unref(struct passage *p)
{
    if (--p->refs == 0) {
        zkr__mem_free(p);
    }
}

/* --- who is at the gate --- */

static void
on_gate_listed(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct passage *p = ctx;
    if (tag == p->asked && p->stage == STRAIGHT && p->place->group) {
        bool empty = answer->code == ZKR_ENONODE ||
                     (answer->code == ZKR_OK && answer->name_count == 0);
        /* When we do not know, it is as good as busy. */
        p->seen = empty ? SEEN_EMPTY : SEEN_BUSY;
        zkr__group_step(p->group);
    }
    unref(p);
}

/* Behind the making of the leases, which is @round. */
static void list_gate(struct passage *p) ZKR__LOCKED
{
    struct zkr__op op = {.kind = ZKR__OP_CHILDREN, .path = p->gate->locks->dir};
    p->seen = NOT_SEEN;
    p->asked++;
    p->round = p->group->members[0]->k.round;
    p->refs++;
    zkr__submit(p->gate->locks->c, &op, on_gate_listed, p, p->asked);
}

/* --- steps --- */

static bool all_ready(const struct passage *p) ZKR__LOCKED
{
    uint32_t i = 0;
    while (i < p->permits && zkr__group_member(p->group, i) == ZKR__MEMBER_READY) {
        i++;
    }
    return i == p->permits;
}

/* A list has said no to the leases. */
static bool is_refused(const struct passage *p) ZKR__LOCKED
{
    const struct zkr__claim *last = p->group->members[p->permits - 1];
    return last && last->k.watch_children;
}

static void queue_up(struct passage *p) ZKR__LOCKED
{
    p->stage = QUEUED;
    zkr__group_let_in(p->group, p->permits, 1);
}

static void go_straight(struct passage *p) ZKR__LOCKED
{
    p->stage = STRAIGHT;
    zkr__group_let_in(p->group, 0, p->permits);
    if (p->group->failure == 0) {
        list_gate(p);
    }
}

static void begin(struct passage *p) ZKR__LOCKED
{
    p->asked++;
    p->group->partial = !p->group->spec.entry.once;
    if (p->group->spec.entry.once) {
        p->stage = TRYING;
        zkr__group_let_in(p->group, 0, p->permits);
    } else if (p->gate->crowded || !zkr__connected(p->gate->locks->c)) {
        queue_up(p);
    } else {
        go_straight(p);
    }
}

static void step_straight(struct passage *p) ZKR__LOCKED
{
    if (is_refused(p) || p->seen == SEEN_BUSY) {
        p->gate->crowded = true;
        zkr__group_take_out(p->group, 0, p->permits);
        queue_up(p);
    } else if (all_ready(p) && p->group->members[0]->k.round != p->round) {
        list_gate(p); /* made again: who came in between is ahead of us */
    } else if (all_ready(p) && p->seen == SEEN_EMPTY) {
        p->group->partial = false;
    }
}

static void step_queued(struct passage *p) ZKR__LOCKED
{
    if (zkr__group_member(p->group, p->permits) == ZKR__MEMBER_READY) {
        p->stage = INSIDE;
        zkr__group_let_in(p->group, 0, p->permits);
    }
}

static void step_inside(struct passage *p) ZKR__LOCKED
{
    if (all_ready(p)) {
        p->gate->crowded = is_refused(p) || p->group->members[p->permits]->k.waited;
        p->group->partial = false;
        zkr__group_take_out(p->group, p->permits, 1);
    }
}

static bool nobody_is_in(const struct passage *p)
{
    uint32_t i = 0;
    while (i <= p->permits && !p->group->members[i]) {
        i++;
    }
    return i > p->permits;
}

static void on_step(struct zkr__group *group, void *ctx) ZKR__LOCKED
{
    const struct zkr__place *place = ctx;
    struct passage *p = passage_of(place->queues);
    p->place = place;
    p->group = group;
    if (group->state != ZKR__GROUP_WAITING) {
        return;
    }
    if (nobody_is_in(p)) {
        begin(p); /* for the first time, or anew */
    }
    switch (p->stage) {
    case STRAIGHT:
        step_straight(p);
        break;
    case QUEUED:
        step_queued(p);
        break;
    case INSIDE:
        step_inside(p);
        break;
    case TRYING:
        break;
    }
}

/* --- memory --- */

const struct zkr__place_queues *zkr__passage_make(struct zkr__gate *gate,
                                                  uint32_t permits)
{
    struct passage *p =
        zkr__mem_alloc(sizeof(*p) + (permits + 1) * sizeof(struct zkr__queue *));
    if (!p) {
        return NULL;
    }
    p->gate = gate;
    p->permits = permits;
    p->refs = 1;
    for (uint32_t i = 0; i < permits; i++) {
        p->list[i] = i + 1 < permits ? gate->lower_leases : gate->leases;
    }
    p->list[permits] = gate->locks;
    p->queues = (struct zkr__place_queues){.list = p->list,
                                           .count = permits + 1,
                                           .on_step = on_step,
                                           .on_free = zkr__passage_drop};
    return &p->queues;
}

void zkr__passage_drop(const struct zkr__place_queues *queues)
{
    struct passage *p = passage_of(queues);
    p->asked++;
    unref(p);
}

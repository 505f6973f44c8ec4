/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/permits.h"

#include "base/fault.h"
#include "base/mem.h"
#include "queue/engine.h"
#include "queue/group.h"
#include "session/must.h"
#include "session/request.h"

enum stage { OUT, TRYING, DIRECT, RANKED, QUEUED, INSIDE };
enum gate_seen { NOT_SEEN, SEEN_EMPTY, SEEN_BUSY };

/* All requests of one client for permits of one semaphore. */
struct zkr__permits_order {
    /* List: first the RANKED requests, and then the DIRECT ones. */
    struct zkr__permits_ask *first;
    int64_t asked;  /* how many permits the RANKED requests want */
    int64_t queued; /* how many requests are QUEUED or INSIDE */
    struct zkr__permits_ask *inside;
    bool crowded; /* others waited at the last check, so new requests queue at once */
    /* A DIRECT request has left for the gate, so those behind it follow. */
    bool closed;
    bool moving, again;
};

/* One request for permits. */
struct zkr__permits_ask {
    struct zkr__permits_ask *prev, *next; /* DIRECT or RANKED: list of order->first */
    struct zkr__gate *gate;
    struct zkr__permits_order *order; /* NULL in the stages OUT and TRYING */
    struct zkr__group *group;         /* NULL = not made yet, or freed */
    /* Members 0 to permits - 1 are the leases; the last member is the node at the gate. */
    uint32_t permits;
    enum stage stage;
    enum gate_seen seen;
    /* Number of the last list of the gate. Answers to earlier lists are dropped. */
    unsigned asked;
    unsigned round; /* round of the leases at the last list of the gate */
    int64_t number; /* RANKED: czxid of the leases */
    int64_t refs;   /* references: the owner's, and one for each list in flight */
    struct zkr__hold_queues queues;
    struct zkr__queue *list[]; /* the queue for each member */
};

static struct zkr__permits_ask *ask_of(const struct zkr__hold_queues *queues)
{
    return ZKR__OWNER_OF((uintptr_t)queues, struct zkr__permits_ask, queues);
}

static void unref(struct zkr__permits_ask *p)
{
    if (--p->refs == 0) {
        zkr__mem_free(p);
    }
}

/* --- the state of the leases --- */

static bool all_ready(const struct zkr__permits_ask *p) ZKR__LOCKED
{
    uint32_t i = 0;
    while (i < p->permits && zkr__group_member_is(p->group, i, ZKR__READY)) {
        i++;
    }
    return i == p->permits;
}

/* Returns true if a list has shown too few free permits. */
static bool is_refused(const struct zkr__permits_ask *p) ZKR__LOCKED
{
    const struct zkr__claim *last = p->group->members[p->permits - 1];
    return last && last->k.watch_children;
}

/* --- the order of this client's requests --- */

static bool is_ordered(const struct zkr__permits_ask *p)
{
    return p->stage == DIRECT || p->stage == RANKED;
}

static struct zkr__permits_ask *first_undecided(const struct zkr__permits_order *order)
{
    struct zkr__permits_ask *p = order->first;
    while (p && p->stage == RANKED) {
        p = p->next;
    }
    return p;
}

static void step(const struct zkr__permits_ask *p) ZKR__LOCKED
{
    if (p && p->group && !p->group->busy) {
        zkr__group_step(p->group);
    }
}

/* After a request has left the order or has been ranked, let the requests that waited for it continue, one by one. */
static void step_others(struct zkr__permits_order *order) ZKR__LOCKED
{
    order->again = true;
    if (order->moving) {
        return;
    }
    order->moving = true;
    while (order->again) {
        order->again = false;
        step(order->first);
        step(first_undecided(order));
        step(order->inside);
    }
    order->moving = false;
}

/* Check in constant time that the counts agree with the requests. */
static const char *fault_of(const struct zkr__permits_order *order)
{
    bool ranked = order->first && order->first->stage == RANKED;
    ZKR__FAULT_IF(order->asked < 0 || order->queued < 0,
                  "a negative count of requests for permits");
    ZKR__FAULT_IF((order->asked > 0) != ranked,
                  "ranked without requests, or the reverse");
    ZKR__FAULT_IF(order->inside && order->queued == 0,
                  "inside the gate but not queued");
    ZKR__FAULT_IF(order->inside && order->inside->stage != INSIDE,
                  "the request inside the gate is not in stage INSIDE");
    return NULL;
}

static void check(const struct zkr__permits_ask *p) ZKR__LOCKED
{
    ZKR__MUST_NOT(p->gate->locks->c, fault_of(p->order));
}

static void leave_order(struct zkr__permits_ask *p) ZKR__LOCKED
{
    struct zkr__permits_order *order = p->order;
    if (is_ordered(p)) {
        DL_DELETE(order->first, p);
    }
    order->asked -= p->stage == RANKED ? p->permits : 0;
    order->queued -= p->stage == QUEUED || p->stage == INSIDE;
    order->inside = order->inside == p ? NULL : order->inside;
    p->stage = OUT;
    check(p);
}

/* Move the request to its place among the RANKED ones, by the number of its leases. */
static void rank(struct zkr__permits_ask *p) ZKR__LOCKED
{
    struct zkr__permits_order *order = p->order;
    DL_DELETE(order->first, p);
    struct zkr__permits_ask *behind = order->first;
    while (behind && behind->stage == RANKED && behind->number < p->number) {
        behind = behind->next;
    }
    DL_PREPEND_ELEM(order->first, behind, p);
}

/* Returns whether no ranked request of this client precedes leases with this @number. */
static bool is_next(const struct zkr__permits_ask *p, int64_t number) ZKR__LOCKED
{
    const struct zkr__permits_ask *first = p->order->first;
    return first == p || !first || first->stage != RANKED || first->number > number;
}

/* --- checking whether the gate is empty --- */

/*
 * Returns whether no other client waits at the gate. Requests of this client do not count, because they are later than
 * @p or ordered before @p.
 */
static bool is_empty(const struct zkr__permits_ask *p,
                     const struct zkr__answer *answer) ZKR__LOCKED
{
    const struct zkr__directory *d = p->gate->locks->directory;
    size_t i = 0;
    while (i < answer->name_count && zkr__claim_in(d, answer->names[i])) {
        i++;
    }
    return answer->code == ZKR_ENONODE ||
           (answer->code == ZKR_OK && i == answer->name_count);
}

static void
on_gate_listed(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__permits_ask *p = ctx;
    if (tag == p->asked && p->stage == DIRECT && p->group) {
        /* A gate that cannot be listed counts as busy. */
        p->seen = is_empty(p, answer) ? SEEN_EMPTY : SEEN_BUSY;
        zkr__group_step(p->group);
    }
    unref(p);
}

/*
 * List the gate, after the creates of the leases in the same round. Leases that await admission have a later round, for
 * which the gate is listed again.
 */
static void list_gate(struct zkr__permits_ask *p) ZKR__LOCKED
{
    struct zkr__op op = {.kind = ZKR__OP_CHILDREN, .path = p->gate->locks->dir};
    p->seen = NOT_SEEN;
    p->asked++;
    p->round = p->group->members[0]->k.round;
    if (p->group->members[0]->awaits_admission) {
        return;
    }
    p->refs++;
    zkr__submit(p->gate->locks->c, &op, on_gate_listed, p, p->asked);
}

/* --- steps --- */

/*
 * Create the node at the gate before the leases are deleted, so that a DIRECT request sees either the node or the
 * leases. Leases that await admission leave the line first. Otherwise the claim at the gate would line up beside those
 * leases, ahead of the gate claim of an earlier request whose leases have been admitted.
 */
static void queue_up(struct zkr__permits_ask *p) ZKR__LOCKED
{
    p->stage = QUEUED;
    p->order->queued++;
    for (uint32_t i = 0; i < p->permits; i++) {
        if (p->group->members[i] && p->group->members[i]->awaits_admission) {
            zkr__group_take_out(p->group, i, 1, NULL);
        }
    }
    zkr__group_let_in(p->group, p->permits, 1);
    zkr__group_take_out(p->group, 0, p->permits, NULL);
}

static void go_direct(struct zkr__permits_ask *p) ZKR__LOCKED
{
    p->order->closed = p->order->closed && first_undecided(p->order);
    p->stage = DIRECT;
    DL_APPEND(p->order->first, p);
    zkr__group_let_in(p->group, 0, p->permits);
    if (p->group->failure == 0) {
        list_gate(p);
    }
}

/* Returns whether the ranked requests and @p together want more permits than exist. */
static bool is_too_many(const struct zkr__permits_ask *p) ZKR__LOCKED
{
    return p->order->asked + p->permits > p->gate->leases->rule_arg;
}

/*
 * Returns whether the request goes to the gate at once. It must not do so while an earlier request of this client may
 * still go there, because the earlier request would then be behind @p.
 */
static bool is_to_queue(const struct zkr__permits_ask *p) ZKR__LOCKED
{
    const struct zkr__permits_order *order = p->order;
    bool refused = order->crowded || order->queued > 0 || is_too_many(p) ||
                   !zkr__connected(p->gate->locks->c);
    return refused && !first_undecided(order);
}

/* Returns the order of the directory, or NULL if memory runs out. The directory frees the order. */
static struct zkr__permits_order *order_of(struct zkr__directory *d) ZKR__LOCKED
{
    if (!d->order) {
        d->order = zkr__mem_alloc(sizeof(*d->order));
    }
    return d->order;
}

static void begin(struct zkr__permits_ask *p) ZKR__LOCKED
{
    struct zkr__queue *locks = p->gate->locks;
    p->asked++;
    p->group->partial = !p->group->entry.once;
    if (p->stage > TRYING) {
        leave_order(p); /* the request has lost its place */
    }
    if (p->group->entry.once) {
        p->stage = TRYING;
        zkr__group_let_in(p->group, 0, p->permits);
        return;
    }
    struct zkr__engine *engine = zkr__engine_of(locks->c);
    struct zkr__directory *d = engine ? zkr__queue_directory(locks, engine) : NULL;
    struct zkr__permits_order *order = d ? order_of(d) : NULL;
    if (!order) {
        p->group->failure = ZKR_ENOMEM;
        return;
    }
    p->order = order;
    if (is_to_queue(p)) {
        queue_up(p);
    } else {
        go_direct(p);
    }
    step_others(p->order);
}

static void leave_gate(struct zkr__permits_ask *p) ZKR__LOCKED
{
    p->group->partial = false;
    zkr__group_take_out(p->group, p->permits, 1, NULL);
}

static void step_ranked(struct zkr__permits_ask *p) ZKR__LOCKED
{
    if (all_ready(p)) {
        if (is_next(p, p->number)) {
            leave_gate(p);
        }
    } else if (is_refused(p) && !p->group->members[p->permits]) {
        p->order->crowded = true;
        zkr__group_let_in(p->group, p->permits, 1);
    }
}

/* Send the request to the gate, and with it all requests of this client that are behind it. */
static void go_to_gate(struct zkr__permits_ask *p) ZKR__LOCKED
{
    struct zkr__permits_order *order = p->order;
    leave_order(p);
    order->closed = first_undecided(order) != NULL;
    order->crowded = true;
    queue_up(p);
    step_others(order);
}

/* Rank the request by its leases, ahead of all requests that will arrive at the gate later. */
static void get_rank(struct zkr__permits_ask *p) ZKR__LOCKED
{
    p->stage = RANKED;
    p->order->asked += p->permits;
    p->number = p->group->members[0]->czxid;
    rank(p);
    check(p);
    step_ranked(p);
    step_others(p->order);
}

/*
 * Decide whether the request is ranked or goes to the gate. The requests of a client are decided in the order in which
 * they were made.
 */
static void step_direct(struct zkr__permits_ask *p) ZKR__LOCKED
{
    bool first = p == first_undecided(p->order);
    bool listed = all_ready(p) || is_refused(p);
    bool anew = listed && p->group->members[0]->k.round != p->round;
    bool empty = p->seen == SEEN_EMPTY && listed && !anew;
    bool queues = p->order->closed || p->seen == SEEN_BUSY;
    if (first && (queues || (empty && is_too_many(p)))) {
        go_to_gate(p);
    } else if (anew && !queues) {
        list_gate(p); /* a request may have reached the gate meanwhile */
    } else if (first && empty) {
        get_rank(p);
    }
}

static void step_queued(struct zkr__permits_ask *p) ZKR__LOCKED
{
    if (zkr__group_member_is(p->group, p->permits, ZKR__READY)) {
        p->stage = INSIDE;
        p->order->inside = p;
        check(p);
        zkr__group_let_in(p->group, 0, p->permits);
    }
}

/*
 * When the leases are granted, leave the gate. If the node at the gate was deleted, the leases may become READY again.
 */
static void step_inside(struct zkr__permits_ask *p) ZKR__LOCKED
{
    const struct zkr__claim *gate = p->group->members[p->permits];
    if (gate && all_ready(p) && is_next(p, p->group->members[0]->czxid)) {
        p->order->crowded = is_refused(p) || gate->k.waited;
        leave_gate(p);
    }
}

static bool nobody_is_in(const struct zkr__permits_ask *p)
{
    uint32_t i = 0;
    while (i <= p->permits && !p->group->members[i]) {
        i++;
    }
    return i > p->permits;
}

static void on_step(const struct zkr__hold_queues *queues,
                    struct zkr__group *group) ZKR__LOCKED
{
    struct zkr__permits_ask *p = ask_of(queues);
    p->group = group;
    if (group->state != ZKR__GROUP_WAITING) {
        return;
    }
    if (nobody_is_in(p)) {
        begin(p); /* for the first time, or again */
    }
    if (p->stage >= RANKED && !group->partial) {
        /* The leases are granted. Only the proof that their nodes exist is missing. */
        return;
    }
    switch (p->stage) {
    case DIRECT:
        step_direct(p);
        break;
    case RANKED:
        step_ranked(p);
        break;
    case QUEUED:
        step_queued(p);
        break;
    case INSIDE:
        step_inside(p);
        break;
    case OUT:
    case TRYING:
        break;
    }
}

/* Called after the owner was notified of this request. Only then does the client serve its next requests. */
static void on_told(const struct zkr__hold_queues *queues, bool over) ZKR__LOCKED
{
    struct zkr__permits_ask *p = ask_of(queues);
    p->group = over ? NULL : p->group;
    if (p->stage > TRYING && (!p->group || p->group->state != ZKR__GROUP_WAITING)) {
        leave_order(p);
        step_others(p->order);
    }
}

/* --- memory --- */

static void on_free(const struct zkr__hold_queues *queues) ZKR__LOCKED
{
    struct zkr__permits_ask *p = ask_of(queues);
    p->asked++;
    unref(p);
}

const struct zkr__hold_queues *zkr__permits_ask(struct zkr__gate *gate,
                                                uint32_t permits)
{
    struct zkr__permits_ask *p =
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
    p->queues = (struct zkr__hold_queues){.list = p->list,
                                          .count = permits + 1,
                                          .on_step = on_step,
                                          .on_told = on_told,
                                          .on_free = on_free};
    return &p->queues;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/passage.h"

#include "base/mem.h"
#include "engine/directory.h"
#include "engine/session_events.h"
#include "session/request.h"

enum stage { OUT, TRYING, STRAIGHT, IN_LINE, QUEUED, INSIDE };
enum gate_seen { NOT_SEEN, SEEN_EMPTY, SEEN_BUSY };

struct zkr__passage {
    struct zkr__passage *prev, *next; /* STRAIGHT or IN_LINE: of its line */
    struct zkr__gate *gate;
    struct zkr__line *line; /* but for one that is OUT or TRYING */
    const struct zkr__place *place;
    struct zkr__group *group; /* the place's, until that leaves */
    /* Members 0 ... permits - 1 are leases, the next one is at the gate. */
    uint32_t permits;
    enum stage stage;
    enum gate_seen seen;
    unsigned asked; /* lists of the gate; answers to earlier ones are dropped */
    unsigned round; /* of the leases, when the last one was asked for */
    int64_t number; /* IN_LINE: czxid of the leases */
    int64_t refs;   /* its owner's, and one for each list in flight */
    struct zkr__place_queues queues;
    struct zkr__queue *list[]; /* of the members */
};

static struct zkr__passage *passage_of(const struct zkr__place_queues *queues)
{
    return ZKR__OWNER_OF((uintptr_t)queues, struct zkr__passage, queues);
}

static void unref(struct zkr__passage *p)
{
    if (--p->refs == 0) {
        zkr__mem_free(p);
    }
}

/* --- what is known of its leases --- */

static bool all_ready(const struct zkr__passage *p) ZKR__LOCKED
{
    uint32_t i = 0;
    while (i < p->permits && zkr__group_member(p->group, i) == ZKR__MEMBER_READY) {
        i++;
    }
    return i == p->permits;
}

/* A list has said no to the leases. */
static bool is_refused(const struct zkr__passage *p) ZKR__LOCKED
{
    const struct zkr__claim *last = p->group->members[p->permits - 1];
    return last && last->k.watch_children;
}

/* --- the line of this client --- */

static bool is_listed(const struct zkr__passage *p)
{
    return p->stage == STRAIGHT || p->stage == IN_LINE;
}

static struct zkr__passage *first_undecided(const struct zkr__line *line)
{
    struct zkr__passage *p = line->first;
    while (p && p->stage == IN_LINE) {
        p = p->next;
    }
    return p;
}

static void step(const struct zkr__passage *p) ZKR__LOCKED
{
    if (p && p->place->group && !p->group->busy) {
        zkr__group_step(p->group);
    }
}

/* One has left the line, or knows its place: those who waited for that look again, one after the other. */
static void move_on(struct zkr__line *line) ZKR__LOCKED
{
    line->again = true;
    if (line->moving) {
        return;
    }
    line->moving = true;
    while (line->again) {
        line->again = false;
        step(line->first);
        step(first_undecided(line));
        step(line->inside);
    }
    line->moving = false;
}

static void leave_line(struct zkr__passage *p) ZKR__LOCKED
{
    struct zkr__line *line = p->line;
    if (is_listed(p)) {
        DL_DELETE(line->first, p);
    }
    line->asked -= p->stage == IN_LINE ? p->permits : 0;
    line->queued -= p->stage == QUEUED || p->stage == INSIDE;
    line->inside = line->inside == p ? NULL : line->inside;
    p->stage = OUT;
}

/* To the others IN_LINE, in the order of the leases; those STRAIGHT stand behind them. */
static void sort_in(struct zkr__passage *p) ZKR__LOCKED
{
    struct zkr__line *line = p->line;
    DL_DELETE(line->first, p);
    struct zkr__passage *behind = line->first;
    while (behind && behind->stage == IN_LINE && behind->number < p->number) {
        behind = behind->next;
    }
    DL_PREPEND_ELEM(line->first, behind, p);
}

/* None of this client stands before the leases with this @number. */
static bool is_next(const struct zkr__passage *p, int64_t number) ZKR__LOCKED
{
    const struct zkr__passage *first = p->line->first;
    return first == p || !first || first->stage != IN_LINE || first->number > number;
}

/* --- who is at the gate --- */

/* But for requests of this client: those came later, or stand in line before us. */
static bool is_empty(const struct zkr__passage *p,
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
    struct zkr__passage *p = ctx;
    if (tag == p->asked && p->stage == STRAIGHT && p->place->group) {
        /* When we do not know, it is as good as busy. */
        p->seen = is_empty(p, answer) ? SEEN_EMPTY : SEEN_BUSY;
        zkr__group_step(p->group);
    }
    unref(p);
}

/* Behind the making of the leases, which is @round: those that stand in line are made in another. */
static void list_gate(struct zkr__passage *p) ZKR__LOCKED
{
    struct zkr__op op = {.kind = ZKR__OP_CHILDREN, .path = p->gate->locks->dir};
    p->seen = NOT_SEEN;
    p->asked++;
    p->round = p->group->members[0]->k.round;
    if (p->group->members[0]->in_line) {
        return;
    }
    p->refs++;
    zkr__submit(p->gate->locks->c, &op, on_gate_listed, p, p->asked);
}

/* --- steps --- */

/* The leases leave behind the coming to the gate: who goes straight meets the one or the other. */
static void queue_up(struct zkr__passage *p) ZKR__LOCKED
{
    p->stage = QUEUED;
    p->line->queued++;
    zkr__group_let_in(p->group, p->permits, 1);
    zkr__group_take_out(p->group, 0, p->permits);
}

static void go_straight(struct zkr__passage *p) ZKR__LOCKED
{
    p->line->closed = p->line->closed && first_undecided(p->line);
    p->stage = STRAIGHT;
    DL_APPEND(p->line->first, p);
    zkr__group_let_in(p->group, 0, p->permits);
    if (p->group->failure == 0) {
        list_gate(p);
    }
}

/* More than all permits would be asked for in line. */
static bool is_too_many(const struct zkr__passage *p) ZKR__LOCKED
{
    return p->line->asked + p->permits > p->gate->leases->rule_arg;
}

/* Not while one of this client may still go to the gate: it would come behind us there. */
static bool is_to_queue(const struct zkr__passage *p) ZKR__LOCKED
{
    const struct zkr__line *line = p->line;
    bool refused = line->crowded || line->queued > 0 || is_too_many(p) ||
                   !zkr__connected(p->gate->locks->c);
    return refused && !first_undecided(line);
}

static void begin(struct zkr__passage *p) ZKR__LOCKED
{
    struct zkr__queue *locks = p->gate->locks;
    p->asked++;
    p->group->partial = !p->group->spec.entry.once;
    if (p->stage > TRYING) {
        leave_line(p); /* its place is lost */
    }
    if (p->group->spec.entry.once) {
        p->stage = TRYING;
        zkr__group_let_in(p->group, 0, p->permits);
        return;
    }
    struct zkr__engine *engine = zkr__engine_of(locks->c);
    struct zkr__directory *d = engine ? zkr__queue_directory(locks, engine) : NULL;
    struct zkr__line *line = d ? zkr__directory_line(d) : NULL;
    if (!line) {
        p->group->failure = ZKR_ENOMEM;
        return;
    }
    p->line = line;
    if (is_to_queue(p)) {
        queue_up(p);
    } else {
        go_straight(p);
    }
    move_on(p->line);
}

static void get_in(struct zkr__passage *p) ZKR__LOCKED
{
    p->group->partial = false;
    zkr__group_take_out(p->group, p->permits, 1);
}

static void step_in_line(struct zkr__passage *p) ZKR__LOCKED
{
    if (all_ready(p)) {
        if (is_next(p, p->number)) {
            get_in(p);
        }
    } else if (is_refused(p) && !p->group->members[p->permits]) {
        p->line->crowded = true;
        zkr__group_let_in(p->group, p->permits, 1);
    }
}

/* And all of this client behind it. */
static void go_to_gate(struct zkr__passage *p) ZKR__LOCKED
{
    struct zkr__line *line = p->line;
    leave_line(p);
    line->closed = first_undecided(line) != NULL;
    line->crowded = true;
    queue_up(p);
    move_on(line);
}

/* Its leases say where it stands, before all who come to the gate. */
static void get_in_line(struct zkr__passage *p) ZKR__LOCKED
{
    p->stage = IN_LINE;
    p->line->asked += p->permits;
    p->number = p->group->members[0]->czxid;
    sort_in(p);
    step_in_line(p);
    move_on(p->line);
}

/* Those of a client take their places in the order in which they came. */
static void step_straight(struct zkr__passage *p) ZKR__LOCKED
{
    bool first = p == first_undecided(p->line);
    bool listed = all_ready(p) || is_refused(p);
    bool anew = listed && p->group->members[0]->k.round != p->round;
    bool empty = p->seen == SEEN_EMPTY && listed && !anew;
    bool queues = p->line->closed || p->seen == SEEN_BUSY;
    if (first && (queues || (empty && is_too_many(p)))) {
        go_to_gate(p);
    } else if (anew && !queues) {
        list_gate(p); /* who came in between is ahead of us */
    } else if (first && empty) {
        get_in_line(p);
    }
}

static void step_queued(struct zkr__passage *p) ZKR__LOCKED
{
    if (zkr__group_member(p->group, p->permits) == ZKR__MEMBER_READY) {
        p->stage = INSIDE;
        p->line->inside = p;
        zkr__group_let_in(p->group, 0, p->permits);
    }
}

/* Its leases may be ready again, behind a look at their nodes, when the gate is left. */
static void step_inside(struct zkr__passage *p) ZKR__LOCKED
{
    const struct zkr__claim *gate = p->group->members[p->permits];
    if (gate && all_ready(p) && is_next(p, p->group->members[0]->czxid)) {
        p->line->crowded = is_refused(p) || gate->k.waited;
        get_in(p);
    }
}

static bool nobody_is_in(const struct zkr__passage *p)
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
    struct zkr__passage *p = passage_of(place->queues);
    p->place = place;
    p->group = group;
    if (group->state != ZKR__GROUP_WAITING) {
        return;
    }
    if (nobody_is_in(p)) {
        begin(p); /* for the first time, or anew */
    }
    if (p->stage >= IN_LINE && !group->partial) {
        return; /* it is in, but for an answer that says that its nodes are there */
    }
    switch (p->stage) {
    case STRAIGHT:
        step_straight(p);
        break;
    case IN_LINE:
        step_in_line(p);
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

/* The next one of this client is told behind it. */
static void on_told(const struct zkr__place_queues *queues) ZKR__LOCKED
{
    struct zkr__passage *p = passage_of(queues);
    const struct zkr__group *group = p->stage > TRYING ? p->place->group : NULL;
    if (p->stage > TRYING && (!group || group->state != ZKR__GROUP_WAITING)) {
        leave_line(p);
        move_on(p->line);
    }
}

/* --- memory --- */

const struct zkr__place_queues *zkr__passage_make(struct zkr__gate *gate,
                                                  uint32_t permits)
{
    struct zkr__passage *p =
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
                                           .on_told = on_told,
                                           .on_free = zkr__passage_drop};
    return &p->queues;
}

void zkr__passage_drop(const struct zkr__place_queues *queues)
{
    struct zkr__passage *p = passage_of(queues);
    p->asked++;
    unref(p);
}

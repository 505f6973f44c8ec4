/* SPDX-License-Identifier: Apache-2.0 */
/* The clients of zoo.h: what they do at an event and at an answer. */
#include <string.h>

#include <zkr/client.h>

#include "claim_promises.h"
#include "zoo.h"

const struct zkp_story *zkp_story;

static void must(bool fine, const char *what)
{
    zkp_must(fine, what);
}

/* --- who stands where --- */

/* The node of @claim, as its client knows: 0 = none. */
static bool knows_node(const struct zkp_claim *c)
{
    return c->node != 0 && zkr__claim_stage(&c->k) != ZKR__FINDING &&
           !zkr__claim_has_none(&c->k) && c->k.phase != ZKR__GONE;
}

/* The node is at the path that the claim knows for its own. */
static bool is_own(unsigned claim, zkp_id node)
{
    const struct zkp_claim *c = zkp_claim_of(claim);
    const struct zkp_node *n = &Z->nodes[node - 1];
    bool turned = c->node != 0 && Z->nodes[c->node - 1].kind != c->kind;
    return knows_node(c) && n->claim == claim && n->kind == c->kind &&
           (node == c->node || (turned && node > c->node));
}

/* The claim of @session whose node this is, and 1; 0 = none. */
static unsigned ours(unsigned session, zkp_id node)
{
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        if (zkp_cast_of(i)->session == session && is_own(i, node)) {
            return i + 1;
        }
    }
    return 0;
}

static bool is_leaving(unsigned claim)
{
    return zkr__claim_stage(&zkp_claim_of(claim)->k) == ZKR__REMOVING;
}

static bool blocks(unsigned kind, unsigned ahead)
{
    return kind != ZKR__NAME_READ || ahead != ZKR__NAME_READ;
}

/* --- what must be --- */

static bool believes(unsigned claim)
{
    const struct zkp_claim *c = zkp_claim_of(claim);
    return c->k.phase == ZKR__HELD && zkp_session_of(claim)->lease != ZKP_OVER &&
           !c->excused;
}

void zkp_check(void)
{
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        for (unsigned j = 0; j < i; j++) {
            bool together = zkp_cast_of(i)->dir == zkp_cast_of(j)->dir && believes(i) &&
                            believes(j);
            must(!together || !blocks(zkp_claim_of(i)->kind, zkp_claim_of(j)->kind),
                 "two hold what only one may hold");
        }
    }
}

/* Nothing is on its way, and nobody lets go: who waits has somebody before it
 * for whom it must wait. */
void zkp_check_waits(void)
{
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        const struct zkp_claim *c = zkp_claim_of(i);
        zkp_id own = zkp_own(i);
        bool blocked = false;
        for (unsigned j = 0; own && j < own - 1U; j++) {
            const struct zkp_node *n = &Z->nodes[j];
            blocked = blocked || (n->alive && n->dir == zkp_cast_of(i)->dir &&
                                  blocks(c->kind, n->kind));
        }
        must(c->k.phase != ZKR__PARKED || blocked || c->excused, "waits for nobody");
        must(c->k.downgrade == ZKR__SETTLED, "a downgrade is owed for ever");
    }
}

/* Granted just now: nothing that blocks is before it, but for nodes that its
 * own client is deleting. */
static void check_order(unsigned claim)
{
    const struct zkp_claim *c = zkp_claim_of(claim);
    zkp_id own = zkp_own(claim);
    must(own || c->excused, "held without a node");
    for (unsigned i = 0; own && i < own - 1U; i++) {
        const struct zkp_node *n = &Z->nodes[i];
        const struct zkp_claim *other = zkp_claim_of(n->claim);
        bool same_client =
            zkp_cast_of(n->claim)->session == zkp_cast_of(claim)->session;
        bool passed =
            n->released || (same_client && (is_leaving(n->claim) || other->k.leaving));
        unsigned kind =
            same_client && other->k.phase == ZKR__HELD ? other->kind : n->kind;
        must(!n->alive || n->dir != zkp_cast_of(claim)->dir || passed || c->excused ||
                 !blocks(c->kind, kind),
             "held before one that came earlier");
    }
}

/* --- requests --- */

static void ask(unsigned claim, enum zkp_asked asked)
{
    const struct zkp_claim *c = zkp_claim_of(claim);
    struct zkp_message m = {.asked = (uint8_t)asked, .claim = (uint8_t)claim};
    zkp_id node = asked == ZKP_AHEAD       ? c->ahead
                  : asked == ZKP_BEFORE    ? c->before
                  : asked == ZKP_DOWNGRADE ? c->node
                                           : 0;
    m.node = node;
    m.watching = asked == ZKP_LIST && c->k.watch_children;
    must(zkp_session_of(claim)->told, "asked without a connection");
    zkp_send(zkp_cast_of(claim)->session, m);
}

static void request(unsigned claim, unsigned todo)
{
    static const struct {
        unsigned action;
        enum zkp_asked asked;
    } requests[] = {
        {ZKR__DO_CREATE, ZKP_CREATE},   {ZKR__DO_CREATE, ZKP_LIST},
        {ZKR__DO_FIND, ZKP_FIND},       {ZKR__DO_GET_OWN, ZKP_OWN},
        {ZKR__DO_LIST, ZKP_LIST},       {ZKR__DO_CHECK_OWN, ZKP_CHECK},
        {ZKR__DO_GET_AHEAD, ZKP_AHEAD}, {ZKR__DO_GET_BEFORE, ZKP_BEFORE},
        {ZKR__DO_PROVE, ZKP_PROVE},     {ZKR__DO_DOWNGRADE, ZKP_DOWNGRADE},
        {ZKR__DO_REMOVE, ZKP_REMOVE},
    };
    struct zkp_claim *c = zkp_claim_of(claim);
    if ((todo & ZKR__DO_PARENTS) && !zkp_session_of(claim)->broken) {
        Z->dirs[zkp_cast_of(claim)->dir] = true;
    }
    if (todo & ZKR__DO_CREATE) { /* under a new name */
        c->node = 0;
        c->kind = zkp_cast_of(claim)->kind;
        c->excused = false;
    }
    if ((todo & ZKR__DO_CREATE) && c->k.member) {
        c->unsent = true;
        todo &= ~(unsigned)ZKR__DO_CREATE;
    }
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        if (todo & requests[i].action) {
            ask(claim, requests[i].asked);
        }
    }
}

/* Claims behind hear from the claim itself. */
static void tell_behind(unsigned claim, enum zkr__event_kind kind)
{
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        struct zkp_claim *c = zkp_claim_of(i);
        if (c->link == ZKP_NEIGHBOUR && c->ahead == claim && i != claim) {
            c->link = ZKP_UNLINKED;
            c->ahead = 0;
            zkp_happens(i, (struct zkr__claim_event){.kind = kind});
        }
    }
}

/* --- a step --- */

/* The answer changes nothing any more, but for a watch that it leaves. */
static bool is_over(const struct zkp_message *m)
{
    bool get = m->asked == ZKP_OWN || m->asked == ZKP_AHEAD || m->asked == ZKP_BEFORE;
    return m->past && !get && !m->watching;
}

/* Answers of an earlier round are dropped, and lists that are not waited for.
 */
static void forget_answers(unsigned claim, bool all)
{
    struct zkp_session *s = zkp_session_of(claim);
    unsigned kept = 0;
    for (unsigned i = 0; i < s->unsent + s->count; i++) {
        bool sent = i >= s->unsent;
        struct zkp_message *m = sent ? &s->queue[i - s->unsent] : &s->broken_off[i];
        bool list = m->asked == ZKP_LIST || m->asked == ZKP_FIND;
        if (m->asked < ZKP_GONE && m->claim == claim && (all || list)) {
            m->past = true;
            m->list = 0;
        }
        if (sent && !is_over(m)) {
            s->queue[kept++] = *m;
        }
    }
    memset(&s->queue[kept], 0, (s->count - kept) * sizeof(s->queue[0]));
    s->count = (uint8_t)kept;
}

static void stand_nowhere(struct zkp_claim *c)
{
    c->link = ZKP_UNLINKED;
    c->ahead = 0;
    c->before = 0;
}

static void settle(unsigned claim)
{
    struct zkp_claim *c = zkp_claim_of(claim);
    if (c->k.phase != ZKR__PARKED) {
        stand_nowhere(c);
    }
    if (!zkr__claim_watches_before(&c->k)) {
        c->before = 0;
    }
    if (c->k.phase == ZKR__GONE || zkr__claim_has_none(&c->k)) {
        c->node = 0;
        c->retry = c->retry && c->k.phase != ZKR__GONE;
        c->quiet = c->quiet && c->k.phase != ZKR__GONE;
    }
    c->last = c->k.ahead == INT64_MAX ? 0 : c->last;
    c->unsent = c->unsent && c->k.phase == ZKR__CREATING;
}

void zkp_happens(unsigned claim, struct zkr__claim_event e)
{
    struct zkp_claim *c = zkp_claim_of(claim);
    const struct zkp_session *s = zkp_session_of(claim);
    e.connected = s->told;
    e.sure = s->lease != ZKP_OVER;
    e.ample = s->lease == ZKP_AMPLE;
    e.patient = true;
    const struct zkr__claim_state before = c->k;
    unsigned todo = zkr__claim_step(&c->k, &e);
    zkp_say("  claim %u: event %d code %d%s: phase %d -> %d, to do %x", claim,
            (int)e.kind, e.code, e.connected ? "" : ", not connected",
            (int)before.phase, (int)c->k.phase, todo);
    check_safety(&before, &e, &c->k, todo);
    if (c->k.round != before.round) {
        forget_answers(claim, true);
    } else if (!zkr__claim_awaits_list(&c->k)) {
        forget_answers(claim, false);
    }
    if (before.phase != ZKR__HELD && c->k.phase == ZKR__HELD) {
        check_order(claim);
    }
    unsigned remove = todo & ZKR__DO_REMOVE;
    request(claim, todo & ~remove);
    if (todo & ZKR__DO_HAND_OVER) {
        tell_behind(claim, ZKR__EV_AHEAD_RELEASED);
    }
    request(claim, remove);
    bool told = zkp_story->nearby && (todo & ZKR__DO_HAND_OVER) && remove &&
                s->lease != ZKP_OVER;
    if (told && c->node != 0) {
        Z->nodes[c->node - 1].released = true;
    }
    if (todo & ZKR__DO_STEP_ASIDE) {
        tell_behind(claim, ZKR__EV_AHEAD_GONE);
    }
    if (todo & ZKR__DO_LET_LOOK) {
        tell_behind(claim, ZKR__EV_AHEAD_WRITES);
    }
    c->retry = c->retry || (todo & (ZKR__DO_RETRY | ZKR__DO_PACE));
    c->quiet = c->quiet || (todo & (ZKR__DO_QUIET | ZKR__DO_LOOK_LATER));
    settle(claim);
}

void zkp_tell(unsigned claim, enum zkr__event_kind kind)
{
    zkp_happens(claim, (struct zkr__claim_event){.kind = kind});
}

/* --- what a list says --- */

static zkp_id find_own(unsigned claim, uint16_t list)
{
    for (unsigned i = 0; i < Z->count; i++) {
        if ((list & 1U << i) && Z->nodes[i].claim == claim) {
            return (zkp_id)(i + 1);
        }
    }
    return 0;
}

/* Without the nodes that this client is deleting. Returns the index of our own,
 * or of none. */
static size_t line_up(unsigned claim,
                      uint16_t list,
                      struct zkr__children *children,
                      zkp_id ids[ZKP_NODES])
{
    size_t self = SIZE_MAX;
    for (unsigned i = 0; i < Z->count; i++) {
        zkp_id id = (zkp_id)(i + 1);
        unsigned one = (list & 1U << i) ? ours(zkp_cast_of(claim)->session, id) : 0;
        if (!(list & 1U << i) || (one && is_leaving(one - 1))) {
            continue;
        }
        self = is_own(claim, id) ? children->count : self;
        ids[children->count] = id;
        children->list[children->count++] = (struct zkr__child){
            .name = "", .kind = (enum zkr__name_kind)Z->nodes[i].kind, .sequence = i};
    }
    return self;
}

static void wait_as_told(unsigned claim,
                         struct zkr__claim_event *e,
                         const struct zkr__verdict *verdict,
                         const zkp_id *ids)
{
    struct zkp_claim *c = zkp_claim_of(claim);
    e->then = verdict->then;
    if (verdict->watch == ZKR__ALL_CHILDREN) {
        e->wait = ZKR__WAIT_CHILDREN;
        stand_nowhere(c);
        c->link = ZKP_DIRECTORY;
        return;
    }
    zkp_id ahead = ids[verdict->watch];
    unsigned neighbour = ours(zkp_cast_of(claim)->session, ahead);
    e->same = c->link == ZKP_PATH && c->ahead == ahead;
    e->ahead = ahead - 1;
    c->last = ahead;
    if (!e->same) {
        stand_nowhere(c);
        c->link = neighbour ? ZKP_NEIGHBOUR : ZKP_PATH;
        c->ahead = (uint8_t)(neighbour ? neighbour - 1 : ahead);
    }
    e->wait = c->link == ZKP_NEIGHBOUR ? ZKR__WAIT_NEIGHBOUR : ZKR__WAIT_NODE;
    if (c->link == ZKP_NEIGHBOUR || !zkp_story->ahead || c->k.member) {
        return;
    }
    if (verdict->then == ZKR__THEN_OURS) {
        e->look = ZKR__BEHIND_FIRST;
    } else if (verdict->before != ZKR__NOBODY) {
        c->before = ids[verdict->before];
        e->look = verdict->last ? ZKR__BEHIND_TWO : ZKR__BEHIND_MORE;
    }
}

static void judge(unsigned claim, struct zkr__claim_event *e, uint16_t list)
{
    struct zkp_claim *c = zkp_claim_of(claim);
    struct zkr__child room[ZKP_NODES];
    struct zkr__children children = {.list = room};
    zkp_id ids[ZKP_NODES];
    size_t self = line_up(claim, list, &children, ids);
    e->found = self != SIZE_MAX;
    if (!e->found) {
        zkp_id other = find_own(claim, list);
        if (other) { /* for the next time */
            c->node = other;
            c->kind = Z->nodes[other - 1].kind;
        }
        return;
    }
    struct zkr__verdict verdict =
        zkp_cast_of(claim)->rule(&children, self, zkp_cast_of(claim)->rule_arg);
    e->granted = verdict.granted;
    if (!e->granted) {
        wait_as_told(claim, e, &verdict, ids);
    }
}

static void
on_list(unsigned claim, struct zkr__claim_event *e, const struct zkp_message *m)
{
    struct zkp_claim *c = zkp_claim_of(claim);
    if (m->missing) {
        return;
    }
    if (m->asked == ZKP_LIST) {
        judge(claim, e, m->list);
        return;
    }
    zkp_id own = find_own(claim, m->list);
    e->found = own != 0;
    if (own) {
        c->node = own;
        c->kind = Z->nodes[own - 1].kind;
    }
}

/* --- what comes in --- */

void zkp_on_news(unsigned session, enum zkp_asked news, zkp_id node)
{
    bool gone = news == ZKP_GONE;
    struct zkp_session *s = &Z->sessions[session];
    s->watched &= (uint16_t) ~(1U << (node - 1));
    unsigned own = ours(session, node);
    bool stood[ZKP_CLAIMS] = {false}, looked[ZKP_CLAIMS] = {false};
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        bool here = zkp_cast_of(i)->session == session;
        stood[i] =
            here && zkp_claim_of(i)->link == ZKP_PATH && zkp_claim_of(i)->ahead == node;
        looked[i] = here && zkp_claim_of(i)->before == node;
    }
    if (own) {
        zkp_tell(own - 1, gone ? ZKR__EV_OWN_GONE : ZKR__EV_OWN_CHANGED);
    }
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        if (stood[i] && zkp_claim_of(i)->link == ZKP_PATH &&
            zkp_claim_of(i)->ahead == node) {
            zkp_tell(i, gone ? ZKR__EV_AHEAD_GONE : ZKR__EV_AHEAD_CHANGED);
        }
        if (looked[i] && zkp_claim_of(i)->before == node) {
            zkp_tell(i, gone ? ZKR__EV_BEFORE_GONE : ZKR__EV_BEFORE_CHANGED);
        }
    }
}

void zkp_on_children(unsigned session, unsigned dir)
{
    Z->sessions[session].watched_dirs &= (uint8_t) ~(1U << dir);
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        bool here = zkp_cast_of(i)->session == session && zkp_cast_of(i)->dir == dir;
        if (here && zkp_claim_of(i)->link == ZKP_DIRECTORY) {
            zkp_tell(i, ZKR__EV_AHEAD_CHANGED);
        }
    }
}

/* The watch is the client's from the answer on. */
static void note_watch(struct zkp_session *s, const struct zkp_message *m)
{
    bool get = m->asked == ZKP_OWN || m->asked == ZKP_AHEAD || m->asked == ZKP_BEFORE;
    if (get && !m->missing) {
        s->watched |= (uint16_t)(1U << (m->node - 1));
    }
    if (m->watching && !m->missing) {
        s->watched_dirs |= (uint8_t)(1U << zkp_cast_of(m->claim)->dir);
    }
}

enum zkr__event_kind zkp_event_of(enum zkp_asked asked)
{
    static const enum zkr__event_kind kinds[] = {
        [ZKP_CREATE] = ZKR__EV_CREATED,       [ZKP_LIST] = ZKR__EV_LISTED,
        [ZKP_FIND] = ZKR__EV_LISTED,          [ZKP_OWN] = ZKR__EV_GOT_OWN,
        [ZKP_AHEAD] = ZKR__EV_GOT_AHEAD,      [ZKP_BEFORE] = ZKR__EV_GOT_BEFORE,
        [ZKP_PROVE] = ZKR__EV_PROVED,         [ZKP_REMOVE] = ZKR__EV_REMOVED,
        [ZKP_DOWNGRADE] = ZKR__EV_DOWNGRADED, [ZKP_CHECK] = ZKR__EV_GOT_OWN,
    };
    return kinds[asked];
}

/* A write that was answered proves that the session lives, if it does. How
 * much, depends on how long it took. */
static void prove(struct zkp_session *s)
{
    if (s->alive && s->lease != ZKP_AMPLE) {
        s->lease = (uint8_t)zkp_pick(s->lease + 1);
    }
}

static void on_answer(unsigned session, const struct zkp_message *m)
{
    struct zkp_session *s = &Z->sessions[session];
    struct zkp_claim *c = zkp_claim_of(m->claim);
    struct zkr__claim_event e = {.kind = zkp_event_of((enum zkp_asked)m->asked),
                                 .code = m->missing ? ZKR_ENONODE : ZKR_OK};
    note_watch(s, m);
    if (m->asked == ZKP_PROVE && !m->missing) {
        prove(s);
    }
    if (m->past) {
        return;
    }
    if (m->asked == ZKP_CREATE && !m->missing) {
        c->node = m->node;
    }
    if (m->asked == ZKP_DOWNGRADE && !m->missing) {
        c->node = m->node;
    }
    if ((m->asked == ZKP_OWN || m->asked == ZKP_CHECK) && !m->missing) {
        c->node = m->node;
        e.ours = true;
        e.checked = m->asked == ZKP_CHECK;
    }
    if (m->asked == ZKP_LIST || m->asked == ZKP_FIND) {
        on_list(m->claim, &e, m);
    }
    e.near = m->asked == ZKP_AHEAD && zkp_story->nearby;
    zkp_happens(m->claim, e);
}

void zkp_deliver(unsigned session, struct zkp_message m)
{
    if (m.asked == ZKP_GONE || m.asked == ZKP_CHANGED) {
        zkp_on_news(session, (enum zkp_asked)m.asked, m.node);
    } else if (m.asked == ZKP_CHILDREN) {
        zkp_on_children(session, m.node - 1U);
    } else {
        on_answer(session, &m);
    }
}

/* --- a group, in outline: queue/hold.c --- */

/* Without a member that needs a node and may not make it yet. */
static void create_all(void)
{
    bool due = false, waits = false;
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        const struct zkp_claim *c = zkp_claim_of(i);
        due = due || c->unsent;
        waits =
            waits || (zkp_cast_of(i)->member && c->begun && zkr__claim_has_none(&c->k));
    }
    for (unsigned pass = 0; due && !waits && pass < 2; pass++) {
        for (unsigned i = 0; i < zkp_story->claims; i++) {
            struct zkp_claim *c = zkp_claim_of(i);
            if (c->unsent) { /* the creates, then a list for each */
                c->unsent = pass == 0;
                ask(i, pass == 0 ? ZKP_CREATE : ZKP_LIST);
            }
        }
    }
}

void zkp_let_members_go(void)
{
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        if (zkp_cast_of(i)->member && !zkp_claim_of(i)->k.leaving) {
            zkp_tell(i, ZKR__EV_LEAVE);
        }
        if (zkp_claim_of(i)->unsent) { /* it waits for the answer to a create that
                                      is never sent */
            zkp_claim_of(i)->unsent = false;
            zkp_happens(i, (struct zkr__claim_event){.kind = ZKR__EV_CREATED,
                                                     .code = ZKR_ENONODE});
        }
    }
}

static void begin_member(unsigned i, int64_t failures, bool pauses)
{
    struct zkp_claim *c = zkp_claim_of(i);
    *c = (struct zkp_claim){.begun = true, .kind = zkp_cast_of(i)->kind};
    c->k.next = ZKR__CREATING;
    c->k.member = true;
    c->k.failures = failures;
    c->k.pauses = pauses;
}

void zkp_start_members(int64_t failures, bool pauses)
{
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        if (zkp_cast_of(i)->member) {
            begin_member(i, failures, pauses);
        }
    }
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        if (zkp_cast_of(i)->member) {
            zkp_tell(i, ZKR__EV_START);
        }
    }
}

/* True: something has changed, so look again. */
static bool step_group_once(void)
{
    unsigned in = 0, ready = 0, held = 0, gone = 0, ended = 0;
    int64_t failures = 0;
    bool pauses = false;
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        const struct zkr__claim_state *k = &zkp_claim_of(i)->k;
        if (zkp_cast_of(i)->member && zkp_claim_of(i)->begun) {
            in++;
            ready += k->phase == ZKR__READY;
            held += k->phase == ZKR__HELD;
            gone += k->phase == ZKR__GONE;
            ended += k->place_lost || k->lost != 0;
            failures = k->place_lost ? k->failures : failures;
            pauses = k->place_lost ? k->pauses : pauses;
        }
    }
    if (in == 0) {
        return false;
    }
    if (ended > 0 || (gone > 0 && gone < in)) {
        Z->group_over = Z->group_over || Z->group_held;
        if (gone < in) {
            zkp_let_members_go();
            return false;
        }
        if (!Z->group_over) { /* behind the deletes */
            zkp_say("the group enters anew");
            zkp_start_members(failures, pauses);
            return true;
        }
    }
    Z->group_held = Z->group_held || held == in;
    if (ready > 0 && ready + held == in) {
        for (unsigned i = 0; i < zkp_story->claims; i++) {
            if (zkp_cast_of(i)->member) {
                zkp_tell(i, ZKR__EV_ALL_READY);
            }
        }
        return true;
    }
    return false;
}

void zkp_step_group(void)
{
    while (step_group_once()) {
    }
    create_all();
}

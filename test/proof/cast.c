/* SPDX-License-Identifier: Apache-2.0 */
/* The clients of zoo.h: what they do at an event and at an answer. */
#include <string.h>

#include <zkr/client.h>

#include "claim_promises.h"
#include "record.h"
#include "zoo.h"

const struct zkp_story *zkp_story;

static void must(bool fine, const char *what)
{
    zkp_must(fine, what);
}

/* --- who stands where --- */

/* The node is at the path that the claim knows for its own. */
static bool is_own(unsigned claim, zkp_id node)
{
    const struct zkp_claim *c = zkp_claim_of(claim);
    const struct zkp_node *n = &Z->nodes[node - 1];
    bool turned = c->node != 0 && Z->nodes[c->node - 1].kind != c->kind;
    return c->node != 0 && n->claim == claim && n->kind == c->kind &&
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

static bool is_going(unsigned claim)
{
    return zkr__claim_is_going(&zkp_claim_of(claim)->k);
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
            n->released || (same_client && (is_going(n->claim) || other->k.leaving));
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

static void create(unsigned claim)
{
    struct zkp_claim *c = zkp_claim_of(claim);
    c->node = 0; /* under a new name */
    c->kind = zkp_cast_of(claim)->kind;
    c->excused = false;
    c->unsent = c->k.member;
    if (!c->k.member) {
        ask(claim, ZKP_CREATE);
        ask(claim, ZKP_LIST);
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

/* The next process may hear of it, if it listens. */
static void pass_on(unsigned claim)
{
    const struct zkp_claim *c = zkp_claim_of(claim);
    bool sure = zkp_session_of(claim)->lease != ZKP_OVER;
    if (zkp_story->nearby && sure && c->node != 0 && zkr__claim_may_pass_on(&c->k)) {
        Z->nodes[c->node - 1].released = true;
    }
}

static void carry_out(unsigned claim, enum zkr__deed deed)
{
    struct zkp_claim *c = zkp_claim_of(claim);
    switch (deed) {
    case ZKR__DEED_PARENTS:
        if (!zkp_session_of(claim)->broken) {
            Z->dirs[zkp_cast_of(claim)->dir] = true;
        }
        break;
    case ZKR__DEED_CREATE:
        create(claim);
        break;
    case ZKR__DEED_HAND_OVER:
    case ZKR__DEED_STEP_ASIDE:
    case ZKR__DEED_LET_LOOK:
        tell_behind(claim, zkr__deed_tells(deed));
        break;
    case ZKR__DEED_PASS_ON:
        pass_on(claim);
        break;
    case ZKR__DEED_RETRY:
    case ZKR__DEED_PACE:
        c->retry = true;
        break;
    case ZKR__DEED_LOOK_LATER:
    case ZKR__DEED_QUIET:
        c->quiet = true;
        break;
    case ZKR__DEED_ASK_OWNER: /* after answers with errors alone */
    case ZKR__DEED_LINE_UP:
    case ZKR__DEED_RESTORE:
        must(false, "a deed that this model does not have");
        break;
    case ZKR__DEED_COUNT_LOSS:
    case ZKR__DEED_NOTIFY:
    case ZKR__DEED_TELL_REVOCATION:
    case ZKR__DEEDS:
        break;
    case ZKR__DEED_FIND:
    case ZKR__DEED_GET_OWN:
    case ZKR__DEED_LIST:
    case ZKR__DEED_CHECK_OWN:
    case ZKR__DEED_GET_AHEAD:
    case ZKR__DEED_GET_BEFORE:
    case ZKR__DEED_PROVE:
    case ZKR__DEED_DOWNGRADE:
    case ZKR__DEED_REMOVE:
        ask(claim, (enum zkp_asked)deed);
    }
}

static void settle(unsigned claim)
{
    struct zkp_claim *c = zkp_claim_of(claim);
    unsigned forgets = zkr__claim_forgets(&c->k);
    if (forgets & ZKR__FORGET_AHEAD) {
        stand_nowhere(c);
    }
    if (!zkr__claim_watches_before(&c->k)) {
        c->before = 0;
    }
    if (forgets & ZKR__FORGET_NODE) {
        c->node = 0;
    }
    if (forgets & ZKR__FORGET_TIMERS) {
        c->retry = c->quiet = false;
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
    zkp_record(&before, &e, &c->k, todo);
    zkp_say("  claim %u: event %d code %d%s: phase %d -> %d, to do %x", claim,
            (int)e.kind, e.code, e.connected ? "" : ", not connected",
            (int)before.phase, (int)c->k.phase, todo);
    check_safety(&before, &e, &c->k, todo);
    if (c->k.round != before.round) {
        forget_answers(claim, true);
    } else if (zkr__claim_forgets(&c->k) & ZKR__FORGET_LIST) {
        forget_answers(claim, false);
    }
    if (before.phase != ZKR__HELD && c->k.phase == ZKR__HELD) {
        check_order(claim);
    }
    unsigned at = 0;
    enum zkr__deed deed;
    while ((deed = zkr__deed_next(todo, &at)) != ZKR__DEEDS) {
        carry_out(claim, deed);
    }
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
        if (!(list & 1U << i) || (one && is_going(one - 1))) {
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
                         const struct zkr__children *children,
                         const zkp_id *ids)
{
    struct zkp_claim *c = zkp_claim_of(claim);
    struct zkr__standing s = {
        .known = true, .may_look = zkp_story->ahead, .pays = true};
    if (verdict->watch == ZKR__ALL_CHILDREN) {
        stand_nowhere(c);
        c->link = ZKP_DIRECTORY;
    } else {
        zkp_id ahead = ids[verdict->watch];
        unsigned neighbour = ours(zkp_cast_of(claim)->session, ahead);
        s.same = c->link == ZKP_PATH && c->ahead == ahead;
        c->last = ahead;
        if (!s.same) {
            stand_nowhere(c);
            c->link = neighbour ? ZKP_NEIGHBOUR : ZKP_PATH;
            c->ahead = (uint8_t)(neighbour ? neighbour - 1 : ahead);
        }
        s.neighbour = c->link == ZKP_NEIGHBOUR;
        s.held = s.neighbour && zkp_claim_of(c->ahead)->k.phase == ZKR__HELD;
    }
    zkr__plan_wait(e, &c->k, verdict, children, &s);
    if (zkr__look_watches(e->look)) {
        c->before = ids[verdict->before];
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
    e->ours = c->k.own == ZKR__OWN_UNPROVED && zkp_maybe(); /* there is no stranger */
    if (zkr__event_waits(e)) {
        wait_as_told(claim, e, &verdict, &children, ids);
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
    struct zkr__claim_event e = {
        .kind = zkr__asked_event(zkr__deed_asks((enum zkr__deed)m->asked)),
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

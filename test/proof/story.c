/* SPDX-License-Identifier: Apache-2.0 */
/* The moves that can happen in a world of zoo.h. */
#include <stddef.h>
#include <string.h>

#include <zkr/client.h>

#include "zoo.h"

static bool is_write(const struct zkp_message *m)
{
    return m->asked == ZKP_CREATE || m->asked == ZKP_REMOVE ||
           m->asked == ZKP_DOWNGRADE;
}

/* --- moves: the connection --- */

/* Returns whether nothing has happened to this session or to the one before, which is like it. A move is then made
   only for the earlier one. */
static bool is_twin(unsigned session)
{
    bool alike = session > 0 && zkp_story->alike &&
                 memcmp(&Z->sessions[session], &Z->sessions[session - 1],
                        sizeof(Z->sessions[0])) == 0;
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        unsigned of = zkp_cast_of(i)->session;
        alike =
            alike && !((of == session || of + 1 == session) && zkp_claim_of(i)->begun);
    }
    return alike;
}

static bool deliver(unsigned i)
{
    struct zkp_session *s = &Z->sessions[i];
    if (!s->connected || s->count == 0 || s->gone_news || s->change_news ||
        s->dir_news) {
        return false;
    }
    struct zkp_message m = s->queue[0];
    s->count--;
    memmove(s->queue, s->queue + 1, s->count * sizeof(m));
    memset(&s->queue[s->count], 0, sizeof(m));
    zkp_say("session %u: message %d of claim %u, node %u%s", i, m.asked, m.claim,
            m.node, m.past ? ", past" : "");
    zkp_deliver(i, m);
    return true;
}

/* News after a re-connection arrive in any order. */
static bool deliver_news(unsigned i)
{
    struct zkp_session *s = &Z->sessions[i];
    unsigned gone = s->gone_news, changed = s->change_news, dirs = s->dir_news;
    int count = __builtin_popcount(gone) + __builtin_popcount(changed) +
                __builtin_popcount(dirs);
    if (!s->connected || count == 0) {
        return false;
    }
    int which = zkp_pick(count);
    unsigned *sets[] = {&gone, &changed, &dirs};
    int set = 0;
    while (which >= __builtin_popcount(*sets[set])) {
        which -= __builtin_popcount(*sets[set++]);
    }
    unsigned left = *sets[set];
    for (; which > 0; which--) {
        left &= left - 1;
    }
    unsigned at = (unsigned)__builtin_ctz(left);
    zkp_say("session %u: late news of %u", i, at + 1);
    if (set == 0) {
        s->gone_news &= (uint16_t) ~(1U << at);
        zkp_on_news(i, ZKP_GONE, (zkp_id)(at + 1));
    } else if (set == 1) {
        s->change_news &= (uint16_t) ~(1U << at);
        zkp_on_news(i, ZKP_CHANGED, (zkp_id)(at + 1));
    } else {
        s->dir_news &= (uint8_t) ~(1U << at);
        zkp_on_children(i, at);
    }
    return true;
}

static bool tell_connected(unsigned i)
{
    struct zkp_session *s = &Z->sessions[i];
    if (!s->connected || s->told || s->broken) {
        return false;
    }
    zkp_say("session %u: connected", i);
    s->told = true;
    for (unsigned j = 0; j < zkp_story->claims; j++) { /* claims that hold come first */
        const struct zkp_claim *c = zkp_claim_of(j);
        if (zkp_cast_of(j)->session == i && c->begun && c->k.phase == ZKR__HELD &&
            c->k.downgrade == ZKR__SETTLED) {
            zkp_tell(j, ZKR__EV_CONNECTED);
        }
    }
    for (unsigned j = 0; j < zkp_story->claims; j++) {
        if (zkp_cast_of(j)->session == i && zkp_claim_of(j)->begun) {
            zkp_tell(j, ZKR__EV_CONNECTED);
        }
    }
    return true;
}

/* The connection is lost, which answers all requests. */
static void fail_all(unsigned i)
{
    struct zkp_session *s = &Z->sessions[i];
    struct zkp_message lost[ZKP_QUEUE + ZKP_UNSENT];
    unsigned count = 0;
    for (unsigned j = 0; j < s->count; j++) {
        lost[count++] = s->queue[j];
    }
    for (unsigned j = 0; j < s->unsent; j++) {
        lost[count++] = s->broken_off[j];
    }
    memset(s->queue, 0, sizeof(s->queue));
    memset(s->broken_off, 0, sizeof(s->broken_off));
    s->count = s->unsent = 0;
    unsigned rounds[ZKP_CLAIMS];
    for (unsigned j = 0; j < zkp_story->claims; j++) {
        rounds[j] = zkp_claim_of(j)->k.round;
    }
    for (unsigned j = 0; j < count; j++) {
        const struct zkp_message *m = &lost[j];
        const struct zkp_claim *c = zkp_claim_of(m->claim);
        bool list = m->asked == ZKP_LIST || m->asked == ZKP_FIND;
        if (m->asked < ZKP_GONE && !m->past && c->k.round == rounds[m->claim] &&
            (!list || zkr__claim_awaits_list(&c->k))) {
            zkp_happens(m->claim, (struct zkr__claim_event){
                                      .kind = zkr__asked_event(
                                          zkr__deed_asks((enum zkr__deed)m->asked)),
                                      .code = ZKR_ECONNLOSS});
        }
    }
}

/* The client notices that its connection is broken. The first writes that it has sent since the break may still arrive.
   */
static bool notice(unsigned i)
{
    struct zkp_session *s = &Z->sessions[i];
    if (!s->connected || (!s->broken && s->alive)) {
        return false;
    }
    struct zkp_message writes[ZKP_LATE];
    unsigned count = 0;
    for (unsigned j = 0; j < s->unsent; j++) {
        if (is_write(&s->broken_off[j]) && count < ZKP_LATE) {
            writes[count++] = s->broken_off[j];
        }
    }
    unsigned late = s->alive ? (unsigned)zkp_pick((int)count + 1) : 0;
    bool split = late > 0 && late < count && writes[late - 1].asked == ZKP_CREATE &&
                 zkp_cast_of(writes[late - 1].claim)->member &&
                 writes[late].asked == ZKP_CREATE &&
                 writes[late].claim > writes[late - 1].claim;
    late += split; /* a transaction is executed as a whole or not at all */
    zkp_say("session %u: the connection is lost, %u writes come late", i, late);
    s->connected = s->told = s->broken = false;
    s->gone_news = s->change_news = 0;
    s->dir_news = 0;
    fail_all(i);
    memset(s->late, 0, sizeof(s->late));
    memcpy(s->late, writes, late * sizeof(writes[0]));
    s->lates = (uint8_t)late;
    return true;
}

static bool carry_out_late(unsigned i)
{
    if (Z->sessions[i].lates == 0) {
        return false;
    }
    zkp_say("session %u: a late write", i);
    zkp_carry_out_late(i);
    return true;
}

static void begin_session(unsigned i)
{
    struct zkp_session *s = &Z->sessions[i];
    memset(s, 0, sizeof(*s));
    s->alive = true;
}

/* Another server may grant another session timeout. What was proved before then counts for nothing. */
static bool connect(unsigned i)
{
    struct zkp_session *s = &Z->sessions[i];
    if (s->connected) {
        return false;
    }
    if (s->alive) {
        zkp_say("session %u: it connects", i);
        s->lease = zkp_maybe() ? ZKP_OVER : s->lease;
        zkp_connect(i);
        return true;
    }
    zkp_say("session %u: it is over", i);
    for (unsigned j = 0; j < zkp_story->claims; j++) {
        if (zkp_cast_of(j)->session == i && zkp_claim_of(j)->begun) {
            zkp_tell(j, ZKR__EV_SESSION_OVER);
        }
    }
    begin_session(i);
    s->connected = true;
    return true;
}

/* --- moves: time --- */

/* Steps that only compute until the lease is proved again change nothing for other claims. */
static bool probe(unsigned i)
{
    struct zkp_session *s = &Z->sessions[i];
    if (!s->told || s->broken || !s->alive || s->count > 0 || s->gone_news ||
        s->change_news) {
        return false;
    }
    bool news = s->lease != ZKP_AMPLE;
    s->lease = ZKP_AMPLE;
    for (unsigned j = 0; j < zkp_story->claims; j++) {
        const struct zkp_claim *c = zkp_claim_of(j);
        if (zkp_cast_of(j)->session == i && c->k.phase == ZKR__HELD && !zkp_own(j) &&
            c->k.downgrade == ZKR__SETTLED) {
            zkp_say("session %u: the probe misses a node", i);
            zkp_tell(j, ZKR__EV_OWN_GONE);
            news = true;
        }
    }
    return news;
}

static bool lapse(unsigned i)
{
    struct zkp_session *s = &Z->sessions[i];
    if (!(zkp_story->kinds & ZKP_LAPSES) || s->lease == ZKP_OVER || Z->faults == 0 ||
        is_twin(i)) {
        return false;
    }
    Z->faults--;
    s->lease = (uint8_t)(s->lease + 1 + zkp_pick(ZKP_OVER - s->lease));
    zkp_say("session %u: time passes, the lease is %s", i,
            s->lease == ZKP_OVER ? "over" : "short");
    return true;
}

static bool expire_lease(unsigned i)
{
    bool moved = false;
    for (unsigned j = 0; j < zkp_story->claims; j++) {
        if (zkp_cast_of(j)->session == i && Z->sessions[i].lease == ZKP_OVER &&
            zkp_claim_of(j)->k.phase == ZKR__HELD) {
            zkp_tell(j, ZKR__EV_LEASE_EXPIRED);
            moved = true;
        }
    }
    return moved;
}

static bool end_session(unsigned i)
{
    struct zkp_session *s = &Z->sessions[i];
    if (!s->alive || s->lease != ZKP_OVER) {
        return false;
    }
    zkp_say("session %u: the servers end it", i);
    zkp_end_session(i);
    return true;
}

/* --- moves: faults --- */

static bool cut(unsigned i)
{
    struct zkp_session *s = &Z->sessions[i];
    if (!(zkp_story->kinds & ZKP_CUTS) || Z->faults == 0 || !s->told || s->broken ||
        is_twin(i)) {
        return false;
    }
    Z->faults--;
    s->broken = true;
    zkp_say("session %u: its connection breaks", i);
    return true;
}

static bool by_hand(unsigned what)
{
    unsigned kind = what == 0 ? ZKP_DELETIONS : ZKP_CHANGES;
    unsigned alive = 0;
    for (unsigned i = 0; i < Z->count; i++) {
        alive |= Z->nodes[i].alive ? 1U << i : 0;
    }
    if (!(zkp_story->kinds & kind) || Z->faults == 0 || alive == 0) {
        return false;
    }
    for (int skip = zkp_pick(__builtin_popcount(alive)); skip > 0; skip--) {
        alive &= alive - 1;
    }
    Z->faults--;
    unsigned node = (unsigned)__builtin_ctz(alive);
    zkp_say("by hand: node %u is %s", node + 1, what == 0 ? "deleted" : "written to");
    (what == 0 ? zkp_delete : zkp_change)(node);
    return true;
}

static bool sweep(unsigned dir)
{
    bool empty = Z->dirs[dir];
    for (unsigned i = 0; i < Z->count; i++) {
        empty = empty && !(Z->nodes[i].alive && Z->nodes[i].dir == dir);
    }
    if (!(zkp_story->kinds & ZKP_SWEEPS) || Z->faults == 0 || !empty) {
        return false;
    }
    zkp_say("directory %u is swept", dir);
    Z->faults--;
    Z->dirs[dir] = false;
    return true;
}

/* --- moves: claims --- */

/* Two claims that are cast alike may begin in either order, which makes no difference. */
static bool is_next(unsigned i)
{
    for (unsigned j = 0; j < i; j++) {
        const struct zkp_cast *a = zkp_cast_of(i), *b = zkp_cast_of(j);
        bool alike = a->session == b->session && a->kind == b->kind &&
                     a->dir == b->dir && a->impatient == b->impatient &&
                     a->downgrades == b->downgrades;
        if (alike && !zkp_claim_of(j)->begun) {
            return false;
        }
    }
    return true;
}

static bool start(unsigned i)
{
    struct zkp_claim *c = zkp_claim_of(i);
    if (c->begun || !is_next(i) || is_twin(zkp_cast_of(i)->session)) {
        return false;
    }
    zkp_say("claim %u begins", i);
    if (zkp_cast_of(i)->member) {
        zkp_start_members(0, false);
        return true;
    }
    c->begun = true;
    zkp_tell(i, ZKR__EV_START);
    return true;
}

static bool leave(unsigned i)
{
    const struct zkp_claim *c = zkp_claim_of(i);
    bool may = c->k.phase == ZKR__HELD || zkp_cast_of(i)->impatient;
    if (!c->begun || c->k.leaving || !may ||
        (zkp_cast_of(i)->member && !Z->group_held && !zkp_cast_of(i)->impatient)) {
        return false;
    }
    zkp_say("claim %u lets go", i);
    if (zkp_cast_of(i)->member) {
        Z->group_over = true;
        zkp_let_members_go();
        return true;
    }
    zkp_tell(i, ZKR__EV_LEAVE);
    return true;
}

static bool downgrade(unsigned i)
{
    struct zkp_claim *c = zkp_claim_of(i);
    if (!zkp_cast_of(i)->downgrades || c->k.phase != ZKR__HELD || c->k.leaving ||
        c->kind != ZKR__NAME_WRITE || zkp_session_of(i)->lease == ZKP_OVER) {
        return false;
    }
    zkp_say("claim %u goes on as a reader", i);
    c->kind = ZKR__NAME_READ;
    zkp_tell(i, ZKR__EV_DOWNGRADE);
    return true;
}

/* The process ahead has sent news of its release: the news arrives now, late, again, or never. */
static bool hear(unsigned i)
{
    const struct zkp_claim *c = zkp_claim_of(i);
    if (c->link != ZKP_PATH || c->k.phase != ZKR__PARKED ||
        !Z->nodes[c->ahead - 1].released) {
        return false;
    }
    zkp_say("claim %u hears that node %u is released", i, c->ahead);
    zkp_tell(i, ZKR__EV_AHEAD_TOLD);
    return true;
}

static bool retry(unsigned i)
{
    struct zkp_claim *c = zkp_claim_of(i);
    if (!c->retry) {
        return false;
    }
    c->retry = false;
    zkp_tell(i, ZKR__EV_PAUSE_OVER);
    return true;
}

static bool quiet(unsigned i)
{
    struct zkp_claim *c = zkp_claim_of(i);
    if (!c->quiet || c->k.phase != ZKR__PARKED) {
        /* A hold watches its node then: the probe would find it missing as well. */
        return false;
    }
    c->quiet = false;
    zkp_tell(i, ZKR__EV_QUIET);
    return true;
}

/* --- the model --- */

enum { MOST = ZKP_CLAIMS };

static const struct {
    bool (*move)(unsigned);
    enum { OF_SESSION, OF_CLAIM, OF_TWO } of;
    bool calm;
} moves[] = {
    {tell_connected, OF_SESSION, true},
    {deliver_news, OF_SESSION, true},
    {deliver, OF_SESSION, true},
    {carry_out_late, OF_SESSION, true},
    {notice, OF_SESSION, true},
    {connect, OF_SESSION, true},
    {probe, OF_SESSION, true},
    {retry, OF_CLAIM, true},
    {start, OF_CLAIM, true},
    {leave, OF_CLAIM, true},
    {quiet, OF_CLAIM, false},
    {expire_lease, OF_SESSION, false},
    {end_session, OF_SESSION, false},
    {lapse, OF_SESSION, false},
    {cut, OF_SESSION, false},
    {by_hand, OF_TWO, false},
    {sweep, OF_TWO, false},
    {downgrade, OF_CLAIM, false},
    {hear, OF_CLAIM, false},
};

enum { KINDS = sizeof(moves) / sizeof(moves[0]) };

static bool make_move(int which)
{
    unsigned kind = (unsigned)which / MOST, i = (unsigned)which % MOST;
    unsigned count = moves[kind].of == OF_SESSION ? zkp_story->sessions
                     : moves[kind].of == OF_CLAIM ? zkp_story->claims
                                                  : 2;
    return i < count && moves[kind].move(i);
}

static bool move(void *state, int which)
{
    Z = state;
    bool moved = make_move(which);
    if (moved) {
        zkp_step_group();
        zkp_check();
    }
    return moved;
}

/* Make the first possible move. An impatient claim waits patiently then. */
static bool calm(void *state)
{
    Z = state;
    for (int which = 0; which < (int)(KINDS * MOST); which++) {
        unsigned kind = (unsigned)which / MOST, i = (unsigned)which % MOST;
        bool waits = moves[kind].move == leave &&
                     (i >= zkp_story->claims || zkp_claim_of(i)->k.phase != ZKR__HELD);
        if (moves[kind].move == leave && i == 0) {
            zkp_check_waits();
        }
        if (moves[kind].calm && !waits && make_move(which)) {
            zkp_step_group();
            zkp_check();
            return true;
        }
    }
    return false;
}

static void check_end(const void *state)
{
    const struct zkp_zoo *zoo = state;
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        zkp_must(zoo->claims[i].k.phase == ZKR__GONE, "it waits for ever");
    }
    for (unsigned i = 0; i < zoo->count; i++) {
        zkp_must(!zoo->nodes[i].alive, "a node is left");
    }
}

static void begin(void *state)
{
    Z = state;
    Z->faults = (uint8_t)zkp_story->faults;
    for (unsigned i = 0; i < zkp_story->sessions; i++) {
        begin_session(i);
        Z->sessions[i].connected = Z->sessions[i].told = true;
    }
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        Z->claims[i].kind = zkp_cast_of(i)->kind;
        Z->claims[i].k.next = ZKR__CREATING;
        Z->claims[i].k.member = zkp_cast_of(i)->member;
    }
    Z->dirs[0] = Z->dirs[1] = true;
}

static void print(const void *state)
{
    const struct zkp_zoo *zoo = state;
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        const struct zkp_claim *c = &zoo->claims[i];
        zkp_say("    claim %u of session %u: phase %d next %d own %d then %d look %d "
                "node %u"
                " link %d ahead %u before %u%s%s",
                i, zkp_cast_of(i)->session, (int)c->k.phase, (int)c->k.next,
                (int)c->k.own, (int)c->k.then, (int)c->k.look, c->node, c->link,
                c->ahead, c->before, c->k.leaving ? " leaving" : "",
                c->excused ? " excused" : "");
    }
    for (unsigned i = 0; i < zkp_story->sessions; i++) {
        const struct zkp_session *s = &zoo->sessions[i];
        zkp_say("    session %u:%s%s%s%s lease %d, %d on the way, %d late, watches %x",
                i, s->alive ? "" : " ended", s->connected ? "" : " not connected",
                s->told ? "" : " not told", s->broken ? " broken" : "", s->lease,
                s->count, s->lates, s->watches);
    }
    for (unsigned i = 0; i < zoo->count; i++) {
        zkp_say("    node %u of claim %u, kind %d%s", i + 1, zoo->nodes[i].claim,
                zoo->nodes[i].kind, zoo->nodes[i].alive ? "" : ", gone");
    }
}

const struct zkp_model *zkp_told(const struct zkp_story *story)
{
    static struct zkp_model model;
    zkp_story = story;
    model = (struct zkp_model){.name = story->name,
                               .size = offsetof(struct zkp_zoo, sessions) +
                                       story->sessions * sizeof(struct zkp_session),
                               .moves = KINDS * MOST,
                               .begin = begin,
                               .move = move,
                               .calm = calm,
                               .check_end = check_end,
                               .normalise = zkp_normalise,
                               .print = print};
    _Static_assert(offsetof(struct zkp_zoo, sessions) % 8 == 0, "words");
    _Static_assert(sizeof(struct zkp_session) % 8 == 0, "words");
    return &model;
}

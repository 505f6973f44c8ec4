/* SPDX-License-Identifier: Apache-2.0 */
#include "zoo.h"

#include <string.h>

struct zkp_zoo *Z;

static uint16_t bit(zkp_id node)
{
    return (uint16_t)(1U << (node - 1));
}

static struct zkp_node *at(zkp_id node)
{
    return &Z->nodes[node - 1];
}

static bool is_alive(zkp_id node)
{
    return node != 0 && at(node)->alive;
}

/* --- what is sent to clients --- */

static void push(unsigned session, struct zkp_message m)
{
    struct zkp_session *s = &Z->sessions[session];
    zkp_must(s->count < ZKP_QUEUE, "too much is on its way");
    if (s->count < ZKP_QUEUE) {
        s->queue[s->count++] = m;
    }
}

static void tell_dir(unsigned dir)
{
    for (unsigned i = 0; i < zkp_story->sessions; i++) {
        struct zkp_session *s = &Z->sessions[i];
        if (s->dirs & 1U << dir) {
            s->dirs &= (uint8_t) ~(1U << dir);
            if (s->connected && !s->broken) {
                push(i, (struct zkp_message){.asked = ZKP_CHILDREN,
                                             .node = (zkp_id)(dir + 1)});
            }
        }
    }
}

static void tell(zkp_id node, enum zkp_asked news)
{
    for (unsigned i = 0; i < zkp_story->sessions; i++) {
        struct zkp_session *s = &Z->sessions[i];
        if (s->watches & bit(node)) {
            s->watches &= (uint16_t)~bit(node);
            if (s->connected && !s->broken) {
                push(i, (struct zkp_message){.asked = (uint8_t)news, .node = node});
            }
        }
        bool missed = news == ZKP_CHANGED && (!s->connected || s->broken);
        s->changed |= missed ? s->watched & bit(node) : 0;
    }
}

/* --- nodes --- */

static zkp_id find(unsigned claim, unsigned kind)
{
    for (unsigned i = 0; i < Z->count; i++) {
        const struct zkp_node *n = &Z->nodes[i];
        if (n->alive && n->claim == claim && n->kind == kind) {
            return (zkp_id)(i + 1);
        }
    }
    return 0;
}

zkp_id zkp_own(unsigned claim)
{
    return find(claim, Z->claims[claim].kind);
}

static uint16_t insert_bit(uint16_t set, unsigned place)
{
    uint16_t low = (uint16_t)((1U << place) - 1);
    return (uint16_t)((set & low) | (set & ~low) << 1);
}

static void insert_in(zkp_id *node, unsigned place)
{
    *node = (zkp_id)(*node + (*node > place));
}

static void insert_in_all(struct zkp_message *messages, unsigned count, unsigned place)
{
    for (unsigned i = 0; i < count; i++) {
        if (messages[i].asked != ZKP_CHILDREN) {
            insert_in(&messages[i].node, place);
        }
        messages[i].list = insert_bit(messages[i].list, place);
    }
}

/* Make room for a node at @place. */
static void insert(unsigned place)
{
    zkp_must(Z->count < ZKP_NODES, "too many nodes");
    if (Z->count == ZKP_NODES) {
        return;
    }
    memmove(&Z->nodes[place + 1], &Z->nodes[place],
            (Z->count - place) * sizeof(Z->nodes[0]));
    Z->count++;
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        struct zkp_claim *c = &Z->claims[i];
        insert_in(&c->node, place);
        insert_in(&c->before, place);
        insert_in(&c->last, place);
        if (c->link == ZKP_PATH) {
            insert_in(&c->ahead, place);
        }
    }
    for (unsigned i = 0; i < zkp_story->sessions; i++) {
        struct zkp_session *s = &Z->sessions[i];
        uint16_t *sets[] = {&s->watches, &s->watched, &s->changed, &s->gone_news,
                            &s->change_news};
        for (size_t j = 0; j < sizeof(sets) / sizeof(sets[0]); j++) {
            *sets[j] = insert_bit(*sets[j], place);
        }
        insert_in_all(s->queue, s->count, place);
        insert_in_all(s->broken_off, s->unsent, place);
        insert_in_all(s->late, s->lates, place);
    }
}

static zkp_id make(unsigned claim, unsigned place, unsigned kind)
{
    for (unsigned i = 0; i < Z->count; i++) {
        zkp_must(!Z->nodes[i].alive || Z->nodes[i].claim != claim,
                 "two nodes of one claim");
    }
    insert(place);
    Z->nodes[place] = (struct zkp_node){.claim = (uint8_t)claim,
                                        .kind = (uint8_t)kind,
                                        .dir = zkp_story->cast[claim].dir,
                                        .alive = true};
    tell_dir(zkp_story->cast[claim].dir);
    return (zkp_id)(place + 1);
}

static void kill(zkp_id node)
{
    at(node)->alive = false;
    tell(node, ZKP_GONE);
    tell_dir(at(node)->dir);
}

void zkp_delete(unsigned node)
{
    zkp_id id = (zkp_id)(node + 1);
    Z->claims[at(id)->claim].excused = true;
    kill(id);
}

void zkp_change(unsigned node)
{
    tell((zkp_id)(node + 1), ZKP_CHANGED);
}

static uint16_t list(unsigned dir)
{
    uint16_t set = 0;
    for (unsigned i = 0; i < Z->count; i++) {
        set |= Z->nodes[i].alive && Z->nodes[i].dir == dir ? 1U << i : 0;
    }
    return set;
}

/* --- requests --- */

/* The READ node takes the place of the WRIT node. */
static void downgrade(struct zkp_message *m)
{
    m->missing = !is_alive(m->node);
    if (!m->missing) {
        kill(m->node);
        m->node = make(m->claim, m->node, ZKR__NAME_READ);
    }
}

/* Returns whether the directories of all members exist, because one transaction creates the members of a group. */
static bool has_dirs(void)
{
    bool all = true;
    for (unsigned i = 0; i < ZKP_DIRS; i++) {
        all = all && Z->dirs[i];
    }
    return all;
}

static void carry_out(unsigned session, struct zkp_message *m)
{
    struct zkp_session *s = &Z->sessions[session];
    unsigned dir = zkp_story->cast[m->claim].dir;
    bool write = m->asked == ZKP_CREATE || m->asked == ZKP_FIND ||
                 m->asked == ZKP_PROVE || m->asked == ZKP_REMOVE ||
                 m->asked == ZKP_DOWNGRADE;
    if (write) { /* no writes of an earlier connection arrive any more */
        memset(s->late, 0, sizeof(s->late));
        s->lates = 0;
    }
    switch ((enum zkp_asked)m->asked) {
    case ZKP_CREATE:
        m->missing = !Z->dirs[dir] || (zkp_story->cast[m->claim].member && !has_dirs());
        m->node =
            m->missing ? 0 : make(m->claim, Z->count, zkp_story->cast[m->claim].kind);
        break;
    case ZKP_LIST:
    case ZKP_FIND:
        m->missing = !Z->dirs[dir];
        m->list = list(dir);
        s->dirs |= m->watching && !m->missing ? 1U << dir : 0;
        break;
    case ZKP_OWN:
    case ZKP_CHECK:
        m->node = zkr__claim_reads_writer(&Z->claims[m->claim].k)
                      ? find(m->claim, ZKR__NAME_WRITE)
                      : zkp_own(m->claim);
        m->missing = m->node == 0;
        s->watches |= m->missing || m->asked == ZKP_CHECK ? 0 : bit(m->node);
        break;
    case ZKP_AHEAD:
    case ZKP_BEFORE:
        m->missing = !is_alive(m->node);
        s->watches |= m->missing ? 0 : bit(m->node);
        break;
    case ZKP_PROVE:
        m->missing = zkp_own(m->claim) == 0;
        break;
    case ZKP_REMOVE:
        m->node = zkp_own(m->claim);
        m->missing = m->node == 0;
        if (!m->missing) {
            kill(m->node);
        }
        break;
    case ZKP_DOWNGRADE:
        downgrade(m);
        break;
    case ZKP_GONE:
    case ZKP_CHANGED:
    case ZKP_CHILDREN:
        break;
    }
}

void zkp_send(unsigned session, struct zkp_message m)
{
    struct zkp_session *s = &Z->sessions[session];
    if (s->broken || !s->alive) {
        zkp_must(s->unsent < ZKP_UNSENT, "too much is sent");
        if (s->unsent < ZKP_UNSENT) {
            s->broken_off[s->unsent++] = m;
        }
        return;
    }
    carry_out(session, &m);
    push(session, m);
}

// NOLINTNEXTLINE(misc-no-recursion): as far as the members of a group go
void zkp_carry_out_late(unsigned session)
{
    struct zkp_session *s = &Z->sessions[session];
    struct zkp_message m = s->late[0];
    bool joint = m.asked == ZKP_CREATE && zkp_story->cast[m.claim].member;
    s->lates--;
    memmove(s->late, s->late + 1, s->lates * sizeof(m));
    memset(&s->late[s->lates], 0, sizeof(m));
    struct zkp_message left[ZKP_LATE];
    unsigned lates = s->lates;
    memcpy(left, s->late, sizeof(left));
    carry_out(session, &m); /* which is not a write of the next connection */
    memcpy(s->late, left, sizeof(left));
    s->lates = (uint8_t)lates;
    if (joint && lates > 0 && left[0].asked == ZKP_CREATE && left[0].claim > m.claim) {
        zkp_carry_out_late(session);
    }
}

/* --- sessions --- */

void zkp_end_session(unsigned session)
{
    struct zkp_session *s = &Z->sessions[session];
    s->alive = false;
    s->watches = 0;
    s->dirs = 0;
    memset(s->late, 0, sizeof(s->late));
    s->lates = 0;
    for (unsigned i = 0; i < Z->count; i++) {
        if (Z->nodes[i].alive &&
            zkp_story->cast[Z->nodes[i].claim].session == session) {
            kill((zkp_id)(i + 1));
        }
    }
}

/* Set the client's watches again. A watched node that still exists is watched again, and of each other one there is
   news. */
void zkp_connect(unsigned session)
{
    struct zkp_session *s = &Z->sessions[session];
    s->connected = true;
    s->watches = 0;
    for (unsigned i = 0; i < Z->count; i++) {
        uint16_t one = (uint16_t)(1U << i);
        if ((s->watched & one) && !Z->nodes[i].alive) {
            s->gone_news |= one;
        } else if (s->watched & s->changed & one) {
            s->change_news |= one;
        } else if (s->watched & one) {
            s->watches |= one;
        }
    }
    s->changed = 0;
    s->dir_news = s->watched_dirs; /* there may have been changes */
    s->dirs = 0;
}

/* --- what behaves equally --- */

static uint16_t known_to(unsigned session)
{
    uint16_t set = 0;
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        const struct zkp_claim *c = &Z->claims[i];
        if (zkp_story->cast[i].session != session || c->k.phase == ZKR__GONE) {
            continue;
        }
        zkp_id own = zkp_own(i);
        set |= c->node ? bit(c->node) : 0;
        set |= own ? bit(own) : 0;
        set |= c->link == ZKP_PATH ? bit(c->ahead) : 0;
        set |= c->before ? bit(c->before) : 0;
    }
    return set;
}

static uint16_t on_its_way(const struct zkp_message *messages, unsigned count)
{
    uint16_t set = 0;
    for (unsigned i = 0; i < count; i++) {
        bool dir = messages[i].asked == ZKP_CHILDREN;
        set |= messages[i].list;
        set |= messages[i].node && !dir ? bit(messages[i].node) : 0;
    }
    return set;
}

/* Watches that no claim needs have no effect. */
static uint16_t forget_watches(void)
{
    uint16_t used = 0;
    for (unsigned i = 0; i < zkp_story->sessions; i++) {
        struct zkp_session *s = &Z->sessions[i];
        uint16_t sent = on_its_way(s->queue, s->count) |
                        on_its_way(s->broken_off, s->unsent) |
                        on_its_way(s->late, s->lates);
        uint16_t known = known_to(i) | sent;
        s->watches &= known;
        s->watched &= known;
        s->changed &= known;
        s->gone_news &= known;
        s->change_news &= known;
        used |= known;
    }
    return used;
}

static zkp_id moved(zkp_id node, const zkp_id *to)
{
    return node == 0 ? 0 : to[node - 1];
}

static uint16_t moved_set(uint16_t set, const zkp_id *to)
{
    uint16_t result = 0;
    for (unsigned i = 0; i < Z->count; i++) {
        result |= (set & 1U << i) && to[i] ? bit(to[i]) : 0;
    }
    return result;
}

static void
move_messages(struct zkp_message *messages, unsigned count, const zkp_id *to)
{
    for (unsigned i = 0; i < count; i++) {
        if (messages[i].asked != ZKP_CHILDREN) {
            messages[i].node = moved(messages[i].node, to);
        }
        messages[i].list = moved_set(messages[i].list, to);
    }
}

static void move_nodes(const zkp_id *to)
{
    enum { HIGHEST = 100 };
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        struct zkp_claim *c = &Z->claims[i];
        c->node = moved(c->node, to);
        c->before = moved(c->before, to);
        c->last = moved(c->last, to);
        c->ahead = c->link == ZKP_PATH ? moved(c->ahead, to) : c->ahead;
        if (c->k.ahead !=
            INT64_MAX) { /* the node does not exist: any other number is lower */
            c->k.ahead = c->last ? c->last - 1 : HIGHEST;
        }
    }
    for (unsigned i = 0; i < zkp_story->sessions; i++) {
        struct zkp_session *s = &Z->sessions[i];
        s->watches = moved_set(s->watches, to);
        s->watched = moved_set(s->watched, to);
        s->changed = moved_set(s->changed, to);
        s->gone_news = moved_set(s->gone_news, to);
        s->change_news = moved_set(s->change_news, to);
        move_messages(s->queue, s->count, to);
        move_messages(s->broken_off, s->unsent, to);
        move_messages(s->late, s->lates, to);
    }
}

static void collect(void)
{
    zkp_id to[ZKP_NODES] = {0};
    unsigned kept = 0;
    uint16_t used = forget_watches();
    for (unsigned i = 0; i < Z->count; i++) {
        if (Z->nodes[i].alive || (used & 1U << i)) {
            to[i] = (zkp_id)(kept + 1);
            kept++;
        }
    }
    if (kept == Z->count) {
        for (unsigned i = 0; i < zkp_story->claims; i++) {
            struct zkp_claim *c = &Z->claims[i];
            c->k.ahead = c->k.ahead == INT64_MAX ? INT64_MAX
                         : c->last               ? c->last - 1
                                                 : c->k.ahead;
        }
        return;
    }
    move_nodes(to);
    for (unsigned i = 0; i < Z->count; i++) {
        if (to[i]) {
            Z->nodes[to[i] - 1] = Z->nodes[i];
        }
    }
    memset(&Z->nodes[kept], 0, (Z->count - kept) * sizeof(Z->nodes[0]));
    Z->count = (uint8_t)kept;
}

static void forget_state(struct zkp_claim *c)
{
    enum { OFTEN = 4 };
    struct zkr__claim_state *k = &c->k;
    k->round = 0;
    k->holds = k->holds > 0;
    k->waited = k->waited && k->phase == ZKR__PARKED;
    k->refused = false;
    k->refusals = 0;
    k->failures = k->failures < OFTEN ? k->failures : ZKR__QUICK_CREATES + 1;
    k->standstill = k->standstill < OFTEN ? k->standstill : OFTEN;
    if (k->phase == ZKR__GONE && !k->place_lost) {
        uint8_t kind = c->kind;
        bool lost = k->lost != 0 && zkp_story->cast[c - Z->claims].member;
        memset(c, 0, sizeof(*c));
        c->begun = true;
        c->kind = kind;
        k->phase = ZKR__GONE;
        k->leaving = true;
        k->lost = lost;
        k->holds = lost;
        return;
    }
    if (k->phase != ZKR__PAUSED) {
        k->next = ZKR__PAUSED;
    }
    if (k->phase != ZKR__PARKED) {
        k->then = ZKR__THEN_LOOK;
        k->look = ZKR__LOOKS_NOT;
        k->saw_ahead = false;
    }
}

void zkp_normalise(void *zoo)
{
    Z = zoo;
    for (unsigned i = 0; i < zkp_story->claims; i++) {
        forget_state(&Z->claims[i]);
    }
    collect();
}

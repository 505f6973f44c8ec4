/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A claim against a small model of a server, on a long random walk: replies get lost, sessions
 * end, nodes are deleted by others, parents vanish. Requests and replies each keep their order,
 * and events come in order with the replies.
 *
 * Others stand in the queue ahead of the claim, some of the same client. Some claims have a rule that waits for
 * the directory. A session ends only
 * while the lease is not sure: that is what the lease promises.
 */
#include <zkr/client.h>

#include "engine/claim_events.h"
#include "unit.h"

enum { STEPS = 1000000, QUEUE_MAX = 64, OTHERS_MAX = 3, CALM_STEPS = 1000 };

#define RARE INT64_C(40)

enum request { CREATE, LIST, OWN, AHEAD, PROVE, REMOVE, PARENTS, RESTORE };

struct other {
    bool alive; /* on the server */
    bool local; /* of this client */
    bool dying; /* local: let go, its delete is on the way */
    bool armed; /* the server will send an event */
    bool known; /* to the client as watched */
    bool news;  /* an event was lost with the connection */
};

/* A request on its way to the server, or what comes back. */
struct message {
    enum request request;
    unsigned round;
    int node; /* ours */
    int other;
    int64_t at; /* the server's time */
    int code;
    bool is_event, gone;
    bool of_dir; /* event about the directory; list that leaves a watch there */
    int wish;    /* OWN: as e->wish; RESTORE: over which */
    bool lists_own;
    bool lists[OTHERS_MAX];
};

struct fifo {
    struct message list[QUEUE_MAX];
    size_t head, count;
};

struct world {
    uint64_t seed;
    /* the server */
    int64_t now;
    int node;          /* ours, 0 = none */
    int version, wish; /* of its data; the same when they are one, else 0 */
    bool parent, session_over;
    int64_t died[2];                 /* when: by number modulo 2 */
    struct other others[OTHERS_MAX]; /* all ahead of us */
    bool own_armed, dir_armed;
    int64_t dir_changed; /* when */
    struct fifo up, down;
    /* the client */
    struct zkr__claim_state k;
    bool connected, sure, retry, quiet, once;
    int made, named; /* number of the last create; of the node it knows */
    int ahead;       /* -1 = none */
    int own_known;   /* the node under watch, 0 = none */
    bool own_news;
    bool all_children; /* its rule */
    bool dir_ahead;    /* waits for the directory */
    int64_t dir_seen;  /* under watch since, 0 = not */
    int64_t view;      /* the server's time as of the last reply or event */
    int told;          /* the last wish */
    int64_t ended[ZKR__GONE + 1], held, adopted, lost_replies, dir_events, wishes;
};

static struct world w;

static bool chance(int64_t one_in)
{
    return zkt_below(&w.seed, one_in) == 0;
}

static struct message *push(struct fifo *f)
{
    if (f->count == QUEUE_MAX) {
        fail_msg("too many messages under way");
    }
    struct message *m = &f->list[(f->head + f->count++) % QUEUE_MAX];
    *m = (struct message){.at = w.now};
    return m;
}

static struct message pop(struct fifo *f)
{
    struct message m = f->list[f->head];
    f->head = (f->head + 1) % QUEUE_MAX;
    f->count--;
    return m;
}

/* --- the server --- */

static void event_about(int node, int other, bool gone)
{
    struct message *m = push(&w.down);
    m->is_event = true;
    m->node = node;
    m->other = other;
    m->gone = gone;
}

/* A child came or went. */
static void dir_event(void)
{
    w.dir_changed = ++w.now;
    if (w.dir_armed) {
        w.dir_armed = false;
        event_about(0, -1, false);
        w.down.list[(w.down.head + w.down.count - 1) % QUEUE_MAX].of_dir = true;
    }
}

static void delete_own(void)
{
    if (w.node != 0) {
        w.died[w.node % 2] = ++w.now;
        dir_event();
        if (w.own_armed) {
            event_about(w.node, -1, true);
        }
        w.own_armed = false;
        w.node = 0;
    }
}

static void delete_other(int i)
{
    struct other *o = &w.others[i];
    w.now++;
    if (o->armed) {
        event_about(0, i, true);
    }
    o->alive = o->armed = false;
    dir_event();
}

static int do_create(void)
{
    if (!w.parent) {
        return ZKR_ENONODE;
    }
    assert_int_equal(w.node, 0); /* never two */
    w.node = w.made;
    w.version = w.wish = 0;
    w.died[w.node % 2] = INT64_MAX;
    for (int i = 0; i < OTHERS_MAX; i++) {
        w.others[i] = (struct other){.alive = chance(2), .local = chance(2)};
    }
    dir_event();
    return ZKR_OK;
}

static int do_get_other(struct other *o)
{
    o->armed = o->armed || o->alive;
    return o->alive ? ZKR_OK : ZKR_ENONODE;
}

static int do_get_own(int node)
{
    bool there = node != 0 && node == w.node;
    w.own_armed = w.own_armed || there;
    return there ? ZKR_OK : ZKR_ENONODE;
}

/* Its data change, by whomever. */
static void set_own(bool wish)
{
    w.now++;
    w.version++;
    w.wish = wish ? w.version : 0;
    if (w.own_armed) {
        w.own_armed = false;
        event_about(w.node, -1, false);
    } else if (!w.connected) {
        w.own_news = w.own_known != 0;
    }
}

static int do_restore(const struct message *m)
{
    if (m->node == 0 || m->node != w.node) {
        return ZKR_ENONODE;
    }
    if (m->wish != w.version) {
        return ZKR_EZK(-103);
    }
    set_own(false);
    return ZKR_OK;
}

static int execute(struct message *m)
{
    w.now++;
    m->at = w.now;
    if (chance(RARE)) {
        return ZKR_EZK(-127); /* too busy */
    }
    switch (m->request) {
    case CREATE:
        return do_create();
    case LIST:
        m->lists_own = w.node != 0;
        w.dir_armed = w.dir_armed || (m->of_dir && w.parent);
        for (int i = 0; i < OTHERS_MAX; i++) {
            m->lists[i] = w.others[i].alive;
        }
        return w.parent ? ZKR_OK : ZKR_ENONODE;
    case OWN:
        m->wish = w.wish;
        return do_get_own(m->node);
    case RESTORE:
        return do_restore(m);
    case AHEAD:
        return do_get_other(&w.others[m->other]);
    case PROVE:
        return m->node == w.node && m->node != 0 ? ZKR_OK : ZKR_ENONODE;
    case REMOVE:
        if (m->node == 0 || m->node != w.node) {
            return ZKR_ENONODE;
        }
        delete_own();
        return ZKR_OK;
    case PARENTS:
        w.parent = true;
        return ZKR_OK;
    }
    return ZKR_OK;
}

static void serve_one(void)
{
    if (w.up.count > 0) {
        struct message m = pop(&w.up);
        m.code = execute(&m);
        m.at = w.now;
        *push(&w.down) = m;
    }
}

/* --- the client --- */

static void check_held(bool before)
{
    if (w.k.phase != ZKR__HELD) {
        return;
    }
    bool dead = w.node != w.named && w.died[w.named % 2] <= w.view;
    assert_true(w.named != 0);
    assert_false(dead && w.k.own == ZKR__OWN_SET); /* it would have been told */
    if (before) {
        return;
    }
    assert_false(dead); /* as far as it can have known */
    assert_false(w.session_over);
    w.held++;
    for (int i = 0; i < OTHERS_MAX; i++) {
        const struct other *o = &w.others[i];
        assert_false(o->alive && !o->dying);
    }
}

static void send(enum request request)
{
    assert_true(w.connected);
    struct message *m = push(&w.up);
    m->request = request;
    m->round = w.k.round;
    m->node = w.named;
    m->wish = w.k.told;
    m->other = w.ahead;
    m->of_dir = request == LIST && w.k.watch_children;
}

static void carry_out(unsigned actions)
{
    if (actions & ZKR__DO_PARENTS) {
        send(PARENTS);
    }
    if (actions & ZKR__DO_CREATE) {
        w.made++;
        w.told = 0;
        w.named = 0;
        send(CREATE);
        send(LIST);
    }
    if (actions & ZKR__DO_RESTORE) {
        send(RESTORE);
    }
    if (actions & ZKR__DO_TELL_WISH) {
        assert_int_equal(w.k.phase, ZKR__HELD);
        assert_true(w.k.told > w.told); /* once */
        w.told = w.k.told;
        w.wishes++;
    }
    if (actions & ZKR__DO_GET_OWN) {
        send(OWN);
    }
    if (actions & (ZKR__DO_LIST | ZKR__DO_FIND)) {
        send(LIST);
    }
    if (actions & ZKR__DO_GET_AHEAD) {
        assert_true(w.ahead >= 0 && !w.others[w.ahead].local);
        send(AHEAD);
    }
    if (actions & ZKR__DO_PROVE) {
        send(PROVE);
    }
    if (actions & ZKR__DO_REMOVE) {
        send(REMOVE);
    }
    w.retry = w.retry || (actions & (ZKR__DO_RETRY | ZKR__DO_PACE));
    w.quiet = w.quiet || (actions & ZKR__DO_QUIET);
}

static void tell(struct zkr__claim_event e)
{
    bool held = w.k.phase == ZKR__HELD;
    bool left = w.k.leaving;
    e.connected = w.connected;
    e.sure = w.sure;
    e.ample = w.sure && !chance(4);
    e.patient = !chance(RARE);
    unsigned actions = zkr__claim_step(&w.k, &e);
    carry_out(actions);
    if (w.k.phase != ZKR__PARKED) {
        w.ahead = -1;
        w.dir_ahead = false;
    }
    check_held(held);
    assert_false(left && w.k.phase == ZKR__HELD);
    if (w.k.phase == ZKR__GONE) {
        assert_int_equal(w.node, 0); /* nothing of us on the server */
        for (size_t i = 0; i < w.up.count; i++) {
            assert_true(w.up.list[(w.up.head + i) % QUEUE_MAX].request != CREATE);
        }
    }
}

/* What claim_answers.c makes of a list. */
static void judge(struct zkr__claim_event *e, const struct message *m)
{
    int before = -1;
    int count = 0;
    for (int i = 0; i < OTHERS_MAX; i++) {
        if (m->lists[i] && !w.others[i].dying) {
            before = i;
            count++;
        }
    }
    if (w.k.phase == ZKR__FINDING) {
        w.named = m->lists_own ? w.made : 0;
        w.adopted += m->lists_own;
    }
    e->found = m->lists_own;
    e->granted = count == 0;
    e->once = w.once;
    e->then = chance(8)    ? ZKR__THEN_LOOK
              : count == 1 ? ZKR__THEN_OURS
                           : ZKR__THEN_OURS_IF_HELD;
    if (w.k.phase != ZKR__LISTING || !e->found || e->granted) {
        return;
    }
    if (w.all_children) {
        e->wait = ZKR__WAIT_CHILDREN;
        e->then = ZKR__THEN_LOOK;
        w.dir_ahead = true;
    } else {
        w.ahead = before;
        e->wait = w.others[before].local ? ZKR__WAIT_NEIGHBOUR : ZKR__WAIT_NODE;
    }
}

static void on_answer(const struct message *m)
{
    static const enum zkr__event_kind kinds[] = {
        [CREATE] = ZKR__EV_CREATED,   [LIST] = ZKR__EV_LISTED,
        [OWN] = ZKR__EV_GOT_OWN,      [AHEAD] = ZKR__EV_GOT_AHEAD,
        [PROVE] = ZKR__EV_PROVED,     [REMOVE] = ZKR__EV_REMOVED,
        [RESTORE] = ZKR__EV_RESTORED,
    };
    if (m->code == ZKR_OK && m->request == OWN) {
        w.own_known = m->node;
    }
    if (m->code == ZKR_OK && m->request == LIST && m->of_dir) {
        w.dir_seen = m->at;
    }
    if (m->code == ZKR_OK && m->request == AHEAD) {
        w.others[m->other].known = true;
    }
    if (m->request == PARENTS || m->round != w.k.round) {
        return;
    }
    struct zkr__claim_event e = {
        .kind = kinds[m->request], .code = m->code, .ours = true};
    e.wish = m->request == OWN && m->code == ZKR_OK ? m->wish : 0;
    if (m->code == ZKR_OK && m->request == CREATE) {
        w.named = w.made;
    }
    if (m->code == ZKR_OK && m->request == LIST) {
        judge(&e, m);
    }
    tell(e);
}

static void on_event(const struct message *m)
{
    if (m->of_dir) {
        w.dir_seen = 0;
        if (w.dir_ahead) {
            w.dir_events++;
            tell((struct zkr__claim_event){.kind = ZKR__EV_AHEAD_CHANGED});
        }
        return;
    }
    if (m->other >= 0) {
        w.others[m->other].known = false;
        /* One of this client is not watched: the event is about who stood there before. */
        if (w.ahead == m->other && !w.others[m->other].local) {
            tell((struct zkr__claim_event){.kind = m->gone ? ZKR__EV_AHEAD_GONE
                                                           : ZKR__EV_AHEAD_CHANGED});
        }
        return;
    }
    w.own_known = 0;
    if (w.named == m->node && w.named != 0 && zkr__claim_stage(&w.k) != ZKR__CREATING) {
        tell((struct zkr__claim_event){.kind = m->gone ? ZKR__EV_OWN_GONE
                                                       : ZKR__EV_OWN_CHANGED});
    }
}

static void deliver_one(void)
{
    if (w.down.count > 0) {
        struct message m = pop(&w.down);
        w.view = m.at > w.view ? m.at : w.view;
        if (m.is_event) {
            on_event(&m);
        } else {
            on_answer(&m);
        }
    }
}

/* --- the connection and the session --- */

static void disconnect(bool executed)
{
    w.connected = false;
    for (size_t i = zkt_below(&w.seed, 4) ? w.up.count : 0; i > 0 && executed; i--) {
        serve_one();
    }
    struct fifo lost = {.count = 0};
    for (struct fifo *f = &w.down; f; f = f == &w.down ? &w.up : NULL) {
        while (f->count > 0) {
            struct message m = pop(f);
            if (!m.is_event) {
                *push(&lost) = m;
            } else if (m.of_dir) {
                continue; /* the change is newer than what was seen */
            } else if (m.other >= 0) {
                w.others[m.other].news = !m.gone;
            } else {
                w.own_news = !m.gone;
            }
        }
    }
    while (lost.count > 0) {
        struct message m = pop(&lost);
        m.code = ZKR_ECONNLOSS;
        m.at = 0;
        *push(&w.down) = m;
        w.lost_replies++;
    }
    w.own_armed = w.dir_armed = false;
    for (int i = 0; i < OTHERS_MAX; i++) {
        w.others[i].armed = false;
    }
}

/* libzookeeper sets its watches again; what they have missed comes at once. */
static void connect_again(void)
{
    w.connected = true;
    if (w.own_known != 0 && (w.own_known != w.node || w.own_news)) {
        event_about(w.own_known, -1, w.own_known != w.node);
    } else {
        w.own_armed = w.own_known != 0;
    }
    w.own_news = false;
    w.dir_armed = w.dir_seen != 0;
    if (w.dir_armed && w.dir_changed > w.dir_seen) {
        dir_event();
    }
    for (int i = 0; i < OTHERS_MAX; i++) {
        struct other *o = &w.others[i];
        if (o->known && (!o->alive || o->news)) {
            event_about(0, i, !o->alive);
        } else {
            o->armed = o->known;
        }
        o->news = false;
    }
    tell((struct zkr__claim_event){.kind = ZKR__EV_CONNECTED});
}

static void end_session(void)
{
    w.own_armed = false;
    delete_own();
    for (int i = 0; i < OTHERS_MAX; i++) {
        w.others[i].alive = w.others[i].alive && !w.others[i].local;
    }
    w.session_over = true;
    if (w.connected) {
        disconnect(false);
    }
}

static void learn_of_the_end(void)
{
    w.up.count = w.down.count = 0;
    w.own_known = 0;
    w.own_news = w.dir_armed = false;
    w.dir_seen = 0;
    for (int i = 0; i < OTHERS_MAX; i++) {
        w.others[i].known = w.others[i].news = false;
    }
    tell((struct zkr__claim_event){.kind = ZKR__EV_SESSION_OVER});
    w.session_over = false;
    w.sure = true; /* the next session's opening */
}

/* --- what happens --- */

/* A neighbour of this client lets go: a holder passes the lock on, a waiter just leaves. */
static void neighbour_leaves(void)
{
    int i = w.ahead;
    for (int j = 0; j < OTHERS_MAX && w.dir_ahead; j++) {
        struct other *o = &w.others[j];
        o->dying = o->dying || (o->local && chance(2));
    }
    if (i >= 0 && w.others[i].local && !w.others[i].dying) {
        bool first = true;
        for (int j = 0; j < i; j++) {
            first = first && !w.others[j].alive;
        }
        w.others[i].dying = true;
        w.ahead = -1;
        tell((struct zkr__claim_event){.kind = first ? ZKR__EV_AHEAD_RELEASED
                                                     : ZKR__EV_AHEAD_GONE});
    }
}

static void other_changes(void)
{
    int i = (int)zkt_below(&w.seed, OTHERS_MAX);
    struct other *o = &w.others[i];
    if (o->alive && (!o->local || o->dying) && !chance(4)) {
        delete_other(i);
    } else if (o->armed) {
        w.now++;
        o->armed = false;
        event_about(0, i, false);
    }
}

static void own_changes(void)
{
    if (chance(2)) {
        delete_own();
    } else if (w.own_armed || (w.node != 0 && chance(4))) {
        set_own(chance(2));
    }
}

static void parent_vanishes(void)
{
    bool empty = w.node == 0;
    for (int i = 0; i < OTHERS_MAX; i++) {
        empty = empty && !w.others[i].alive;
    }
    w.parent = w.parent && !empty;
}

static void connection_changes(void)
{
    if (w.session_over) {
        learn_of_the_end();
    } else if (w.connected) {
        disconnect(true);
    } else if (w.down.count == 0) {
        connect_again();
    }
}

static void fire(bool *timer, enum zkr__event_kind kind)
{
    if (*timer) {
        *timer = false;
        tell((struct zkr__claim_event){.kind = kind});
    }
}

static void lease_changes(void)
{
    if (w.sure || w.session_over) {
        w.sure = false;
    } else {
        w.sure = w.connected;
    }
    if (!w.sure) {
        tell((struct zkr__claim_event){.kind = ZKR__EV_LEASE_EXPIRED});
    }
}

static void begin_claim(void)
{
    if (w.k.phase == ZKR__GONE) {
        unsigned round = w.k.round + 1; /* what is on its way is not for the new one */
        w.k = (struct zkr__claim_state){
            .round = round, .keeps_place = chance(2), .member = chance(4)};
        w.once = chance(4);
        w.all_children = chance(8);
        w.named = 0;
        w.ahead = -1;
        w.retry = w.quiet = false;
        tell((struct zkr__claim_event){.kind = ZKR__EV_START});
    }
}

static void others_are_ready(void)
{
    if (w.k.member) {
        tell((struct zkr__claim_event){.kind = ZKR__EV_ALL_READY});
    }
}

static void leave_claim(void)
{
    w.ended[w.k.phase]++;
    tell((struct zkr__claim_event){.kind = ZKR__EV_LEAVE});
}

static void anything(void)
{
    int64_t what = zkt_below(&w.seed, 4 * RARE);
    if (what < RARE) {
        serve_one();
    } else if (what < 2 * RARE) {
        deliver_one();
    } else if (what < 3 * RARE) {
        begin_claim();
        fire(&w.retry, ZKR__EV_PAUSE_OVER);
        if (chance(2)) {
            others_are_ready();
        }
    } else if (what < 3 * RARE + 4) {
        fire(&w.quiet, ZKR__EV_QUIET);
    } else if (what < 3 * RARE + 8) {
        neighbour_leaves();
    } else if (what < 3 * RARE + 16) {
        other_changes();
    } else if (what < 3 * RARE + 17) {
        own_changes();
    } else if (what < 3 * RARE + 18) {
        parent_vanishes();
    } else if (what < 3 * RARE + 20 || !w.connected) {
        connection_changes();
    } else if (what < 3 * RARE + 21) {
        lease_changes();
    } else if (what < 3 * RARE + 22 && !w.sure && !w.session_over) {
        end_session();
    } else if (what < 3 * RARE + 23) {
        leave_claim();
    } else if (what < 3 * RARE + 24 && chance(4)) {
        tell((struct zkr__claim_event){.kind = ZKR__EV_GIVE_UP, .code = ZKR_ETIMEDOUT});
    }
}

static bool at_rest(void)
{
    return w.k.phase != ZKR__PARKED && w.k.phase != ZKR__READY && w.connected &&
           w.up.count == 0 && w.down.count == 0 && !w.retry;
}

/* Nothing fails any more, and the others go away: the claim must be granted, or over. */
static void calm_down(void)
{
    for (int i = 0; i < CALM_STEPS && !at_rest(); i++) {
        if (!w.connected && (w.down.count == 0 || w.session_over)) {
            connection_changes();
        }
        w.sure = w.connected;
        serve_one();
        deliver_one();
        fire(&w.retry, ZKR__EV_PAUSE_OVER);
        others_are_ready();
        neighbour_leaves();
        other_changes();
    }
    assert_true(w.k.phase == ZKR__HELD || w.k.phase == ZKR__GONE);
    for (int i = 0; i < CALM_STEPS && w.k.phase == ZKR__HELD && w.wish != 0; i++) {
        fire(&w.quiet, ZKR__EV_QUIET);
        serve_one();
        deliver_one();
    }
    assert_int_equal(w.k.phase == ZKR__HELD ? w.wish : 0,
                     0); /* seen, and written over */
}

static void begin_walk(uint64_t seed)
{
    w = (struct world){.seed = seed, .parent = true, .ahead = -1, .sure = true};
    w.k.phase = ZKR__GONE;
}

/* Held only with a node, only when first; gone only without one; and always getting somewhere. */
static void a_claim_is_right_on_a_long_random_walk(void **state)
{
    (void)state;
    begin_walk(11);
    for (int i = 1; i <= STEPS; i++) {
        anything();
        if (i % 1000 == 0) {
            calm_down();
        }
    }
    assert_true(w.held > STEPS / 1000); /* it did get around */
    assert_true(w.adopted > STEPS / 10000);
    assert_true(w.lost_replies > STEPS / 1000);
    assert_true(w.dir_events > STEPS / 10000);
    assert_true(w.wishes > STEPS / 100000);
    for (int phase = ZKR__PAUSED; phase <= ZKR__GONE; phase++) {
        assert_true(w.ended[phase] > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_is_right_on_a_long_random_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

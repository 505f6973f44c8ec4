/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A claim among all that can happen to it: requests in flight, answered in their order with whatever code, news,
 * timers, a connection that comes and goes. Each step keeps its promises and leaves something that will go on.
 * Who chooses what happens: zkt_below(), for the test at random, for the fuzz target by its input.
 */
#ifndef ZKT_CLAIM_WALK_H
#define ZKT_CLAIM_WALK_H

#include "claim_promises.h"
#include "unit.h"

/* ---- what is true of each step: a broken promise ------------------------------------- */

static struct zkr__claim_state last_k; /* for the report */
static struct zkr__claim_event last_e;

static void must(bool fine, const char *what)
{
    const struct zkr__claim_state *k = &last_k;
    const struct zkr__claim_event *e = &last_e;
    if (!fine) {
        fail_msg("%s: phase %d next %d own %d%s%s; event %d code %d%s%s%s%s%s%s", what,
                 (int)k->phase, (int)k->next, (int)k->own, k->leaving ? " leaving" : "",
                 k->keeps_place ? " keeps_place" : "", (int)e->kind, e->code,
                 e->connected ? " connected" : "", e->sure ? " sure" : "",
                 e->patient ? " patient" : "", e->found ? " found" : "",
                 e->granted ? " granted" : "", e->ours ? " ours" : "");
    }
}

/* ---- the world of a claim ------------------------------------------------------------ */

enum { IN_FLIGHT_MAX = 8, FAILURES_MAX = 3, CALM_STEPS = 60 };

/* What a claim asks for comes back as this event. */
static const struct {
    unsigned action;
    enum zkr__event_kind answer;
} requests[] = {
    {ZKR__DO_CREATE, ZKR__EV_CREATED},        {ZKR__DO_GET_OWN, ZKR__EV_GOT_OWN},
    {ZKR__DO_FIND, ZKR__EV_LISTED},           {ZKR__DO_LIST, ZKR__EV_LISTED},
    {ZKR__DO_GET_AHEAD, ZKR__EV_GOT_AHEAD},   {ZKR__DO_PROVE, ZKR__EV_PROVED},
    {ZKR__DO_REMOVE, ZKR__EV_REMOVED},        {ZKR__DO_DOWNGRADE, ZKR__EV_DOWNGRADED},
    {ZKR__DO_RESTORE, ZKR__EV_RESTORED},      {ZKR__DO_ASK_OWNER, ZKR__EV_GOT_OWNER},
    {ZKR__DO_GET_BEFORE, ZKR__EV_GOT_BEFORE},
};

static const unsigned sending =
    ZKR__DO_PARENTS | ZKR__DO_CREATE | ZKR__DO_FIND | ZKR__DO_GET_OWN | ZKR__DO_LIST |
    ZKR__DO_GET_AHEAD | ZKR__DO_PROVE | ZKR__DO_REMOVE | ZKR__DO_DOWNGRADE |
    ZKR__DO_RESTORE | ZKR__DO_ASK_OWNER | ZKR__DO_GET_BEFORE;

static const int codes[] = {ZKR_OK,        ZKR_ECONNLOSS,     ZKR_ESESSION,
                            ZKR_ENONODE,   ZKR_ENOMEM,        ZKR_EAUTH,
                            ZKR_EZK(-127), ZKR__OTHER_VERSION};

struct world {
    uint64_t seed;
    struct zkr__claim_state k;
    enum zkr__event_kind in_flight[IN_FLIGHT_MAX];
    size_t count;
    bool connected;
    bool retry, quiet; /* timers */
    bool ahead;        /* its end will be told: a watch, or it is of this client */
    bool before;       /* the end of the one before that will be told: a watch */
    int others;        /* so many may be ahead of it, as far as it can know; 3 = more */
    bool foreseen;     /* others than one were, by the last list */
    bool once;         /* not to wait */
    bool bare;         /* no list went out with the create */
    long reached[2][ZKR__GONE + 1]; /* not left, left */
    long decided;
    long looks[ZKR__BEHIND_FIRST + 1]; /* steps that ended so far ahead */
};

static struct world w;

static bool is_asked(enum zkr__event_kind answer)
{
    bool found = false;
    for (size_t i = 0; i < w.count; i++) {
        found = found || w.in_flight[i] == answer;
    }
    return found;
}

/* When it is in its place, too. */
static void check_progress(void)
{
    const struct zkr__claim_state *k = &w.k;
    switch (k->phase) {
    case ZKR__PAUSED:
        must(w.retry || !w.connected, "paused for ever");
        break;
    case ZKR__PARKED:
        must(w.count > 0 || w.ahead, "parked behind nobody");
        must(k->own != ZKR__OWN_ASKED || w.count > 0, "own watch asked for by nobody");
        must(k->look != ZKR__LOOK_ASKED || is_asked(ZKR__EV_LISTED), "looks for ever");
        must(!zkr__claim_watches_before(k) || w.before || is_asked(ZKR__EV_GOT_BEFORE),
             "watches nobody before");
        break;
    case ZKR__LOOKING:
    case ZKR__CREATING:
    case ZKR__FINDING:
    case ZKR__ADOPTING:
    case ZKR__LISTING:
    case ZKR__CONFIRMING:
    case ZKR__PROVING:
    case ZKR__DOUBTED:
    case ZKR__REMOVING:
        must(w.count > 0, "nothing will ever happen");
        break;
    case ZKR__READY:
    case ZKR__HELD:
        must(k->downgrade != ZKR__DOWNGRADING || w.count > 0, "asked by nobody");
        must(k->downgrade != ZKR__DOWNGRADE_READS || is_asked(ZKR__EV_GOT_OWN),
             "read by nobody");
        must(k->downgrade != ZKR__DOWNGRADE_OWED || w.retry || !w.connected,
             "owed for ever");
        break;
    case ZKR__GONE:
        break;
    }
}

static void drop_list(void);

static void send_requests(unsigned actions)
{
    if (actions & ZKR__DO_LIST) {
        drop_list();
    }
    for (size_t i = 0; i < ZKT_COUNT(requests); i++) {
        if (actions & requests[i].action) {
            must(w.count + 1 < IN_FLIGHT_MAX, "too many requests");
            w.in_flight[w.count++] = requests[i].answer;
        }
    }
    if (actions & ZKR__DO_CREATE) {
        w.bare = zkt_below(&w.seed, 2) == 0;
        w.in_flight[w.count] = ZKR__EV_LISTED;
        w.count += !w.bare;
    }
}

/* Who needs it no more does not get it. */
static void drop_list(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < w.count; i++) {
        w.in_flight[kept] = w.in_flight[i];
        kept += w.in_flight[i] != ZKR__EV_LISTED;
    }
    w.count = kept;
}

static void after_step(const struct zkr__claim_event *e, unsigned actions)
{
    struct zkr__claim_state *k = &w.k;
    if (k->round != last_k.round) {
        w.count = 0;
    }
    k->round = 0;
    k->failures = k->failures < FAILURES_MAX ? k->failures : FAILURES_MAX;
    if (!zkr__claim_awaits_list(k)) {
        drop_list();
    }
    send_requests(actions);
    w.retry = w.retry || (actions & (ZKR__DO_RETRY | ZKR__DO_PACE));
    w.quiet = w.quiet || (actions & (ZKR__DO_QUIET | ZKR__DO_LOOK_LATER));
    if (e->kind == ZKR__EV_AHEAD_GONE || e->kind == ZKR__EV_AHEAD_RELEASED ||
        e->kind == ZKR__EV_AHEAD_CHANGED || k->phase != ZKR__PARKED) {
        w.ahead = false;
    }
    if (e->kind == ZKR__EV_GOT_AHEAD && k->phase == ZKR__PARKED &&
        (e->code == ZKR_OK || e->code == ZKR_EAUTH)) {
        w.ahead = true; /* of what may not be read any more, UNHEARD comes */
    }
    if (e->kind == ZKR__EV_LISTED && k->phase == ZKR__PARKED &&
        (last_k.phase != ZKR__PARKED || (e->code == ZKR_OK && !e->same))) {
        /* Only a list that was sent with a watch leaves one at the directory. */
        w.ahead = e->wait == ZKR__WAIT_NEIGHBOUR ||
                  (e->wait == ZKR__WAIT_CHILDREN && last_k.watch_children);
    }
    if (e->placed && k->phase == ZKR__PARKED) {
        w.ahead = true;
    }
    if (e->kind == ZKR__EV_GOT_BEFORE) {
        w.before = e->code == ZKR_OK && !e->unwatched;
    }
    w.before = w.before && zkr__claim_watches_before(k) &&
               e->kind != ZKR__EV_BEFORE_GONE && e->kind != ZKR__EV_BEFORE_CHANGED;
    if (k->phase == ZKR__GONE) {
        w.retry = w.quiet = false;
    }
}

/* What a list, or a number, has told, and what was deleted since. */
static void count_others(const struct zkr__claim_event *e)
{
    bool told = e->placed || (e->kind == ZKR__EV_LISTED && e->code == ZKR_OK);
    bool gone = e->kind == ZKR__EV_BEFORE_GONE ||
                (e->kind == ZKR__EV_GOT_BEFORE && e->code == ZKR_ENONODE);
    if (told && w.k.phase == ZKR__PARKED) {
        w.foreseen =
            (last_k.phase == ZKR__PARKED && e->same) || e->then != ZKR__THEN_OURS;
        w.others = e->then == ZKR__THEN_OURS ? 1 : e->look == ZKR__BEHIND_TWO ? 2 : 3;
    } else if (gone && w.others == 2) {
        w.others = 1;
    } else if (e->kind == ZKR__EV_CONNECTED && w.foreseen) {
        w.others = 3;
    }
}

/* An event grants only who knows of all others that they are gone, and of itself that it is not; and is surely alive. */
static void check_grant(const struct zkr__claim_event *e)
{
    bool gone = e->kind == ZKR__EV_AHEAD_GONE ||
                (e->kind == ZKR__EV_GOT_AHEAD && e->code == ZKR_ENONODE);
    bool held = last_k.phase != ZKR__HELD && w.k.phase == ZKR__HELD;
    bool moved = held || w.k.phase == ZKR__CONFIRMING;
    if (last_k.phase == ZKR__PARKED && gone && moved) {
        must(w.others == 1, "granted before others");
        must(!held || (last_k.own == ZKR__OWN_SET && e->connected), "granted blindly");
    }
    must(!held || e->ample || e->kind == ZKR__EV_PROVED, "granted with little left");
}

static void step(const struct zkr__claim_event *e)
{
    last_k = w.k;
    last_e = *e;
    unsigned actions = zkr__claim_step(&w.k, e);
    check_safety(&last_k, e, &w.k, actions);
    must(w.connected || !(actions & sending), "sent without a connection");
    check_grant(e);
    count_others(e);
    bool about = (actions & (ZKR__DO_GET_AHEAD | ZKR__DO_GET_BEFORE)) != 0;
    must(!about || !zkr__claim_awaits_list(&w.k),
         "an answer that may be about another");
    after_step(e, actions);
    check_progress();
}

/* ---- what can happen ----------------------------------------------------------------- */

static bool chance(int64_t n)
{
    return zkt_below(&w.seed, n) == 0;
}

static void happens(struct zkr__claim_event e)
{
    e.connected = w.connected;
    e.sure = !chance(8);
    e.ample = e.sure && !chance(8);
    e.patient = !chance(16);
    e.wary = w.once && chance(2);
    step(&e);
    w.reached[w.k.leaving][w.k.phase]++;
    w.looks[w.k.look] += w.k.phase == ZKR__PARKED;
}

static void news(enum zkr__event_kind kind)
{
    happens((struct zkr__claim_event){.kind = kind, .code = ZKR_ETIMEDOUT});
}

static enum zkr__event_kind next_answer(void)
{
    const enum zkr__event_kind kind = w.in_flight[0];
    w.count--;
    memmove(w.in_flight, w.in_flight + 1, w.count * sizeof(w.in_flight[0]));
    return kind;
}

static void answer(void)
{
    struct zkr__claim_event e = {.kind = next_answer(), .once = w.once};
    e.code = !w.connected ? ZKR_ECONNLOSS
             : chance(4)  ? codes[zkt_below(&w.seed, ZKT_COUNT(codes))]
                          : ZKR_OK;
    e.hopeless = chance(4);
    e.ours = !chance(8);
    e.found = !chance(8);
    e.refused = chance(4);
    e.unwatched = e.kind == ZKR__EV_GOT_BEFORE && chance(8);
    if (e.code == ZKR_OK) { /* what lists and nodes say counts only with success */
        e.revocation = chance(4) ? (int)zkt_below(&w.seed, 3) : 0;
        e.exhausted = chance(16);
        e.granted = chance(3);
        e.wait = (enum zkr__wait)zkt_below(&w.seed, 3);
        e.then = (enum zkr__then)zkt_below(&w.seed, 3);
    }
    if (e.kind == ZKR__EV_CREATED) {
        e.bare = w.bare;
        e.placed = e.code == ZKR_OK && !e.exhausted && !w.k.leaving && chance(2);
        e.wait = e.placed ? ZKR__WAIT_NEIGHBOUR : e.wait;
    }
    if (e.code == ZKR_OK && e.wait == ZKR__WAIT_NODE && !w.k.member && !chance(4)) {
        e.look = e.then == ZKR__THEN_OURS     ? ZKR__BEHIND_FIRST
                 : e.then == ZKR__THEN_LOOK   ? ZKR__LOOKS_NOT
                 : zkt_below(&w.seed, 2) == 0 ? ZKR__BEHIND_TWO
                                              : ZKR__BEHIND_MORE;
    }
    e.same = w.k.phase == ZKR__PARKED && e.wait == ZKR__WAIT_NODE && !chance(4);
    happens(e);
}

static void own_node_changes(void)
{
    if (has_node(&w.k) && chance(4)) {
        news(ZKR__EV_OWN_GONE);
    } else if (w.k.own == ZKR__OWN_SET) {
        news(ZKR__EV_OWN_CHANGED);
    }
}

static void ahead_changes(void)
{
    static const enum zkr__event_kind kinds[] = {
        ZKR__EV_AHEAD_GONE, ZKR__EV_AHEAD_RELEASED, ZKR__EV_AHEAD_CHANGED,
        ZKR__EV_AHEAD_WRITES, ZKR__EV_AHEAD_MISSING};
    if (w.ahead) {
        news(kinds[zkt_below(&w.seed, ZKT_COUNT(kinds))]);
    }
}

static void connection_changes(void)
{
    if (w.connected) {
        w.connected = false;
    } else if (w.count == 0) { /* what was in flight has been answered before */
        w.connected = true;
        news(ZKR__EV_CONNECTED);
    }
}

static void fire(bool *timer, enum zkr__event_kind kind)
{
    if (*timer) {
        *timer = false;
        news(kind);
    }
}

static void session_ends(void)
{
    w.connected = false;
    news(ZKR__EV_SESSION_OVER);
}

/* Late timers, answers to what nobody asked, events of another time: no harm in any state. */
static void out_of_place(void)
{
    struct zkr__claim_event e = {
        .kind = (enum zkr__event_kind)zkt_below(&w.seed, ZKR__EV_KINDS),
        .code = codes[zkt_below(&w.seed, ZKT_COUNT(codes))],
        .connected = chance(2),
        .sure = chance(2),
        .patient = chance(2),
        .found = chance(2),
        .ours = chance(2)};
    const bool no_meaning = e.kind == ZKR__EV_START || e.kind == ZKR__EV_WRITING ||
                            (e.kind == ZKR__EV_GIVE_UP && e.code == ZKR_OK);
    struct zkr__claim_state k = w.k;
    e.ample = e.sure;
    e.granted = e.exhausted = e.code == ZKR_OK && chance(2);
    e.revocation = e.granted;
    if (!no_meaning) {
        last_k = w.k;
        last_e = e;
        check_safety(&last_k, &e, &k, zkr__claim_step(&k, &e));
    }
}

static void begin_claim(void)
{
    w.k = (struct zkr__claim_state){.keeps_place = chance(2), .member = chance(4)};
    w.once = chance(8);
    w.count = 0;
    w.retry = w.quiet = w.ahead = w.before = false;
    news(ZKR__EV_START);
}

static void rare(void)
{
    switch (zkt_below(&w.seed, 9)) {
    case 8:
        if (w.count == 0) { /* after some session timeouts: all is answered by then */
            news(ZKR__EV_UNHEARD);
        }
        break;
    case 0:
        news(ZKR__EV_LEAVE);
        break;
    case 1:
        news(ZKR__EV_GIVE_UP);
        break;
    case 2:
        session_ends();
        break;
    case 3:
        news(ZKR__EV_LEASE_EXPIRED);
        break;
    case 4:
        if (w.k.phase == ZKR__HELD && !w.k.keeps_place) { /* no latch does */
            news(ZKR__EV_DOWNGRADE);
        }
        break;
    default:
        own_node_changes();
        break;
    }
}

static void anything(void)
{
    const int64_t what = zkt_below(&w.seed, 32);
    if (w.k.phase == ZKR__GONE) {
        begin_claim();
    } else if (w.before && chance(2)) { /* rare enough */
        news(chance(4) ? ZKR__EV_BEFORE_CHANGED : ZKR__EV_BEFORE_GONE);
    } else if (w.k.phase == ZKR__PARKED && w.k.look != ZKR__LOOKS_NOT && chance(4)) {
        ahead_changes();
    } else if (what < 16 && w.count > 0) {
        answer();
    } else if (what < 20) {
        fire(&w.retry, ZKR__EV_PAUSE_OVER);
    } else if (what < 22) {
        fire(&w.quiet, ZKR__EV_QUIET);
    } else if (what < 24) {
        ahead_changes();
    } else if (what < 26 && w.k.member) {
        news(ZKR__EV_ALL_READY);
    } else if (what < 28) {
        connection_changes();
    } else if (what < 30) {
        out_of_place();
    } else if (chance(2)) {
        rare();
    }
}

/* ---- the end ------------------------------------------------------------------------- */

/* The most favourable thing that can happen next; false when there is nothing. */
static bool go_on(bool found)
{
    struct zkr__claim_event e = {
        .connected = true, .sure = true, .ample = true, .patient = true};
    if (w.count > 0) {
        e.kind = next_answer();
        e.code = w.connected ? ZKR_OK : ZKR_ECONNLOSS;
        e.connected = w.connected;
        e.ours = true;
        e.found = found;
        e.bare = w.bare;
        e.granted = true;
    } else if (!w.connected) {
        w.connected = true;
        e.kind = ZKR__EV_CONNECTED;
    } else if (w.retry) {
        w.retry = false;
        e.kind = ZKR__EV_PAUSE_OVER;
    } else if (w.k.phase == ZKR__PARKED) {
        e.kind = ZKR__EV_AHEAD_GONE;
    } else if (w.k.phase == ZKR__READY) {
        e.kind = ZKR__EV_ALL_READY;
    } else {
        return false;
    }
    step(&e);
    return true;
}

static enum zkr__phase end_of(const struct world *from, bool found)
{
    w = *from;
    for (int i = 0; go_on(found); i++) {
        must(i < CALM_STEPS, "no end");
    }
    return w.k.phase;
}

/*
 * Once the server answers again: left, nothing stays, whether its node is there or not; not left, it is granted,
 * or was decided before.
 */
static void check_ends(void)
{
    const struct world here = w;
    const struct zkr__claim_event leave = {
        .kind = ZKR__EV_LEAVE, .connected = w.connected, .sure = true};
    const bool over =
        w.k.leaving || w.k.failure != 0 || w.k.lost != 0 || w.k.place_lost;
    const enum zkr__phase end = end_of(&here, true);
    must(end == (over ? ZKR__GONE : ZKR__HELD), "it waits");
    w = here;
    step(&leave);
    const struct world left = w;
    must(end_of(&left, true) == ZKR__GONE, "it stays");
    must(end_of(&left, false) == ZKR__GONE, "it stays");
    w = here;
    w.decided += end == ZKR__HELD;
}

static void begin_walk(uint64_t seed)
{
    w = (struct world){.seed = seed, .connected = true};
    begin_claim();
}

#endif

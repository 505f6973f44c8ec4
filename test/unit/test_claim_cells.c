/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every state a claim can get into, and in each of them everything that can happen. The states
 * are searched breadth first: the claim, its requests in flight in their order, the connection,
 * its timers and its watch on the one ahead.
 */
#include <stdlib.h>

#include <zkr/client.h>

#include "claim_checks.h"
#include "engine/claim_events.h"
#include "unit.h"

enum { IN_FLIGHT_MAX = 6, TABLE_SIZE = 1 << 18, FAILURES_MAX = 3, CALM_STEPS = 60 };

/* What a claim asks for comes back as this event. */
static const struct {
    unsigned action;
    enum zkr__event_kind answer;
} requests[] = {
    {ZKR__DO_CREATE, ZKR__EV_CREATED},      {ZKR__DO_GET_OWN, ZKR__EV_GOT_OWN},
    {ZKR__DO_FIND, ZKR__EV_LISTED},         {ZKR__DO_LIST, ZKR__EV_LISTED},
    {ZKR__DO_GET_AHEAD, ZKR__EV_GOT_AHEAD}, {ZKR__DO_PROVE, ZKR__EV_PROVED},
    {ZKR__DO_REMOVE, ZKR__EV_REMOVED},      {ZKR__DO_DOWNGRADE, ZKR__EV_DOWNGRADED},
    {ZKR__DO_RESTORE, ZKR__EV_RESTORED},
};

static const unsigned sending = ZKR__DO_PARENTS | ZKR__DO_CREATE | ZKR__DO_FIND |
                                ZKR__DO_GET_OWN | ZKR__DO_LIST | ZKR__DO_GET_AHEAD |
                                ZKR__DO_PROVE | ZKR__DO_REMOVE | ZKR__DO_DOWNGRADE |
                                ZKR__DO_RESTORE;

static const int codes[] = {ZKR_OK,     ZKR_ECONNLOSS, ZKR_ESESSION, ZKR_ENONODE,
                            ZKR_ENOMEM, ZKR_EAUTH,     ZKR_EZK(-127)};

struct world {
    struct zkr__claim_state k;
    enum zkr__event_kind in_flight[IN_FLIGHT_MAX];
    size_t count;
    bool connected;
    bool retry, quiet; /* timers */
    bool ahead;        /* its end will be told: a watch, or it is of this client */
    bool once;         /* not to wait */
};

/* --- a table of the states seen --- */

static uint64_t key_of(const struct world *w)
{
    const struct zkr__claim_state *k = &w->k;
    const unsigned fields[][2] = {
        {(unsigned)k->phase, 4},
        {k->phase == ZKR__PAUSED ? (unsigned)k->next : 0, 4},
        {k->phase == ZKR__PARKED ? (unsigned)k->then : 0, 2},
        {(unsigned)k->own, 2},
        {(unsigned)k->downgrade, 2},
        {(unsigned)k->failures, 2},
        {k->leaving, 1},
        {k->made_parents, 1},
        {k->wish != 0, 1},
        {k->told != 0, 1},
        {k->failure != 0, 1},
        {k->lost != 0, 1},
        {k->keeps_place, 1},
        {k->watch_children, 1},
        {k->member, 1},
        {k->displaced, 1},
        {w->connected, 1},
        {w->retry, 1},
        {w->quiet, 1},
        {w->ahead, 1},
        {w->once, 1},
        {(unsigned)w->count, 3},
    };
    uint64_t key = 1;
    for (size_t i = 0; i < ZKT_COUNT(fields); i++) {
        key = key << fields[i][1] | fields[i][0];
    }
    for (size_t i = 0; i < w->count; i++) {
        key = key << 5 | (unsigned)w->in_flight[i];
    }
    return key;
}

static uint64_t seen[TABLE_SIZE];
static struct world queue[TABLE_SIZE];
static size_t queued;

/* Has it not been seen before? */
static bool note(const struct world *w)
{
    uint64_t key = key_of(w);
    size_t at = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 46;
    while (seen[at] != 0 && seen[at] != key) {
        at = (at + 1) % TABLE_SIZE;
    }
    bool is_new = seen[at] == 0;
    seen[at] = key;
    return is_new;
}

static void visit(const struct world *w)
{
    if (note(w)) {
        if (queued == TABLE_SIZE * 3 / 4) {
            fail_msg("more states than expected: %zu", queued);
        }
        queue[queued++] = *w;
    }
}

/* --- what must always be true --- */

/* When it is in its place, too. */
static void check_progress(const struct world *w)
{
    const struct zkr__claim_state *k = &w->k;
    switch (k->phase) {
    case ZKR__PAUSED:
        must(w->retry || !w->connected, "paused for ever");
        break;
    case ZKR__PARKED:
        must(w->count > 0 || w->ahead, "parked behind nobody");
        must(k->own != ZKR__OWN_ASKED || w->count > 0, "own watch asked for by nobody");
        break;
    case ZKR__CREATING:
    case ZKR__FINDING:
    case ZKR__ADOPTING:
    case ZKR__LISTING:
    case ZKR__CONFIRMING:
    case ZKR__PROVING:
    case ZKR__DOUBTED:
    case ZKR__REMOVING:
        must(w->count > 0, "nothing will ever happen");
        break;
    case ZKR__READY:
    case ZKR__HELD:
        must(k->downgrade != ZKR__DOWNGRADING || w->count > 0, "asked by nobody");
        must(k->downgrade != ZKR__DOWNGRADE_OWED || w->retry || !w->connected,
             "owed for ever");
        break;
    case ZKR__GONE:
        break;
    }
}

/* --- one step --- */

static void send_requests(struct world *w, unsigned actions)
{
    for (size_t i = 0; i < ZKT_COUNT(requests); i++) {
        if (actions & requests[i].action) {
            must(w->count + 1 < IN_FLIGHT_MAX, "too many requests");
            w->in_flight[w->count++] = requests[i].answer;
        }
    }
    if (actions & ZKR__DO_CREATE) {
        w->in_flight[w->count++] = ZKR__EV_LISTED;
    }
}

static void
after_step(struct world *w, const struct zkr__claim_event *e, unsigned actions)
{
    struct zkr__claim_state *k = &w->k;
    if (k->round != last_k.round) {
        w->count = 0;
    }
    k->round = 0;
    k->failures = k->failures < FAILURES_MAX ? k->failures : FAILURES_MAX;
    send_requests(w, actions);
    w->retry = w->retry || (actions & (ZKR__DO_RETRY | ZKR__DO_PACE));
    w->quiet = w->quiet || (actions & ZKR__DO_QUIET);
    if (e->kind == ZKR__EV_AHEAD_GONE || e->kind == ZKR__EV_AHEAD_RELEASED ||
        e->kind == ZKR__EV_AHEAD_CHANGED || k->phase != ZKR__PARKED) {
        w->ahead = false;
    }
    if (e->kind == ZKR__EV_GOT_AHEAD && e->code == ZKR_OK && k->phase == ZKR__PARKED) {
        w->ahead = true;
    }
    if (e->kind == ZKR__EV_LISTED && k->phase == ZKR__PARKED) {
        /* Only a list that was sent with a watch leaves one at the directory. */
        w->ahead = e->wait == ZKR__WAIT_NEIGHBOUR ||
                   (e->wait == ZKR__WAIT_CHILDREN && last_k.watch_children);
    }
    if (k->phase == ZKR__GONE) {
        w->retry = w->quiet = false;
    }
}

static struct world step(const struct world *from, const struct zkr__claim_event *e)
{
    struct world w = *from;
    last_k = w.k;
    last_e = *e;
    unsigned actions = zkr__claim_step(&w.k, e);
    check_safety(&last_k, e, &w.k, actions);
    must(w.connected || !(actions & sending), "sent without a connection");
    after_step(&w, e, actions);
    check_progress(&w);
    return w;
}

/* --- all that can happen --- */

/* With a lease that is sure, barely or not at all; with and without a retry left. */
static void try_event(const struct world *w, struct zkr__claim_event e)
{
    e.connected = w->connected;
    for (int i = 0; i < 6; i++) {
        e.sure = i / 2 > 0;
        e.ample = i / 2 > 1;
        e.patient = i % 2 != 0;
        struct world next = step(w, &e);
        visit(&next);
    }
}

static void try_answer(const struct world *from, struct zkr__claim_event e)
{
    struct world w = *from;
    e.kind = w.in_flight[0];
    e.once = w.once;
    w.count--;
    memmove(w.in_flight, w.in_flight + 1, w.count * sizeof(w.in_flight[0]));
    try_event(&w, e);
}

static void try_answers(const struct world *w)
{
    static const enum zkr__wait waits[] = {ZKR__WAIT_NODE, ZKR__WAIT_NEIGHBOUR,
                                           ZKR__WAIT_CHILDREN};
    static const enum zkr__then thens[] = {ZKR__THEN_LOOK, ZKR__THEN_OURS_IF_HELD,
                                           ZKR__THEN_OURS};
    for (size_t i = 0; i < ZKT_COUNT(codes); i++) {
        struct zkr__claim_event e = {.code = codes[i]};
        if (!w->connected && e.code != ZKR_ECONNLOSS) {
            continue;
        }
        try_answer(w, e);
        e.hopeless = e.ours = e.found = e.refused = true;
        try_answer(w, e);
        if (e.code != ZKR_OK) {
            continue;
        }
        e.wish = 1;
        try_answer(w, e);
        e.wish = 0;
        e.spent = e.granted = true;
        try_answer(w, e);
        e.granted = false;
        for (int j = 0; j < 9; j++) {
            e.wait = waits[j / 3];
            e.then = thens[j % 3];
            try_answer(w, e);
        }
    }
}

static void try_news(const struct world *w)
{
    struct world over = *w;
    over.connected = false;
    try_event(&over, (struct zkr__claim_event){.kind = ZKR__EV_SESSION_OVER});
    try_event(w, (struct zkr__claim_event){.kind = ZKR__EV_LEASE_EXPIRED});
    try_event(w, (struct zkr__claim_event){.kind = ZKR__EV_LEAVE});
    try_event(
        w, (struct zkr__claim_event){.kind = ZKR__EV_GIVE_UP, .code = ZKR_ETIMEDOUT});
    if (w->k.member) {
        try_event(w, (struct zkr__claim_event){.kind = ZKR__EV_ALL_READY});
    }
    if (has_node(&w->k)) {
        try_event(w, (struct zkr__claim_event){.kind = ZKR__EV_OWN_GONE});
    }
    if (w->k.phase == ZKR__HELD && !w->k.keeps_place) { /* no latch does */
        try_event(w, (struct zkr__claim_event){.kind = ZKR__EV_DOWNGRADE});
    }
    if (w->k.own == ZKR__OWN_SET) {
        try_event(w, (struct zkr__claim_event){.kind = ZKR__EV_OWN_CHANGED});
    }
    if (w->ahead) {
        try_event(w, (struct zkr__claim_event){.kind = ZKR__EV_AHEAD_GONE});
        try_event(w, (struct zkr__claim_event){.kind = ZKR__EV_AHEAD_RELEASED});
        try_event(w, (struct zkr__claim_event){.kind = ZKR__EV_AHEAD_CHANGED});
    }
}

static void try_timers_and_connection(const struct world *from)
{
    struct world w = *from;
    if (w.retry) {
        w.retry = false;
        try_event(&w, (struct zkr__claim_event){.kind = ZKR__EV_PAUSE_OVER});
        w = *from;
    }
    if (w.quiet) {
        w.quiet = false;
        try_event(&w, (struct zkr__claim_event){.kind = ZKR__EV_QUIET});
        w = *from;
    }
    w.connected = !w.connected;
    if (!w.connected) {
        visit(&w);
    } else if (w.count == 0) { /* what was in flight has been answered before */
        try_event(&w, (struct zkr__claim_event){.kind = ZKR__EV_CONNECTED});
    }
}

/* Done once, for all tests. */
static void search(void)
{
    static bool done;
    if (done) {
        return;
    }
    memset(seen, 0, sizeof(seen));
    queued = 0;
    for (int i = 0; i < 16; i++) {
        struct world w = {.connected = i & 1,
                          .once = (i & 2) != 0,
                          .k = {.keeps_place = (i & 4) != 0, .member = (i & 8) != 0}};
        try_event(&w, (struct zkr__claim_event){.kind = ZKR__EV_START});
    }
    for (size_t i = 0; i < queued; i++) {
        if (queue[i].count > 0) {
            try_answers(&queue[i]);
        }
        try_news(&queue[i]);
        try_timers_and_connection(&queue[i]);
    }
    done = true;
}

/* --- the tests --- */

/* From each state, whatever happens keeps the promises and leaves something that will go on. */
static void nothing_that_can_happen_breaks_a_claim(void **state)
{
    (void)state;
    bool reached[2][ZKR__GONE + 1][2] = {{{false}}};
    search();
    for (size_t i = 0; i < queued; i++) {
        const struct zkr__claim_state *k = &queue[i].k;
        reached[k->phase == ZKR__PAUSED][zkr__claim_stage(k)][k->leaving] = true;
    }
    for (enum zkr__phase phase = ZKR__CREATING; phase <= ZKR__GONE; phase++) {
        bool never_left = phase != ZKR__CREATING && phase != ZKR__FINDING &&
                          phase != ZKR__REMOVING && phase != ZKR__GONE;
        assert_true(reached[false][phase][false]);
        assert_int_equal(reached[false][phase][true], !never_left);
        assert_int_equal(reached[true][phase][false], may_pause(phase));
        assert_int_equal(reached[true][phase][true],
                         phase == ZKR__FINDING || phase == ZKR__REMOVING);
    }
}

static bool has_no_meaning(const struct zkr__claim_event *e)
{
    bool given_up_with_success = e->kind == ZKR__EV_GIVE_UP && e->code == ZKR_OK;
    return e->kind == ZKR__EV_START || given_up_with_success;
}

static void try_out_of_place(const struct zkr__claim_state *before,
                             struct zkr__claim_event e)
{
    /* What lists and nodes say counts only with success. */
    for (unsigned bits = 0; bits < (e.code == ZKR_OK ? 64U : 16U); bits++) {
        e.connected = bits & 1;
        e.sure = e.ample = bits & 2;
        e.patient = bits & 4;
        e.found = e.ours = e.hopeless = bits & 8;
        e.granted = e.spent = bits & 16;
        e.wish = bits & 16;
        e.then = bits & 32 ? ZKR__THEN_OURS : ZKR__THEN_LOOK;
        e.wait = bits & 32 ? ZKR__WAIT_NEIGHBOUR : ZKR__WAIT_CHILDREN;
        struct zkr__claim_state k = *before;
        last_k = k;
        last_e = e;
        unsigned actions = zkr__claim_step(&k, &e);
        check_safety(before, &e, &k, actions);
    }
}

/* Events out of place, as of a late timer or a confused server, do no harm in any state either. */
static void nothing_out_of_place_breaks_a_claim(void **state)
{
    (void)state;
    search();
    memset(seen, 0, sizeof(seen));
    for (size_t i = 0; i < queued; i++) {
        const struct world alone = {.k = queue[i].k};
        size_t cells = note(&alone) ? ZKT_COUNT(codes) * ZKR__EV_KINDS : 0;
        for (size_t j = 0; j < cells; j++) {
            const struct zkr__claim_event e = {
                .kind = (enum zkr__event_kind)(j / ZKT_COUNT(codes)),
                .code = codes[j % ZKT_COUNT(codes)]};
            if (!has_no_meaning(&e)) {
                try_out_of_place(&alone.k, e);
            }
        }
    }
}

/* The most favourable thing that can happen next; false when there is nothing. */
static bool go_on(struct world *w, bool found)
{
    struct zkr__claim_event e = {
        .connected = true, .sure = true, .ample = true, .patient = true};
    if (w->count > 0) {
        e.kind = w->in_flight[0];
        e.code = w->connected ? ZKR_OK : ZKR_ECONNLOSS;
        e.connected = w->connected;
        e.ours = true;
        e.found = found;
        e.granted = true;
        w->count--;
        memmove(w->in_flight, w->in_flight + 1, w->count * sizeof(w->in_flight[0]));
    } else if (!w->connected) {
        w->connected = true;
        e.kind = ZKR__EV_CONNECTED;
    } else if (w->retry) {
        w->retry = false;
        e.kind = ZKR__EV_PAUSE_OVER;
    } else if (w->k.phase == ZKR__PARKED) {
        e.kind = ZKR__EV_AHEAD_GONE;
    } else if (w->k.phase == ZKR__READY) {
        e.kind = ZKR__EV_ALL_READY;
    } else {
        return false;
    }
    *w = step(w, &e);
    return true;
}

static enum zkr__phase end_of(struct world w, bool found)
{
    int steps = 0;
    while (go_on(&w, found)) {
        must(++steps < CALM_STEPS, "no end");
    }
    return w.k.phase;
}

/* Left in any state, after whatever failures: once the server answers again, nothing stays. */
static void a_claim_that_is_left_always_ends(void **state)
{
    (void)state;
    search();
    for (size_t i = 0; i < queued; i++) {
        const struct zkr__claim_event leave = {
            .kind = ZKR__EV_LEAVE, .connected = queue[i].connected, .sure = true};
        struct world w = step(&queue[i], &leave);
        must(end_of(w, true) == ZKR__GONE, "it stays");
        must(end_of(w, false) == ZKR__GONE, "it stays");
    }
}

/* In any state, once the server answers again: the claim is granted, or it was decided before. */
static void a_claim_that_is_not_left_is_always_decided(void **state)
{
    (void)state;
    search();
    for (size_t i = 0; i < queued; i++) {
        const struct zkr__claim_state *k = &queue[i].k;
        bool over = k->leaving || k->failure != 0 || k->lost != 0 || k->displaced;
        must(end_of(queue[i], true) == (over ? ZKR__GONE : ZKR__HELD), "it waits");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_that_can_happen_breaks_a_claim),
        cmocka_unit_test(nothing_out_of_place_breaks_a_claim),
        cmocka_unit_test(a_claim_that_is_left_always_ends),
        cmocka_unit_test(a_claim_that_is_not_left_is_always_decided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

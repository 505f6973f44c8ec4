/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the lease bound. Their proof: test/proof/README.md. */
#include "base/clock.h"
#include "session/lease.h"
#include "unit.h"

#define S (INT64_C(6400) * ZKR__MS)
#define DRIFT (S / 1000)
#define GAP (S / 4 + S / 64)
#define OPENED (INT64_C(1000) * S)
/* An answer so slow that its write alone proves nothing. */
#define SLOW (S / 12 + 1)

static struct zkr__lease begun_with(struct zkr__lease_terms terms)
{
    struct zkr__lease l;
    memset(&l, 0xaa, sizeof(l)); /* the old contents do not matter */
    zkr__lease_begin(&l, &terms, S, OPENED);
    return l;
}

static struct zkr__lease begun(void)
{
    return begun_with((struct zkr__lease_terms){0});
}

/* Take three slow writes from @at on, each as early as a chain allows. Returns the time of the last answer. */
static int64_t chain(struct zkr__lease *l, int64_t at)
{
    zkr__lease_answered(l, at, at + SLOW);
    int64_t b = at + SLOW + GAP;
    zkr__lease_answered(l, b, b + SLOW);
    zkr__lease_answered(l, b + SLOW, b + 2 * SLOW);
    return b + 2 * SLOW;
}

/* The creation of a session is a write at the leader, so it proves the session for S, less the drift of clocks. */
ZKT_UNIT_CASE(a_new_session_is_sure_from_its_opening_on)
{
    struct zkr__lease l = begun();
    assert_int_equal(l.until, OPENED + S - DRIFT);
    assert_true(zkr__lease_alive(&l, OPENED));
    assert_true(zkr__lease_alive(&l, l.until - 1));
    assert_false(zkr__lease_alive(&l, l.until));
}

/*
 * The pause is the gap divided by a whole number from 1 to 16: the quotient of the gap and the wanted pause, rounded.
 */
ZKT_UNIT_CASE(the_pause_is_a_part_of_the_gap)
{
    static const struct {
        int64_t wanted, pause;
    } rows[] = {
        {0, (GAP + 2) / 3}, {S / 4, GAP},      {S, GAP},      {INT64_MAX, GAP},
        {S / 8, GAP / 2},   {S / 15, GAP / 4}, {1, GAP / 16},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        struct zkr__lease l =
            begun_with((struct zkr__lease_terms){.pause = rows[i].wanted});
        assert_int_equal(l.gap, GAP);
        assert_int_equal(l.pause, rows[i].pause);
    }
}

/* A session timeout of 0 gives no bound, and causes no division by zero. */
ZKT_UNIT_CASE(no_timeout_has_a_pause_of_nothing)
{
    const struct zkr__lease_terms terms = {0};
    struct zkr__lease l;
    zkr__lease_begin(&l, &terms, 0, OPENED);
    assert_int_equal(l.pause, 0);
    assert_false(zkr__lease_alive(&l, OPENED));
}

/* If the tick is known, the first two writes of a chain need at most half a tick between them. */
ZKT_UNIT_CASE(a_known_tick_sets_the_gap)
{
    static const int64_t ticks[] = {S / 10, S / 2, S};
    for (size_t i = 0; i < ZKT_COUNT(ticks); i++) {
        struct zkr__lease l = begun_with((struct zkr__lease_terms){.tick = ticks[i]});
        assert_int_equal(l.gap, ticks[i] / 2 + ticks[i] / 32);
    }
}

/*
 * A step is an answered write, or a connection with this session timeout. Behind these are the expected bound, and the
 * expected time of the next probe.
 */
struct step {
    int64_t sent, answered, timeout, until, probe_at; /* probe_at 0 = not checked */
};

// clang-format off
#define PROBED(at, for, bound, probe) {.sent = (at), .answered = (at) + (for), .until = (bound), .probe_at = (probe)}
#define WRITE(at, for, bound) PROBED(at, for, bound, 0)
#define CONNECT(ms, bound) {.timeout = (ms), .until = (bound)}
/* Three slow writes from @at on, each as early as a chain allows. */
#define CHAIN(at, before, after) \
    WRITE(at, SLOW, before), WRITE((at) + SLOW + GAP, SLOW, before), WRITE((at) + 2 * SLOW + GAP, SLOW, after)

/* The bound that the opening alone gives. */
#define U (OPENED + S - DRIFT)
/* The writes of a chain, and a write that follows them. Then what they prove, and what the next handshake proves. */
#define A (OPENED + S / 10)
#define B (A + SLOW + GAP)
#define C (B + SLOW + GAP)
#define END (B + 2 * SLOW)
#define PROVEN (A + S - DRIFT)
#define HANDSHAKE (END - SLOW + S - DRIFT)
#define LATER (OPENED + 2 * S)
#define LITTLE (U - S / 3)

static const struct {
    const char *what;
    struct step steps[10];
    struct zkr__lease_terms terms;
    int64_t gap; /* 0 = GAP */
} stories[] = {
    /* The margin for clocks that differ in rate is the requested one. Our clock may be the fast one. */
    {.what = "a margin of 5 %", .terms = {.margin_ppm = 50000}, .gap = GAP + GAP / 20,
     .steps = {WRITE(A, SLOW, OPENED + S - S / 20), WRITE(B + GAP / 20, SLOW, OPENED + S - S / 20),
               WRITE(B + GAP / 20 + SLOW, SLOW, A + S - S / 20)}},
    /* Without the stopgap, one write alone proves nothing. A chain still does. */
    {.what = "no stopgap", .terms = {.no_stopgap = true},
     .steps = {WRITE(OPENED + S, 0, U), WRITE(LATER, SLOW, U), WRITE(LATER + SLOW + GAP, SLOW, LATER - DRIFT),
               WRITE(LATER + 2 * SLOW + GAP, SLOW, LATER + S - DRIFT)}},
    /* One write alone gives its send time + S - S/3 - gap if it is answered within S/12, and otherwise nothing. */
    {.what = "one write alone",
     .steps = {WRITE(LATER - SLOW, SLOW, U), WRITE(LATER, S / 12, LATER + S - S / 3 - GAP - DRIFT)}},
    /* A quick write early in a session adds nothing to the bound of the creation. */
    {.what = "a weaker proof", .steps = {WRITE(A, 0, U)}},
    /* Three writes in a chain give the send time of the first one + S, even if each was slow. */
    {.what = "a chain", .steps = {CHAIN(A, U, PROVEN)}},
    /* Two writes are not a chain, and the second write must not be sent too early after the first answer. */
    {.what = "a second that comes too early, so that the next is the second",
     .steps = {WRITE(A, SLOW, U), WRITE(B - 1, SLOW, U), WRITE(B - 1 + SLOW, SLOW, U),
               WRITE(B - 1 + 2 * SLOW, SLOW, PROVEN)}},
    /* The third write must be sent after the second answer. A write that overlaps it does not count. */
    {.what = "a third that comes too early",
     .steps = {WRITE(A, SLOW, U), WRITE(B, SLOW, U), WRITE(B + SLOW - 1, SLOW + 1, U), WRITE(B + SLOW, SLOW, PROVEN)}},
    /* The second write of a chain is the first of the next chain, which two more writes complete. */
    {.what = "a chain that goes on",
     .steps = {CHAIN(A, U, PROVEN), WRITE(C, SLOW, PROVEN), WRITE(C + SLOW, SLOW, B + S - DRIFT)}},
    /* After a new connection, only new writes form a chain, but the bound stays. */
    {.what = "a connection within a chain",
     .steps = {CHAIN(A, U, PROVEN), CONNECT(S, PROVEN), WRITE(END + GAP, SLOW, HANDSHAKE),
               WRITE(END + GAP + SLOW, SLOW, HANDSHAKE), WRITE(END + 2 * S, SLOW, HANDSHAKE),
               WRITE(END + 2 * S + SLOW + GAP, SLOW, END + GAP + SLOW + S - DRIFT),
               WRITE(END + 2 * S + 2 * SLOW + GAP, SLOW, END + 3 * S - DRIFT)}},
    /* The first write of a connection proves that the leader has received the handshake of that connection. The
       handshake was sent after the last write that was answered before it. Two connections may begin before any answer.
       */
    {.what = "the first write of a connection", .terms = {.no_stopgap = true},
     .steps = {WRITE(A, SLOW, U), CONNECT(S, U), CONNECT(2 * S, U), WRITE(LATER, SLOW, PROVEN),
               WRITE(LATER + SLOW, SLOW, PROVEN)}},
    /* A shorter session timeout counts from the last write of the old connection, and for all new writes. */
    {.what = "a shorter timeout", .gap = GAP / 2,
     .steps = {CHAIN(A, U, PROVEN), CONNECT(S / 2, END - SLOW + S / 2 - DRIFT / 2),
               CHAIN(END + S, END - SLOW + S / 2 - DRIFT / 2, END + S + S / 2 - DRIFT / 2)}},
    /* The old bound is not exceeded, because the server that answered the handshake may no longer be the leader. */
    {.what = "a slightly shorter timeout", .gap = (S - 1000) / 4 + (S - 1000) / 64,
     .steps = {CHAIN(A, U, PROVEN), CONNECT(S - 1000, PROVEN)}},
    /* A longer timeout adds nothing, and does not slow the probes, because the next leader knows the timeout that was
       granted first. */
    {.what = "a longer timeout",
     .steps = {CHAIN(A, U, PROVEN), CONNECT(3 * S, PROVEN), WRITE(LATER, SLOW, HANDSHAKE),
               WRITE(LATER + SLOW + GAP, SLOW, HANDSHAKE),
               PROBED(LATER + 2 * SLOW + GAP, SLOW, LATER + S - DRIFT, LATER + 2 * SLOW + GAP + (GAP + 2) / 3)}},
    /* A shorter timeout in between counts until the end, because the server that granted it may still report our
       session. */
    {.what = "a timeout that comes back", .gap = GAP / 2,
     .steps = {CONNECT(S / 2, OPENED + S / 2 - DRIFT / 2), CONNECT(S, OPENED + S / 2 - DRIFT / 2),
               CHAIN(LATER, OPENED + S / 2 - DRIFT / 2, LATER + S / 2 - DRIFT / 2)}},
    /* The first chain after an idle time is completed at once: its last write follows the second directly. */
    {.what = "a chain after an idle time",
     .steps = {WRITE(LATER, 0, LATER + S - S / 3 - GAP - DRIFT),
               PROBED(LATER + GAP, SLOW, LATER + S - S / 3 - GAP - DRIFT, LATER + GAP + SLOW),
               PROBED(LATER + GAP + SLOW, 0, LATER + S - DRIFT, LATER + GAP + SLOW + (GAP + 2) / 3)}},
    /* With less than S/3 left, a probe is due sooner, but at most every S/32. */
    {.what = "little left",
     .steps = {PROBED(LITTLE - SLOW, SLOW, U, LITTLE), PROBED(LITTLE, SLOW, U, LITTLE + S / 32)}},
};
// clang-format on

static void take(struct zkr__lease *l, const struct step *step)
{
    if (step->timeout != 0) {
        zkr__lease_reconnected(l, step->timeout);
    } else {
        zkr__lease_answered(l, step->sent, step->answered);
    }
}

ZKT_UNIT_CASE(each_step_leaves_the_bound_that_is_told)
{
    for (size_t i = 0; i < ZKT_COUNT(stories); i++) {
        struct zkr__lease l = begun_with(stories[i].terms);
        const struct step *step = stories[i].steps;
        for (int n = 1; n <= (int)ZKT_COUNT(stories[i].steps) && step->until != 0;
             step++, n++) {
            take(&l, step);
            if (l.until != step->until ||
                (step->probe_at != 0 && zkr__lease_probe_at(&l) != step->probe_at)) {
                fail_msg("%s\nstep %d: %.4f of S, not %.4f; probe at %.4f",
                         stories[i].what, n, (double)(l.until - OPENED) / (double)S,
                         (double)(step->until - OPENED) / (double)S,
                         (double)(zkr__lease_probe_at(&l) - OPENED) / (double)S);
            }
        }
        if (l.gap != (stories[i].gap ? stories[i].gap : GAP)) {
            fail_msg("%s\nthe gap is %.4f of S", stories[i].what,
                     (double)l.gap / (double)S);
        }
    }
}

/* With many writes, the bound is as good as the gap allows. */
ZKT_UNIT_CASE(a_busy_client_has_the_best_bound)
{
    static const int64_t paces[] = {S / 3000, S / 100, S / 20};
    for (size_t i = 0; i < ZKT_COUNT(paces); i++) {
        const int64_t delay = S / 1000;
        struct zkr__lease l = begun_with((struct zkr__lease_terms){.no_stopgap = true});
        int64_t least = S;
        for (int64_t at = OPENED; at < OPENED + 10 * S; at += paces[i]) {
            if (at > OPENED + S) {
                least = l.until - at < least ? l.until - at : least;
            }
            zkr__lease_answered(&l, at, at + delay);
        }
        int64_t loss = GAP + GAP / 8 + 3 * paces[i] + 3 * delay + DRIFT;
        assert_true(least >= S - loss);
        assert_true(paces[i] > S / 1000 || least > S * 69 / 100);
    }
}

/* However many writes a connection has had, its next write does not count as its first. */
ZKT_UNIT_CASE(the_first_write_of_a_connection_comes_once)
{
    struct zkr__lease l = begun_with((struct zkr__lease_terms){.no_stopgap = true});
    int64_t end = chain(&l, OPENED + S / 10);
    l.count = UINT32_MAX;
    zkr__lease_answered(&l, end, end + 2 * S);
    int64_t bound = l.until;
    zkr__lease_answered(&l, end + 2 * S, end + 4 * S);
    assert_int_equal(l.until, bound);
}

/* When the session is over, the bound is over, and late answers do not restore it. */
ZKT_UNIT_CASE(the_end_of_the_session_ends_the_bound)
{
    struct zkr__lease l = begun();
    zkr__lease_end(&l);
    (void)chain(&l, OPENED + S / 10);
    zkr__lease_answered(&l, OPENED + S, OPENED + S);
    assert_false(zkr__lease_alive(&l, 0));
    assert_false(zkr__lease_alive(&l, OPENED));
    zkr__lease_reconnected(&l, 0);
    assert_false(zkr__lease_alive(&l, 0));
}

/* For any answers in any order, the bound never decreases, and never exceeds a send time + S. */
ZKT_UNIT_CASE(the_bound_never_decreases)
{
    uint64_t seed = 3;
    struct zkr__lease l = begun();
    int64_t now = OPENED;
    int64_t latest = OPENED;
    int rises = 0;
    for (int i = 0; i < 100000; i++) {
        now += zkt_below(&seed, S / 3);
        int64_t sent = now - zkt_below(&seed, S / 2);
        int64_t before = l.until;
        if (zkt_below(&seed, 50) == 0) {
            zkr__lease_reconnected(&l, S);
        }
        zkr__lease_answered(&l, sent, now);
        latest = sent > latest ? sent : latest;
        assert_true(l.until >= before);
        assert_true(l.until <= latest + S - DRIFT);
        rises += l.until > before;
    }
    assert_true(rises > 1000);
}

/* --- when to probe --- */

/* Without an earlier write, a probe is due at once. Then one probe follows after each pause. */
ZKT_UNIT_CASE(probes_follow_each_other_by_the_pause)
{
    const int64_t delay = S / 100;
    struct zkr__lease l = begun();
    assert_true(zkr__lease_probe_at(&l) <= OPENED);
    int64_t at = OPENED + S / 100;
    for (int i = 0; i < 20; i++) {
        zkr__lease_answered(&l, at, at + delay);
        /* Each third write is the second of a chain, and waits for the answer. */
        int64_t wait = i % 3 == 2 ? delay : 0;
        ZKT_IN_RANGE(zkr__lease_probe_at(&l) - at - l.pause - wait + 2, 0, 4);
        at = zkr__lease_probe_at(&l);
    }
    zkr__lease_reconnected(&l, S);
    assert_true(zkr__lease_probe_at(&l) <= at);
}

/* Send probes on schedule, and answer each after @delay. Returns the least time that was ever left. Sets *@rate to the
   number of writes per S. */
static int64_t least_left(int64_t pause, int64_t delay, int64_t *rate)
{
    enum { TIMEOUTS = 50 };
    struct zkr__lease l = begun_with((struct zkr__lease_terms){.pause = pause});
    int64_t now = OPENED;
    int64_t least = S;
    int64_t writes = 0;
    while (now < OPENED + TIMEOUTS * S) {
        int64_t at = zkr__lease_probe_at(&l);
        now = at > now ? at : now;
        now += delay; /* just before the answer, the least time is left */
        least = l.until - now < least ? l.until - now : least;
        zkr__lease_answered(&l, now - delay, now);
        writes++;
    }
    *rate = writes / TIMEOUTS;
    return least;
}

/* Probes on schedule keep the bound well ahead, as client.h and zkr assume. */
ZKT_UNIT_CASE(probing_on_schedule_keeps_the_bound_ahead)
{
    static const struct {
        int64_t pause, delay, least, rate; /* least: in hundredths of S */
    } rows[] = {
        {0, 0, 55, 12},           {0, S / 1000, 55, 12},     {0, S / 50, 49, 11},
        {0, S / 20, 40, 11},      {S / 15, 0, 60, 15},       {S / 15, S / 1000, 59, 15},
        {S / 4, S / 1000, 20, 8}, {S / 15, S / 100, 56, 15}, {0, S / 8, 21, 8},
        {S / 15, S / 9, 22, 9},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        int64_t rate = 0;
        int64_t least = least_left(rows[i].pause, rows[i].delay, &rate);
        if (least < S * rows[i].least / 100 || rate > rows[i].rate) {
            fail_msg("row %zu: %.3f of S left, %d writes", i, (double)least / (double)S,
                     (int)rate);
        }
    }
}

/* --- servers that are slow --- */

/* The present run: how long each answer took, in halves of the longest time, and what the test requires. */
struct slow_run {
    const char *what;
    /* How long an answer may take; how much must be left before each answer, except before the first chain. */
    int64_t longest, least;
    char took[16];
};

enum { SLOW_WRITES = 10 };

/* Try all ways in which the remaining writes may be answered: at once, after half of the longest time, or after all of
   it. */
// NOLINTNEXTLINE(misc-no-recursion): as deep as there are writes
static void answer_next(struct slow_run *r,
                        const struct zkr__lease *before,
                        int64_t now,
                        int n,
                        bool sure)
{
    int64_t at = zkr__lease_probe_at(before);
    int64_t sent = at > now ? at : now;
    for (int halves = 0; n < SLOW_WRITES && halves <= 2; halves++) {
        struct zkr__lease l = *before;
        int64_t answered = sent + r->longest * halves / 2;
        r->took[n] = (char)('0' + halves);
        r->took[n + 1] = '\0';
        if (sure && l.until - answered < r->least) {
            fail_msg("%s: %.3f of S left when answers took %s", r->what,
                     (double)(l.until - answered) / (double)S, r->took);
        }
        zkr__lease_answered(&l, sent, answered);
        answer_next(r, &l, answered, n + 1, sure || l.until > answered);
    }
}

/* A client has not written anything for long. Each answer takes at most the given part of S. */
ZKT_UNIT_CASE(answers_that_take_an_eighth_keep_the_bound_ahead)
{
    static const struct {
        const char *what;
        struct zkr__lease_terms terms;
        int64_t part, least; /* least: in hundredths of S */
    } rows[] = {
        {"as usual", {0}, 8, 10},
        {"as zkr does", {.pause = S / 15}, 9, 17},
        {"long pauses", {.pause = S / 4}, 12, 8},
        {"a known tick", {.tick = S / 5}, 8, 30},
        {"another tick", {.tick = S / 4}, 8, 29},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        struct zkr__lease_terms terms = rows[i].terms;
        struct slow_run r = {.what = rows[i].what,
                             .longest = S / rows[i].part,
                             .least = S * rows[i].least / 100};
        terms.no_stopgap = true;
        struct zkr__lease l = begun_with(terms);
        zkr__lease_answered(&l, LATER, LATER + r.longest);
        answer_next(&r, &l, LATER + r.longest, 0, false);
    }
}

/* A hold can begin if the bound can be extended in time: by one write at once if answers are quick, otherwise by a
   chain. */
ZKT_UNIT_CASE(a_bound_lasts_that_can_be_renewed_in_time)
{
    static const struct {
        int64_t sent, took, now;
        bool strict, lasts, chained;
    } rows[] = {
        {OPENED, 0, U - S / 5, false, true, false},
        {OPENED, 0, U - S / 7, false, false, false},
        {OPENED + S / 10, 0, U - S / 5, true, true, false},
        {U - S / 5, 0, U - S / 5, false, true, false},
        {U - S / 5, 0, U - S / 5, true, false, false},
        {U - S / 2, S / 8, U - S / 2 + S / 8, false, false, false},
        {OPENED + S / 8, S / 8, OPENED + S / 4, false, true, false},
        {OPENED + S / 8, S / 8, U - S / 4, false, false, false},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        struct zkr__lease l =
            begun_with((struct zkr__lease_terms){.no_stopgap = rows[i].strict});
        zkr__lease_answered(&l, rows[i].sent, rows[i].sent + rows[i].took);
        if (zkr__lease_lasts(&l, rows[i].now) != rows[i].lasts ||
            zkr__lease_is_chained(&l) != rows[i].chained) {
            fail_msg("row %zu", i);
        }
    }
    struct zkr__lease l = begun();
    (void)chain(&l, LATER);
    assert_true(zkr__lease_is_chained(&l));
    zkr__lease_reconnected(&l, S);
    assert_false(zkr__lease_is_chained(&l));
}

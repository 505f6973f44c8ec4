/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the lease bound. Whether they are right is asked by test_lease_model.c. */
#include "base/clock.h"
#include "session/lease.h"
#include "unit.h"

#define S (INT64_C(6400) * ZKR__MS)
#define DRIFT (S / 1000)
#define GAP (S / 4 + S / 64)
#define OPENED (INT64_C(1000) * S)
/* An answer so slow that its write proves nothing alone. */
#define SLOW (S / 12 + 1)

static struct zkr__lease begun_with(struct zkr__lease_terms terms)
{
    struct zkr__lease l;
    memset(&l, 0xaa, sizeof(l)); /* what was before does not matter */
    zkr__lease_begin(&l, &terms, S, OPENED);
    return l;
}

static struct zkr__lease begun(void)
{
    return begun_with((struct zkr__lease_terms){0});
}

/* Three slow writes from @at on, as early as they may be; when the last is answered. */
static int64_t chain(struct zkr__lease *l, int64_t at)
{
    zkr__lease_answered(l, at, at + SLOW);
    int64_t b = at + SLOW + GAP;
    zkr__lease_answered(l, b, b + SLOW);
    zkr__lease_answered(l, b + SLOW, b + 2 * SLOW);
    return b + 2 * SLOW;
}

/* The creation of a session is a write at the leader: sure for S, less the drift of clocks. */
ZKT_UNIT_CASE(a_new_session_is_sure_from_its_opening_on)
{
    struct zkr__lease l = begun();
    assert_int_equal(l.until, OPENED + S - DRIFT);
    assert_true(zkr__lease_alive(&l, OPENED));
    assert_true(zkr__lease_alive(&l, l.until - 1));
    assert_false(zkr__lease_alive(&l, l.until));
}

/* The pause divides the gap, as near to what is wanted as may be; at most the gap. */
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

/* Who knows the tick needs no more than half of it between the first two of a chain. */
ZKT_UNIT_CASE(a_known_tick_sets_the_gap)
{
    static const int64_t ticks[] = {S / 10, S / 2, S};
    for (size_t i = 0; i < ZKT_COUNT(ticks); i++) {
        struct zkr__lease l = begun_with((struct zkr__lease_terms){.tick = ticks[i]});
        assert_int_equal(l.gap, ticks[i] / 2 + ticks[i] / 32);
    }
}

/* The margin for clocks that differ in rate is what was asked for. */
ZKT_UNIT_CASE(the_margin_is_taken_from_every_proof)
{
    struct zkr__lease l = begun_with((struct zkr__lease_terms){.margin_ppm = 50000});
    assert_int_equal(l.until, OPENED + S - S / 20);
    int64_t at = OPENED + S / 2, b = at + SLOW + l.gap;
    zkr__lease_answered(&l, at, at + SLOW);
    zkr__lease_answered(&l, b, b + SLOW);
    zkr__lease_answered(&l, b + SLOW, b + 2 * SLOW);
    assert_int_equal(l.until, at + S - S / 20);
    assert_int_equal(l.gap, GAP + GAP / 20); /* our clock may be the fast one */
}

/* Without the stopgap one write alone proves nothing, and a chain all the same. */
ZKT_UNIT_CASE(the_stopgap_can_be_refused)
{
    struct zkr__lease l = begun_with((struct zkr__lease_terms){.no_stopgap = true});
    zkr__lease_answered(&l, OPENED + S, OPENED + S);
    assert_int_equal(l.until, OPENED + S - DRIFT);
    (void)chain(&l, OPENED + 2 * S);
    assert_int_equal(l.until, OPENED + 3 * S - DRIFT);
}

/* One write alone gives its send time + S - S/3 - gap when answered within S/12, else nothing. */
ZKT_UNIT_CASE(one_write_alone_counts_when_answered_at_once)
{
    int64_t sent = OPENED + S;
    struct zkr__lease l = begun();
    zkr__lease_answered(&l, sent, sent + SLOW);
    assert_int_equal(l.until, OPENED + S - DRIFT);
    zkr__lease_answered(&l, sent + SLOW, sent + SLOW + S / 12);
    assert_int_equal(l.until, sent + SLOW + S - S / 3 - GAP - DRIFT);
}

/* A quick write early in a session adds nothing to what the creation gave. */
ZKT_UNIT_CASE(a_weaker_proof_leaves_the_bound)
{
    struct zkr__lease l = begun();
    zkr__lease_answered(&l, OPENED + S / 10, OPENED + S / 10);
    assert_int_equal(l.until, OPENED + S - DRIFT);
}

/* Three writes in a chain give the first one's send time + S, even if each was slow. */
ZKT_UNIT_CASE(a_chain_of_three_counts_from_its_first)
{
    int64_t a = OPENED + S / 10;
    struct zkr__lease l = begun();
    (void)chain(&l, a);
    assert_int_equal(l.until, a + S - DRIFT);
}

/* Two writes are no chain, and the second must not be sent too early after the first's answer. */
ZKT_UNIT_CASE(the_second_of_a_chain_keeps_its_distance)
{
    int64_t a = OPENED + S / 10;
    int64_t due = a + SLOW + GAP;
    struct zkr__lease l = begun();
    zkr__lease_answered(&l, a, a + SLOW);
    zkr__lease_answered(&l, due - 1, due - 1 + SLOW);
    zkr__lease_answered(&l, due - 1 + SLOW,
                        due - 1 + 2 * SLOW); /* so this is the second */
    assert_int_equal(l.until, OPENED + S - DRIFT);
    zkr__lease_answered(&l, due - 1 + 2 * SLOW, due - 1 + 3 * SLOW);
    assert_int_equal(l.until, a + S - DRIFT);
}

/* The third must be sent after the second's answer; one that overlaps it does not count. */
ZKT_UNIT_CASE(the_third_of_a_chain_follows_the_answer_of_the_second)
{
    int64_t a = OPENED + S / 10;
    int64_t b = a + SLOW + GAP;
    struct zkr__lease l = begun();
    zkr__lease_answered(&l, a, a + SLOW);
    zkr__lease_answered(&l, b, b + SLOW);
    zkr__lease_answered(&l, b + SLOW - 1, b + 2 * SLOW);
    assert_int_equal(l.until, OPENED + S - DRIFT);
    zkr__lease_answered(&l, b + SLOW, b + 2 * SLOW);
    assert_int_equal(l.until, a + S - DRIFT);
}

/* The second of one chain is the first of the next: two more writes go on from there. */
ZKT_UNIT_CASE(the_second_of_a_chain_begins_the_next)
{
    int64_t a = OPENED + S / 10;
    int64_t b = a + SLOW + GAP;
    struct zkr__lease l = begun();
    (void)chain(&l, a);
    int64_t next = b + SLOW + GAP;
    zkr__lease_answered(&l, next, next + SLOW);
    assert_int_equal(l.until, a + S - DRIFT);
    zkr__lease_answered(&l, next + SLOW, next + 2 * SLOW);
    assert_int_equal(l.until, b + S - DRIFT);
}

/* With many writes the bound is as good as the gap allows: the first of the chain is the latest. */
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

/* After a new connection a chain is made of new writes only, but the bound stays. */
ZKT_UNIT_CASE(a_reconnection_breaks_chains_and_keeps_the_bound)
{
    int64_t a = OPENED + S / 10;
    struct zkr__lease l = begun();
    int64_t end = chain(&l, a);
    int64_t bound = l.until;
    zkr__lease_reconnected(&l, S);
    assert_int_equal(l.until, bound);
    zkr__lease_answered(&l, end + GAP, end + GAP + SLOW);
    bound = end - SLOW + S - DRIFT; /* the handshake */
    assert_int_equal(l.until, bound);
    zkr__lease_answered(&l, end + GAP + SLOW, end + GAP + 2 * SLOW);
    assert_int_equal(l.until, bound);
    (void)chain(&l, end + 2 * S);
    assert_int_equal(l.until, end + 2 * S + S - DRIFT);
}

/*
 * With the first write of a connection the leader has heard of its handshake, which was sent after the last that was
 * answered before it.
 */
ZKT_UNIT_CASE(the_first_write_of_a_connection_counts_from_before_it)
{
    struct zkr__lease l = begun_with((struct zkr__lease_terms){.no_stopgap = true});
    int64_t sent = OPENED + S / 2;
    zkr__lease_answered(&l, sent, sent + SLOW);
    assert_int_equal(l.until, OPENED + S - DRIFT);
    zkr__lease_reconnected(&l, S);
    zkr__lease_reconnected(&l, 2 * S); /* and again, before any answer */
    assert_int_equal(l.until, OPENED + S - DRIFT);
    int64_t at = OPENED + 2 * S;
    zkr__lease_answered(&l, at, at + SLOW);
    assert_int_equal(l.until, sent + S - DRIFT);
    zkr__lease_answered(&l, at + SLOW, at + 2 * SLOW);
    assert_int_equal(l.until, sent + S - DRIFT);
}

/* A shorter session timeout counts from the last write of the old connection on, and for all new. */
ZKT_UNIT_CASE(a_shorter_timeout_shortens_the_bound)
{
    struct zkr__lease l = begun();
    int64_t a = OPENED + S / 10;
    int64_t end = chain(&l, a);
    zkr__lease_reconnected(&l, S / 2);
    assert_int_equal(l.until, end - SLOW + S / 2 - DRIFT / 2);
    assert_int_equal(l.gap, GAP / 2);
    (void)chain(&l, end + S);
    assert_int_equal(l.until, end + S + S / 2 - DRIFT / 2);
}

/* But the old bound is not exceeded: who answered the handshake may not be the leader any more. */
ZKT_UNIT_CASE(a_slightly_shorter_timeout_leaves_the_bound)
{
    struct zkr__lease l = begun();
    (void)chain(&l, OPENED + S / 10);
    int64_t bound = l.until;
    zkr__lease_reconnected(&l, S - 1000);
    assert_int_equal(l.until, bound);
}

/* A longer one adds nothing, nor does it slow the pace: the next leader knows what was granted first. */
ZKT_UNIT_CASE(a_longer_timeout_changes_nothing)
{
    struct zkr__lease l = begun();
    int64_t a = OPENED + S / 10;
    int64_t end = chain(&l, a);
    int64_t pause = l.pause;
    zkr__lease_reconnected(&l, 3 * S);
    assert_int_equal(l.until, a + S - DRIFT);
    assert_int_equal(l.gap, GAP);
    assert_int_equal(l.pause, pause);
    (void)chain(&l, end + 2 * S);
    assert_int_equal(l.until, end + 3 * S - DRIFT);
    assert_int_equal(zkr__lease_probe_at(&l), l.last.answered + pause);
}

/* One that was shorter in between counts to the end: the server that granted it may still speak of us. */
ZKT_UNIT_CASE(a_timeout_that_comes_back_stays_short)
{
    struct zkr__lease l = begun();
    zkr__lease_reconnected(&l, S / 2);
    zkr__lease_reconnected(&l, S);
    (void)chain(&l, OPENED + 2 * S);
    assert_int_equal(l.until, OPENED + 2 * S + S / 2 - DRIFT / 2);
    assert_int_equal(l.gap, GAP / 2);
}

/* However many writes a connection has had, the next one is not its first. */
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

/* When the session is over nothing is sure, and late answers do not change that. */
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

/* Whatever is answered in whatever order, the bound never goes back, nor beyond a send time + S. */
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

/* At once without a write to go by, then one pause after each answer. */
ZKT_UNIT_CASE(probes_follow_each_other_by_the_pause)
{
    const int64_t delay = S / 100;
    struct zkr__lease l = begun();
    assert_true(zkr__lease_probe_at(&l) <= OPENED);
    int64_t at = OPENED + S / 100;
    for (int i = 0; i < 20; i++) {
        zkr__lease_answered(&l, at, at + delay);
        assert_int_equal(zkr__lease_probe_at(&l), at + delay + l.pause);
        at += delay + l.pause;
    }
    zkr__lease_reconnected(&l, S);
    assert_true(zkr__lease_probe_at(&l) <= at);
}

/* The first chain after an idle time is completed at once: its last follows the one before. */
ZKT_UNIT_CASE(the_first_chain_is_completed_at_once)
{
    struct zkr__lease l = begun();
    int64_t a = OPENED + 2 * S;
    zkr__lease_answered(&l, a, a);
    int64_t b = a + GAP;
    zkr__lease_answered(&l, b, b + SLOW);
    assert_int_equal(zkr__lease_probe_at(&l), b + SLOW);
    zkr__lease_answered(&l, b + SLOW, b + SLOW);
    assert_int_equal(l.until, a + S - DRIFT);
    assert_int_equal(zkr__lease_probe_at(&l), b + SLOW + l.pause);
}

/* With less than S/3 left a probe is due sooner, but not more often than every S/32. */
ZKT_UNIT_CASE(with_little_left_probes_are_due_sooner)
{
    struct zkr__lease l = begun();
    int64_t little = l.until - S / 3;
    zkr__lease_answered(&l, little - SLOW, little);
    assert_int_equal(zkr__lease_probe_at(&l), little);
    zkr__lease_answered(&l, little, little + SLOW);
    assert_int_equal(zkr__lease_probe_at(&l), little + S / 32);
}

/* Probe as told, each answered after @delay: the least ever left, and writes per S. */
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
        now += delay; /* before the answer there is least left */
        least = l.until - now < least ? l.until - now : least;
        zkr__lease_answered(&l, now - delay, now);
        writes++;
    }
    *rate = writes / TIMEOUTS;
    return least;
}

/* Probes on schedule keep the bound well ahead: what client.h and zkr go by. */
ZKT_UNIT_CASE(probing_on_schedule_keeps_the_bound_ahead)
{
    static const struct {
        int64_t pause, delay, least, rate; /* least: in hundredths of S */
    } rows[] = {
        {0, 0, 55, 12},           {0, S / 1000, 55, 12},     {0, S / 50, 43, 10},
        {0, S / 20, 28, 10},      {S / 15, 0, 60, 15},       {S / 15, S / 1000, 59, 15},
        {S / 4, S / 1000, 20, 8}, {S / 15, S / 100, 53, 14},
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

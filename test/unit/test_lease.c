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

static struct zkr__lease begun(int64_t pause)
{
    struct zkr__lease l;
    memset(&l, 0xaa, sizeof(l)); /* what was before does not matter */
    zkr__lease_begin(&l, S, pause, OPENED);
    return l;
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
static void a_new_session_is_sure_from_its_opening_on(void **state)
{
    (void)state;
    struct zkr__lease l = begun(0);
    assert_int_equal(l.until, OPENED + S - DRIFT);
    assert_true(zkr__lease_alive(&l, OPENED));
    assert_true(zkr__lease_alive(&l, l.until - 1));
    assert_false(zkr__lease_alive(&l, l.until));
}

/* The pause between probes is held between what proves something and 2S/5. */
static void the_pause_is_held_within_its_limits(void **state)
{
    (void)state;
    static const struct {
        int64_t pause, gap;
    } rows[] = {
        {-1, GAP},      {0, GAP},
        {1, GAP},       {GAP, GAP},
        {S / 3, S / 3}, {2 * S / 5, 2 * S / 5},
        {S, 2 * S / 5}, {INT64_MAX, 2 * S / 5},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        assert_int_equal(begun(rows[i].pause).gap, rows[i].gap);
    }
}

/* One write alone gives its send time + S - S/3 - S/4 when answered within S/12, else nothing. */
static void one_write_alone_counts_when_answered_at_once(void **state)
{
    (void)state;
    int64_t sent = OPENED + S;
    struct zkr__lease l = begun(0);
    zkr__lease_answered(&l, sent, sent + SLOW);
    assert_int_equal(l.until, OPENED + S - DRIFT);
    zkr__lease_answered(&l, sent + SLOW, sent + SLOW + S / 12);
    assert_int_equal(l.until, sent + SLOW + S - S / 3 - S / 4 - DRIFT);
}

/* A quick write early in a session adds nothing to what the creation gave. */
static void a_weaker_proof_leaves_the_bound(void **state)
{
    (void)state;
    struct zkr__lease l = begun(0);
    zkr__lease_answered(&l, OPENED + S / 10, OPENED + S / 10);
    assert_int_equal(l.until, OPENED + S - DRIFT);
}

/* Three writes in a chain give the first one's send time + S, even if each was slow. */
static void a_chain_of_three_counts_from_its_first(void **state)
{
    (void)state;
    int64_t a = OPENED + S / 10;
    struct zkr__lease l = begun(0);
    (void)chain(&l, a);
    assert_int_equal(l.until, a + S - DRIFT);
}

/* Two writes are no chain, and the second must not be sent too early after the first's answer. */
static void the_second_of_a_chain_keeps_its_distance(void **state)
{
    (void)state;
    int64_t a = OPENED + S / 10;
    int64_t due = a + SLOW + GAP;
    struct zkr__lease l = begun(0);
    zkr__lease_answered(&l, a, a + SLOW);
    zkr__lease_answered(&l, due - 1, due - 1 + SLOW);
    zkr__lease_answered(&l, due - 1 + SLOW,
                        due - 1 + 2 * SLOW); /* so this is the second */
    assert_int_equal(l.until, OPENED + S - DRIFT);
    zkr__lease_answered(&l, due - 1 + 2 * SLOW, due - 1 + 3 * SLOW);
    assert_int_equal(l.until, a + S - DRIFT);
}

/* The third must be sent after the second's answer; one that overlaps it does not count. */
static void the_third_of_a_chain_follows_the_answer_of_the_second(void **state)
{
    (void)state;
    int64_t a = OPENED + S / 10;
    int64_t b = a + SLOW + GAP;
    struct zkr__lease l = begun(0);
    zkr__lease_answered(&l, a, a + SLOW);
    zkr__lease_answered(&l, b, b + SLOW);
    zkr__lease_answered(&l, b + SLOW - 1, b + 2 * SLOW);
    assert_int_equal(l.until, OPENED + S - DRIFT);
    zkr__lease_answered(&l, b + SLOW, b + 2 * SLOW);
    assert_int_equal(l.until, a + S - DRIFT);
}

/* The second of one chain is the first of the next: two more writes go on from there. */
static void the_second_of_a_chain_begins_the_next(void **state)
{
    (void)state;
    int64_t a = OPENED + S / 10;
    int64_t b = a + SLOW + GAP;
    struct zkr__lease l = begun(0);
    (void)chain(&l, a);
    int64_t next = b + SLOW + GAP;
    zkr__lease_answered(&l, next, next + SLOW);
    assert_int_equal(l.until, a + S - DRIFT);
    zkr__lease_answered(&l, next + SLOW, next + 2 * SLOW);
    assert_int_equal(l.until, b + S - DRIFT);
}

/* A first write that can prove nothing any more gives way to the present one. */
static void a_chain_too_old_to_prove_anything_begins_anew(void **state)
{
    (void)state;
    int64_t old = OPENED;
    int64_t a =
        old + S - DRIFT - SLOW; /* answered when the old one's proof would end */
    struct zkr__lease l = begun(0);
    zkr__lease_answered(&l, old, old + SLOW);
    (void)chain(&l, a);
    assert_int_equal(l.until, a + S - DRIFT);
}

/* After a new connection a chain is made of new writes only, but the bound stays. */
static void a_reconnection_breaks_chains_and_keeps_the_bound(void **state)
{
    (void)state;
    int64_t a = OPENED + S / 10;
    struct zkr__lease l = begun(0);
    int64_t end = chain(&l, a);
    int64_t bound = l.until;
    zkr__lease_reconnected(&l);
    assert_int_equal(l.until, bound);
    zkr__lease_answered(&l, end + GAP, end + GAP + SLOW);
    zkr__lease_answered(&l, end + GAP + SLOW, end + GAP + 2 * SLOW);
    assert_int_equal(l.until, bound);
    (void)chain(&l, end + 2 * S);
    assert_int_equal(l.until, end + 2 * S + S - DRIFT);
}

/* When the session is over nothing is sure, and late answers do not change that. */
static void the_end_of_the_session_ends_the_bound(void **state)
{
    (void)state;
    struct zkr__lease l = begun(0);
    zkr__lease_end(&l);
    (void)chain(&l, OPENED + S / 10);
    zkr__lease_answered(&l, OPENED + S, OPENED + S);
    assert_false(zkr__lease_alive(&l, 0));
    assert_false(zkr__lease_alive(&l, OPENED));
    zkr__lease_reconnected(&l);
    assert_false(zkr__lease_alive(&l, 0));
}

/* Whatever is answered in whatever order, the bound never goes back, nor beyond a send time + S. */
static void the_bound_never_decreases(void **state)
{
    (void)state;
    uint64_t seed = 3;
    struct zkr__lease l = begun(0);
    int64_t now = OPENED;
    int64_t latest = OPENED;
    int rises = 0;
    for (int i = 0; i < 100000; i++) {
        now += zkt_below(&seed, S / 3);
        int64_t sent = now - zkt_below(&seed, S / 2);
        int64_t before = l.until;
        if (zkt_below(&seed, 50) == 0) {
            zkr__lease_reconnected(&l);
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

/* At once without a chain, after the gap for the second, at once for the third. */
static void probes_are_due_as_the_chain_needs_them(void **state)
{
    (void)state;
    const int64_t delay = S / 100;
    struct zkr__lease l = begun(0);
    int64_t a = OPENED + S / 100;
    assert_true(zkr__lease_probe_at(&l) <= OPENED);
    zkr__lease_answered(&l, a, a + delay);
    int64_t b = a + delay + GAP;
    assert_int_equal(zkr__lease_probe_at(&l), b);
    zkr__lease_answered(&l, b, b + delay);
    assert_true(zkr__lease_probe_at(&l) <= b + delay);
    zkr__lease_answered(&l, b + delay, b + 2 * delay);
    assert_int_equal(zkr__lease_probe_at(&l), b + delay + GAP);
    zkr__lease_reconnected(&l);
    assert_true(zkr__lease_probe_at(&l) <= b + 2 * delay);
}

/* With less than S/3 left a probe is due sooner, but not more often than every S/32. */
static void with_little_left_probes_are_due_sooner(void **state)
{
    (void)state;
    struct zkr__lease l = begun(0);
    int64_t little = l.until - S / 3;
    int64_t a = little - SLOW;
    zkr__lease_answered(&l, a, a + SLOW);
    assert_int_equal(zkr__lease_probe_at(&l), little);
    zkr__lease_answered(&l, little, little + SLOW);
    assert_int_equal(zkr__lease_probe_at(&l), little + S / 32);
    int64_t late =
        a + SLOW + GAP - S / 64; /* the second of the chain is due sooner still */
    zkr__lease_answered(&l, late, late + SLOW);
    assert_int_equal(zkr__lease_probe_at(&l), a + SLOW + GAP);
}

/* Probe as told, each answered after @delay: the least ever left, and writes per S. */
static int64_t least_left(int64_t delay, int64_t *rate)
{
    enum { TIMEOUTS = 50 };
    struct zkr__lease l = begun(0);
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

/* Probes on schedule keep the bound well ahead, with about two writes every S/4. */
static void probing_on_schedule_keeps_the_bound_ahead(void **state)
{
    (void)state;
    static const struct {
        int64_t delay, least, rate;
    } rows[] = {
        {0, S * 2 / 5, 8},
        {S / 1000, S * 2 / 5, 8},
        {S / 50, S / 3, 8},
        {S / 20, S / 4, 10},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        int64_t rate = 0;
        int64_t least = least_left(rows[i].delay, &rate);
        assert_true(least >= rows[i].least);
        assert_true(rate <= rows[i].rate);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_session_is_sure_from_its_opening_on),
        cmocka_unit_test(the_pause_is_held_within_its_limits),
        cmocka_unit_test(one_write_alone_counts_when_answered_at_once),
        cmocka_unit_test(a_weaker_proof_leaves_the_bound),
        cmocka_unit_test(a_chain_of_three_counts_from_its_first),
        cmocka_unit_test(the_second_of_a_chain_keeps_its_distance),
        cmocka_unit_test(the_third_of_a_chain_follows_the_answer_of_the_second),
        cmocka_unit_test(the_second_of_a_chain_begins_the_next),
        cmocka_unit_test(a_chain_too_old_to_prove_anything_begins_anew),
        cmocka_unit_test(a_reconnection_breaks_chains_and_keeps_the_bound),
        cmocka_unit_test(the_end_of_the_session_ends_the_bound),
        cmocka_unit_test(the_bound_never_decreases),
        cmocka_unit_test(probes_are_due_as_the_chain_needs_them),
        cmocka_unit_test(with_little_left_probes_are_due_sooner),
        cmocka_unit_test(probing_on_schedule_keeps_the_bound_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

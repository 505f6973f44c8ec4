/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded steps are compared, and features that make no difference are left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "trace.h"

static struct zkt_trace *new_set(void)
{
    char file[] = "/tmp/zkr-trace-XXXXXX";
    const int fd = mkstemp(file);
    assert_true(fd >= 0);
    struct zkt_trace *set = zkt_trace_open(file, true);
    (void)unlink(file);
    (void)close(fd);
    return set;
}

static struct zkr__claim_state parked(void)
{
    return (struct zkr__claim_state){.phase = ZKR__PARKED,
                                     .own = ZKR__OWN_SET,
                                     .waited = true,
                                     .saw_ahead = true,
                                     .ahead = 1};
}

static struct zkr__claim_event event(enum zkr__event_kind kind)
{
    return (struct zkr__claim_event){
        .kind = kind, .connected = true, .sure = true, .ample = true};
}

/* Make a step, and add it to @set. */
static void
make(struct zkt_trace *set, struct zkr__claim_state k, enum zkr__event_kind kind)
{
    const struct zkr__claim_state before = k;
    const struct zkr__claim_event e = event(kind);
    const unsigned todo = zkr__claim_step(&k, &e);
    zkt_trace_add(set, &before, &e, &k, todo);
}

static void assert_outside(const struct zkt_trace *seen,
                           const struct zkt_trace *set,
                           int outside,
                           int different)
{
    uint64_t steps;
    int count;
    assert_int_equal(zkt_trace_compare(seen, set, &steps, &count), outside);
    assert_int_equal(count, different);
    assert_true(steps >= (uint64_t)different);
}

ZKT_UNIT_CASE(a_step_that_a_set_lacks_is_outside)
{
    struct zkt_trace *seen = new_set(), *set = new_set();
    make(seen, parked(), ZKR__EV_AHEAD_GONE);
    make(seen, parked(), ZKR__EV_AHEAD_GONE);
    assert_outside(seen, set, 1, 1);
    make(set, parked(), ZKR__EV_AHEAD_GONE);
    assert_outside(seen, set, 0, 1);
    make(seen, parked(), ZKR__EV_OWN_GONE);
    assert_outside(seen, set, 1, 2);
}

ZKT_UNIT_CASE(a_state_that_makes_a_difference_is_another_step)
{
    struct zkt_trace *seen = new_set(), *set = new_set();
    struct zkr__claim_state k = parked();
    make(set, k, ZKR__EV_AHEAD_GONE);
    k.then = ZKR__THEN_OURS;
    make(seen, k, ZKR__EV_AHEAD_GONE);
    assert_outside(seen, set, 1, 1);
}

ZKT_UNIT_CASE(a_feature_that_makes_no_difference_is_left_out)
{
    struct zkt_trace *seen = new_set(), *set = new_set();
    struct zkr__claim_state k = parked();
    make(set, k, ZKR__EV_AHEAD_CHANGED);
    k.has_metadata = k.keeps_place = true;
    k.revocation = 3;
    make(seen, k, ZKR__EV_AHEAD_CHANGED);
    assert_outside(seen, set, 0, 1);
}

ZKT_UNIT_CASE(a_feature_that_makes_a_difference_is_kept)
{
    struct zkt_trace *seen = new_set(), *set = new_set();
    struct zkr__claim_state k = parked();
    k.then = ZKR__THEN_OURS;
    make(set, k, ZKR__EV_AHEAD_GONE); /* holds */
    k.revocation = 3;
    make(seen, k, ZKR__EV_AHEAD_GONE); /* holds, and reports the request */
    assert_outside(seen, set, 1, 1);
}

/* The worlds of the proof end when the claim is gone. */
ZKT_UNIT_CASE(what_happens_to_a_claim_that_is_gone_is_no_step)
{
    struct zkt_trace *seen = new_set();
    make(seen, (struct zkr__claim_state){.phase = ZKR__GONE, .leaving = true},
         ZKR__EV_CONNECTED);
    assert_outside(seen, new_set(), 0, 0);
}

ZKT_UNIT_CASE(a_step_is_printed)
{
    char text[600];
    struct zkr__claim_state k = parked();
    const struct zkr__claim_state before = k;
    const struct zkr__claim_event e = event(ZKR__EV_AHEAD_CHANGED);
    const unsigned todo = zkr__claim_step(&k, &e);
    const struct zkt_transition t = zkt_transition(&before, &e, &k, todo);
    zkt_transition_print(&t, text, sizeof(text));
    assert_string_equal(text, "PARKED own=2 waited saw_ahead -- AHEAD_CHANGED --> "
                              "PARKED own=2 waited saw_ahead, to do 20");
}

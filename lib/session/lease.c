/* SPDX-License-Identifier: Apache-2.0 */
#include "session/lease.h"

#include <stddef.h>

#include "base/clock.h"

enum { MARGIN_PPM = 1000 };

/*
 * Contracts, which Frama-C proves (test/proof/README.md): no operation overflows, indices are in bounds, and the bound
 * equals the formulas. The contracts assume that each time is within 126 years of the machine's start, and that each
 * span is at most a day. The "admit" clauses state the effect of assigning a struct.
 */
/*@
  predicate moment(integer t) = 0 <= t <= 4000000000000000000;
  predicate span(integer t) = 0 <= t <= 86400000000000;

  logic integer later(integer x, integer y) = x > y ? x : y;
  logic integer sooner(integer x, integer y) = x < y ? x : y;

  predicate terms(struct zkr__lease *l) =
      span(l->terms.tick) && 0 <= l->terms.pause && 0 <= l->terms.margin_ppm <= 1000000;
  predicate fits(struct zkr__lease *l) =
      terms(l) && span(l->session) && 0 <= l->gap <= 2 * 86400000000000 &&
      0 <= l->pause <= 3 * 86400000000000 && l->count < 9223372036854775807 &&
      0 <= l->until <= 4000000000000000000 + 86400000000000 &&
      moment(l->last.sent) && moment(l->last.answered) &&
      (\forall integer i; 0 <= i < ZKR__LEASE_WRITES ==>
          moment(l->writes[i].sent) && moment(l->writes[i].answered));

  logic integer rate(struct zkr__lease *l) =
      l->terms.margin_ppm > 0 ? l->terms.margin_ppm : MARGIN_PPM;
  logic integer sure(struct zkr__lease *l) =
      l->session - l->session / 1000 * rate(l) / 1000;
  logic integer plain_gap(integer tick) = tick / 2 + tick / 32;
  logic integer gap(struct zkr__lease *l) =
      \let g = plain_gap(l->terms.tick > 0 ? l->terms.tick : l->session / 2);
      g + g / 1000 * (rate(l) > MARGIN_PPM ? rate(l) : 0) / 1000;

  // A, number i, and B, number j, are remembered, and C may be sent now.
  predicate chain(struct zkr__lease *l, integer i, integer j, integer now) =
      0 <= i < j < l->count && l->count - i <= ZKR__LEASE_WRITES &&
      l->writes[j % ZKR__LEASE_WRITES].answered <= now &&
      l->writes[i % ZKR__LEASE_WRITES].answered <= l->writes[j % ZKR__LEASE_WRITES].sent - l->gap;

  lemma products: \forall integer a, b, c, d; 0 <= a <= c && 0 <= b <= d ==> 0 <= a * b <= c * d;
  lemma quotients: \forall integer a, b; 0 <= a && 1 <= b ==> 0 <= a / b <= a;
*/

/*@ requires \valid_read(l) && fits(l);
    assigns \nothing;
    ensures \result == rate(l) && 0 < \result <= 1000000; */
static int64_t margin(const struct zkr__lease *l)
{
    return l->terms.margin_ppm > 0 ? l->terms.margin_ppm : MARGIN_PPM;
}

/* Returns how long a session surely lives, by the local clock, after the leader has heard of the client. */
/*@ requires \valid_read(l) && fits(l);
    assigns \nothing;
    ensures \result == sure(l) && 0 <= \result <= l->session; */
static int64_t sure_span(const struct zkr__lease *l)
{
    return l->session - l->session / 1000 * margin(l) / 1000;
}

/*@ requires \valid(l) && fits(l) && -4 * 86400000000000 <= heard <= 4000000000000000000;
    assigns l->until;
    ensures l->until == later(\old(l->until), heard + sure(l));
    ensures fits(l); */
static void extend(struct zkr__lease *l, int64_t heard)
{
    l->until = zkr__later(l->until, heard + sure_span(l));
}

/*@ requires \valid(l) && fits(l);
    assigns l->gap, l->pause;
    ensures l->gap == gap(l);
    ensures fits(l); */
static void set_pace(struct zkr__lease *l)
{
    int64_t tick = l->terms.tick > 0 ? l->terms.tick : l->session / 2;
    int64_t pause = l->terms.pause > 0 ? l->terms.pause : l->session / 12;
    /* The leader's ping loop never wakes early, but it may wake late, and the local clock may be fast. */
    l->gap = tick / 2 + tick / 32;
    /*@ assert 0 <= l->gap <= 86400000000000; */
    l->gap += l->gap / 1000 * (margin(l) > MARGIN_PPM ? margin(l) : 0) / 1000;
    /*@ assert 0 <= l->gap <= 2 * 86400000000000; */
    int64_t n = pause > 0 ? l->gap / pause + (l->gap % pause > pause / 2) : 1;
    n = n < 1 ? 1 : zkr__sooner(n, ZKR__LEASE_WRITES / 4);
    /*@ assert 1 <= n <= ZKR__LEASE_WRITES / 4; */
    l->pause = (l->gap + n - 1) / n;
}

/*@ requires \valid(l) && \valid_read(terms) && \separated(l, terms) && span(granted) && moment(opened);
    requires span(terms->tick) && 0 <= terms->pause && 0 <= terms->margin_ppm <= 1000000;
    assigns *l;
    ensures l->session == granted && l->gap == gap(l) && l->count == 0;
    ensures l->last.sent == opened;
    ensures l->until == later(0, opened + sure(l));
    ensures fits(l); */
void zkr__lease_begin(struct zkr__lease *l,
                      const struct zkr__lease_terms *terms,
                      int64_t granted,
                      int64_t opened)
{
    *l = (struct zkr__lease){.terms = *terms, .session = granted};
    /*@ admit l->session == granted && l->gap == 0 && l->pause == 0 && l->until == 0 && l->count == 0 &&
            l->terms.tick == terms->tick && l->terms.pause == terms->pause &&
            l->terms.margin_ppm == terms->margin_ppm && l->terms.no_stopgap == terms->no_stopgap &&
            (\forall integer i; 0 <= i < ZKR__LEASE_WRITES ==>
                l->writes[i].sent == 0 && l->writes[i].answered == 0); */
    l->last = (struct zkr__write){opened, opened};
    /*@ admit l->last.sent == opened && l->last.answered == opened; */
    set_pace(l);
    extend(l, opened);
}

/*@ requires \valid(l) && fits(l) && span(granted);
    assigns l->count, l->session, l->until, l->gap, l->pause;
    ensures l->count == 0 && l->session == sooner(\old(l->session), granted);
    ensures granted >= \old(l->session) ==>
        l->until == \old(l->until) && l->gap == \old(l->gap) && l->pause == \old(l->pause);
    ensures granted < \old(l->session) ==>
        l->until == sooner(\old(l->until), l->last.sent + sure(l)) && l->gap == gap(l);
    ensures fits(l); */
void zkr__lease_reconnected(struct zkr__lease *l, int64_t granted)
{
    l->count = 0;
    if (granted < l->session) {
        l->session = granted;
        l->until = zkr__sooner(l->until, l->last.sent + sure_span(l));
        set_pace(l);
    }
}

/*@ requires \valid(l);
    assigns *l;
    ensures l->session == 0 && l->until == 0; */
void zkr__lease_end(struct zkr__lease *l)
{
    *l = (struct zkr__lease){0};
    /*@ admit l->session == 0 && l->until == 0; */
}

/*
 * Find the latest remembered write before number *@at whose answer arrived at @by or earlier. Returns the write and
 * sets *@at to its number, or returns NULL if there is none.
 */
/*@ requires \valid_read(l) && fits(l) && \valid(at) && \separated(l, at) && *at <= l->count;
    assigns *at;
    ensures 0 <= *at <= \old(*at);
    ensures \result == \null ||
        *at < \old(*at) && l->count - *at <= ZKR__LEASE_WRITES &&
        \result == &l->writes[*at % ZKR__LEASE_WRITES] && \result->answered <= by; */
static const struct zkr__write *
find(const struct zkr__lease *l, uint64_t *at, int64_t by)
{
    /*@ loop invariant 0 <= *at <= \at(*at, Pre);
        loop assigns *at;
        loop variant *at; */
    while (*at > 0 && l->count - *at < ZKR__LEASE_WRITES) {
        const struct zkr__write *w = &l->writes[--*at % ZKR__LEASE_WRITES];
        if (w->answered <= by) {
            return w;
        }
    }
    return NULL;
}

/* Returns when the A of the best chain was sent if C is sent at @sent, or 0 if there is no chain. */
/*@ requires \valid_read(l) && fits(l) && moment(sent);
    assigns \nothing;
    ensures moment(\result);
    ensures \result == 0 || \exists integer i, j;
        chain(l, i, j, sent) && \result == l->writes[i % ZKR__LEASE_WRITES].sent; */
static int64_t chain_to(const struct zkr__lease *l, int64_t sent)
{
    uint64_t at = l->count;
    const struct zkr__write *b = find(l, &at, sent);
    const struct zkr__write *a = b ? find(l, &at, b->sent - l->gap) : NULL;
    return a ? a->sent : 0;
}

/*@ requires \valid(l) && fits(l) && l->count < 9223372036854775806 && moment(w.sent) && moment(w.answered);
    assigns l->count, l->writes[0 .. ZKR__LEASE_WRITES - 1];
    ensures l->count == \old(l->count) || l->count == \old(l->count) + 1;
    ensures fits(l); */
static void remember(struct zkr__lease *l, struct zkr__write w)
{
    const struct zkr__write *newest =
        l->count > 0 ? &l->writes[(l->count - 1) % ZKR__LEASE_WRITES] : NULL;
    if (!newest || w.sent >= newest->sent + l->gap / 16) {
        l->writes[l->count++ % ZKR__LEASE_WRITES] = w;
    }
}

/* Raise the bound by the rules of lease.h. */
/*@ requires \valid(l) && fits(l) && moment(sent) && moment(answered);
    assigns l->until;
    ensures \old(l->until) <= l->until && fits(l);
    ensures l->count == 0 ==> l->until >= l->last.sent + sure(l);
    ensures !l->terms.no_stopgap && answered - sent <= l->session / 12 ==>
        l->until >= sent - l->session / 3 - l->gap + sure(l);
    ensures l->until == \old(l->until) ||
        l->count == 0 && l->until == l->last.sent + sure(l) ||
        !l->terms.no_stopgap && answered - sent <= l->session / 12 &&
            l->until == sent - l->session / 3 - l->gap + sure(l) ||
        (\exists integer i, j; chain(l, i, j, sent) &&
            l->until == l->writes[i % ZKR__LEASE_WRITES].sent + sure(l)); */
static void learn(struct zkr__lease *l, int64_t sent, int64_t answered)
{
    if (l->count == 0) {
        extend(l, l->last.sent); /* the handshake came after that write */
    }
    if (!l->terms.no_stopgap && answered - sent <= l->session / 12) {
        extend(l, sent - l->session / 3 - l->gap);
    }
    int64_t heard = chain_to(l, sent);
    if (heard != 0) {
        extend(l, heard);
    }
}

/*@ requires \valid(l) && fits(l) && l->count < 9223372036854775806 && moment(sent) && moment(answered);
    assigns l->until, l->last, l->count, l->writes[0 .. ZKR__LEASE_WRITES - 1];
    ensures l->until >= \old(l->until);
    ensures l->session == 0 ==> l->until == \old(l->until);
    ensures l->session > 0 ==> l->last.sent == sent && l->last.answered == answered;
    ensures fits(l); */
void zkr__lease_answered(struct zkr__lease *l, int64_t sent, int64_t answered)
{
    if (l->session == 0) {
        return;
    }
    learn(l, sent, answered);
    l->last.sent = sent;
    l->last.answered = answered;
    remember(l, l->last);
}

/* Returns @due, or a slightly later time at which the probe can be the B of one more A. */
/*@ requires \valid_read(l) && fits(l);
    requires -4 * 86400000000000 <= due <= 4000000000000000000 + 4 * 86400000000000;
    assigns \nothing;
    ensures \result <= later(due, l->last.answered) + l->pause / 3; */
static int64_t aimed(const struct zkr__lease *l, int64_t due)
{
    int64_t from = zkr__later(due, l->last.answered);
    uint64_t at = l->count;
    const struct zkr__write *a = find(l, &at, from + l->pause / 3 - l->gap);
    return a && a->answered + l->gap > from ? a->answered + l->gap : due;
}

/*@ requires \valid_read(l) && fits(l);
    assigns \nothing;
    ensures l->count == 0 ==> \result == l->last.sent;
    ensures l->count > 0 ==> \result <= l->pause / 3 + later(l->last.answered, sooner(
        l->last.sent + l->pause, later(l->until - l->session / 3, l->last.sent + l->session / 32))); */
int64_t zkr__lease_probe_at(const struct zkr__lease *l)
{
    if (l->count == 0) {
        return l->last.sent; /* now */
    }
    /* After an idle time, the first C (lease.h) raises the bound considerably, so the client sends it at once. */
    int64_t heard = chain_to(l, l->last.answered);
    if (heard != 0 && heard + sure_span(l) > l->until + l->gap) {
        return l->last.answered;
    }
    int64_t urgent =
        zkr__later(l->until - l->session / 3, l->last.sent + l->session / 32);
    return aimed(l, zkr__sooner(l->last.sent + l->pause, urgent));
}

/*@ requires \valid_read(l) && fits(l) && moment(boot);
    assigns \nothing;
    ensures \result ==> boot < l->until; */
bool zkr__lease_lasts(const struct zkr__lease *l, int64_t boot)
{
    int64_t trip = zkr__later(l->last.answered - l->last.sent, 0);
    if (boot + l->session / 6 >= l->until || trip > l->session) {
        return false;
    }
    if (!l->terms.no_stopgap && trip <= l->session / 12) {
        return true; /* the next probe alone proves more */
    }
    /*
     * Rule 2 of lease.h. True if a write newer than the A of the present bound can serve as A, and the answer to its C
     * can still arrive in time, even if B must first wait for the answer to another write.
     */
    uint64_t at = l->count;
    const struct zkr__write *a = find(l, &at, l->until - l->gap - 3 * trip);
    return a && a->sent + sure_span(l) > l->until && boot + 3 * trip < l->until;
}

/*@ requires \valid_read(l) && fits(l);
    assigns \nothing; */
bool zkr__lease_is_chained(const struct zkr__lease *l)
{
    int64_t heard = l->count > 0 ? chain_to(l, l->last.sent) : 0;
    return heard != 0 && heard + sure_span(l) >= l->until;
}

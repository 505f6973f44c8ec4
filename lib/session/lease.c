/* SPDX-License-Identifier: Apache-2.0 */
#include "session/lease.h"

#include <stddef.h>

enum { MARGIN_PPM = 1000 };

static int64_t later(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

static int64_t sooner(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static int64_t margin(const struct zkr__lease *l)
{
    return l->terms.margin_ppm > 0 ? l->terms.margin_ppm : MARGIN_PPM;
}

/* How long a session lives for sure, by our clock, after the leader heard of it. */
static int64_t sure_span(const struct zkr__lease *l)
{
    return l->session - l->session / 1000 * margin(l) / 1000;
}

static void extend(struct zkr__lease *l, int64_t heard)
{
    l->until = later(l->until, heard + sure_span(l));
}

static void set_pace(struct zkr__lease *l)
{
    int64_t tick = l->terms.tick > 0 ? l->terms.tick : l->session / 2;
    int64_t pause = l->terms.pause > 0 ? l->terms.pause : l->session / 12;
    /* The part is for the leader's ping loop, which never wakes early but may be late; and our clock may be fast. */
    l->gap = tick / 2 + tick / 32;
    l->gap += l->gap / 1000 * (margin(l) > MARGIN_PPM ? margin(l) : 0) / 1000;
    int64_t n = pause > 0 ? l->gap / pause + (l->gap % pause > pause / 2) : 1;
    n = n < 1 ? 1 : sooner(n, ZKR__LEASE_WRITES / 4);
    l->pause = (l->gap + n - 1) / n;
}

void zkr__lease_begin(struct zkr__lease *l,
                      const struct zkr__lease_terms *terms,
                      int64_t granted,
                      int64_t opened)
{
    *l = (struct zkr__lease){.terms = *terms, .session = granted};
    l->last = (struct zkr__write){opened, opened};
    set_pace(l);
    extend(l, opened);
}

void zkr__lease_reconnected(struct zkr__lease *l, int64_t granted)
{
    l->count = 0;
    if (granted < l->session) {
        l->session = granted;
        l->until = sooner(l->until, l->last.sent + sure_span(l));
        set_pace(l);
    }
}

void zkr__lease_end(struct zkr__lease *l)
{
    *l = (struct zkr__lease){0};
}

/* The latest remembered write answered by @by, among those before number *@at; NULL: none. */
static const struct zkr__write *
find(const struct zkr__lease *l, unsigned *at, int64_t by)
{
    while (*at > 0 && l->count - *at < ZKR__LEASE_WRITES) {
        const struct zkr__write *w = &l->writes[--*at % ZKR__LEASE_WRITES];
        if (w->answered <= by) {
            return w;
        }
    }
    return NULL;
}

/* When A was sent, of the best chain that ends with a C sent at @sent; 0 = no chain. */
static int64_t chain_to(const struct zkr__lease *l, int64_t sent)
{
    unsigned at = l->count;
    const struct zkr__write *b = find(l, &at, sent);
    const struct zkr__write *a = b ? find(l, &at, b->sent - l->gap) : NULL;
    return a ? a->sent : 0;
}

static void remember(struct zkr__lease *l, struct zkr__write w)
{
    const struct zkr__write *newest =
        l->count > 0 ? &l->writes[(l->count - 1) % ZKR__LEASE_WRITES] : NULL;
    if (!newest || w.sent >= newest->sent + l->gap / 16) {
        l->writes[l->count++ % ZKR__LEASE_WRITES] = w;
    }
}

void zkr__lease_answered(struct zkr__lease *l, int64_t sent, int64_t answered)
{
    if (l->session == 0) {
        return;
    }
    if (l->count == 0) {
        extend(l, l->last.sent); /* the handshake came after it */
    }
    if (!l->terms.no_stopgap && answered - sent <= l->session / 12) {
        extend(l, sent - l->session / 3 - l->gap);
    }
    int64_t heard = chain_to(l, sent);
    if (heard != 0) {
        extend(l, heard);
    }
    l->last = (struct zkr__write){sent, answered};
    remember(l, l->last);
}

int64_t zkr__lease_probe_at(const struct zkr__lease *l)
{
    if (l->count == 0) {
        return l->last.sent; /* at once */
    }
    /* It would be a C that gives much: the first after a time without writes. */
    int64_t heard = chain_to(l, l->last.answered);
    if (heard != 0 && heard + sure_span(l) > l->until + l->gap) {
        return l->last.answered;
    }
    int64_t urgent = later(l->until - l->session / 3, l->last.sent + l->session / 32);
    return sooner(l->last.answered + l->pause, urgent);
}

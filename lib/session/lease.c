/* SPDX-License-Identifier: Apache-2.0 */
#include "session/lease.h"

static int64_t later(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

static int64_t sooner(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

/* The first moment at which a session of which the leader heard at @heard may have ended. */
static int64_t end_after(const struct zkr__lease *l, int64_t heard)
{
    return heard + l->session - l->session / 1000;
}

void zkr__lease_begin(struct zkr__lease *l,
                      int64_t session,
                      int64_t pause,
                      int64_t opened)
{
    /* The sixty-fourth is for the leader's ping loop, which never wakes early but may be late. */
    int64_t least = session / 4 + session / 64;
    *l = (struct zkr__lease){.session = session};
    l->gap = later(least, sooner(pause, session * 2 / 5));
    l->until = end_after(l, opened);
}

void zkr__lease_reconnected(struct zkr__lease *l)
{
    l->a = l->b = (struct zkr__write){0, 0};
}

void zkr__lease_end(struct zkr__lease *l)
{
    *l = (struct zkr__lease){0};
}

static void extend_chain(struct zkr__lease *l, struct zkr__write w)
{
    if (l->a.sent == 0 || w.answered >= end_after(l, l->a.sent)) {
        l->a = w; /* the first, or the old one is worth nothing any more */
        l->b.sent = 0;
    } else if (l->b.sent == 0) {
        if (w.sent >= l->a.answered + l->gap) {
            l->b = w;
        }
    } else if (w.sent >= l->b.answered) {
        l->until = later(l->until, end_after(l, l->a.sent));
        l->a = l->b;
        l->b.sent = 0;
    }
}

void zkr__lease_answered(struct zkr__lease *l, int64_t sent, int64_t answered)
{
    if (l->session == 0) {
        return;
    }
    l->last_sent = later(l->last_sent, sent);
    if (answered - sent <= l->session / 12) {
        int64_t alone = sent - l->session / 3 - l->session / 4;
        l->until = later(l->until, end_after(l, alone));
    }
    extend_chain(l, (struct zkr__write){sent, answered});
}

int64_t zkr__lease_probe_at(const struct zkr__lease *l)
{
    if (l->a.sent == 0 || l->b.sent != 0) {
        return l->last_sent; /* at once */
    }
    /* With little left, what one write alone proves is welcome: try, but not in a busy loop. */
    int64_t urgent = later(l->until - l->session / 3, l->last_sent + l->session / 32);
    return sooner(l->a.answered + l->gap, urgent);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "session/observed.h"

/* Later than by this part of the session time-out it was not merely busy. */
enum { STOP_PART = 4 };

static int64_t session_ns(const zkr_client *c)
{
    return c->session_ms * ZKR__MS;
}

static int64_t lateness(const zkr_client *c, int64_t boot) ZKR__LOCKED
{
    int64_t late = c->due != 0 ? boot - c->due : 0;
    return late >= session_ns(c) / STOP_PART ? late : 0;
}

void zkr__service_runs(zkr_client *c)
{
    int64_t boot = c->door->boot();
    int64_t late = lateness(c, boot);
    if (late > 0) {
        c->stopped = late;
        c->stopped_until = boot;
    }
    c->due = 0;
}

void zkr__service_rests(zkr_client *c, int64_t at)
{
    c->due = at == ZKR__NEVER ? 0 : c->door->boot() + (at - zkr__now(c));
}

/* Also when the service has not run again since. */
static int64_t stopped(const zkr_client *c, int64_t boot) ZKR__LOCKED
{
    int64_t late = lateness(c, boot);
    bool lately = c->stopped > 0 && boot - c->stopped_until <= session_ns(c);
    return late > 0 ? late : lately ? c->stopped : 0;
}

/* At least 1 of something that is. */
static int64_t to_ms(int64_t ns)
{
    return ns <= 0 ? 0 : ns < ZKR__MS ? 1 : ns / ZKR__MS;
}

static struct zkr__observed look(const zkr_client *c) ZKR__LOCKED
{
    int64_t boot = c->door->boot();
    struct zkr__observed o = {.session_id = c->session_id, .epoch = c->epoch};
    o.last_write_ms = c->lease.session != 0 ? to_ms(boot - c->lease.last.sent) : -1;
    o.stopped_ms = to_ms(stopped(c, boot));
    bool up = c->state == ZKR_STATE_CONNECTED;
    o.disconnected_ms = up ? 0 : to_ms(zkr__now(c) - c->suspended_at);
    int64_t oldest = c->link ? zkr__link_oldest(c->link) : ZKR__NEVER;
    o.silent_ms = oldest != ZKR__NEVER ? to_ms(boot - oldest) : 0;
    return o;
}

struct zkr__observed zkr__observe(const zkr_client *c)
{
    return c->session_id != 0 ? look(c) : c->at_end;
}

void zkr__observe_end(zkr_client *c)
{
    if (c->session_id != 0) {
        c->at_end = look(c);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "session/bound.h"

#include "session/must.h"
#include "session/request.h"

static int64_t session_ns(const zkr_client *c)
{
    return c->session_ms * ZKR__MS;
}

/* --- the lease bound --- */

int64_t zkr__from_boot(const zkr_client *c, int64_t boot)
{
    return boot == ZKR__NEVER ? ZKR__NEVER : zkr__now(c) + (boot - c->door->boot());
}

bool zkr__sure(zkr_client *c)
{
    if (c->broken) {
        return false;
    }
    return c->options.lease_probe_ms < 0 ||
           zkr__lease_alive(&c->lease, c->door->boot());
}

bool zkr__amply_sure(zkr_client *c)
{
    if (c->broken) {
        return false;
    }
    return c->options.lease_probe_ms < 0 ||
           zkr__lease_lasts(&c->lease, c->door->boot());
}

bool zkr__proved(zkr_client *c)
{
    return zkr__sure(c) && (zkr__amply_sure(c) || zkr__lease_is_chained(&c->lease));
}

int64_t zkr__valid_for_ms(zkr_client *c)
{
    if (c->broken) {
        return 0;
    }
    if (c->options.lease_probe_ms < 0) {
        return c->session_id != 0 ? ZKR_UNKNOWN : 0;
    }
    return zkr__later((c->lease.until - c->door->boot()) / ZKR__MS, 0);
}

void zkr__probe_soon(zkr_client *c)
{
    c->probe_wanted = true;
    zkr__wake_by(c, zkr__now(c));
}

void zkr__probe_done(zkr_client *c, bool answered)
{
    enum { MOST = 3 };
    ZKR__MUST(c, c->probing || c->session_id == 0);
    c->probing = false;
    c->probe_after = 0;
    if (answered) {
        c->probe_failures = 0;
    } else {
        /* The pause is 1/32 of the session timeout after the first failure, then 1/16, then 1/8. */
        c->probe_failures += c->probe_failures < MOST;
        c->probe_after = c->door->boot() + (session_ns(c) / 64 << c->probe_failures);
    }
    ZKR__MUST(c, c->probe_failures >= 0 && c->probe_failures <= MOST);
    zkr__wake_by(c, zkr__now(c));
}

/* --- loss diagnostics --- */

/* If the service is late by 1/STOP_PART of the session timeout, the process was stopped, and not just busy. */
enum { STOP_PART = 4 };

static int64_t lateness(const zkr_client *c, int64_t boot) ZKR__LOCKED
{
    int64_t late = c->due != 0 && c->due != ZKR__NEVER ? boot - c->due : 0;
    return late >= session_ns(c) / STOP_PART ? late : 0;
}

/* If the service is late, record a stop of the process. Returns the current time. */
static int64_t note_stop(zkr_client *c) ZKR__LOCKED
{
    int64_t boot = c->door->boot();
    int64_t late = lateness(c, boot);
    if (late > 0) {
        c->stopped = late;
        c->stopped_until = boot;
    }
    return boot;
}

void zkr__service_runs(zkr_client *c)
{
    c->due = note_stop(c); /* a turn should end at once */
}

void zkr__service_rests(zkr_client *c)
{
    (void)note_stop(c);
    c->due = zkr__to_boot(c, c->service_at);
}

void zkr__service_leaves(zkr_client *c)
{
    c->due = 0;
}

/* Returns how long the process was stopped recently, including a stop that the service has not recorded yet. */
static int64_t stopped(const zkr_client *c, int64_t boot) ZKR__LOCKED
{
    int64_t late = lateness(c, boot);
    bool lately = c->stopped > 0 && boot - c->stopped_until <= session_ns(c);
    return late > 0 ? late : lately ? c->stopped : 0;
}

/* Round down to milliseconds, but keep a positive time positive. */
static int64_t to_ms(int64_t ns)
{
    return ns <= 0 ? 0 : ns < ZKR__MS ? 1 : ns / ZKR__MS;
}

static zkr_lost look(const zkr_client *c) ZKR__LOCKED
{
    int64_t boot = c->door->boot();
    int64_t oldest = c->link ? zkr__link_oldest(c->link) : ZKR__NEVER;
    return (zkr_lost){
        .session_id = c->session_id,
        .last_write_ms = c->lease.session != 0 ? to_ms(boot - c->lease.last.sent) : -1,
        .silent_ms = oldest != ZKR__NEVER ? to_ms(boot - oldest) : 0,
        .disconnected_ms = zkr__connected(c) ? 0 : to_ms(zkr__now(c) - c->suspended_at),
        .stopped_ms = to_ms(stopped(c, boot)),
    };
}

int64_t zkr__slow_ms(const zkr_client *c)
{
    const struct zkr__write *last = &c->lease.last;
    int64_t took = last->answered - last->sent, s = c->lease.session;
    bool lately = zkr__connected(c) && c->door->boot() - last->answered < s / 2;
    return lately && took >= s / 12 ? to_ms(took) : 0;
}

zkr_lost zkr__observe(const zkr_client *c)
{
    return c->session_id != 0 ? look(c) : c->at_end;
}

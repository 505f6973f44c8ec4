/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/warning.h"

#include "queue/engine_state.h"
#include "session/bound.h"

/*
 * Returns when (CLOCK_BOOTTIME) only @ms of the lease will be left, or 1/@part of the session timeout if that is less.
 */
static int64_t left_at(const zkr_client *c, int64_t ms, int part) ZKR__LOCKED
{
    int64_t most = c->session_ms / part;
    return c->lease.until - (ms < most ? ms : most) * ZKR__MS;
}

/*
 * Returns when the warning is due. While more than a third of the session timeout is left, no answer is overdue
 * (lease.h), so a warning would be false. A hold can begin with less, down to a sixth (zkr__lease_lasts()), and the
 * next answer then extends the lease. If that answer does not arrive, the warning is due when a sixth is left. Sets
 * *young if the hold began with less than a third, and no answer has arrived since.
 */
static int64_t due_at(const struct zkr__claim *claim, bool *young) ZKR__LOCKED
{
    enum { PART = 3, LEAST_PART = 6 };
    const zkr_client *c = claim->q->c;
    int64_t at = left_at(c, claim->q->warn_ms, PART);
    *young = zkr__from_boot(c, at) < claim->held_at;
    return *young ? left_at(c, claim->q->warn_ms, LEAST_PART) : at;
}

/*
 * Schedule the next check of @claim. A young hold is checked often, because an answer may extend its lease at any time.
 */
static void look_later(struct zkr__claim *claim) ZKR__LOCKED
{
    enum { PART = 16 };
    bool young;
    zkr_client *c = claim->q->c;
    struct zkr__engine *engine = claim->engine;
    int64_t at = due_at(claim, &young);
    if (young) {
        at = zkr__sooner(at, c->door->boot() + c->session_ms * ZKR__MS / PART);
    }
    if (engine->warn_at == 0 || at < engine->warn_at) {
        engine->warn_at = at;
        zkr__wake_by(c, zkr__from_boot(c, at));
    }
    engine->warn_until = c->lease.until;
}

void zkr__warning_await(struct zkr__claim *claim)
{
    claim->warning = ZKR__WARNING_OFF;
    if (claim->q->warn_ms > 0) {
        claim->warning = ZKR__WARNING_AWAITED;
        look_later(claim);
    }
}

bool zkr__warning_look(struct zkr__claim *claim)
{
    bool young;
    if (claim->warning != ZKR__WARNING_AWAITED || claim->k.phase != ZKR__HELD) {
        return false;
    }
    if (claim->q->c->door->boot() < due_at(claim, &young)) {
        look_later(claim);
        return false;
    }
    claim->warning = ZKR__WARNING_DUE;
    return true;
}

/* If a shorter session timeout has lowered the lease bound, all these times are earlier, so the check is due now. */
bool zkr__warning_looks(struct zkr__engine *engine)
{
    const zkr_client *c = engine->c;
    bool due = engine->warn_at != 0 && (c->door->boot() >= engine->warn_at ||
                                        c->lease.until < engine->warn_until);
    engine->warn_at = due ? 0 : engine->warn_at;
    return due;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/loss.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/path.h"
#include "session/log.h"
#include "session/observed.h"

const char *zkr_lost_reason_name(int reason)
{
    switch (reason) {
    case ZKR_LOST_SESSION:
        return "session expired";
    case ZKR_LOST_LEASE:
        return "lease bound passed";
    case ZKR_LOST_NODE:
        return "node deleted";
    case ZKR_LOST_STOPPED:
        return "stopped";
    case ZKR_LOST_SUSPENDED:
        return "disconnected";
    default:
        return "?";
    }
}

void zkr__loss_note(struct zkr__claim *claim)
{
    zkr_client *c = claim->q->c;
    if (!claim->loss) {
        claim->loss = zkr__mem_alloc(sizeof(*claim->loss));
    }
    if (claim->loss) {
        claim->loss->seen = zkr__observe(c);
        claim->loss->held_ms = (zkr__now(c) - claim->held_at) / ZKR__MS;
    }
}

/* Without memory for it nothing is known. */
static const struct zkr__loss *loss_of(const struct zkr__claim *claim)
{
    static const struct zkr__loss unknown = {.seen.last_write_ms = -1};
    return claim->loss ? claim->loss : &unknown;
}

/* --- in words --- */

static double seconds(int64_t ms)
{
    return (double)ms / 1000;
}

/* What was answered a moment ago is no silence. */
enum { SILENCE_MS = 100 };

/* Why the session, or the proof of it, came to its end. */
static void explain(const struct zkr__observed *o, int reason, char *text, size_t size)
{
    if (o->stopped_ms > 0) {
        (void)snprintf(text, size, "this process did not run for %.1f s",
                       seconds(o->stopped_ms));
    } else if (o->disconnected_ms > 0) {
        (void)snprintf(text, size, "no connection for %.1f s",
                       seconds(o->disconnected_ms));
    } else if (o->silent_ms >= SILENCE_MS) {
        (void)snprintf(text, size, "connected, but no answer from a quorum for %.1f s",
                       seconds(o->silent_ms));
    } else if (reason == ZKR_LOST_LEASE) {
        (void)snprintf(text, size, "connected, but the servers took no write");
    } else {
        (void)snprintf(text, size, "the servers ended it");
    }
}

static void put_words(const struct zkr__loss *loss, int reason, char *text, size_t size)
{
    char why[ZKR__LOSS_TEXT_MAX / 2];
    const char *name = zkr_lost_reason_name(reason);
    if (reason != ZKR_LOST_LEASE && reason != ZKR_LOST_SESSION) {
        (void)snprintf(text, size, "%s", name);
        return;
    }
    explain(&loss->seen, reason, why, sizeof(why));
    if (loss->seen.last_write_ms < 0) {
        (void)snprintf(text, size, "%s: %s", name, why);
    } else {
        (void)snprintf(text, size,
                       "%s: %s; the last answered write was sent %.1f s ago", name, why,
                       seconds(loss->seen.last_write_ms));
    }
}

zkr_lost zkr__loss_tell(const struct zkr__claim *claim,
                        int reason,
                        char text[ZKR__LOSS_TEXT_MAX])
{
    const struct zkr__loss *loss = loss_of(claim);
    const struct zkr__observed *o = &loss->seen;
    put_words(loss, reason, text, ZKR__LOSS_TEXT_MAX);
    return (zkr_lost){.reason = reason,
                      .fencing_token = claim->czxid,
                      .node = claim->node,
                      .session_id = o->session_id,
                      .held_ms = loss->held_ms,
                      .last_write_ms = o->last_write_ms,
                      .silent_ms = o->silent_ms,
                      .disconnected_ms = o->disconnected_ms,
                      .stopped_ms = o->stopped_ms,
                      .text = text};
}

enum zkr__metered_loss zkr__loss_metered(const struct zkr__claim *claim)
{
    return claim->k.lost == ZKR_LOST_SESSION     ? ZKR__METERED_SESSION
           : claim->k.lost == ZKR_LOST_NODE      ? ZKR__METERED_NODE
           : loss_of(claim)->seen.stopped_ms > 0 ? ZKR__METERED_STOPPED
                                                 : ZKR__METERED_LEASE;
}

void zkr__loss_log(const struct zkr__claim *claim, int reason)
{
    const struct zkr__loss *loss = loss_of(claim);
    const struct zkr__observed *o = &loss->seen;
    zkr__log_more(claim->q->c, ZKR_LOG_WARN,
                  ZKR__EVENT("lost", .path = claim->q->dir,
                             .node = zkr__path_name(claim->node),
                             .reason = zkr_lost_reason_name(reason),
                             .session_id = o->session_id, .epoch = o->epoch),
                  "token=%lld held_ms=%lld last_write_ms=%lld silent_ms=%lld "
                  "disconnected_ms=%lld stopped_ms=%lld",
                  (long long)claim->czxid, (long long)loss->held_ms,
                  (long long)o->last_write_ms, (long long)o->silent_ms,
                  (long long)o->disconnected_ms, (long long)o->stopped_ms);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/loss.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/path.h"
#include "queue/claim.h"
#include "session/bound.h"
#include "session/log.h"

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

struct zkr__loss {
    zkr_lost seen;       /* seen.reason: the reason that `text` gives; 0 = none yet */
    const char *gave_up; /* why the client ended the session; NULL = the servers did */
    bool early;          /* the session ended before its timeout allowed it */
    /* How long a slow answer took; 0 = no slow answer was the reason. */
    int64_t slow_ms;
    char text[200];
};

void zkr__loss_record(struct zkr__claim *claim)
{
    zkr_client *c = claim->q->c;
    if (!claim->loss) {
        claim->loss = zkr__mem_alloc(sizeof(*claim->loss));
    }
    if (claim->loss) {
        claim->loss->seen = zkr__observe(c);
        claim->loss->gave_up = c->gave_up;
        claim->loss->early = c->ended.early;
        claim->loss->slow_ms = zkr__slow_ms(c);
        claim->loss->seen.held_ms = (zkr__now(c) - claim->held_at) / ZKR__MS;
    }
}

/* Returns the record, which is empty if memory ran out when the hold ended. */
static zkr_lost seen_of(const struct zkr__claim *claim)
{
    return claim->loss ? claim->loss->seen : (zkr_lost){.last_write_ms = -1};
}

/* --- the explanation --- */

static double seconds(int64_t ms)
{
    return (double)ms / 1000;
}

/* A shorter silence does not explain a loss. */
enum { SILENCE_MS = 100 };

/* Explain why the session, or the proof that it is alive, has ended. */
static void explain(const struct zkr__loss *loss, int reason, char *text, size_t size)
{
    const zkr_lost *seen = &loss->seen;
    if (loss->early && reason == ZKR_LOST_SESSION) {
        (void)snprintf(text, size,
                       "a server gave a new session before the timeout of the old one, "
                       "or somebody ended the old one");
    } else if (seen->stopped_ms > 0) {
        (void)snprintf(text, size, "this process did not run for %.1f s",
                       seconds(seen->stopped_ms));
    } else if (seen->disconnected_ms > 0) {
        (void)snprintf(text, size, "no connection for %.1f s",
                       seconds(seen->disconnected_ms));
    } else if (loss->slow_ms > 0) {
        (void)snprintf(text, size,
                       "the servers answer too slowly for this session timeout: a "
                       "write took %.1f s",
                       seconds(loss->slow_ms));
    } else if (seen->silent_ms >= SILENCE_MS) {
        (void)snprintf(text, size, "connected, but no answer from a quorum for %.1f s",
                       seconds(seen->silent_ms));
    } else if (reason == ZKR_LOST_LEASE) {
        (void)snprintf(text, size, "connected, but the servers acknowledged no write");
    } else {
        (void)snprintf(text, size, "%s",
                       loss->gave_up ? loss->gave_up : "the servers ended it");
    }
}

static void put_words(struct zkr__loss *loss, int reason)
{
    enum { PART = sizeof(loss->text) / 2 };
    char why[PART];
    const char *name = zkr_lost_reason_name(reason);
    if (reason != ZKR_LOST_LEASE && reason != ZKR_LOST_SESSION) {
        (void)snprintf(loss->text, sizeof(loss->text), "%s", name);
        return;
    }
    explain(loss, reason, why, sizeof(why));
    if (loss->seen.last_write_ms < 0) {
        (void)snprintf(loss->text, sizeof(loss->text), "%s: %s", name, why);
    } else {
        (void)snprintf(loss->text, sizeof(loss->text),
                       "%s: %s; the last answered write was sent %.1f s ago", name, why,
                       seconds(loss->seen.last_write_ms));
    }
}

/* The text for a reason is written only once, because the application may be reading it. */
zkr_lost zkr__loss_tell(const struct zkr__claim *claim, int reason)
{
    struct zkr__loss *loss = claim->loss;
    if (loss && loss->seen.reason != reason) {
        put_words(loss, reason);
        loss->seen.reason = reason;
    }
    zkr_lost lost = seen_of(claim);
    lost.reason = reason;
    lost.fencing_token = claim->czxid;
    lost.node = claim->node;
    lost.text = loss ? loss->text : zkr_lost_reason_name(reason);
    return lost;
}

enum zkr__metered_loss zkr__loss_metered(const struct zkr__claim *claim)
{
    return claim->k.lost == ZKR_LOST_SESSION ? ZKR__METERED_SESSION
           : claim->k.lost == ZKR_LOST_NODE  ? ZKR__METERED_NODE
           : seen_of(claim).stopped_ms > 0   ? ZKR__METERED_STOPPED
                                             : ZKR__METERED_LEASE;
}

void zkr__loss_log(const struct zkr__claim *claim, int reason)
{
    const zkr_lost seen = seen_of(claim);
    zkr__log_more(claim->q->c, ZKR_LOG_WARN,
                  ZKR__EVENT("lost", .path = claim->q->dir,
                             .node = zkr__path_name(claim->node),
                             .reason = zkr_lost_reason_name(reason),
                             .session_id = seen.session_id, .epoch = claim->epoch),
                  "token=%lld held_ms=%lld last_write_ms=%lld silent_ms=%lld "
                  "disconnected_ms=%lld stopped_ms=%lld",
                  (long long)claim->czxid, (long long)seen.held_ms,
                  (long long)seen.last_write_ms, (long long)seen.silent_ms,
                  (long long)seen.disconnected_ms, (long long)seen.stopped_ms);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "why.h"

#include <inttypes.h>
#include <stdio.h>

void why_take(struct why *w, const zkr_lost *lost)
{
    w->reason = (int)lost->reason;
    w->stopped = lost->stopped_ms > 0;
    if (lost->reason == ZKR_LOST_NODE) {
        (void)snprintf(w->text, sizeof(w->text), "somebody deleted its node");
    } else {
        (void)snprintf(w->text, sizeof(w->text), "%.200s",
                       lost->text ? lost->text : "");
    }
}

void why_doubt(struct why *w, zkr_client *c, bool slept)
{
    zkr_stats stats = {.last_answer_ms = -1};
    (void)zkr_client_stats(c, &stats, sizeof(stats));
    int64_t ago = stats.last_answer_ms;
    const char *what = slept ? "zkr was stopped, or the machine was frozen"
                       : zkr_client_state(c) == ZKR_STATE_CONNECTED
                           ? "connected, but a majority of the servers does not answer"
                           : "there is no connection to a server";
    w->reason = ZKR_LOST_LEASE;
    w->stopped = slept;
    if (slept || ago < 0) { /* answers have come since it woke up */
        (void)snprintf(w->text, sizeof(w->text), "%s", what);
    } else {
        (void)snprintf(w->text, sizeof(w->text),
                       "%s; the last write that was answered was sent %" PRId64
                       ".%03" PRId64 " s ago",
                       what, ago / 1000, ago % 1000);
    }
}

const char *why_remedy(const struct why *w, bool revocable)
{
    if (w->reason == ZKR_LOST_NODE) {
        return revocable ? "to free a lock 'zkr revoke' does no harm"
                         : "to free it, TERM to its zkr does no harm";
    }
    if (w->stopped) {
        return "see what stopped it; -t makes the session longer";
    }
    return "check the servers and the network; -t makes the session longer";
}

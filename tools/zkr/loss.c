/* SPDX-License-Identifier: Apache-2.0 */
#include "loss.h"

#include <stdio.h>

int64_t loss_slow_answer_ms(zkr_client *c)
{
    zkr_stats stats = {.slow_answer_ms = 0};
    (void)zkr_client_stats(c, &stats, sizeof(stats));
    return stats.slow_answer_ms;
}

struct loss loss_reported(zkr_client *c, const zkr_lost *lost)
{
    const char *text = lost->text ? lost->text : "";
    struct loss l = {.reason = (int)lost->reason, .stopped = lost->stopped_ms > 0};
    l.slow = loss_slow_answer_ms(c) > 0;
    l.early = lost->reason == ZKR_LOST_SESSION && lost->last_write_ms >= 0 &&
              lost->last_write_ms < zkr_client_session_timeout_ms(c);
    (void)snprintf(l.text, sizeof(l.text), "%.200s",
                   lost->reason == ZKR_LOST_NODE ? "somebody deleted its node" : text);
    return l;
}

struct loss loss_doubted(zkr_client *c, bool slept)
{
    struct loss l = {.reason = ZKR_LOST_LEASE, .stopped = slept};
    zkr_stats stats = {.last_answer_ms = -1};
    (void)zkr_client_stats(c, &stats, sizeof(stats));
    int64_t ago = stats.last_answer_ms;
    l.slow = stats.slow_answer_ms > 0 && !slept;
    const char *what = slept ? "zkr was stopped, or the machine was frozen"
                       : l.slow
                           ? "the servers answer too slowly for this session timeout"
                       : zkr_client_state(c) == ZKR_STATE_CONNECTED
                           ? "zkr is connected, but no majority of the servers answers"
                           : "zkr is not connected to a server";
    if (slept || ago < 0) { /* after a stop, answers have already arrived */
        (void)snprintf(l.text, sizeof(l.text), "%s", what);
    } else if (l.slow) {
        (void)snprintf(l.text, sizeof(l.text), "%s: a write took %.3f s", what,
                       (double)stats.slow_answer_ms / 1000);
    } else {
        (void)snprintf(l.text, sizeof(l.text),
                       "%s; the last answered write was sent %.3f s ago", what,
                       (double)ago / 1000);
    }
    return l;
}

const char *loss_remedy(const struct loss *l, bool revocable)
{
    if (l->reason == ZKR_LOST_NODE) {
        return revocable ? "to free a lock, use 'zkr revoke'"
                         : "to free it, send TERM to its zkr";
    }
    if (l->early) {
        return "ClickHouse Keeper gives each client that reconnects a new session; -t "
               "does not help";
    }
    return l->stopped ? "find out what stopped it, or use a longer session timeout (-t)"
           : l->slow  ? "use a longer session timeout (-t)"
                      : "check the servers and the network, or use a longer session "
                        "timeout (-t)";
}

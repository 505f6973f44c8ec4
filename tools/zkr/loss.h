/* SPDX-License-Identifier: Apache-2.0 */
/* Why a lock is lost or in doubt, and the remedy. */
#ifndef ZKR_CLI_LOSS_H
#define ZKR_CLI_LOSS_H

#include <stdbool.h>

#include <zkr/client.h>

struct loss {
    int reason;     /* ZKR_LOST_…, also ZKR_LOST_LEASE for doubt; 0 = neither */
    char text[256]; /* what was observed */
    bool stopped;   /* zkr itself was stopped */
    bool slow;      /* answers arrived, but late */
    bool early;     /* the session ended before its timeout allowed it */
};

/** Describes a loss that the library reported. */
struct loss loss_reported(zkr_client *c, const zkr_lost *lost);
/** Describes a lease in doubt. @slept is true if zkr was stopped for too long. */
struct loss loss_doubted(zkr_client *c, bool slept);
/** Returns the remedy. @revocable is true if zkr revoke can request the release of the lock. */
const char *loss_remedy(const struct loss *l, bool revocable);
/** Returns how long the last write took, in milliseconds, or 0 if it was not slow. */
int64_t loss_slow_answer_ms(zkr_client *c);

#endif

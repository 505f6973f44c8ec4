/* SPDX-License-Identifier: Apache-2.0 */
/* Why a hold is over, or not to be trusted any more, and what to do about it. */
#ifndef ZKR_CLI_WHY_H
#define ZKR_CLI_WHY_H

#include <stdbool.h>
#include <stddef.h>

#include <zkr/client.h>

struct why {
    int reason; /* ZKR_LOST_…; ZKR_LOST_LEASE also when its end was near; 0 = all is well */
    char text[256]; /* what was observed */
    bool stopped;   /* it was this process that stood still */
};

/** The library has told it. */
void why_take(struct why *w, const zkr_lost *lost);

/** The lease bound is near. @slept: this process has been stopped until then. */
void why_doubt(struct why *w, zkr_client *c, bool slept);

/** Advice for a person. @revocable: who holds can be asked to let go. */
const char *why_remedy(const struct why *w, bool revocable);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Pauses between attempts: exponential back-off with jitter. Pure. */
#ifndef ZKR_SESSION_RETRY_H
#define ZKR_SESSION_RETRY_H

#include <stdint.h>

struct zkr__retry {
    int64_t base, max; /* ns */
    int64_t attempts;  /* 0 = no limit */
};

/* The pause before attempt @n (0 = first retry): base * 2^n, at most max, of which a random
 * half to whole by @random (any value). */
int64_t zkr__retry_pause(const struct zkr__retry *r, int64_t n, uint64_t random);

/* The next of a sequence of pseudo-random numbers; @state must not be 0. */
uint64_t zkr__retry_random(uint64_t *state);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "session/retry.h"

int64_t zkr__retry_pause(const struct zkr__retry *r, int64_t n, uint64_t random)
{
    int64_t pause = r->base;
    for (int64_t i = 0; i < n && pause < r->max; i++) {
        pause = pause > r->max / 2 ? r->max : pause * 2;
    }
    if (pause > r->max) {
        pause = r->max;
    }
    int64_t half = pause / 2;
    return pause - (half > 0 ? (int64_t)(random % (uint64_t)half) : 0);
}

uint64_t zkr__retry_random(uint64_t *state)
{
    /* xorshift64* */
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(2685821657736338717);
}

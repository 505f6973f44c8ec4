/* SPDX-License-Identifier: Apache-2.0 */
/* How often what took how long: counts between fixed bounds, from a millisecond to an hour. Pure. */
#ifndef ZKR_BASE_HISTOGRAM_H
#define ZKR_BASE_HISTOGRAM_H

#include <stdint.h>

enum { ZKR__BOUNDS = 16 };

struct zkr__histogram {
    int64_t sum_ns;
    int64_t counts[ZKR__BOUNDS +
                   1]; /* up to each bound from the one before; the last: above all */
};

/* Below 0 counts as 0. */
void zkr__histogram_add(struct zkr__histogram *h, int64_t ns);
/* The upper bound of counts[@i], as text in seconds, such as "0.25"; "+Inf" for the last. */
const char *zkr__histogram_bound(int i);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_CLOCKS_H
#define ZKC_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A separate kind of run: it tests the lease on an ensemble whose leader's clock runs at another rate. Holders are cut
 * off, or are stopped until the next contender holds. The checkers look for two contenders that believed to hold at the
 * same time.
 */

struct zkc_clocks {
    const char *rate;   /* rate of the leader's clock, such as "1.05" */
    int64_t margin_ppm; /* lease margin of the clients; 0 = the library's default */
    int64_t seconds;
    uint64_t seed;
    bool keep; /* keep the history */
};

/** Returns whether @text is a rate that this run supports. */
bool zkc_is_rate(const char *text);

/** Run. Returns the exit status. */
int zkc_clocks_run(const struct zkc_clocks *o);

#endif

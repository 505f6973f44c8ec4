/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_CLOCKS_H
#define ZKC_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A run of its own: what the lease says, on servers whose leader has a clock that runs at another rate. Holders are cut
 * off, or stopped until the next one holds; the judges look whether both believed to hold.
 */

struct zkc_clocks {
    const char *rate;   /* of the leader's clock, such as "1.05" */
    int64_t margin_ppm; /* of the clients; 0 = that of the library */
    int64_t seconds;
    uint64_t seed;
    bool keep; /* the history */
};

/** Is the text a rate that a clock can have here? */
bool zkc_is_rate(const char *text);

/** The run. Returns the exit status. */
int zkc_clocks_run(const struct zkc_clocks *o);

#endif

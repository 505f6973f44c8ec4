/* SPDX-License-Identifier: Apache-2.0 */
#include "base/histogram.h"

#define US INT64_C(1000)
#define S INT64_C(1000000000)

static const struct {
    int64_t ns;
    const char *text;
} bounds[ZKR__BOUNDS] = {
    {1000 * US, "0.001"}, {2500 * US, "0.0025"}, {5000 * US, "0.005"},
    {10000 * US, "0.01"}, {25000 * US, "0.025"}, {50000 * US, "0.05"},
    {100000 * US, "0.1"}, {250000 * US, "0.25"}, {500000 * US, "0.5"},
    {S, "1.0"},           {5 * S / 2, "2.5"},    {5 * S, "5.0"},
    {10 * S, "10.0"},     {60 * S, "60.0"},      {600 * S, "600.0"},
    {3600 * S, "3600.0"},
};

void zkr__histogram_add(struct zkr__histogram *h, int64_t ns)
{
    ns = ns < 0 ? 0 : ns;
    int i = 0;
    while (i < ZKR__BOUNDS && ns > bounds[i].ns) {
        i++;
    }
    h->counts[i]++;
    h->sum_ns += ns;
}

const char *zkr__histogram_bound(int i)
{
    return i < ZKR__BOUNDS ? bounds[i].text : "+Inf";
}

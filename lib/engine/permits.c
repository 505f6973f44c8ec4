/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/permits.h"

#include "engine/contender.h"

static int64_t read_max(const zkr_contender *leases, size_t count)
{
    int64_t max = 0;
    for (size_t i = count; i > 0 && max == 0; i--) {
        max = zkr__contender_number(&leases[i - 1], ZKR__FIELD_MAX);
    }
    return max;
}

/* For one that does not say of how many: it is the first at the gate, and made its lease after its node there. */
static bool is_waited_for(const zkr_contender *newest, const zkr_contender *gate)
{
    return gate && newest->session_id != 0 && newest->session_id == gate->session_id &&
           newest->fencing_token > gate->fencing_token;
}

size_t zkr__permits_held(const zkr_contender *leases,
                         size_t count,
                         const zkr_contender *gate,
                         int64_t *max)
{
    size_t held = 0;
    *max = read_max(leases, count);
    while (held < count) {
        const zkr_contender *first = &leases[held];
        int64_t own = zkr__contender_number(first, ZKR__FIELD_MAX);
        int64_t most = own > *max ? own : *max;
        size_t end = held + 1;
        while (end < count && leases[end].fencing_token == first->fencing_token) {
            end++;
        }
        bool waits =
            own > 0 ? end > (uint64_t)most : end == count && is_waited_for(first, gate);
        if (waits) {
            return held;
        }
        held = end;
    }
    return held;
}

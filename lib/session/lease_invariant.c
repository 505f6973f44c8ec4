/* SPDX-License-Identifier: Apache-2.0 */
#include "session/lease_invariant.h"

#include "base/fault.h"

/* The margin lengthens the gap by at most half. */
static bool gap_is_of_session(const struct zkr__lease *l)
{
    int64_t tick = l->terms.tick > 0 ? l->terms.tick : l->session / 2;
    int64_t plain = tick / 2 + tick / 32;
    return l->gap >= plain && l->gap <= plain + plain / 2;
}

/* Times are not compared, because a clock that jumps back is not a fault of this library. */
const char *zkr__lease_invariant(const struct zkr__lease *l)
{
    bool none = l->session == 0;
    ZKR__FAULT_IF(l->session < 0, "a negative session timeout");
    ZKR__FAULT_IF(none && (l->until != 0 || l->count != 0),
                  "a lease without a session");
    ZKR__FAULT_IF(!none && !gap_is_of_session(l), "a gap of another session timeout");
    ZKR__FAULT_IF(!none && (l->pause <= 0 || l->pause > l->gap),
                  "a pause that is no part of the gap");
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/tries.h"

#include "engine/batch.h"
#include "engine/directory.h"

/* Those of a group that are to stand in one directory. */
static int64_t count_beside(const struct zkr__claim *claim) ZKR__LOCKED
{
    int64_t count = 0;
    const struct zkr__batch *batch = claim->batch; /* NULL: it has left its group */
    for (uint32_t i = 0; batch && i < batch->count; i++) {
        const struct zkr__claim *other = batch->claims[i];
        count += other && other->directory == claim->directory;
    }
    return count;
}

bool zkr__try_is_wary(const struct zkr__claim *claim)
{
    const struct zkr__queue *q = claim->q;
    const struct zkr__directory *d = claim->directory;
    bool in_the_way =
        claim->k.member ? q->rule != zkr__rule_any : q->kind == ZKR__NAME_WRITE;
    if (!claim->once || !in_the_way) {
        return false;
    }
    return d->seen < 0 ||
           (q->rule == zkr__rule_permits
                ? d->seen + d->seen_strays + count_beside(claim) > q->rule_arg
                : d->seen > 0);
}

void zkr__try_count(const struct zkr__claim *claim, enum zkr__phase before)
{
    struct zkr__directory *d = claim->directory;
    bool leaves = zkr__claim_stage(&claim->k) == ZKR__REMOVING;
    d->seen -= leaves && before != ZKR__REMOVING && d->seen > 0;
}

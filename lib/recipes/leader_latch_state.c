/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/leader_latch_state.h"

#include "base/error.h"
#include "base/mem.h"

static int no_latch(void)
{
    return zkr__fail(ZKR_EINVAL, NULL, "the leader latch is NULL");
}

int zkr__latch_enter(const zkr_leader_latch *l)
{
    return l ? zkr__client_enter(l->c) : no_latch();
}

int zkr__latch_enter_blocking(const zkr_leader_latch *l)
{
    return l ? zkr__client_enter_blocking(l->c) : no_latch();
}

struct zkr__claim *zkr__latch_lead(const zkr_leader_latch *l)
{
    bool leads = l->claim && l->claim->k.phase == ZKR__HELD &&
                 (!l->o.step_down_when_suspended || zkr__connected(l->c));
    return leads ? l->claim : NULL;
}

struct zkr__claim *zkr__latch_sure_lead(zkr_leader_latch *l)
{
    if (l->claim) {
        zkr__claim_check(l->claim);
    }
    struct zkr__claim *lead = zkr__latch_lead(l);
    return lead && zkr__claim_sure(lead) ? lead : NULL;
}

void zkr__latch_free(zkr_leader_latch *l)
{
    zkr__cv_destroy(&l->changed);
    zkr__mem_free(l);
}

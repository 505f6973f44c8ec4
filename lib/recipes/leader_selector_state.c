/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/leader_selector_state.h"

#include "base/error.h"
#include "base/mem.h"

static int no_selector(void)
{
    return zkr__fail(ZKR_EINVAL, NULL, "the leader selector is NULL");
}

int zkr__selector_enter(const zkr_leader_selector *s)
{
    return s ? zkr__client_enter(s->c) : no_selector();
}

int zkr__selector_enter_blocking(const zkr_leader_selector *s)
{
    return s ? zkr__client_enter_blocking(s->c) : no_selector();
}

bool zkr__leadership_sure(struct zkr_leadership *lead)
{
    zkr__claim_check(lead->claim);
    return !lead->suspended && zkr__claim_sure(lead->claim);
}

void zkr__selector_free(zkr_leader_selector *s)
{
    zkr__cv_destroy(&s->changed);
    zkr__mem_free(s);
}

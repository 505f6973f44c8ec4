/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

static const struct {
    const char *name;
    int64_t least, most;
} faults[] = {
#define ZKC_FAULT_ROW_(name, text, least, most) {text, least, most},
    ZKC_FAULT_MAP(ZKC_FAULT_ROW_)
#undef ZKC_FAULT_ROW_
};

uint64_t zkc_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

int64_t zkc_between(uint64_t *state, int64_t least, int64_t most)
{
    return least + (int64_t)(zkc_random(state) % (uint64_t)(most - least + 1));
}

void zkc_plan_begin(zkc_plan *p, uint64_t seed)
{
    p->random = seed;
    p->drawn = ZKC_FAULT_KINDS;
    for (int i = 0; i < ZKC_FAULT_KINDS; i++) {
        p->round[i] = (enum zkc_fault_kind)i;
    }
}

static void shuffle(zkc_plan *p)
{
    for (int i = ZKC_FAULT_KINDS - 1; i > 0; i--) {
        int j = (int)zkc_between(&p->random, 0, i);
        enum zkc_fault_kind kind = p->round[i];
        p->round[i] = p->round[j];
        p->round[j] = kind;
    }
    p->drawn = 0;
}

zkc_fault zkc_plan_next(zkc_plan *p)
{
    if (p->drawn == ZKC_FAULT_KINDS) {
        shuffle(p);
    }
    zkc_fault f = {.kind = p->round[p->drawn++]};
    f.who = (uint32_t)zkc_random(&p->random);
    f.how = (uint32_t)zkc_random(&p->random);
    f.span_ms = zkc_between(&p->random, faults[f.kind].least, faults[f.kind].most);
    f.rest_ms = zkc_between(&p->random, 500, 2500);
    return f;
}

const char *zkc_fault_name(int kind)
{
    return kind >= 0 && kind < ZKC_FAULT_KINDS ? faults[kind].name : "?";
}

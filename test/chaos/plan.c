/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *id;
    const char *name;
    int64_t least, most;
} faults[] = {
#define ZKC_FAULT_ROW_(name, text, least, most) {#name, text, least, most},
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

/* @word has @n characters. */
static bool is_called(const char *id, const char *word, size_t n)
{
    size_t i = 0;
    while (i < n && id[i] != '\0' &&
           (id[i] == '_' ? '-' : tolower((unsigned char)id[i])) == word[i]) {
        i++;
    }
    return i == n && id[i] == '\0';
}

bool zkc_kinds_read(const char *list, zkc_kinds *out)
{
    for (*out = 0; *list != '\0';) {
        const size_t n = strcspn(list, ",");
        zkc_kinds found = is_called("USUAL", list, n) ? ZKC_USUAL : 0;
        for (int i = 0; i < ZKC_FAULT_KINDS; i++) {
            found |= is_called(faults[i].id, list, n) ? (zkc_kinds)1 << i : 0;
        }
        if (found == 0) {
            return false;
        }
        *out |= found;
        list += n + (list[n] == ',');
    }
    return *out != 0;
}

void zkc_plan_begin(zkc_plan *p, uint64_t seed, zkc_kinds kinds)
{
    *p = (zkc_plan){.random = seed};
    for (int i = 0; i < ZKC_FAULT_KINDS; i++) {
        if (zkc_has_kind(kinds, i)) {
            p->round[p->kinds++] = (enum zkc_fault_kind)i;
        }
    }
    p->drawn = p->kinds;
}

static void shuffle(zkc_plan *p)
{
    for (int i = p->kinds - 1; i > 0; i--) {
        int j = (int)zkc_between(&p->random, 0, i);
        enum zkc_fault_kind kind = p->round[i];
        p->round[i] = p->round[j];
        p->round[j] = kind;
    }
    p->drawn = 0;
}

zkc_fault zkc_plan_next(zkc_plan *p)
{
    if (p->drawn == p->kinds) {
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

/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation of lib/base/mem.c: it counts the blocks in use, and overwrites freed memory. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim.h"

struct block {
    _Alignas(16) size_t size;
    size_t mark;
};

static const size_t LIVE = 0x5a6b4d45;
static long blocks;

long sim_blocks(void)
{
    return blocks;
}

void zkr__mem_set_gate(zkr__mem_gate gate)
{
}

/* Allocations fail in the library's own threads, and in calls of application threads. */
static bool is_short(void)
{
    bool fails = scene.starved && !sim_quiet && sim_self() && !sim_self()->fed &&
                 zkf_below(300) == 0;
    did.no_memory += fails;
    return fails;
}

void *zkr__mem_alloc(size_t size)
{
    if (is_short()) {
        return NULL;
    }
    struct block *b = calloc(1, sizeof(*b) + size);
    if (!b) {
        return NULL;
    }
    b->size = size;
    b->mark = LIVE;
    blocks++;
    return b + 1;
}

void *zkr__mem_copy(const void *from, size_t size)
{
    char *to = zkr__mem_alloc(size + 1);
    if (to && size > 0) {
        memcpy(to, from, size);
    }
    return to;
}

char *zkr__mem_string(const char *text)
{
    return zkr__mem_copy(text, strlen(text));
}

void zkr__mem_free(void *p)
{
    if (!p) {
        return;
    }
    struct block *b = (struct block *)p - 1;
    if (b->mark != LIVE) {
        sim_violation("memory is freed that is not there");
        return;
    }
    blocks--;
    memset(b, 0xa5, sizeof(*b) + b->size);
    /* Otherwise the compiler omits the memset. */
    __asm__ volatile("" : : "r"(b) : "memory");
    free(b);
}

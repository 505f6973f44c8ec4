/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic(zkr__mem_gate) gate;

void zkr__mem_set_gate(zkr__mem_gate fn)
{
    atomic_store(&gate, fn);
}

void *zkr__mem_alloc(size_t size)
{
    zkr__mem_gate ask = atomic_load_explicit(&gate, memory_order_relaxed);
    if (ask && !ask()) {
        return NULL;
    }
    return calloc(1, size);
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
    free(p);
}

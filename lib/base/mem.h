/* SPDX-License-Identifier: Apache-2.0 */
/* All allocations of this library go through these functions, so that tests can make the n-th allocation fail. */
#ifndef ZKR_BASE_MEM_H
#define ZKR_BASE_MEM_H

#include <stddef.h>

/* Returns zeroed memory, or NULL. */
void *zkr__mem_alloc(size_t size);
/* Returns a copy of @size bytes followed by a zero byte, or NULL. */
void *zkr__mem_copy(const void *from, size_t size);
char *zkr__mem_string(const char *text);
void zkr__mem_free(void *p);

/* Yields the object of @type that has @at as its @member. */
#define ZKR__OWNER_OF(at, type, member)                                                \
    ((type *)(void *)((char *)(at)-offsetof(type, member)))

/* For tests. Each allocation first calls the gate, and fails if the gate returns false. NULL removes the gate. */
typedef _Bool (*zkr__mem_gate)(void);
void zkr__mem_set_gate(zkr__mem_gate gate);

#endif

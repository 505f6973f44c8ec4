/* SPDX-License-Identifier: Apache-2.0 */
/* All allocations of this library use these functions, so that tests can make the n-th one fail. */
#ifndef ZKR_BASE_MEM_H
#define ZKR_BASE_MEM_H

#include <stddef.h>

/* Returns zeroed memory, or NULL. */
void *zkr__mem_alloc(size_t size);
/* Returns a copy of @size bytes, followed by a zero byte, or NULL. */
void *zkr__mem_copy(const void *from, size_t size);
char *zkr__mem_string(const char *text);
void zkr__mem_free(void *p);

/* The object of @type whose @member is at @at. */
#define ZKR__OWNER_OF(at, type, member)                                                \
    ((type *)(void *)((char *)(at)-offsetof(type, member)))

/* For tests: each allocation calls the gate first, and fails if the gate returns false. NULL removes the gate. */
typedef _Bool (*zkr__mem_gate)(void);
void zkr__mem_set_gate(zkr__mem_gate gate);

#endif

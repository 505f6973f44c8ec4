/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coroutines: functions on stacks of their own that are gone on with by hand. Stacks are kept for
 * the next, and end in a page that must not be touched. AddressSanitizer is told of each switch.
 */
#ifndef ZKT_CORO_H
#define ZKT_CORO_H

#include <stdbool.h>

struct coro;

/* It begins with the first coro_resume(). */
struct coro *coro_make(void (*fn)(void *arg), void *arg);
/* From the program's own stack: until it yields, or has ended. False: it has. */
bool coro_resume(struct coro *co);
/* From within. */
void coro_yield(void);
/* Also one that has not ended: what stands on its stack is forgotten. */
void coro_free(struct coro *co);

#endif

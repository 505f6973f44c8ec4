/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coroutines: functions with stacks of their own, which the caller resumes. Stacks are reused, and end in a page
 * without access. AddressSanitizer is notified of each switch.
 */
#ifndef ZKT_CORO_H
#define ZKT_CORO_H

#include <stdbool.h>

struct coro;

/* The first coro_resume() starts @fn. */
struct coro *coro_make(void (*fn)(void *arg), void *arg);
/* Called on the program's own stack: run @co until it yields or ends. Returns false if it has ended. */
bool coro_resume(struct coro *co);
/* Called within a coroutine. */
void coro_yield(void);
/* Free @co, even if it has not ended. The contents of its stack are forgotten. */
void coro_free(struct coro *co);

#endif

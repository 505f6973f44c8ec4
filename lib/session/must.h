/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants: conditions that only a fault of this library can violate. After a violation the client treats all its
 * holds as lost, and shuts down. The process goes on. Each condition must take constant time and have no side effects.
 */
#ifndef ZKR_SESSION_MUST_H
#define ZKR_SESSION_MUST_H

#include "session/client.h"

/* The build defines this as the path below the project's root, which reveals nothing about the machine. */
#ifndef ZKR__FILE
#define ZKR__FILE "lib"
#endif

/* Check an invariant. @c is the client, locked. */
#define ZKR__MUST(c, condition)                                                        \
    (__builtin_expect(!(condition), 0)                                                 \
         ? zkr__must_fail((c), ZKR__FILE, __LINE__, #condition)                        \
         : (void)0)

/* Check the result of a function that checks several invariants. @fault is NULL, or a text that describes the fault. */
#define ZKR__MUST_NOT(c, fault) zkr__must_not((c), ZKR__FILE, __LINE__, (fault))

/*
 * Handle a violation. From now on, zkr__sure() is false. The next turn of the service shuts the client down and gives
 * up its session. Only the first violation in a client counts and is logged.
 */
void zkr__must_fail(zkr_client *c, const char *file, int line, const char *condition)
    ZKR__LOCKED;

static inline void
zkr__must_not(zkr_client *c, const char *file, int line, const char *fault) ZKR__LOCKED
{
    if (__builtin_expect(fault != NULL, 0)) {
        zkr__must_fail(c, file, line, fault);
    }
}

/* If true, a violation aborts the process instead. True by default in builds with tests. */
extern bool zkr__must_aborts;

#endif

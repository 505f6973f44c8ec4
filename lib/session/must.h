/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants: conditions that only a fault of this library can violate. After a violation the client treats all its
 * holds as lost and shuts itself down; the process goes on. Each condition must take constant time, and must have no
 * side effect.
 */
#ifndef ZKR_SESSION_MUST_H
#define ZKR_SESSION_MUST_H

#include "session/client.h"

/* The build defines this as the file's name below the root, which reveals nothing about the machine. */
#ifndef ZKR__FILE
#define ZKR__FILE "lib"
#endif

/* Check an invariant. @c: the client, locked. */
#define ZKR__MUST(c, condition)                                                        \
    (__builtin_expect(!(condition), 0)                                                 \
         ? zkr__must_fail((c), ZKR__FILE, __LINE__, #condition)                        \
         : (void)0)

/* Check the result of a function that checks several invariants. @fault: what is wrong, in words, or NULL. */
#define ZKR__MUST_NOT(c, fault) zkr__must_not((c), ZKR__FILE, __LINE__, (fault))

/*
 * Handle a violation. From now on zkr__sure() is false, and the next turn of the service shuts the client down and
 * gives its session up. Only the first violation of a client counts, and is logged.
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

/* If true, a violation aborts the process instead. Initially true in builds with tests. */
extern bool zkr__must_aborts;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Rules: who may hold, and whom the others watch. Pure. A recipe chooses one. */
#ifndef ZKR_ENGINE_RULE_H
#define ZKR_ENGINE_RULE_H

#include "engine/children.h"

struct zkr__verdict {
    bool granted;
    size_t watch; /* not granted: index of the child to watch */
    bool
        sole; /* nothing but that child stands between us and the grant, nor ever can */
};

/* @self: index of our own child. */
typedef struct zkr__verdict (*zkr__rule)(const struct zkr__children *children,
                                         size_t self,
                                         int64_t arg);

/*
 * The first @n hold; others watch the one n places ahead (Curator's
 * StandardLockInternalsDriver). Later children sort behind us, so with n = 1 the second in line
 * is granted by the end of the first, with no need to look again.
 */
struct zkr__verdict
zkr__rule_first_n(const struct zkr__children *children, size_t self, int64_t n);

#endif

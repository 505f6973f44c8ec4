/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules: who may hold, and what the others watch. Pure. A recipe chooses one; the engine asks nothing else
 * whom a list, an event or a release grants.
 */
#ifndef ZKR_ENGINE_RULE_H
#define ZKR_ENGINE_RULE_H

#include "engine/children.h"

/* What the end of the child that is watched means. */
enum zkr__then {
    ZKR__THEN_LOOK, /* list again: others may stand in between */
    ZKR__THEN_OURS_IF_HELD, /* granted when it held until then: what is ahead of a holder does not block us */
    ZKR__THEN_OURS /* granted: nothing else blocks us, nor ever can */
};

/* The verdict watches no child but the directory: each change of the children is a reason to list again. */
#define ZKR__ALL_CHILDREN SIZE_MAX

struct zkr__verdict {
    bool granted;
    size_t
        watch; /* not granted: index of a child ahead of our own, or ZKR__ALL_CHILDREN */
    enum zkr__then then;
};

/*
 * @self: index of our own child. @arg: the recipe's.
 *
 * A child that comes later stands behind us, unless its maker chose its number: then it has to let those pass who are in
 * line. A rule for which that does not settle it (a node may be put in
 * between, a later child may hold with us) must say ZKR__THEN_LOOK.
 */
typedef struct zkr__verdict (*zkr__rule)(const struct zkr__children *children,
                                         size_t self,
                                         int64_t arg);

/* Nobody ahead of such a child can hold while it holds. Readers and permits hold beside others. */
bool zkr__holds_alone(const struct zkr__child *child);

/*
 * The first holds; the others watch the one ahead (Curator: StandardLockInternalsDriver, maxLeases 1).
 *
 * A writer may become a reader at its place: a READ node with the number of its WRIT node appears as that goes
 * (a downgrade). So the end of a WRIT node does not say that nobody is ahead any more.
 */
struct zkr__verdict
zkr__rule_first(const struct zkr__children *children, size_t self, int64_t unused);

/* Whoever is there holds: for nodes of which another one, made together with them, decides. */
struct zkr__verdict
zkr__rule_any(const struct zkr__children *children, size_t self, int64_t unused);

/*
 * The reader of a read-write lock: readers ahead do not block it, all others do, of whatever recipe. It watches the
 * nearest of these (Curator's watches the furthest: all readers behind a line of writers wake for each of them).
 * A downgrade ahead makes no difference to it.
 */
struct zkr__verdict
zkr__rule_reader(const struct zkr__children *children, size_t self, int64_t unused);

/*
 * As many hold as there are permits, @permits, of which each child takes up one, also one without a number (Curator:
 * InterProcessSemaphoreV2). Who holds has no more than that many up to its own, and as newer children sort behind, it
 * stays so: no two clients have to agree on the moment at which they look.
 *
 * Any child may be the one to make room, so the others watch the directory. A recipe sees that few do so at a time.
 */
struct zkr__verdict
zkr__rule_permits(const struct zkr__children *children, size_t self, int64_t permits);

#endif

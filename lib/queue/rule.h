/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules decide which claims may hold, and which nodes the other claims watch. Pure. A recipe chooses a rule, and only
 * that rule decides which claim a list, an event or a release grants.
 */
#ifndef ZKR_QUEUE_RULE_H
#define ZKR_QUEUE_RULE_H

#include "queue/children.h"

/* What follows from the end of the watched child. */
enum zkr__then {
    ZKR__THEN_LOOK, /* list again, because other children may be in between */
    /* Granted if the child held until its end, because then no child ahead of it blocks us. */
    ZKR__THEN_OURS_IF_HELD,
    ZKR__THEN_OURS /* granted, because no other child blocks us, now or later */
};

/* Value of `watch`: the claim watches the directory instead of a child, and lists at each change of the children. */
#define ZKR__ALL_CHILDREN SIZE_MAX

/* Value of `before`: no child before the watched child needs a watch. */
#define ZKR__NOBODY SIZE_MAX

struct zkr__verdict {
    bool granted;
    /* If not granted, the index of a child ahead of our own, or ZKR__ALL_CHILDREN. */
    size_t watch;
    enum zkr__then then;
    /*
     * For THEN_OURS_IF_HELD: the index of the child ahead of @watch, or ZKR__NOBODY. When that child is gone, a list
     * may give THEN_OURS.
     */
    size_t before;
    bool last; /* the end of @before alone gives THEN_OURS */
};

/*
 * @self is the index of our own child, and @arg the recipe's argument.
 *
 * A child that is created later is behind us, unless its client chose its number. Claims that already wait may overtake
 * such a child. A rule must return ZKR__THEN_LOOK if a node may appear in between, or if a later child may hold with
 * us.
 */
typedef struct zkr__verdict (*zkr__rule)(const struct zkr__children *children,
                                         size_t self,
                                         int64_t arg);

/* Returns whether no child ahead of @child holds while @child holds. Readers and permits may hold beside others. */
bool zkr__holds_alone(const struct zkr__child *child);
/*
 * Returns how many of @children hold: the first child, and the children behind it that hold beside it. All leases count
 * as holding. During a downgrade, both the WRIT node and the READ node of the writer count.
 */
size_t zkr__rule_holders(const struct zkr__children *children);

/*
 * The first child holds. Each other child watches its predecessor (Curator: StandardLockInternalsDriver, maxLeases 1).
 *
 * A writer may become a reader in its place (a downgrade). When its WRIT node is deleted, a READ node with the same
 * number appears. So after the end of a WRIT node, another node may still be ahead.
 */
struct zkr__verdict
zkr__rule_first(const struct zkr__children *children, size_t self, int64_t unused);

/* Every child holds. For nodes that are created together with another node whose rule decides for all of them. */
struct zkr__verdict
zkr__rule_any(const struct zkr__children *children, size_t self, int64_t unused);

/*
 * The reader of a read-write lock. Every child ahead of a reader blocks it, whatever the child's recipe, unless the
 * child is a reader. The reader watches the nearest child that blocks. (Curator's reader watches the furthest, so each
 * writer in a line of writers wakes all readers behind the line.) A downgrade ahead makes no difference to a reader.
 */
struct zkr__verdict
zkr__rule_reader(const struct zkr__children *children, size_t self, int64_t unused);

/*
 * The first @permits children hold (Curator: InterProcessSemaphoreV2). Each child takes one permit, even a child
 * without a number. Newer children sort behind the others, so a child among the first @permits stays among them, and
 * clients need not list at the same moment.
 *
 * The end of any child may make room, so the other claims watch the directory. The recipe keeps the number of these
 * claims small.
 */
struct zkr__verdict
zkr__rule_permits(const struct zkr__children *children, size_t self, int64_t permits);

#endif

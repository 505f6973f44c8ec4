/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules decide which claims may hold, and what the other claims watch. Pure. A recipe chooses a rule; nothing else
 * decides which claim a list, an event or a release grants.
 */
#ifndef ZKR_QUEUE_RULE_H
#define ZKR_QUEUE_RULE_H

#include "queue/children.h"

/* What follows from the end of the watched child. */
enum zkr__then {
    ZKR__THEN_LOOK, /* list again: other children may be in between */
    /* Granted if that child held until its end: children ahead of a holder do not block us. */
    ZKR__THEN_OURS_IF_HELD,
    ZKR__THEN_OURS /* granted: nothing else blocks us, now or later */
};

/* The claim watches the directory instead of a child: at each change of the children it lists again. */
#define ZKR__ALL_CHILDREN SIZE_MAX

/* No child before the watched child is watched. */
#define ZKR__NOBODY SIZE_MAX

struct zkr__verdict {
    bool granted;
    /* If not granted: index of a child ahead of our own, or ZKR__ALL_CHILDREN. */
    size_t watch;
    enum zkr__then then;
    /*
     * THEN_OURS_IF_HELD: index of the child ahead of @watch. Once it is gone, a list may give THEN_OURS. ZKR__NOBODY:
     * none.
     */
    size_t before;
    bool last; /* the end of @before alone gives THEN_OURS */
};

/*
 * @self: index of our own child. @arg: the recipe's argument.
 *
 * A child that is created later is behind us, unless its maker chose its number. Such a maker must let the claims pass
 * that already wait. A rule for which this is not enough (a node may appear in between, a later child may hold with us)
 * must return ZKR__THEN_LOOK.
 */
typedef struct zkr__verdict (*zkr__rule)(const struct zkr__children *children,
                                         size_t self,
                                         int64_t arg);

/* While such a child holds, no child ahead of it holds. Readers and permits hold beside others. */
bool zkr__holds_alone(const struct zkr__child *child);
/*
 * How many of @children hold: the first, and the children behind it that hold beside it. All leases hold. During a
 * downgrade both the WRIT and the READ node of the writer hold.
 */
size_t zkr__rule_holders(const struct zkr__children *children);

/*
 * The first child holds; each other child watches its predecessor (Curator: StandardLockInternalsDriver, maxLeases 1).
 *
 * A writer may become a reader at its place (a downgrade): a READ node with the number of the WRIT node appears when
 * the WRIT node is deleted. So after the end of a WRIT node another node may be ahead.
 */
struct zkr__verdict
zkr__rule_first(const struct zkr__children *children, size_t self, int64_t unused);

/* Every child holds: for nodes that are created together with a node whose rule decides for all of them. */
struct zkr__verdict
zkr__rule_any(const struct zkr__children *children, size_t self, int64_t unused);

/*
 * The reader of a read-write lock: all children ahead of it block it, of any recipe, except readers. The reader watches
 * the nearest of them. (Curator's reader watches the furthest, so each writer wakes all readers behind a line of
 * writers.) A downgrade ahead makes no difference to a reader.
 */
struct zkr__verdict
zkr__rule_reader(const struct zkr__children *children, size_t self, int64_t unused);

/*
 * As many children hold as there are @permits. Each child takes one permit, also a child without a number (Curator:
 * InterProcessSemaphoreV2). From the first child up to one that holds there are at most @permits children. Newer
 * children sort behind, so this stays true, and clients need not agree on the moment at which they list.
 *
 * The end of any child may make room, so the others watch the directory. The recipe keeps their number small.
 */
struct zkr__verdict
zkr__rule_permits(const struct zkr__children *children, size_t self, int64_t permits);

#endif

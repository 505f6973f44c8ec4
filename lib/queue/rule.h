/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules: which claims may hold, and what the others watch. Pure. A recipe chooses a rule; nothing else decides which claim
 * a list, an event or a release grants.
 */
#ifndef ZKR_QUEUE_RULE_H
#define ZKR_QUEUE_RULE_H

#include "queue/children.h"

/* What the end of the child that is watched means. */
enum zkr__then {
    ZKR__THEN_LOOK, /* list again: others may stand in between */
    /* Granted when that child held until then: what is ahead of a holder does not block us. */
    ZKR__THEN_OURS_IF_HELD,
    ZKR__THEN_OURS /* granted: nothing else blocks us, nor ever can */
};

/* The verdict watches the directory instead of a child: each change of the children is a reason to list again. */
#define ZKR__ALL_CHILDREN SIZE_MAX

/* No child is watched before the watched child. */
#define ZKR__NOBODY SIZE_MAX

struct zkr__verdict {
    bool granted;
    /* Not granted: index of a child ahead of our own, or ZKR__ALL_CHILDREN. */
    size_t watch;
    enum zkr__then then;
    /* THEN_OURS_IF_HELD: the child ahead of @watch. After its end a list may say THEN_OURS. ZKR__NOBODY: never. */
    size_t before;
    bool last; /* the end of @before alone makes it THEN_OURS */
};

/*
 * @self: index of our own child. @arg: the recipe's.
 *
 * A child that comes later stands behind us, unless its maker chose its number: then its maker has to let the claims pass
 * that are in line. When that does not settle the matter for a rule (a node may be put in between, a later child may hold
 * with us), the rule must say ZKR__THEN_LOOK.
 */
typedef struct zkr__verdict (*zkr__rule)(const struct zkr__children *children,
                                         size_t self,
                                         int64_t arg);

/* While such a child holds, no child ahead of it holds. Readers and permits hold beside others. */
bool zkr__holds_alone(const struct zkr__child *child);
/*
 * How many of @children hold: the first, and the children behind it that hold beside the first. All leases hold.
 * During a downgrade both the WRIT and the READ node of the writer hold.
 */
size_t zkr__rule_holders(const struct zkr__children *children);

/*
 * The first holds; the others watch the one ahead (Curator: StandardLockInternalsDriver, maxLeases 1).
 *
 * A writer may become a reader at its place: a READ node with the number of the WRIT node appears as the WRIT node goes
 * (a downgrade). So after the end of a WRIT node another node may be ahead.
 */
struct zkr__verdict
zkr__rule_first(const struct zkr__children *children, size_t self, int64_t unused);

/* Each child holds: for nodes that are made together with a node whose rule decides for all. */
struct zkr__verdict
zkr__rule_any(const struct zkr__children *children, size_t self, int64_t unused);

/*
 * The reader of a read-write lock: readers ahead do not block it, all other children do, of whatever recipe. The reader
 * watches the nearest of these (Curator's watches the furthest: all readers behind a line of writers wake for each
 * writer). A downgrade ahead makes no difference to a reader.
 */
struct zkr__verdict
zkr__rule_reader(const struct zkr__children *children, size_t self, int64_t unused);

/*
 * As many children hold as there are @permits. Each child takes up one, also a child without a number (Curator:
 * InterProcessSemaphoreV2). Up to a child that holds there are no more than @permits children, and as newer children sort
 * behind, it stays so: no two clients have to agree on the moment at which they look.
 *
 * Any child may be the one to make room, so the others watch the directory. The recipe sees that few do so at a time.
 */
struct zkr__verdict
zkr__rule_permits(const struct zkr__children *children, size_t self, int64_t permits);

#endif

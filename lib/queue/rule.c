/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/rule.h"

bool zkr__holds_alone(const struct zkr__child *child)
{
    return child->kind != ZKR__NAME_READ && child->kind != ZKR__NAME_LEASE;
}

/*
 * In a downgrade, Curator creates the READ node, with the number of the WRIT node, before it deletes the WRIT node
 * (CURATOR-621).
 */
static bool is_downgrade(const struct zkr__child first[2])
{
    return first[0].kind == ZKR__NAME_WRITE && first[1].kind == ZKR__NAME_READ &&
           first[0].sequence == first[1].sequence;
}

size_t zkr__rule_holders(const struct zkr__children *children)
{
    size_t held = children->count > 0;
    bool alone = held > 0 && zkr__holds_alone(&children->list[0]);
    while (!alone && held < children->count &&
           children->list[held].kind == children->list[0].kind) {
        held++;
    }
    return held + (alone && children->count > 1 && is_downgrade(children->list));
}

static bool may_become_reader(const struct zkr__child *child)
{
    return child->kind == ZKR__NAME_WRITE;
}

/* Returns the verdict of a claim that waits for child @ahead. @last is true if no other child blocks. */
static struct zkr__verdict
wait_for(const struct zkr__children *children, size_t ahead, bool last)
{
    bool alone = zkr__holds_alone(&children->list[ahead]);
    return (struct zkr__verdict){.watch = ahead,
                                 .then = last    ? ZKR__THEN_OURS
                                         : alone ? ZKR__THEN_OURS_IF_HELD
                                                 : ZKR__THEN_LOOK,
                                 .before = ZKR__NOBODY};
}

struct zkr__verdict
zkr__rule_first(const struct zkr__children *children, size_t self, int64_t unused)
{
    (void)unused;
    if (self == 0) {
        return (struct zkr__verdict){.granted = true};
    }
    size_t ahead = self - 1;
    bool may_stay = may_become_reader(&children->list[ahead]);
    struct zkr__verdict verdict = wait_for(children, ahead, ahead == 0 && !may_stay);
    if (verdict.then == ZKR__THEN_OURS_IF_HELD && !may_stay) {
        verdict.before = ahead - 1;
        /* Only a list shows whether a READ node has replaced a WRIT node. */
        verdict.last = ahead == 1 && !may_become_reader(&children->list[0]);
    }
    return verdict;
}

struct zkr__verdict
zkr__rule_reader(const struct zkr__children *children, size_t self, int64_t unused)
{
    (void)unused;
    size_t count = 0, nearest = 0;
    for (size_t i = 0; i < self; i++) {
        if (children->list[i].kind != ZKR__NAME_READ) {
            count++;
            nearest = i;
        }
    }
    return count == 0 ? (struct zkr__verdict){.granted = true}
                      : wait_for(children, nearest, count == 1);
}

struct zkr__verdict
zkr__rule_any(const struct zkr__children *children, size_t self, int64_t unused)
{
    (void)children;
    (void)self;
    (void)unused;
    return (struct zkr__verdict){.granted = true};
}

struct zkr__verdict
zkr__rule_permits(const struct zkr__children *children, size_t self, int64_t permits)
{
    size_t taken = children->strays + self + 1;
    bool enough = permits > 0 && taken <= (uint64_t)permits;
    return (struct zkr__verdict){.granted = enough,
                                 .watch = ZKR__ALL_CHILDREN,
                                 .then = ZKR__THEN_LOOK,
                                 .before = ZKR__NOBODY};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/rule.h"

bool zkr__holds_alone(const struct zkr__child *child)
{
    return child->kind != ZKR__NAME_READ && child->kind != ZKR__NAME_LEASE;
}

/* @last: nothing else blocks. */
static struct zkr__verdict
wait_for(const struct zkr__children *children, size_t ahead, bool last)
{
    bool alone = zkr__holds_alone(&children->list[ahead]);
    return (struct zkr__verdict){.watch = ahead,
                                 .then = last    ? ZKR__THEN_OURS
                                         : alone ? ZKR__THEN_OURS_IF_HELD
                                                 : ZKR__THEN_LOOK};
}

struct zkr__verdict
zkr__rule_first(const struct zkr__children *children, size_t self, int64_t unused)
{
    (void)unused;
    if (self == 0) {
        return (struct zkr__verdict){.granted = true};
    }
    size_t ahead = self - 1;
    bool may_stay = children->list[ahead].kind == ZKR__NAME_WRITE; /* as a reader */
    return wait_for(children, ahead, ahead == 0 && !may_stay);
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
    return (struct zkr__verdict){
        .granted = enough, .watch = ZKR__ALL_CHILDREN, .then = ZKR__THEN_LOOK};
}

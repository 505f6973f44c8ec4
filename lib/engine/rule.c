/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/rule.h"

bool zkr__holds_alone(const struct zkr__child *child)
{
    return child->kind != ZKR__NAME_READ && child->kind != ZKR__NAME_LEASE;
}

struct zkr__verdict
zkr__rule_first(const struct zkr__children *children, size_t self, int64_t unused)
{
    (void)unused;
    if (self == 0) {
        return (struct zkr__verdict){.granted = true};
    }
    bool alone = zkr__holds_alone(&children->list[self - 1]);
    return (struct zkr__verdict){.watch = self - 1,
                                 .then = self == 1 ? ZKR__THEN_OURS
                                         : alone   ? ZKR__THEN_OURS_IF_HELD
                                                   : ZKR__THEN_LOOK};
}

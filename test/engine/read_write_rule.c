/* SPDX-License-Identifier: Apache-2.0 */
#include "read_write_rule.h"

static bool is_reader(const struct zkr__child *child)
{
    return child->kind == ZKR__NAME_READ;
}

/* Readers ahead do not block a reader, so it watches the nearest writer. */
static struct zkr__verdict
reader_rule(const struct zkr__children *children, size_t self, bool watch_all)
{
    size_t writers = 0, nearest = 0;
    for (size_t i = 0; i < self; i++) {
        if (!is_reader(&children->list[i])) {
            writers++;
            nearest = i;
        }
    }
    if (watch_all) {
        return (struct zkr__verdict){.granted = writers == 0,
                                     .watch = ZKR__ALL_CHILDREN};
    }
    return (struct zkr__verdict){.granted = writers == 0,
                                 .watch = nearest,
                                 .then = writers == 1 ? ZKR__THEN_OURS
                                                      : ZKR__THEN_OURS_IF_HELD};
}

struct zkr__verdict
read_write_rule(const struct zkr__children *children, size_t self, int64_t watch_all)
{
    return is_reader(&children->list[self]) ? reader_rule(children, self, watch_all)
                                            : zkr__rule_first(children, self, 0);
}

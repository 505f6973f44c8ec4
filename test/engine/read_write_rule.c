/* SPDX-License-Identifier: Apache-2.0 */
#include "read_write_rule.h"

struct zkr__verdict
counting_reader_rule(const struct zkr__children *children, size_t self, int64_t unused)
{
    struct zkr__verdict verdict = zkr__rule_reader(children, self, unused);
    verdict.watch = ZKR__ALL_CHILDREN;
    verdict.then = ZKR__THEN_LOOK;
    return verdict;
}

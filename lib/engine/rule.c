/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/rule.h"

struct zkr__verdict
zkr__rule_first_n(const struct zkr__children *children, size_t self, int64_t n)
{
    (void)children;
    struct zkr__verdict verdict = {.granted = self < (size_t)n};
    if (!verdict.granted) {
        verdict.watch = self - (size_t)n;
        verdict.sole = n == 1 && self == 1;
    }
    return verdict;
}

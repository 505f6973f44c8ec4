/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For a function that checks several conditions: return @words, which describe the fault. Such a function ends with
 * `return NULL`.
 */
#ifndef ZKR_BASE_FAULT_H
#define ZKR_BASE_FAULT_H

#include <stddef.h>

#define ZKR__FAULT_IF(condition, words)                                                \
    do {                                                                               \
        if (__builtin_expect((condition), 0)) {                                        \
            return (words);                                                            \
        }                                                                              \
    } while (0)

#endif

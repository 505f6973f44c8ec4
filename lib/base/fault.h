/* SPDX-License-Identifier: Apache-2.0 */
/*
 * If @condition is true, make the calling function return @words, which describe a fault. A function that uses this
 * macro ends with `return NULL`.
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

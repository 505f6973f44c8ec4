/* SPDX-License-Identifier: Apache-2.0 */
/* A function that looks at several conditions returns what is wrong, in words; at its end it returns NULL. */
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

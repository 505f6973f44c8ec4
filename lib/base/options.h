/* SPDX-License-Identifier: Apache-2.0 */
/* Size-tagged option structs. The caller may have been compiled with an older or a newer struct. */
#ifndef ZKR_BASE_OPTIONS_H
#define ZKR_BASE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Check that an option struct has no padding. A future option will begin where the struct ends today, so the library
 * would read an older caller's padding as that option.
 */
#define ZKR__OPTIONS_CHECK(type, count, last)                                          \
    _Static_assert(offsetof(type, last) + sizeof(((type *)0)->last) == sizeof(type),   \
                   #type " has padding at its end");                                   \
    _Static_assert(sizeof(void *) != 8 || sizeof(type) == sizeof(int64_t[count]),      \
                   #type " has padding")

/*
 * Copy to @to the part of @from that both versions know, and zero the rest. @to has @size bytes, and begins with
 * `size_t size`. If @from is NULL, all options have their defaults. Fails with ZKR_EINVAL if the size is impossible, or
 * if the caller has set an option that this library does not know.
 */
int zkr__options_take(void *to, size_t size, const void *from, const char *what);

#endif

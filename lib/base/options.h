/* SPDX-License-Identifier: Apache-2.0 */
/* Size-tagged option structs: the caller may be older or newer than this library. */
#ifndef ZKR_BASE_OPTIONS_H
#define ZKR_BASE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

/*
 * For every option struct: it has no padding. An option added later begins where the struct ended before, so an older
 * caller's padding would be read as that option.
 */
#define ZKR__OPTIONS_CHECK(type, count, last)                                          \
    _Static_assert(offsetof(type, last) + sizeof(((type *)0)->last) == sizeof(type),   \
                   #type " has padding at its end");                                   \
    _Static_assert(sizeof(void *) != 8 || sizeof(type) == sizeof(int64_t[count]),      \
                   #type " has padding")

/*
 * Copy the part of @from that both sides know into @to (@size bytes, first member size_t size) and zero the rest. @from
 * NULL: all defaults. ZKR_EINVAL for an impossible size, and for an option that this library does not know.
 */
int zkr__options_take(void *to, size_t size, const void *from, const char *what);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Size-tagged option structs: the caller may be older or newer than this library. */
#ifndef ZKR_BASE_OPTIONS_H
#define ZKR_BASE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Every option struct is checked with this. An option added later must begin where the struct
 * ended before, or an older caller's padding would be read as that option. And where all members
 * are 8 bytes wide, there is no padding in between either.
 */
#define ZKR__OPTIONS_CHECK(type, count, last)                                          \
    _Static_assert(offsetof(type, last) + sizeof(((type *)0)->last) == sizeof(type),   \
                   #type " has padding at its end");                                   \
    _Static_assert(sizeof(void *) != 8 || sizeof(type) == sizeof(int64_t[count]),      \
                   #type " has padding")

/*
 * Copy the part of @from that both sides know into @to (@size bytes, first member size_t size)
 * and zero the rest; @from NULL means all defaults. Returns ZKR_OK, or ZKR_EINVAL when the size
 * tag is absurd or a newer caller set a field this library does not know.
 */
int zkr__options_take(void *to, size_t size, const void *from, const char *what);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Size-tagged option structs: the caller may be older or newer than this library. */
#ifndef ZKR_BASE_OPTIONS_H
#define ZKR_BASE_OPTIONS_H

#include <stddef.h>

/*
 * Copy the part of @from that both sides know into @to (@size bytes, first member size_t size)
 * and zero the rest; @from NULL means all defaults. Returns ZKR_OK, or ZKR_EINVAL when the size
 * tag is absurd or a newer caller set a field this library does not know.
 */
int zkr__options_take(void *to, size_t size, const void *from, const char *what);

#endif

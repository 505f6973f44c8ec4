/* SPDX-License-Identifier: Apache-2.0 */
/* ZooKeeper paths, and the names of sequential children. Pure; every input is safe. */
#ifndef ZKR_BASE_PATH_H
#define ZKR_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/guid.h"

/* Curator's protection: a child is named "_c_" GUID "-" base. */
#define ZKR__PROTECTED "_c_"
#define ZKR__PROTECTED_LEN (sizeof(ZKR__PROTECTED) - 1 + ZKR__GUID_LEN + 1)

/* Servers number children with a signed 32-bit count that sticks here; then numbers repeat. */
#define ZKR__SEQUENCE_LIMIT INT64_C(2147483647)
/* From here on we warn, and restart the count when a path is left empty. */
#define ZKR__SEQUENCE_WARN (INT64_C(1) << 30)

/* NULL when @path is one a server would take and not the root, else what is wrong with it. */
const char *zkr__path_fault(const char *path);

/* @dir "/" @name, allocated, or NULL. */
char *zkr__path_join(const char *dir, const char *name);

/* What follows the last slash. */
const char *zkr__path_name(const char *path);

/* "_c_" GUID "-" @prefix into @out, which has room for ZKR__PROTECTED_LEN + strlen(@prefix) + 1. */
void zkr__path_protect(char *out,
                       const char guid[ZKR__GUID_LEN + 1],
                       const char *prefix);

/*
 * The number of a sequential child, whoever made it: the ten digits after the last @prefix when
 * the name has them, else the trailing ten digits, of kazoo's "…__lock__N" or the Java and C
 * recipes' "x-…-N". False when it has none: no contender.
 */
bool zkr__path_sequence(const char *name, const char *prefix, int64_t *sequence);

#endif

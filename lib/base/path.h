/* SPDX-License-Identifier: Apache-2.0 */
/* ZooKeeper paths. Pure; every input is safe. */
#ifndef ZKR_BASE_PATH_H
#define ZKR_BASE_PATH_H

#include <stdbool.h>

/* NULL for a path that servers take, but for the root; else what is wrong with it. */
const char *zkr__path_fault(const char *path);

/* Can @name, which may be NULL, be the name of a child at any server? */
bool zkr__path_is_name(const char *name);

/* @dir "/" @name, allocated, or NULL. */
char *zkr__path_join(const char *dir, const char *name);
/* What follows the last slash. */
const char *zkr__path_name(const char *path);

#endif

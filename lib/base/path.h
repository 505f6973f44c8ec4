/* SPDX-License-Identifier: Apache-2.0 */
/* ZooKeeper paths. Pure; every input is safe. */
#ifndef ZKR_BASE_PATH_H
#define ZKR_BASE_PATH_H

#include <stdbool.h>

/* NULL when @path is one a server would take and not the root, else what is wrong with it. */
const char *zkr__path_fault(const char *path);

/* Can @name be that of a child? NULL cannot. What not all servers take passes, what would be no part of a path does not. */
bool zkr__path_is_name(const char *name);

/* @dir "/" @name, allocated, or NULL. */
char *zkr__path_join(const char *dir, const char *name);

/* What follows the last slash. */
const char *zkr__path_name(const char *path);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* ZooKeeper paths. Pure functions, safe for any input. */
#ifndef ZKR_BASE_PATH_H
#define ZKR_BASE_PATH_H

#include <stdbool.h>

/* Returns NULL if servers accept @path and it is not the root; else a text that says what is wrong with it. */
const char *zkr__path_fault(const char *path);

/* Can a server have a child with this @name, which may be NULL? */
bool zkr__path_is_name(const char *name);

/* Returns @dir "/" @name in new memory, or NULL. */
char *zkr__path_join(const char *dir, const char *name);
/* Returns the part behind the last slash. */
const char *zkr__path_name(const char *path);

#endif

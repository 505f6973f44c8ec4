/* SPDX-License-Identifier: Apache-2.0 */
/* ZooKeeper paths. Pure functions, safe for any input. */
#ifndef ZKR_BASE_PATH_H
#define ZKR_BASE_PATH_H

#include <stdbool.h>

/* Returns NULL if servers accept @path and it is not the root, else a text that describes what is wrong with it. */
const char *zkr__path_fault(const char *path);

/* Returns whether a server can have a child with this @name. @name may be NULL. */
bool zkr__path_is_name(const char *name);

/* Returns @dir "/" @name in new memory, or NULL if memory runs out. */
char *zkr__path_join(const char *dir, const char *name);
/* Returns the part after the last slash. */
const char *zkr__path_name(const char *path);

#endif

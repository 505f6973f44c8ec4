/* SPDX-License-Identifier: Apache-2.0 */
/* ZooKeeper paths. Pure; every input is safe. */
#ifndef ZKR_BASE_PATH_H
#define ZKR_BASE_PATH_H

/* NULL when @path is one a server would take and not the root, else what is wrong with it. */
const char *zkr__path_fault(const char *path);

/* @dir "/" @name, allocated, or NULL. */
char *zkr__path_join(const char *dir, const char *name);

/* What follows the last slash. */
const char *zkr__path_name(const char *path);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of the command. */
#ifndef ZKR_CLI_ENVIRONMENT_H
#define ZKR_CLI_ENVIRONMENT_H

#include "grant.h"

/** That of zkr, in which variables of ours tell what is held at @path. NULL: out of memory. */
char **environment_make(const struct grant *g, const char *path);
/** NULL is fine. */
void environment_free(char **vars);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The environment variables of the command. */
#ifndef ZKR_CLI_ENVIRONMENT_H
#define ZKR_CLI_ENVIRONMENT_H

#include "grant.h"

/** Returns the variables of zkr, and those that describe the hold at @path, or NULL if memory runs out. */
char **environment_make(const struct grant *g, const char *path);
/** Frees the variables. @vars may be NULL. */
void environment_free(char **vars);

#endif

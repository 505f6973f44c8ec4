/* SPDX-License-Identifier: Apache-2.0 */
/* The environment variables of the command. */
#ifndef ZKR_CLI_ENVIRONMENT_H
#define ZKR_CLI_ENVIRONMENT_H

#include "grant.h"

/** Returns the variables of zkr, plus those that describe the hold at @path. NULL: out of memory. */
char **environment_make(const struct grant *g, const char *path);
/** Frees them. @vars may be NULL. */
void environment_free(char **vars);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands, one in each file cmd_NAME.c. Each returns a reported exit code. */
#ifndef ZKR_CLI_CMD_H
#define ZKR_CLI_CMD_H

#include "env.h"

int cmd_lock(struct env *env); /* also runs zkr once */
int cmd_elect(struct env *env);
int cmd_status(struct env *env);
int cmd_ls(struct env *env);
int cmd_revoke(struct env *env);
int cmd_wait(struct env *env);
int cmd_check(struct env *env);

#endif

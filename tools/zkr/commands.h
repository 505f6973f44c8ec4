/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands, one a file. argv[0] is the name of the subcommand. */
#ifndef ZKR_CLI_COMMANDS_H
#define ZKR_CLI_COMMANDS_H

#include <zkr/client.h>

#include "child.h"
#include "notify.h"
#include "options.h"
#include "signals.h"

struct env {
    struct globals globals;
    struct fds fds;
    struct signals signals;
    struct notify notify;
    zkr_client *client; /* set by client_open() */
    int die_of;         /* end with this signal instead of an exit code, 0 = do not */
};

int cmd_lock(struct env *env, int argc, char **argv);
int cmd_elect(struct env *env, int argc, char **argv);
int cmd_status(struct env *env, int argc, char **argv);
int cmd_ls(struct env *env, int argc, char **argv);
int cmd_revoke(struct env *env, int argc, char **argv);

#endif

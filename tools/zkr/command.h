/* SPDX-License-Identifier: Apache-2.0 */
/* COMMAND, or the text of -c, on the command line. */
#ifndef ZKR_CLI_COMMAND_H
#define ZKR_CLI_COMMAND_H

#include <stdbool.h>

/** It must not move: it points into itself. */
struct command {
    const char *text; /* of a -c ahead of PATH; NULL = none */
    char **argv;      /* NULL: there is none */
    char *shell[4];   /* what argv is with -c */
};

/** Is it -c or --command, which may follow PATH? */
bool command_is_c(const char *word);

/** @words: what follows PATH. Returns OPTIONS_GO_ON or an exit code, reported. */
int command_take(struct command *c, const char *subcommand, char **words);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The controlling terminal, lent to the command's process group as a shell would. */
#ifndef ZKR_CLI_TERMINAL_H
#define ZKR_CLI_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct terminal {
    int fd; /* -1: there is none */
    bool lent;
    bool has_modes;
    struct termios modes; /* as they were at our start */
};

void terminal_begin(struct terminal *t);

/** Are we the job in the foreground? */
bool terminal_is_ours(const struct terminal *t);

/**
 * Whether the command gets the terminal at once. In a pipeline it does not: the terminal goes
 * to one group, and others of the pipeline may need it; there it gets it when it asks.
 */
bool terminal_wanted(const struct terminal *t);

/** Hands it to a group; may be called between fork and exec. SIGTTOU is blocked. */
void terminal_lend(struct terminal *t, pid_t group);

/** Takes it back if @group has it. True: it had. */
bool terminal_take(struct terminal *t, pid_t group);

/** After the command was killed: the modes of our start. */
void terminal_reset(const struct terminal *t);

void terminal_end(struct terminal *t);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The controlling terminal, which zkr hands to the command as a shell does. */
#ifndef ZKR_CLI_TERMINAL_H
#define ZKR_CLI_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct terminal {
    int fd; /* -1: there is none */
    bool lent;
    bool has_modes;
    struct termios modes; /* at the start of zkr */
};

void terminal_begin(struct terminal *t);
void terminal_end(struct terminal *t);
/** Is zkr in the foreground? */
bool terminal_is_ours(const struct terminal *t);
/**
 * Should the command get the terminal at once? Not in a pipeline: only one process group can have the terminal, and
 * another process of the pipeline may need it. In a pipeline, the command gets the terminal when it first reads from
 * it.
 */
bool terminal_wanted(const struct terminal *t);
/** Hands the terminal to @group. SIGTTOU must be blocked. */
void terminal_lend(struct terminal *t, pid_t group);
/** Takes the terminal back from @group. False: @group did not have it. */
bool terminal_take(struct terminal *t, pid_t group);
/** After the command was killed: restores the modes from the start of zkr. */
void terminal_reset(const struct terminal *t);

#endif

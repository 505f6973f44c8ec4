/* SPDX-License-Identifier: Apache-2.0 */
/* The controlling terminal, which zkr hands to the command as a shell does. */
#ifndef ZKR_CLI_TERMINAL_H
#define ZKR_CLI_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct terminal {
    int fd; /* -1: there is no terminal */
    bool lent;
    bool has_modes;
    struct termios modes; /* the modes at the start of zkr */
};

void terminal_begin(struct terminal *t);
void terminal_end(struct terminal *t);
/** Returns whether zkr is in the foreground. */
bool terminal_is_ours(const struct terminal *t);
/**
 * Returns whether the command should get the terminal at once. In a pipeline it should not, because only one process
 * group can have the terminal, and another process of the pipeline may need it. In that case, the command gets the
 * terminal when it first reads from it.
 */
bool terminal_wanted(const struct terminal *t);
/** Hands the terminal to @group. SIGTTOU must be blocked. */
void terminal_lend(struct terminal *t, pid_t group);
/** Takes the terminal back from @group. Returns false if @group did not have it. */
bool terminal_take(struct terminal *t, pid_t group);
/** Restores the modes from the start of zkr. Called after the command was killed. */
void terminal_reset(const struct terminal *t);

#endif

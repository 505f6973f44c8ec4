/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors: the command inherits exactly those that zkr inherited. */
#ifndef ZKR_CLI_FDS_H
#define ZKR_CLI_FDS_H

/**
 * Records which descriptors are open. Called first in main(). Opens a placeholder for a closed stdin, stdout or stderr,
 * so that no socket of zkr gets its number. exec closes the placeholder.
 */
void fds_begin(void);
/**
 * Called in a child before exec, so that exec closes all descriptors except the recorded ones. Makes only calls that
 * are safe after fork() in a threaded process.
 */
void fds_hide(void);

/** Closes *fd if it is open, and sets it to -1. */
void fds_close(int *fd);

#endif

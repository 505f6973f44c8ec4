/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors: a command gets those that zkr itself got. */
#ifndef ZKR_CLI_FDS_H
#define ZKR_CLI_FDS_H

/**
 * First thing in main(): notes what is open, and replaces a closed stdin, stdout or stderr by a placeholder, so that no
 * socket of zkr gets its number. In the child the placeholder is closed again.
 */
void fds_begin(void);
/** In a child, before exec: only what was noted is inherited. Only calls that are safe after a fork among threads. */
void fds_hide(void);

/** Closes a descriptor that is open, and makes it -1. */
void fds_close(int *fd);

#endif

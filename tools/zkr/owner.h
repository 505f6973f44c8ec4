/* SPDX-License-Identifier: Apache-2.0 */
/* The owner of a lock, as others see it. */
#ifndef ZKR_CLI_OWNER_H
#define ZKR_CLI_OWNER_H

/**
 * Returns "host/pid/thread" and fields for host, user and @command (may be NULL), in new memory, or NULL if memory runs
 * out.
 */
char *owner_text(char *const *command);

#endif

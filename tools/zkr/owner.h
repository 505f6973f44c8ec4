/* SPDX-License-Identifier: Apache-2.0 */
/* What others see as the owner of a lock. */
#ifndef ZKR_CLI_OWNER_H
#define ZKR_CLI_OWNER_H

/**
 * "host/pid/thread", and fields that tell host, user and @command, which may be NULL. Allocated; NULL: out of memory.
 */
char *owner_text(char *const *command);

#endif

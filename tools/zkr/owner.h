/* SPDX-License-Identifier: Apache-2.0 */
/* What a node says about whose it is. */
#ifndef ZKR_CLI_OWNER_H
#define ZKR_CLI_OWNER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <zkr/contenders.h>

/**
 * The owner text of this process, allocated: "host/pid/thread", and fields that tell host, user and command. NULL: out of
 * memory.
 */
char *owner_text(char *const *command);

/** For how long it has been held, such as "2m05s", or "<3m10s" when only a limit of it is known. */
void owner_held(char *buf, size_t size, const zkr_contender *c);

/** Milliseconds since 1970. */
int64_t owner_now_ms(void);

/**
 * What is known of a holder besides, in one line: since when, user, host, session, command. Nothing when nothing is.
 * @server: who serves its session; NULL: not asked.
 */
void owner_print(FILE *out,
                 const zkr_contender *c,
                 const char *name,
                 const char *server);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The client of a subcommand: these functions open it, wait for it, and close it. */
#ifndef ZKR_CLI_CLIENT_H
#define ZKR_CLI_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include <zkr/zkr.h>

#include "env.h"

/** A part of a subcommand. Returns 0 or a reported exit code. */
typedef int (*client_work_fn)(void *ctx);

/**
 * Opens env->client, which connects in the background. @owner NULL = the library's default. With @nearby, a mutex may
 * be handed over to another process on this host. With @guarded, the client uses a guardian if there is one.
 */
int client_open(struct env *env, const char *owner, bool nearby, bool guarded);
/** Waits at most @ms for the session. */
int client_wait(const struct env *env, int64_t ms);
/**
 * Calls @work, which must not create nodes, because a signal during the call ends the process at once. Returns what
 * @work returns. If @work still runs a second after @until, ends the process with CLI_SERVER. NEVER: no limit.
 */
int client_work(const struct env *env, int64_t until, client_work_fn work, void *ctx);

/* --- the end of a subcommand that has created nodes, which must be deleted first --- */

/** CLIENT_GRACE_MS: how long to wait for a last answer after a deadline. CLIENT_NOW: a deadline that has passed. */
enum { CLIENT_GRACE_MS = 250, CLIENT_NOW = 0 };

/** Returns @until or, if that has passed, the current time, plus CLIENT_GRACE_MS. Returns NEVER for NEVER. */
int64_t client_grace(int64_t until);
/** Returns whether the servers confirm within CLIENT_GRACE_MS that our nodes are deleted. */
bool client_is_done(const struct env *env);
/** Flushes stdout and ends the process without closing the client. */
_Noreturn void client_exit(int status);

/**
 * Waits until the servers have confirmed that our nodes are deleted, or the session has ended, and then closes the
 * client. Reports a wait of more than a second. A signal or the deadline @until ends the process, with a message unless
 * the deadline has passed and @silent is set. Returns @status.
 */
int client_end(struct env *env, int64_t until, bool silent, int status);

#endif

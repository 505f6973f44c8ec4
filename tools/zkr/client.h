/* SPDX-License-Identifier: Apache-2.0 */
/* The client of a subcommand: opened from the settings, worked with, and closed. */
#ifndef ZKR_CLI_CLIENT_H
#define ZKR_CLI_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include <zkr/zkr.h>

#include "env.h"

/** Part of a subcommand. As all that returns 0 or an exit code, it has reported a failure. */
typedef int (*client_work_fn)(void *ctx);

/**
 * Opens env->client, which connects in the background. @owner: NULL = the library's default. @nearby: a
 * mutex may be handed over to another process of this host. @guarded: with a guardian, if there can be one.
 */
int client_open(struct env *env, const char *owner, bool nearby, bool guarded);
/** Waits for the session, at most @ms. */
int client_wait(const struct env *env, int64_t ms);
/**
 * Calls @work, which makes no node: a signal meanwhile ends the process at once. Returns what @work returns. When that is not
 * there a second after @until, or NEVER, the servers are silent, and the process ends with CLI_SERVER.
 */
int client_work(const struct env *env, int64_t until, client_work_fn work, void *ctx);

/* --- the end of a subcommand that has made nodes, which have to be deleted first --- */

/** How long to wait for a last answer when the time is over; and a deadline that has passed. */
enum { CLIENT_GRACE_MS = 250, CLIENT_NOW = 0 };

/** CLIENT_GRACE_MS after @until, or after now if that is later; NEVER: never. */
int64_t client_grace(int64_t until);
/** Have the servers confirmed within CLIENT_GRACE_MS that our nodes are deleted? */
bool client_is_done(const struct env *env);
/** Flushes stdout and ends the process without closing the client. */
_Noreturn void client_exit(int status);

/**
 * Waits until the servers have confirmed that our nodes are deleted, or the session has ended; then closes the client. Says
 * so when that takes longer than a second. A signal, or the time @until, ends the process, with a message unless that time
 * is over and @silent. Returns @status.
 */
int client_end(struct env *env, int64_t until, bool silent, int status);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The client of a subcommand: from the options to a session, questions to the servers, and the end. */
#ifndef ZKR_CLI_CLIENT_H
#define ZKR_CLI_CLIENT_H

#include <zkr/contenders.h>

#include "commands.h"
#include "stats.h"

/** Part of a subcommand. Returns 0 or an exit code, reported. */
typedef int (*client_work_fn)(void *ctx);

/** Opens env->client, which connects in the background. @owner: NULL = the usual one. Returns 0 or an exit code, reported. */
int client_open(struct env *env, const char *owner);

/** Waits for the session, at most so long. Returns 0 or an exit code, reported. */
int client_wait(const struct env *env, int64_t ms);

/** Does @work, which leaves nothing on a server: a signal ends the process at once. Returns as @work. */
int client_work(const struct env *env, client_work_fn work, void *ctx);

/** Asks the servers about an object. Returns a code of the library. */
typedef int (*client_ask_fn)(void *object, void *out);

/**
 * Waits for the session, asks, and asks again when the connection breaks meanwhile. Returns a code of the library; @status: 0, or
 * an exit code, reported, when there is no session.
 */
int client_ask(const struct env *env,
               client_ask_fn ask,
               void *object,
               void *out,
               int *status);

/** The same for a list of contenders. Returns 0 or an exit code, reported. */
int client_list(const struct env *env,
                client_ask_fn ask,
                void *object,
                zkr_contenders **out);

/** Who stands in the queue of a mutex; who holds permits of a semaphore. */
int client_list_mutex(void *mutex, void *out);
int client_list_semaphore(void *semaphore, void *out);

/** Something that is shown again at each change. */
struct client_watch {
    int (*wait)(
        void *ctx,
        int64_t
            timeout_ms); /* ZKR_OK: it has changed since it was last read; ZKR_ETIMEDOUT: not yet */
    client_work_fn show; /* reads and shows it */
    client_work_fn
        tick; /* shows it again each second, though it has not changed; NULL: nothing does */
};

/** Until a signal, or what show() or tick() returns, ends it. Returns an exit code, reported. */
int client_watch(const struct env *env, const struct client_watch *how, void *ctx);

/* --- the end of a subcommand that may have left nodes: they are to be gone before it is --- */

/** How long an answer may take on a line that is not dark, when there is no time left; and a moment long past. */
enum { CLIENT_GRACE_MS = 250, CLIENT_NOW = 0 };

/** Are our nodes gone? Asked when the time is over: waits for the grace alone. */
bool client_is_done(const struct env *env);

/** Ends the process here and now. For when there is nothing that a server could be told, or nobody who hears it. */
_Noreturn void client_exit(int status);

struct client_end {
    int64_t until;       /* it gives up at that moment plus the grace; or CLI_NEVER */
    struct stats *stats; /* end before the client does */
    bool told;           /* all is said already, should it give up */
};

/**
 * Waits until the servers have confirmed that our nodes are deleted, or the session has ended; then closes the client. After
 * a second it says that it waits. At a signal, or when the time is over, it gives up: it says so and ends the process.
 * Returns @status.
 */
int client_end(const struct env *env, const struct client_end *how, int status);

#endif

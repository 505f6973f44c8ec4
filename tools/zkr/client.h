/* SPDX-License-Identifier: Apache-2.0 */
/* The client of a subcommand: opened from the settings, used to ask the servers, and closed. */
#ifndef ZKR_CLI_CLIENT_H
#define ZKR_CLI_CLIENT_H

#include <zkr/contenders.h>

#include "commands.h"
#include "stats.h"

/** Part of a subcommand. Returns 0 or an exit code, reported. */
typedef int (*client_work_fn)(void *ctx);

/** Opens env->client, which connects in the background. @owner: NULL = the library's default. Returns 0 or an exit code, reported. */
int client_open(struct env *env, const char *owner);

/** Waits for the session, at most @ms. Returns 0 or an exit code, reported. */
int client_wait(const struct env *env, int64_t ms);

/** Calls @work, which makes no node: a signal meanwhile ends the process at once. Returns what @work returns. */
int client_work(const struct env *env, client_work_fn work, void *ctx);

/** Asks the servers about an object. Returns a code of the library. */
typedef int (*client_ask_fn)(void *object, void *out);

/**
 * Waits for the session, asks, and asks again if the connection breaks. Returns a code of the library. @status: 0, or an
 * exit code, reported, when there is no session.
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

/** The queue of a mutex, and the holders of permits of a semaphore. */
int client_list_mutex(void *mutex, void *out);
int client_list_semaphore(void *semaphore, void *out);

/** How to show a lock again at each change. */
struct client_watch {
    /* ZKR_OK: changed since last read; ZKR_ETIMEDOUT: not yet. */
    int (*wait)(void *ctx, int64_t timeout_ms);
    client_work_fn show; /* reads the lock and shows it */
    client_work_fn tick; /* shows it again each second, unchanged; NULL: never */
};

/** Until a signal, or what show() or tick() returns, ends it. Returns an exit code, reported. */
int client_watch(const struct env *env, const struct client_watch *how, void *ctx);

/* --- the end of a subcommand that has made nodes, which have to be deleted first --- */

/** How long to wait for a last answer when the time is over; and a deadline that has passed. */
enum { CLIENT_GRACE_MS = 250, CLIENT_NOW = 0 };

/** Have the servers confirmed within CLIENT_GRACE_MS that our nodes are deleted? */
bool client_is_done(const struct env *env);

/** Flushes stdout and ends the process without closing the client. */
_Noreturn void client_exit(int status);

struct client_end {
    int64_t until;       /* when to give up, plus CLIENT_GRACE_MS; or CLI_NEVER */
    struct stats *stats; /* ended before the client */
    bool silent;         /* giving up needs no message */
};

/**
 * Waits until the servers have confirmed that our nodes are deleted, or the session has ended; then closes the client. Says
 * so when that takes longer than a second. A signal, or the end of the time, ends the process with a message. Returns @status.
 */
int client_end(const struct env *env, const struct client_end *how, int status);

#endif

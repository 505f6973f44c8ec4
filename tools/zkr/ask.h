/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from the servers. Each function retries if the connection breaks, and returns 0 or a reported exit code. */
#ifndef ZKR_CLI_ASK_H
#define ZKR_CLI_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include <zkr/zkr.h>

#include "env.h"

/** The object whose list is read: one member is set. */
struct ask_source {
    zkr_mutex *mutex;
    zkr_leader_latch *latch;
    zkr_semaphore *semaphore;
};

/** A list for ask_lists(). */
struct ask_list {
    struct ask_source of;
    zkr_contenders *list; /* NULL until it is read */
};

/** Reads the queue of a mutex, the candidates of a latch, or the holders of permits of a semaphore. */
int ask_list(const struct env *env, struct ask_source of, zkr_contenders **out);
/**
 * Waits for the session, then reads all lists concurrently, each in a thread of its own. A list stays NULL if its read
 * fails: ask_list() then reads it again, or reports the failure.
 */
int ask_lists(const struct env *env, struct ask_list *lists, size_t count);
/** Reads the holders of permits. *out: @path is a semaphore with permits held. */
int ask_has_permits(const struct env *env, const char *path, bool *out);
/** Reads the metadata of the node @path. *missing: there is no such node. */
int ask_node(const struct env *env, const char *path, zkr_node *out, bool *missing);
/** Reads the locks at and below @path. @flags: ZKR_SURVEY_… or 0. *out: NULL if there is no such node. */
int ask_survey(const struct env *env,
               const char *path,
               int64_t flags,
               zkr_survey **out);
/** Creates a mutex that reads the queue at @path followed by @below, for example "" or "/leases". Sends nothing yet. */
int ask_mutex(const struct env *env,
              const char *path,
              const char *below,
              zkr_mutex **out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to the servers. Each is sent again if the connection breaks, and returns 0 or an exit code, reported. */
#ifndef ZKR_CLI_ASK_H
#define ZKR_CLI_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include <zkr/zkr.h>

#include "env.h"

/** One of the lists. */
struct ask_source {
    zkr_mutex *mutex;
    zkr_leader_latch *latch;
    zkr_semaphore *semaphore;
};

/** A list to be read at once with others. */
struct ask_list {
    struct ask_source of;
    zkr_contenders *list; /* NULL at first */
};

/** The queue of a mutex, the candidates of a latch, or the holders of permits of a semaphore. */
int ask_list(const struct env *env, struct ask_source of, zkr_contenders **out);
/**
 * Waits for the session, and reads all of these lists at once, each in its thread. A list that could not be read stays NULL:
 * ask_list() reads it, or says why it cannot.
 */
int ask_lists(const struct env *env, struct ask_list *lists, size_t count);
/** Is @path a semaphore of which permits are held? */
int ask_has_permits(const struct env *env, const char *path, bool *out);
/** Which node @path is. *missing: there is none. */
int ask_node(const struct env *env, const char *path, zkr_node *out, bool *missing);
/** The locks at and below @path. @flags: ZKR_SURVEY_… or 0. *out: NULL when there is no such node. */
int ask_survey(const struct env *env,
               const char *path,
               int64_t flags,
               zkr_survey **out);
/** Makes a mutex, to ask about the queue at @path and @below, such as "" or "/leases". Sends nothing yet. */
int ask_mutex(const struct env *env,
              const char *path,
              const char *below,
              zkr_mutex **out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from the servers. Each function retries if the connection is lost, and returns 0 or a reported exit code. */
#ifndef ZKR_CLI_ASK_H
#define ZKR_CLI_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include <zkr/zkr.h>

#include "env.h"

/** The object whose list is read. Exactly one member is set. */
struct ask_source {
    zkr_mutex *mutex;
    zkr_leader_latch *latch;
    zkr_semaphore *semaphore;
};

/** A list for ask_lists(). */
struct ask_list {
    struct ask_source of;
    zkr_contenders *list; /* NULL until the list is read */
};

/** Reads the queue of a mutex, the candidates of a latch, or the holders of a semaphore's permits. */
int ask_list(const struct env *env, struct ask_source of, zkr_contenders **out);
/**
 * Waits for the session, and then reads all lists concurrently, each in its own thread. If a read fails, its list stays
 * NULL, and ask_list() reads it again, or reports the failure.
 */
int ask_lists(const struct env *env, struct ask_list *lists, size_t count);
/** Reads the holders of permits. Sets *out if @path is a semaphore with permits held. */
int ask_has_permits(const struct env *env, const char *path, bool *out);
/** Reads the metadata of the node @path. Sets *missing if there is no such node. */
int ask_node(const struct env *env, const char *path, zkr_node *out, bool *missing);
/**
 * Reads the locks at and below @path. @flags is 0 or made of ZKR_SURVEY_…. Sets *out to NULL if there is no such node.
 */
int ask_survey(const struct env *env,
               const char *path,
               int64_t flags,
               zkr_survey **out);
/**
 * Creates a mutex that reads the queue at @path followed by @below, for example "" or "/leases". Sends no request yet.
 */
int ask_mutex(const struct env *env,
              const char *path,
              const char *below,
              zkr_mutex **out);

#endif

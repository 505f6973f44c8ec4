/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/strangers.h"

#include <string.h>

#include "session/log.h"

/* Directories of Curator's semaphores, whose path is this one. */
static bool is_of_semaphore(const char *name)
{
    return strcmp(name, "locks") == 0 || strcmp(name, "leases") == 0;
}

static bool has_semaphore(const struct zkr__answer *list)
{
    for (size_t i = 0; i < list->name_count; i++) {
        if (list->names[i] && is_of_semaphore(list->names[i])) {
            return true;
        }
    }
    return false;
}

/* The first child of a recipe that this one does not expect beside itself, or NULL. */
static const struct zkr__child *find_stranger(const struct zkr__queue *q,
                                              const struct zkr__children *children)
{
    unsigned expected = q->other_kinds | 1U << q->kind;
    for (size_t i = 0; i < children->count; i++) {
        if (!(expected & 1U << children->list[i].kind)) {
            return &children->list[i];
        }
    }
    return NULL;
}

static void warn_of_child(const struct zkr__queue *q,
                          const struct zkr__child *child) ZKR__LOCKED
{
    bool shared = child->kind == ZKR__NAME_READ || child->kind == ZKR__NAME_WRITE;
    zkr__log(
        q->c, ZKR_LOG_WARN,
        ZKR__EVENT("stranger", .path = q->dir, .node = child->name,
                   .reason =
                       shared
                           ? "node of a read-write lock; it counts by its number, but "
                             "Curator's does not see ours: use the writer of a "
                             "zkr_rwlock"
                           : "node of another recipe; it counts by its number, but its "
                             "maker may not respect ours"));
}

void zkr__strangers_warn(struct zkr__queue *q,
                         const struct zkr__children *children,
                         const struct zkr__answer *list)
{
    if (q->warned_foreign) {
        return;
    }
    const struct zkr__child *stranger = find_stranger(q, children);
    if (stranger) {
        q->warned_foreign = true;
        warn_of_child(q, stranger);
    } else if (list && children->strays > 0 && has_semaphore(list)) {
        q->warned_foreign = true;
        zkr__log(q->c, ZKR_LOG_WARN,
                 ZKR__EVENT("stranger", .path = q->dir,
                            .reason =
                                "a semaphore also uses this path; they do not exclude "
                                "each other"));
    }
}

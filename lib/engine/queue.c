/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "session/log.h"

enum { DATA_MAX = 65536 };

int zkr__queue_check_data(const char *recipe,
                          const char *owner,
                          const void *data,
                          size_t data_len)
{
    if (data_len > DATA_MAX || (!data && data_len > 0)) {
        return zkr__fail(ZKR_EINVAL, NULL,
                         "options of a %s: data and data_len do not match, or are more "
                         "than %d bytes",
                         recipe, DATA_MAX);
    }
    if (owner && strlen(owner) > DATA_MAX) {
        return zkr__fail(ZKR_EINVAL, NULL,
                         "options of a %s: owner is longer than %d bytes", recipe,
                         DATA_MAX);
    }
    return ZKR_OK;
}

static void free_queue(struct zkr__queue *q)
{
    const void *const copies[] = {q->dir, q->meter_path, q->owner, q->data, q};
    for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
        zkr__mem_free((void *)(uintptr_t)copies[i]);
    }
}

int zkr__queue_create(struct zkr__queue **out,
                      zkr_client *c,
                      const struct zkr__queue *chosen)
{
    struct zkr__queue *q = zkr__mem_alloc(sizeof(*q));
    if (!q) {
        return ZKR_ENOMEM;
    }
    *q = *chosen;
    q->c = c;
    q->refs = 1;
    q->writes_metadata = chosen->writes_metadata && !chosen->data;
    q->dir = zkr__mem_string(chosen->dir);
    q->owner = chosen->owner ? zkr__mem_string(chosen->owner) : NULL;
    q->data = chosen->data ? zkr__mem_copy(chosen->data, chosen->data_len) : NULL;
    q->meter_path = chosen->meter_path ? zkr__mem_string(chosen->meter_path) : NULL;
    if (!q->dir || (chosen->meter_path && !q->meter_path) ||
        (chosen->owner && !q->owner) || (chosen->data && !q->data)) {
        free_queue(q);
        return ZKR_ENOMEM;
    }
    *out = q;
    return ZKR_OK;
}

struct zkr__directory *zkr__queue_directory(struct zkr__queue *q,
                                            struct zkr__engine *engine)
{
    if (!q->directory) {
        q->directory = zkr__directory_of(engine, q->dir);
    }
    return q->directory;
}

struct zkr__meter *zkr__queue_meter(struct zkr__queue *q)
{
    if (!q->meter) {
        q->meter = zkr__meter_of(&q->c->meters, q->meter_path ? q->meter_path : q->dir);
    }
    return q->meter;
}

void zkr__queue_unref(struct zkr__queue *q)
{
    if (--q->refs > 0) {
        return;
    }
    if (q->directory) {
        bool parted = q->directory->path == q->dir;
        zkr__directory_unref(q->directory);
        q->dir = parted ? NULL : q->dir;
    }
    free_queue(q);
}

/* --- foreign nodes --- */

/* The children look like those of a semaphore of Curator. */
static bool has_semaphore(const struct zkr__answer *list)
{
    for (size_t i = 0; i < list->name_count; i++) {
        const char *name = list->names[i];
        if (name && (strcmp(name, "locks") == 0 || strcmp(name, "leases") == 0)) {
            return true;
        }
    }
    return false;
}

/* The first child of a recipe that this queue does not expect beside itself, or NULL. */
static const struct zkr__child *find_foreign(const struct zkr__queue *q,
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

void zkr__queue_warn(struct zkr__queue *q,
                     const struct zkr__children *children,
                     const struct zkr__answer *list)
{
    const struct zkr__child *stranger =
        q->warned_foreign ? NULL : find_foreign(q, children);
    const char *reason = NULL;
    if (stranger) {
        bool shared =
            stranger->kind == ZKR__NAME_READ || stranger->kind == ZKR__NAME_WRITE;
        reason = shared ? "node of a read-write lock; it counts by its number, but "
                          "Curator's does not see ours: use the writer of a zkr_rwlock"
                        : "node of another recipe; it counts by its number, but its "
                          "maker may not respect ours";
    } else if (!q->warned_foreign && list && children->strays > 0 &&
               has_semaphore(list)) {
        reason = "a semaphore also uses this path; they do not exclude each other";
    }
    if (reason) {
        q->warned_foreign = true;
        zkr__log(q->c, ZKR_LOG_WARN,
                 ZKR__EVENT("stranger", .path = q->dir,
                            .node = stranger ? stranger->name : NULL,
                            .reason = reason));
    }
}

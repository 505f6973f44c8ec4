/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/queue.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "queue/directory.h"
#include "queue/engine_state.h"
#include "queue/makers.h"
#include "session/log.h"
#include "session/must.h"
#include "session/resolve.h"

enum { DATA_MAX = 65536 };

static int check(const char *what, const struct zkr__queue *chosen)
{
    const char *fault = zkr__path_fault(chosen->dir);
    size_t owner_len = chosen->owner ? strlen(chosen->owner) : 0;
    if (fault) {
        return zkr__fail(ZKR_EINVAL, chosen->dir, "the path of a %s %s", what, fault);
    }
    if (owner_len > DATA_MAX || chosen->data_len > DATA_MAX ||
        (!chosen->data && chosen->data_len > 0)) {
        return zkr__fail(ZKR_EINVAL, chosen->dir,
                         "the id, owner or data of a %s are longer than %d bytes, or "
                         "data_len is set without data",
                         what, DATA_MAX);
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

/* Returns NULL if memory runs out. */
static struct zkr__queue *make(zkr_client *c, const struct zkr__queue *chosen)
{
    const char *dir = chosen->dir, *below = chosen->below;
    struct zkr__queue *q = zkr__mem_alloc(sizeof(*q));
    if (!q) {
        return NULL;
    }
    *q = *chosen;
    q->below = NULL;
    q->c = c;
    q->refs = 1;
    q->writes_metadata = chosen->writes_metadata && !chosen->data;
    q->hears_news = chosen->hears_news && !chosen->data;
    q->dir = below ? zkr__path_join(dir, below) : zkr__mem_string(dir);
    q->meter_path = below ? zkr__mem_string(dir) : NULL;
    q->owner = chosen->owner ? zkr__mem_string(chosen->owner) : NULL;
    q->data = chosen->data ? zkr__mem_copy(chosen->data, chosen->data_len) : NULL;
    if (!q->dir || (below && !q->meter_path) || (chosen->owner && !q->owner) ||
        (chosen->data && !q->data)) {
        free_queue(q);
        return NULL;
    }
    return q;
}

int zkr__queue_create(struct zkr__queue **out,
                      zkr_client *c,
                      const char *what,
                      const struct zkr__queue *chosen)
{
    int rc = check(what, chosen);
    struct zkr__queue *q = rc == ZKR_OK ? make(c, chosen) : NULL;
    if (rc == ZKR_OK && !q) {
        rc =
            zkr__fail(ZKR_ENOMEM, chosen->dir, "cannot make a %s: out of memory", what);
    }
    *out = q;
    return rc;
}

size_t zkr__queue_node_bytes(const struct zkr__queue *q)
{
    const char *owner = q->owner ? q->owner : q->c->owner ? q->c->owner : "";
    return ZKR__NODE_BYTES + strlen(q->dir) + (q->data ? q->data_len : strlen(owner));
}

int64_t zkr__queue_path_bytes(const struct zkr__queue *q)
{
    enum { LENGTH = 4, DIGITS = 10 };
    static const char guid[ZKR__GUID_LEN + 1] = "00000000-0000-4000-8000-000000000000";
    char name[ZKR__NAME_ROOM];
    zkr__name_make(name, q->kind, guid);
    return (int64_t)(LENGTH + strlen(zkr__servers_chroot(q->c->servers)) +
                     strlen(q->dir) + 1 + strlen(name) + DIGITS);
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
    if (!q) {
        return;
    }
    ZKR__MUST(q->c, q->refs > 0);
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

void zkr__queue_note_token(const struct zkr__queue *q,
                           struct zkr__engine *engine,
                           int64_t token)
{
    if (token < engine->last_token) {
        zkr__log_more(
            q->c, ZKR_LOG_WARN,
            ZKR__EVENT("token_lower", .path = q->dir,
                       .reason = "the servers lost data or restored a snapshot: "
                                 "reset every system that remembers tokens"),
            "token=%lld before=%lld", (long long)token, (long long)engine->last_token);
    }
    engine->last_token = token;
}

/* --- foreign nodes --- */

/* Returns whether the children look like those of a Curator semaphore. */
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

static bool is_expected(const struct zkr__queue *q, const struct zkr__child *child)
{
    return (q->other_kinds | 1U << q->kind) & 1U << child->kind;
}

static const struct zkr__maker *maker_of(const struct zkr__child *child)
{
    return child->kind == ZKR__NAME_OTHER ? zkr__maker_of(child->name) : NULL;
}

/*
 * Returns the first child that belongs to a recipe not expected in this queue, and whose maker may not wait for our
 * node. Returns NULL if there is none.
 */
static const struct zkr__child *find_stranger(const struct zkr__queue *q,
                                              const struct zkr__children *children)
{
    for (size_t i = 0; i < children->count; i++) {
        const struct zkr__child *child = &children->list[i];
        const struct zkr__maker *maker = maker_of(child);
        if (!is_expected(q, child) && !(maker && maker->regard == ZKR__WAITS)) {
            return child;
        }
    }
    return NULL;
}

/* Returns the maker of the first child whose recipe our node would break, or NULL. */
static const struct zkr__maker *find_broken(const struct zkr__children *children,
                                            const struct zkr__answer *list,
                                            const char **node)
{
    int64_t made = list ? list->made : ZKR__ANY_NUMBER;
    for (size_t i = 0; i < children->count; i++) {
        const struct zkr__maker *maker = maker_of(&children->list[i]);
        if (maker && maker->regard == ZKR__BREAKS &&
            zkr__child_is_shown(&children->list[i], made)) {
            *node = children->list[i].name;
            return maker;
        }
    }
    return NULL;
}

static void
warn(const struct zkr__queue *q, const char *node, const char *reason) ZKR__LOCKED
{
    zkr__log(q->c, ZKR_LOG_WARN,
             ZKR__EVENT("stranger", .path = q->dir, .node = node, .reason = reason));
}

static void warn_of_stranger(struct zkr__queue *q,
                             const struct zkr__child *stranger) ZKR__LOCKED
{
    char reason[160];
    const struct zkr__maker *maker = maker_of(stranger);
    if (maker) {
        (void)snprintf(reason, sizeof(reason),
                       "%s uses this path and might not wait for this lock",
                       maker->name);
    } else {
        bool shared =
            stranger->kind == ZKR__NAME_READ || stranger->kind == ZKR__NAME_WRITE;
        (void)snprintf(
            reason, sizeof(reason), "%s",
            shared ? "node of a read-write lock; this lock waits for it, but that of "
                     "Curator does not see this lock: use the writer of a zkr_rwlock"
                   : "node of another program; this lock waits for it, but "
                     "that program might not wait for this lock");
    }
    warn(q, stranger->name, reason);
}

bool zkr__queue_check(struct zkr__queue *q,
                      const struct zkr__children *children,
                      const struct zkr__answer *list)
{
    const char *node = NULL;
    const struct zkr__maker *broken = find_broken(children, list, &node);
    bool news = broken && !q->broken;
    q->broken = broken ? broken->name : q->broken;
    if (news) {
        zkr__log(q->c, ZKR_LOG_WARN,
                 ZKR__EVENT("path_refused", .path = q->dir, .node = node,
                            .reason = "another program uses the path, and a lock node "
                                      "would break it"));
    }
    if (broken || q->warned_foreign) {
        return broken != NULL;
    }
    const struct zkr__child *stranger = find_stranger(q, children);
    bool semaphore = !stranger && list && children->strays > 0 && has_semaphore(list);
    q->warned_foreign = stranger || semaphore;
    if (stranger) {
        warn_of_stranger(q, stranger);
    } else if (semaphore) {
        warn(q, NULL,
             "a semaphore also uses this path; it and this lock do not exclude each "
             "other");
    }
    return false;
}

int zkr__queue_refuse(const struct zkr__queue *q)
{
    return zkr__fail(ZKR_EFOREIGN, q->dir,
                     "%s is used by %s, which would fail beside this lock; use another "
                     "path",
                     q->dir, q->broken ? q->broken : "a program");
}

void zkr__queue_note_ahead(struct zkr__queue *q,
                           const char *name,
                           const struct zkr__answer *answer)
{
    if (answer->code == ZKR_OK && answer->owner == 0 && !q->warned_ahead) {
        q->warned_ahead = true;
        zkr__log(q->c, ZKR_LOG_WARN,
                 ZKR__EVENT("ahead_stays", .path = q->dir, .node = name,
                            .reason = "the node ahead is not ephemeral: no session "
                                      "ends it, and this lock waits for it"));
    }
}

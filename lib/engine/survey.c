/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/survey.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "engine/children.h"
#include "engine/engine.h"
#include "engine/session_events.h"
#include "session/client.h"
#include "session/resolve.h"

/* So many requests are in flight, and few more; what was not asked of a visit by then waits. */
enum { WINDOW = 500, TRIES = 4 };

/* What is asked of a visit; with its index, or that of a lease, the tag of the request. */
enum asked { NAMES, HOLDER, WAITER, LEASE, ASKED };

static struct zkr__survey *survey_of(struct zkr__inquiry *asked)
{
    return ZKR__OWNER_OF(asked, struct zkr__survey, asked);
}

/* --- visits --- */

static void forget_queue(struct zkr__visit *v)
{
    for (size_t i = 0; v->leases_read && i < v->contenders; i++) {
        zkr__contender_drop(&v->leases_read[i]);
    }
    zkr__mem_free(v->leases_read);
    zkr__contender_drop(&v->holder);
    v->leases_read = NULL;
    v->contenders = v->held = 0;
    v->waiting_since_ms = 0;
}

static void free_visit(struct zkr__visit *v)
{
    forget_queue(v);
    zkr__mem_free(v->path);
    zkr__mem_free(v);
}

static void free_survey(struct zkr__inquiry *asked) ZKR__LOCKED
{
    struct zkr__survey *s = survey_of(asked);
    for (size_t i = 0; i < s->count; i++) {
        free_visit(s->visits[i]);
    }
    zkr__mem_free(s->visits);
    zkr__mem_free(s->leases);
    zkr__mem_free(s);
}

/* For one more behind @count of @size bytes each at @list. NULL: no memory, and nothing has changed. */
static void *grow(void *list, size_t count, size_t *room, size_t size)
{
    if (count < *room) {
        return list;
    }
    size_t more = *room * 2 + 16;
    void *grown = zkr__mem_alloc(more * size);
    if (grown && count > 0) {
        memcpy(grown, list, count * size);
    }
    if (grown) {
        zkr__mem_free(list);
        *room = more;
    }
    return grown;
}

static bool make_room(struct zkr__survey *s)
{
    struct zkr__visit **visits =
        grow(s->visits, s->count, &s->room, sizeof(struct zkr__visit *));
    s->visits = visits ? visits : s->visits;
    return visits != NULL;
}

/* Takes @path. NULL: out of memory. */
static struct zkr__visit *add_visit(struct zkr__survey *s, char *path)
{
    struct zkr__visit *v = path && make_room(s) ? zkr__mem_alloc(sizeof(*v)) : NULL;
    if (!v) {
        zkr__mem_free(path);
        return NULL;
    }
    v->path = path;
    s->visits[s->count++] = v;
    return v;
}

/* --- asking --- */

/* What is below the root begins with one slash. */
static char *join(const char *dir, const char *name)
{
    return zkr__path_join(strcmp(dir, "/") == 0 ? "" : dir, name);
}

static void
on_names(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED;
static void
on_data(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED;

static unsigned tag_of(size_t index, enum asked what)
{
    return (unsigned)(index * ASKED) + (unsigned)what;
}

static void ask_names(struct zkr__survey *s, size_t index) ZKR__LOCKED
{
    const struct zkr__op op = {.kind = ZKR__OP_CHILDREN,
                               .path = s->visits[index]->path};
    zkr__inquiry_ask(&s->asked, &op, on_names, tag_of(index, NAMES));
}

static void ask_data(struct zkr__survey *s,
                     struct zkr__visit *v,
                     const char *node,
                     unsigned tag) ZKR__LOCKED
{
    char *path = join(v->path, node);
    const struct zkr__op op = {.kind = ZKR__OP_GET, .path = path};
    v->pending++;
    zkr__inquiry_ask(&s->asked, &op, on_data, tag);
    zkr__mem_free(path);
}

static void answered(struct zkr__survey *s, int code) ZKR__LOCKED
{
    while (code == ZKR_OK && s->asked.code == ZKR_OK && s->next < s->count &&
           s->asked.in_flight < WINDOW) {
        ask_names(s, s->next++);
    }
    zkr__inquiry_answered(&s->asked, code);
}

/* --- names --- */

/* Children of a semaphore are looked at with it. */
static bool is_part(const char *name)
{
    return strcmp(name, "leases") == 0 || strcmp(name, "locks") == 0;
}

static bool
is_wanted(const struct zkr__survey *s, const struct zkr__visit *v, const char *name)
{
    if (s->spare_own && strcmp(v->path, "/") == 0 && strcmp(name, "zookeeper") == 0) {
        return false;
    }
    return s->deep || v->depth == 0 || (v->depth == 1 && is_part(name));
}

static int add_below(struct zkr__survey *s, size_t index, const char *name) ZKR__LOCKED
{
    struct zkr__visit *v = s->visits[index];
    struct zkr__visit *below = add_visit(s, join(v->path, name));
    if (!below) {
        return ZKR_ENOMEM;
    }
    below->parent = index;
    below->depth = v->depth + 1;
    if (strcmp(name, "leases") == 0) {
        v->leases = s->count - 1;
    } else if (strcmp(name, "locks") == 0) {
        v->gate = s->count - 1;
    }
    return ZKR_OK;
}

static int descend(struct zkr__survey *s,
                   size_t index,
                   const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__visit *v = s->visits[index];
    int code = ZKR_OK;
    v->listed = true;
    for (size_t i = 0; i < answer->name_count && code == ZKR_OK; i++) {
        enum zkr__name_kind kind;
        int64_t sequence;
        const char *name = answer->names[i];
        if (zkr__name_parse(name, &kind, &sequence)) {
            continue;
        }
        v->others++;
        if (is_wanted(s, v, name)) {
            code = add_below(s, index, name);
        }
    }
    return code;
}

/* The first, and readers that hold beside it. */
static size_t count_holders(const struct zkr__children *children)
{
    size_t held = 1;
    if (children->list[0].kind == ZKR__NAME_READ) {
        while (held < children->count && children->list[held].kind == ZKR__NAME_READ) {
            held++;
        }
    }
    return held;
}

static zkr_contender contender_of(const struct zkr__child *child)
{
    return (zkr_contender){.node = zkr__mem_string(child->name),
                           .sequence = child->sequence,
                           .kind = zkr__contender_kind(child->kind),
                           .holds = true};
}

static int look_at_leases(struct zkr__survey *s,
                          size_t index,
                          const struct zkr__children *children) ZKR__LOCKED
{
    struct zkr__visit *v = s->visits[index];
    v->leases_read = zkr__mem_alloc(children->count * sizeof(*v->leases_read));
    for (size_t i = 0; v->leases_read && i < children->count; i++) {
        struct zkr__survey_lease *leases =
            grow(s->leases, s->lease_count, &s->lease_room, sizeof(*leases));
        zkr_contender *entry = &v->leases_read[i];
        *entry = contender_of(&children->list[i]);
        if (!leases || !entry->node) {
            return ZKR_ENOMEM;
        }
        s->leases = leases;
        s->leases[s->lease_count] = (struct zkr__survey_lease){index, i};
        ask_data(s, v, entry->node, tag_of(s->lease_count++, LEASE));
    }
    return v->leases_read ? ZKR_OK : ZKR_ENOMEM;
}

static int look_at_queue(struct zkr__survey *s,
                         size_t index,
                         const struct zkr__children *children) ZKR__LOCKED
{
    struct zkr__visit *v = s->visits[index];
    forget_queue(v);
    if (children->count == 0) {
        return ZKR_OK;
    }
    v->contenders = children->count;
    v->kind = children->list[0].kind;
    if (v->kind == ZKR__NAME_LEASE) {
        return look_at_leases(s, index, children);
    }
    v->held = count_holders(children);
    v->holder = contender_of(&children->list[0]);
    if (!v->holder.node) {
        return ZKR_ENOMEM;
    }
    ask_data(s, v, v->holder.node, tag_of(index, HOLDER));
    if (v->held < v->contenders) {
        ask_data(s, v, children->list[v->held].name, tag_of(index, WAITER));
    }
    return ZKR_OK;
}

static int take_names(struct zkr__survey *s,
                      size_t index,
                      const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__children children;
    int code = s->visits[index]->listed ? ZKR_OK : descend(s, index, answer);
    if (code == ZKR_OK) {
        code = zkr__children_order(&children, answer->names, answer->name_count,
                                   ZKR__ANY_NUMBER, NULL, NULL);
    }
    if (code == ZKR_OK) {
        code = look_at_queue(s, index, &children);
        zkr__children_free(&children);
    }
    return code;
}

/* Below the beginning, what has gone or is closed to us is no error. */
static int bear(struct zkr__survey *s, size_t index, int code)
{
    bool borne = index > 0 && (code == ZKR_ENONODE || code == ZKR_EAUTH);
    s->denied += borne && code == ZKR_EAUTH;
    return borne ? ZKR_OK : code;
}

static void on_names(void *ctx, unsigned tag, const struct zkr__answer *answer)
{
    struct zkr__survey *s = survey_of(ctx);
    size_t index = tag / ASKED;
    answered(s, answer->code == ZKR_OK ? take_names(s, index, answer)
                                       : bear(s, index, answer->code));
}

/* --- data --- */

/* The visit that a request was about. */
static size_t visit_of(const struct zkr__survey *s, unsigned tag)
{
    return tag % ASKED == LEASE ? s->leases[tag / ASKED].visit : tag / ASKED;
}

static int take_data(const struct zkr__survey *s,
                     struct zkr__visit *v,
                     unsigned tag,
                     const struct zkr__answer *answer)
{
    if (tag % ASKED == WAITER) {
        v->waiting_since_ms = answer->created_ms;
        return ZKR_OK;
    }
    zkr_contender *entry = tag % ASKED == LEASE
                               ? &v->leases_read[s->leases[tag / ASKED].number]
                               : &v->holder;
    return zkr__contender_take(entry, answer);
}

/* When somebody has come or gone meanwhile, it is looked at again. */
static void on_data(void *ctx, unsigned tag, const struct zkr__answer *answer)
{
    struct zkr__survey *s = survey_of(ctx);
    size_t index = visit_of(s, tag);
    struct zkr__visit *v = s->visits[index];
    int code = answer->code;
    v->pending--;
    if (code == ZKR_OK) {
        code = take_data(s, v, tag, answer);
    } else if (code == ZKR_ENONODE) {
        v->vanished = true;
        code = ZKR_OK;
    } else if (code == ZKR_EAUTH) {
        s->denied++;
        code = ZKR_OK;
    }
    if (v->vanished && v->pending == 0 && v->tries < TRIES && code == ZKR_OK) {
        v->tries++;
        v->vanished = false;
        ask_names(s, index);
    }
    answered(s, code);
}

/* --- a walk --- */

int zkr__survey_begin(struct zkr__survey **out,
                      zkr_client *c,
                      const char *path,
                      bool deep)
{
    struct zkr__engine *engine = zkr__engine_of(c);
    struct zkr__survey *s = engine ? zkr__mem_alloc(sizeof(*s)) : NULL;
    if (!s) {
        return ZKR_ENOMEM;
    }
    s->deep = deep;
    /* Below a chroot it is somebody's. */
    s->spare_own = *zkr__servers_chroot(c->servers) == '\0';
    s->asked.c = c;
    s->asked.free = free_survey;
    if (!add_visit(s, zkr__mem_string(path))) {
        zkr__mem_free(s->visits);
        zkr__mem_free(s);
        return ZKR_ENOMEM;
    }
    if (zkr__inquiry_begin(&s->asked, engine) != ZKR_OK) {
        free_survey(&s->asked);
        return ZKR_ESYS;
    }
    *out = s;
    return ZKR_OK;
}

int zkr__survey_walk(struct zkr__survey *s, int64_t deadline)
{
    int rc = zkr__inquiry_await_session(&s->asked, deadline);
    if (rc == ZKR_OK) {
        s->next = 1;
        ask_names(s, 0);
        rc = zkr__inquiry_await(&s->asked, deadline);
    }
    return rc;
}

void zkr__survey_end(struct zkr__survey *s)
{
    zkr__inquiry_end(&s->asked, zkr__engine_of(s->asked.c));
}

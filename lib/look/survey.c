/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks through a tree of nodes, and reports the locks, elections and semaphores in it.
 *
 * The walk lists nodes as it discovers them, many at a time. For each queue, it also reads the data of the first holder
 * and of the first waiter. For a semaphore it reads the data of all leases.
 */
#include <stdlib.h>
#include <string.h>

#include <zkr/lease.h>
#include <zkr/survey.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "look/contender.h"
#include "queue/makers.h"
#include "queue/rule.h"
#include "session/client.h"
#include "session/inquiry.h"
#include "session/resolve.h"

/* --- a survey --- */

struct entry {
    zkr_survey_entry shown;
    zkr_contender holder; /* shown.holder points here or is NULL; see sort() */
};

struct zkr_survey {
    size_t count, denied;
    struct entry list[];
};

size_t zkr_survey_count(const zkr_survey *s)
{
    return s ? s->count : 0;
}

const zkr_survey_entry *zkr_survey_get(const zkr_survey *s, size_t i)
{
    return s && i < s->count ? &s->list[i].shown : NULL;
}

size_t zkr_survey_denied(const zkr_survey *s)
{
    return s ? s->denied : 0;
}

void zkr_survey_free(zkr_survey *s)
{
    for (size_t i = 0; s && i < s->count; i++) {
        zkr__contender_drop(&s->list[i].holder);
        zkr__mem_free((void *)(uintptr_t)s->list[i].shown.path);
    }
    zkr__mem_free(s);
}

/* --- visits --- */

/* While this many requests are in flight, no more nodes are listed. */
enum { WINDOW = 500 };
/* Maximum number of repetitions of a visit, which is repeated if a contender's node was deleted meanwhile. */
enum { TRIES = 4 };

/* The kinds of requests. The tag of a request combines the kind with the index of the visit or of the lease. */
enum asked { NAMES, HOLDER, WAITER, LEASE, ASKED };

/* One node that the walk has visited. */
struct visit {
    char *path;
    size_t parent; /* index of the parent's visit */
    unsigned depth;
    /* Indexes of the children named like the two directories of a semaphore; 0 = none, because the root is no child. */
    size_t leases, gate;
    size_t others; /* children that are not contenders */
    /* The queue, if contenders > 0. If the contenders are leases, zkr__permits_held() counts the held ones. */
    size_t contenders, held;
    bool ordered;             /* the lowest number holds; otherwise all count as held */
    bool node;                /* the node itself is the holder, as an ephemeral node */
    enum zkr__name_kind kind; /* kind of the first contender */
    zkr_contender holder;     /* has no owner if the holder was not read */
    zkr_contender *leases_read; /* all leases, if the contenders are leases */
    int64_t waiting_since_ms;
    bool listed, vanished;
    unsigned pending, tries;
};

/* A lease whose data has been requested. */
struct lease {
    size_t visit, number;
};

struct walk {
    struct zkr__inquiry asked;
    bool deep, nodes;
    bool spare_own; /* leave out /zookeeper */
    size_t denied;
    struct visit **visits; /* the first one is the start of the walk */
    size_t count, room;
    size_t next; /* the next visit to list */
    struct lease *leases;
    size_t lease_count, lease_room;
};

static void forget_queue(struct visit *v)
{
    for (size_t i = 0; v->leases_read && i < v->contenders; i++) {
        zkr__contender_drop(&v->leases_read[i]);
    }
    zkr__mem_free(v->leases_read);
    zkr__contender_drop(&v->holder);
    v->leases_read = NULL;
    v->contenders = v->held = 0;
    v->node = false;
    v->waiting_since_ms = 0;
}

static void free_visit(struct visit *v)
{
    forget_queue(v);
    zkr__mem_free(v->path);
    zkr__mem_free(v);
}

static void forget_walk(void *inquiry) ZKR__LOCKED
{
    struct walk *s = inquiry;
    for (size_t i = 0; i < s->count; i++) {
        free_visit(s->visits[i]);
    }
    zkr__mem_free(s->visits);
    zkr__mem_free(s->leases);
}

/*
 * Make room in @list, whose @count entries have @size bytes each, for one more entry. If memory runs out, returns NULL
 * and changes nothing.
 */
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

/* Takes ownership of @path. Returns NULL if memory runs out. */
static struct visit *add_visit(struct walk *s, char *path)
{
    struct visit **visits = grow(s->visits, s->count, &s->room, sizeof(struct visit *));
    struct visit *v = path && visits ? zkr__mem_alloc(sizeof(*v)) : NULL;
    s->visits = visits ? visits : s->visits;
    if (!v) {
        zkr__mem_free(path);
        return NULL;
    }
    v->path = path;
    s->visits[s->count++] = v;
    return v;
}

/* --- requests --- */

/* Join two parts of a path. A path below the root begins with one slash. */
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

static void ask_names(struct walk *s, size_t index) ZKR__LOCKED
{
    const struct zkr__op op = {.kind = ZKR__OP_CHILDREN,
                               .path = s->visits[index]->path};
    zkr__inquiry_ask(&s->asked, &op, on_names, tag_of(index, NAMES));
}

static void
ask_data(struct walk *s, struct visit *v, const char *node, unsigned tag) ZKR__LOCKED
{
    char *path = node ? join(v->path, node) : NULL;
    const struct zkr__op op = {.kind = ZKR__OP_GET, .path = node ? path : v->path};
    v->pending++;
    zkr__inquiry_ask(&s->asked, &op, on_data, tag);
    zkr__mem_free(path);
}

static void answered(struct walk *s, int code) ZKR__LOCKED
{
    bool goes_on =
        code == ZKR_OK && s->asked.code == ZKR_OK && zkr__inquiry_wanted(&s->asked);
    while (goes_on && s->next < s->count && s->asked.in_flight < WINDOW) {
        ask_names(s, s->next++);
    }
    zkr__inquiry_answered(&s->asked, code);
}

/* --- names --- */

/*
 * Returns where to store the index of the semaphore's directory @name, or NULL if @name is not the name of such a
 * directory.
 */
static size_t *part_of(struct visit *v, const char *name)
{
    return strcmp(name, "leases") == 0  ? &v->leases
           : strcmp(name, "locks") == 0 ? &v->gate
                                        : NULL;
}

/*
 * Returns whether the walk should visit the child @name. The walk always visits a semaphore together with its two
 * directories.
 */
static bool is_wanted(const struct walk *s, struct visit *v, const char *name)
{
    if (s->spare_own && strcmp(v->path, "/") == 0 && strcmp(name, "zookeeper") == 0) {
        return false;
    }
    return s->deep || v->depth == 0 || (v->depth == 1 && part_of(v, name));
}

static int add_below(struct walk *s, size_t index, const char *name) ZKR__LOCKED
{
    struct visit *v = s->visits[index];
    struct visit *below = add_visit(s, join(v->path, name));
    size_t *part = part_of(v, name);
    if (!below) {
        return ZKR_ENOMEM;
    }
    below->parent = index;
    below->depth = v->depth + 1;
    if (part) {
        *part = s->count - 1;
    }
    return ZKR_OK;
}

static int
descend(struct walk *s, size_t index, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct visit *v = s->visits[index];
    int code = ZKR_OK;
    v->listed = true;
    for (size_t i = 0; i < answer->name_count && code == ZKR_OK; i++) {
        enum zkr__name_kind kind;
        int64_t sequence;
        const char *name = answer->names[i];
        bool numbered = zkr__name_parse(name, &kind, &sequence);
        if (numbered && kind != ZKR__NAME_OTHER) {
            continue;
        }
        v->others += !numbered;
        if (is_wanted(s, v, name)) {
            code = add_below(s, index, name);
        }
    }
    return code;
}

static int look_at_leases(struct walk *s,
                          size_t index,
                          const struct zkr__children *children) ZKR__LOCKED
{
    struct visit *v = s->visits[index];
    v->leases_read = zkr__mem_alloc(children->count * sizeof(*v->leases_read));
    for (size_t i = 0; v->leases_read && i < children->count; i++) {
        struct lease *leases =
            grow(s->leases, s->lease_count, &s->lease_room, sizeof(*leases));
        zkr_contender *entry = &v->leases_read[i];
        if (!leases || zkr__contender_begin(entry, &children->list[i]) != ZKR_OK) {
            return ZKR_ENOMEM;
        }
        entry->holds = true;
        s->leases = leases;
        s->leases[s->lease_count] = (struct lease){index, i};
        ask_data(s, v, entry->node, tag_of(s->lease_count++, LEASE));
    }
    return v->leases_read ? ZKR_OK : ZKR_ENOMEM;
}

/*
 * Returns whether the children include a node of a known recipe. Contenders of known recipes wait for unknown nodes
 * ahead.
 */
static bool has_known(const struct zkr__children *children)
{
    bool known = false;
    for (size_t i = 0; i < children->count && !known; i++) {
        known = children->list[i].kind != ZKR__NAME_OTHER;
    }
    return known;
}

static int look_at_queue(struct walk *s,
                         size_t index,
                         const struct zkr__children *children) ZKR__LOCKED
{
    struct visit *v = s->visits[index];
    forget_queue(v);
    if (children->count == 0) {
        return ZKR_OK;
    }
    v->contenders = children->count;
    v->kind = children->list[0].kind;
    if (v->kind == ZKR__NAME_LEASE) {
        return look_at_leases(s, index, children);
    }
    if (zkr__contender_begin(&v->holder, &children->list[0]) != ZKR_OK) {
        return ZKR_ENOMEM;
    }
    v->ordered = v->holder.ordered || has_known(children);
    v->held = v->ordered ? zkr__rule_holders(children) : v->contenders;
    v->holder.holds = true;
    ask_data(s, v, v->holder.node, tag_of(index, HOLDER));
    if (v->held < v->contenders) {
        ask_data(s, v, children->list[v->held].name, tag_of(index, WAITER));
    }
    return ZKR_OK;
}

static int look_at_node(struct walk *s, size_t index) ZKR__LOCKED
{
    struct visit *v = s->visits[index];
    const struct zkr__child self = {.name = strrchr(v->path, '/') + 1,
                                    .kind = ZKR__NAME_OTHER};
    if (zkr__contender_begin(&v->holder, &self) != ZKR_OK) {
        return ZKR_ENOMEM;
    }
    v->node = true;
    v->holder.kind = ZKR_KIND_NODE;
    v->holder.maker = NULL;
    v->holder.holds = true;
    ask_data(s, v, NULL, tag_of(index, HOLDER));
    return ZKR_OK;
}

static int
take_names(struct walk *s, size_t index, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__children children;
    int code = s->visits[index]->listed ? ZKR_OK : descend(s, index, answer);
    if (code == ZKR_OK) {
        code = zkr__children_shown(&children, answer->names, answer->name_count,
                                   answer->made);
    }
    if (code == ZKR_OK) {
        code = look_at_queue(s, index, &children);
        zkr__children_free(&children);
    }
    if (code == ZKR_OK && s->nodes && answer->owner != 0) {
        code = look_at_node(s, index);
    }
    return code;
}

/* If a node below the start of the walk is gone or unreadable, that is no error. */
static int bear(struct walk *s, size_t index, int code)
{
    bool borne = index > 0 && (code == ZKR_ENONODE || code == ZKR_EAUTH);
    s->denied += borne && code == ZKR_EAUTH;
    return borne ? ZKR_OK : code;
}

static void on_names(void *ctx, unsigned tag, const struct zkr__answer *answer)
{
    struct walk *s = ctx;
    size_t index = tag / ASKED;
    answered(s, answer->code == ZKR_OK ? take_names(s, index, answer)
                                       : bear(s, index, answer->code));
}

/* --- data --- */

/* Returns the index of the visit for which the request with @tag was sent. */
static size_t visit_of(const struct walk *s, unsigned tag)
{
    return tag % ASKED == LEASE ? s->leases[tag / ASKED].visit : tag / ASKED;
}

static int take_data(const struct walk *s,
                     struct visit *v,
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

static void on_data(void *ctx, unsigned tag, const struct zkr__answer *answer)
{
    struct walk *s = ctx;
    size_t index = visit_of(s, tag);
    struct visit *v = s->visits[index];
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

/* --- from visits to entries --- */

static struct visit *below(const struct walk *s, size_t index)
{
    return index > 0 ? s->visits[index] : NULL;
}

/* A semaphore has two directories, one of which may be empty. Other applications may use the same names. */
static bool is_semaphore(const struct walk *s, const struct visit *v)
{
    const struct visit *leases = below(s, v->leases), *gate = below(s, v->gate);
    if (!leases) {
        return false;
    }
    if (leases->contenders > 0) {
        return leases->kind == ZKR__NAME_LEASE;
    }
    return gate && gate->contenders > 0 && gate->kind == ZKR__NAME_LOCK &&
           leases->others == 0;
}

static bool is_part_of_semaphore(const struct walk *s, size_t index)
{
    const struct visit *parent = s->visits[s->visits[index]->parent];
    return index > 0 && (index == parent->leases || index == parent->gate) &&
           is_semaphore(s, parent);
}

/* Returns a new entry, or NULL if memory runs out. The entry takes over @holder if the holder was read. */
static zkr_survey_entry *add(zkr_survey *out, const char *path, zkr_contender *holder)
{
    struct entry *e = &out->list[out->count];
    e->shown.path = zkr__mem_string(path);
    if (!e->shown.path) {
        return NULL;
    }
    out->count++;
    if (holder && holder->owner) {
        e->holder = *holder;
        *holder = (zkr_contender){.node = NULL};
    }
    return &e->shown;
}

/*
 * Returns whether the children are items rather than contenders. Then the first child is neither ephemeral nor of a
 * known recipe.
 */
static bool has_items(const struct visit *v)
{
    const zkr_contender *first = &v->holder;
    return v->kind == ZKR__NAME_OTHER && first->owner && first->session_id == 0 &&
           !zkr__maker_is_certain(first->node);
}

/* Returns whether the visited node is, by its name, a contender in its parent's queue. */
static bool is_contender(const struct walk *s, size_t index)
{
    enum zkr__name_kind kind;
    int64_t sequence;
    const struct visit *v = s->visits[index], *parent = s->visits[v->parent];
    return index > 0 && parent->contenders > 0 && !has_items(parent) &&
           zkr__name_parse(strrchr(v->path, '/') + 1, &kind, &sequence);
}

static bool add_queue(zkr_survey *out, struct visit *v)
{
    /* Outside a semaphore, all leases count as held. */
    bool leases = v->leases_read != NULL;
    zkr_survey_entry *e = add(out, v->path, leases ? v->leases_read : &v->holder);
    if (e) {
        e->kind = zkr__contender_kind(v->kind);
        size_t held = leases ? v->contenders : v->held;
        e->held = (int64_t)held;
        e->waiting =
            leases || v->ordered ? (int64_t)(v->contenders - held) : ZKR_UNKNOWN;
        e->waiting_since_ms = v->waiting_since_ms;
    }
    return e != NULL;
}

static bool add_node(zkr_survey *out, struct visit *v)
{
    zkr_survey_entry *e = add(out, v->path, &v->holder);
    if (e) {
        e->kind = ZKR_KIND_NODE;
        e->held = 1;
        e->waiting = ZKR_UNKNOWN;
    }
    return e != NULL;
}

static bool add_semaphore(zkr_survey *out, const struct walk *s, const struct visit *v)
{
    const struct visit *leases = below(s, v->leases), *gate = below(s, v->gate);
    const zkr_contender *first =
        gate && gate->contenders > 0 && gate->holder.owner ? &gate->holder : NULL;
    int64_t max = 0;
    size_t held =
        zkr__permits_held(leases->leases_read, leases->contenders, first, &max);
    zkr_survey_entry *e = add(out, v->path, held > 0 ? leases->leases_read : NULL);
    if (!e) {
        return false;
    }
    e->kind = ZKR_KIND_LEASE;
    e->max = max;
    e->held = (int64_t)held;
    if (gate && gate->contenders > 0) {
        e->waiting = (int64_t)gate->contenders;
        e->waiting_since_ms = gate->holder.created_ms;
    }
    return true;
}

/* --- the result --- */

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->shown.path,
                  ((const struct entry *)b)->shown.path);
}

/* Sorting moves the holders, so the pointers to them are set afterwards. */
static void sort(zkr_survey *out)
{
    qsort(out->list, out->count, sizeof(out->list[0]), by_path);
    for (size_t i = 0; i < out->count; i++) {
        struct entry *e = &out->list[i];
        e->shown.holder = e->holder.owner ? &e->holder : NULL;
    }
}

/* A visit yields at most two entries. */
static int make_result(zkr_survey **out, const struct walk *s)
{
    zkr_survey *result =
        zkr__mem_alloc(sizeof(*result) + 2 * s->count * sizeof(result->list[0]));
    bool whole = result != NULL;
    for (size_t i = 0; whole && i < s->count; i++) {
        struct visit *v = s->visits[i];
        if (!s->deep && v->depth > 1) {
            continue;
        }
        if (is_semaphore(s, v)) {
            whole = add_semaphore(result, s, v);
        }
        if (whole && v->contenders > 0 && !is_part_of_semaphore(s, i) &&
            !has_items(v)) {
            whole = add_queue(result, v);
        }
        if (whole && v->node && v->holder.owner && !is_contender(s, i)) {
            whole = add_node(result, v);
        }
    }
    if (!whole) {
        zkr_survey_free(result);
        return ZKR_ENOMEM;
    }
    result->denied = s->denied;
    sort(result);
    *out = result;
    return ZKR_OK;
}

static int read_survey(zkr_client *c,
                       const char *path,
                       int64_t flags,
                       int64_t deadline,
                       zkr_survey **out) ZKR__LOCKED
{
    struct walk *s = zkr__mem_alloc(sizeof(*s));
    if (!s) {
        return ZKR_ENOMEM;
    }
    s->deep = (flags & ZKR_SURVEY_DEEP) != 0;
    s->nodes = (flags & ZKR_SURVEY_NODES) != 0;
    s->asked.deadline = deadline;
    /* Below a chroot, a node of this name belongs to an application. */
    s->spare_own = *zkr__servers_chroot(c->servers) == '\0';
    if (!add_visit(s, zkr__mem_string(path))) {
        forget_walk(s);
        zkr__mem_free(s);
        return ZKR_ENOMEM;
    }
    int rc = zkr__inquiry_begin(&s->asked, c, forget_walk);
    if (rc != ZKR_OK) {
        return rc;
    }
    s->next = 1;
    ask_names(s, 0);
    rc = zkr__inquiry_await(&s->asked);
    if (rc == ZKR_OK) {
        rc = make_result(out, s);
    }
    zkr__inquiry_end(&s->asked);
    return rc;
}

int zkr_survey_read(zkr_client *c, const char *path, int64_t flags, zkr_survey **out)
{
    int rc = zkr__client_enter_blocking(c);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!out || !path ||
        (flags & ~(int64_t)(ZKR_SURVEY_DEEP | ZKR_SURVEY_NODES)) != 0) {
        return zkr__fail(ZKR_EINVAL, path,
                         "a survey needs a path, known flags and an out pointer");
    }
    const char *fault = strcmp(path, "/") == 0 ? NULL : zkr__path_fault(path);
    if (fault) {
        return zkr__fail(ZKR_EINVAL, path, "the path of a survey %s", fault);
    }
    struct zkr__tries t = {0};
    zkr__lock(c);
    while (zkr__inquiry_try(c, &t)) {
        t.rc = read_survey(c, path, flags, t.deadline, out);
    }
    zkr__unlock(c);
    return t.rc == ZKR_OK ? t.rc
                          : zkr__fail_zk(t.rc, zkr_err_zk(t.rc), path, "cannot survey");
}

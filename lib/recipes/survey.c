/* SPDX-License-Identifier: Apache-2.0 */
/* What a walk through the nodes has found, as locks, elections and semaphores. */
#include "engine/survey.h"

#include <stdlib.h>
#include <string.h>

#include <zkr/survey.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "engine/contender.h"
#include "session/client.h"
#include "session/state.h"

struct entry {
    zkr_survey_entry shown;
    zkr_contender holder; /* what it may point to */
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

/* --- what a visit amounts to --- */

static struct zkr__visit *below(const struct zkr__survey *s, size_t index)
{
    return index > 0 ? s->visits[index] : NULL;
}

/* Its two directories, one of which may be empty; others may have directories of these names. */
static bool is_semaphore(const struct zkr__survey *s, const struct zkr__visit *v)
{
    const struct zkr__visit *leases = below(s, v->leases), *gate = below(s, v->gate);
    if (!leases) {
        return false;
    }
    if (leases->contenders > 0) {
        return leases->kind == ZKR__NAME_LEASE;
    }
    return gate && gate->contenders > 0 && gate->kind == ZKR__NAME_LOCK &&
           leases->others == 0;
}

static bool is_part_of_semaphore(const struct zkr__survey *s, size_t index)
{
    const struct zkr__visit *parent = s->visits[s->visits[index]->parent];
    return index > 0 && (index == parent->leases || index == parent->gate) &&
           is_semaphore(s, parent);
}

/* A new entry, which takes what was read of the @holder, if anything. NULL: out of memory. */
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
        e->shown.holder = &e->holder;
        *holder = (zkr_contender){.node = NULL};
    }
    return &e->shown;
}

static bool add_queue(zkr_survey *out, struct zkr__visit *v)
{
    /* Leases of no semaphore: all are as good as held. */
    bool leases = v->leases_read != NULL;
    zkr_survey_entry *e = add(out, v->path, leases ? v->leases_read : &v->holder);
    if (e) {
        e->kind = zkr__contender_kind(v->kind);
        size_t held = leases ? v->contenders : v->held;
        e->held = (int64_t)held;
        e->waiting = (int64_t)(v->contenders - held);
        e->waiting_since_ms = v->waiting_since_ms;
    }
    return e != NULL;
}

static bool
add_semaphore(zkr_survey *out, const struct zkr__survey *s, const struct zkr__visit *v)
{
    const struct zkr__visit *leases = below(s, v->leases), *gate = below(s, v->gate);
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

/* They may have moved. */
static void sort(zkr_survey *out)
{
    qsort(out->list, out->count, sizeof(out->list[0]), by_path);
    for (size_t i = 0; i < out->count; i++) {
        struct entry *e = &out->list[i];
        e->shown.holder = e->holder.owner ? &e->holder : NULL;
    }
}

/* At most two of each visit. */
static int make_result(zkr_survey **out, const struct zkr__survey *s)
{
    zkr_survey *result =
        zkr__mem_alloc(sizeof(*result) + 2 * s->count * sizeof(result->list[0]));
    bool whole = result != NULL;
    for (size_t i = 0; whole && i < s->count; i++) {
        struct zkr__visit *v = s->visits[i];
        if (!s->deep && v->depth > 1) {
            continue;
        }
        if (is_semaphore(s, v)) {
            whole = add_semaphore(result, s, v);
        }
        if (whole && v->contenders > 0 && !is_part_of_semaphore(s, i)) {
            whole = add_queue(result, v);
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

static int
read_survey(zkr_client *c, const char *path, bool deep, zkr_survey **out) ZKR__LOCKED
{
    struct zkr__survey *s;
    int64_t deadline = zkr__clock_deadline(zkr__now(c), c->options.connect_timeout_ms);
    int rc = zkr__survey_begin(&s, c, path, deep);
    if (rc == ZKR_OK) {
        rc = zkr__survey_walk(s, deadline);
        if (rc == ZKR_OK) {
            rc = make_result(out, s);
        }
        zkr__survey_end(s);
    }
    return rc;
}

int zkr_survey_read(zkr_client *c, const char *path, int64_t flags, zkr_survey **out)
{
    int rc = zkr__client_enter_blocking(c);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!out || !path || (flags & ~(int64_t)ZKR_SURVEY_DEEP) != 0) {
        return zkr__fail(ZKR_EINVAL, path,
                         "a survey wants a path, flags that are known, "
                         "and room for the result");
    }
    const char *fault = strcmp(path, "/") == 0 ? NULL : zkr__path_fault(path);
    if (fault) {
        return zkr__fail(ZKR_EINVAL, path, "the path of a survey %s", fault);
    }
    zkr__lock(c);
    rc = read_survey(c, path, flags != 0, out);
    zkr__unlock(c);
    return rc == ZKR_OK
               ? rc
               : zkr__fail(rc, path, "cannot survey %s: %s", path, zkr_strerror(rc));
}

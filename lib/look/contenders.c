/* SPDX-License-Identifier: Apache-2.0 */
#include "look/contenders.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "queue/children.h"
#include "queue/node_data.h"
#include "session/inquiry.h"

/* --- lists of contenders --- */

struct zkr_contenders {
    bool ephemeral; /* the path itself is an ephemeral node */
    size_t count;
    zkr_contender list[];
};

size_t zkr_contenders_count(const zkr_contenders *list)
{
    return list ? list->count : 0;
}

const zkr_contender *zkr_contenders_get(const zkr_contenders *list, size_t i)
{
    return list && i < list->count ? &list->list[i] : NULL;
}

void zkr_contenders_free(zkr_contenders *list)
{
    for (size_t i = 0; list && i < list->count; i++) {
        zkr__contender_drop(&list->list[i]);
    }
    zkr__mem_free(list);
}

static void leave_out_vanished(zkr_contenders *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->list[i].owner) {
            list->list[kept++] = list->list[i];
        } else {
            zkr__contender_drop(&list->list[i]);
        }
    }
    list->count = kept;
}

/* See zkr__permits_held() for @gate. */
static void mark_permits(zkr_contenders *list, const zkr_contender *gate)
{
    int64_t max;
    size_t held = zkr__permits_held(list->list, list->count, gate, &max);
    for (size_t i = 0; i < held; i++) {
        list->list[i].holds = true;
    }
}

/* Mark the first contender, and the contenders that hold together with it. */
static void mark_holders(zkr_contenders *list)
{
    int kind = list->count > 0 ? list->list[0].kind : 0;
    bool shared = kind == ZKR_KIND_READ || kind == ZKR_KIND_LEASE;
    bool holds = true;
    for (size_t i = 0; i < list->count && holds; i++) {
        /* While a Curator writer becomes a reader, it briefly has two nodes with the same number. */
        bool reader = i == 1 && kind == ZKR_KIND_WRITE &&
                      list->list[1].kind == ZKR_KIND_READ &&
                      list->list[1].sequence == list->list[0].sequence;
        holds = i == 0 || reader || (shared && list->list[i].kind == kind);
        list->list[i].holds = holds;
    }
}

/* --- reading --- */

/* The directories to read. */
enum { QUEUE, GATE, DIRECTORIES };

/* A read of the names in each directory, and then of the data of those nodes. */
struct reading {
    struct zkr__inquiry asked;
    struct zkr__queue *from[DIRECTORIES]; /* GATE is NULL except for a semaphore */
    zkr_contenders *list[DIRECTORIES];    /* for GATE, only the first contender */
    bool missing;                         /* the queue's directory does not exist */
};

static void forget_reading(void *inquiry) ZKR__LOCKED
{
    struct reading *r = inquiry;
    for (int of = 0; of < DIRECTORIES && r->from[of]; of++) {
        zkr_contenders_free(r->list[of]);
        zkr__queue_unref(r->from[of]);
    }
}

/* Store in *@out at most the first @most contenders of the answer. */
static int
take_names(zkr_contenders **out, const struct zkr__answer *answer, size_t most)
{
    struct zkr__children children;
    int code =
        zkr__children_shown(&children, answer->names, answer->name_count, answer->made);
    if (code != ZKR_OK) {
        return code;
    }
    size_t count = children.count < most ? children.count : most;
    zkr_contenders *result =
        zkr__mem_alloc(sizeof(*result) + count * sizeof(*result->list));
    *out = result;
    code = result ? ZKR_OK : ZKR_ENOMEM;
    if (result) {
        result->ephemeral = answer->owner != 0;
    }
    for (size_t i = 0; code == ZKR_OK && i < count; i++) {
        code = zkr__contender_begin(&result->list[i], &children.list[i]);
        result->count++;
    }
    zkr__children_free(&children);
    return code;
}

/* @tag combines the index of the contender and the index of its directory. */
static void
on_data(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct reading *r = ctx;
    zkr_contender *entry = &r->list[tag % DIRECTORIES]->list[tag / DIRECTORIES];
    zkr__inquiry_answered(&r->asked, answer->code == ZKR_ENONODE ? ZKR_OK
                                     : answer->code == ZKR_OK
                                         ? zkr__contender_take(entry, answer)
                                         : answer->code);
}

static void ask_data(struct reading *r, unsigned of) ZKR__LOCKED
{
    const zkr_contenders *list = r->list[of];
    for (size_t i = 0; r->asked.code == ZKR_OK && i < list->count; i++) {
        char *path = zkr__path_join(r->from[of]->dir, list->list[i].node);
        const struct zkr__op op = {.kind = ZKR__OP_GET, .path = path};
        zkr__inquiry_ask(&r->asked, &op, on_data, (unsigned)i * DIRECTORIES + of);
        zkr__mem_free(path);
    }
}

static void
on_names(void *ctx, unsigned of, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct reading *r = ctx;
    bool missing = answer->code == ZKR_ENONODE;
    int code = answer->code;
    r->missing = r->missing || (missing && of == QUEUE);
    if (code == ZKR_OK || missing) {
        code = take_names(&r->list[of], answer, of == QUEUE ? SIZE_MAX : 1);
    }
    if (code == ZKR_OK && zkr__inquiry_wanted(&r->asked)) {
        ask_data(r, of);
    }
    zkr__inquiry_answered(&r->asked, code);
}

static int read_all(struct reading *r) ZKR__LOCKED
{
    for (unsigned of = 0; of < DIRECTORIES && r->from[of]; of++) {
        const struct zkr__op op = {.kind = ZKR__OP_CHILDREN, .path = r->from[of]->dir};
        zkr__inquiry_ask(&r->asked, &op, on_names, of);
    }
    int rc = zkr__inquiry_await(&r->asked);
    return rc == ZKR_OK && r->missing ? zkr__inquiry_check_chroot(&r->asked) : rc;
}

static zkr_contenders *take_result(struct reading *r)
{
    zkr_contenders *result = r->list[QUEUE], *first = r->list[GATE];
    leave_out_vanished(result);
    if (first) {
        leave_out_vanished(first);
        mark_permits(result, zkr_contenders_get(first, 0));
    } else {
        mark_holders(result);
    }
    r->list[QUEUE] = NULL;
    return result;
}

/* @gate is NULL if @q has no leases. Returns ZKR_ENONODE if the chroot is missing. */
static int read_queue(zkr_contenders **out,
                      struct zkr__queue *q,
                      struct zkr__queue *gate,
                      int64_t deadline) ZKR__LOCKED
{
    struct reading *r = zkr__mem_alloc(sizeof(*r));
    if (!r) {
        return ZKR_ENOMEM;
    }
    r->from[QUEUE] = q;
    r->from[GATE] = gate;
    r->asked.deadline = deadline;
    for (int of = 0; of < DIRECTORIES && r->from[of]; of++) {
        r->from[of]->refs++;
    }
    int rc = zkr__inquiry_begin(&r->asked, q->c, forget_reading);
    if (rc != ZKR_OK) {
        return rc;
    }
    rc = read_all(r);
    if (rc == ZKR_OK) {
        *out = take_result(r);
    }
    zkr__inquiry_end(&r->asked);
    return rc;
}

/* --- queries --- */

/* A missing directory reads as empty, so ZKR_ENONODE means that the chroot is missing. */
static int fail(int rc, const char *dir, const char *what)
{
    return rc == ZKR_ENONODE
               ? zkr__fail(rc, dir, "%s %s: %s", what, dir, ZKR__NO_CHROOT)
               : zkr__fail_zk(rc, zkr_err_zk(rc), dir, what);
}

static int need_watch(const struct zkr__queue *q,
                      struct zkr__node_watch **watch) ZKR__LOCKED
{
    return *watch ? ZKR_OK
                  : zkr__node_watch_create(watch, q->c, q->dir, ZKR__FOLLOW_CONTENDERS,
                                           NULL, NULL);
}

/* From now on, the watch reports differences from @list. */
static void watch_from(struct zkr__node_watch *watch,
                       const zkr_contenders *list) ZKR__LOCKED
{
    int64_t sum = zkr__fingerprint_begin(list && list->ephemeral);
    for (size_t i = 0; i < zkr_contenders_count(list); i++) {
        sum = zkr__fingerprint(sum, list->list[i].node);
    }
    zkr__node_watch_know(watch, sum);
}

int zkr__contenders_list(zkr_contenders **out,
                         struct zkr__queue *q,
                         struct zkr__queue *gate,
                         struct zkr__node_watch **watch)
{
    if (!out) {
        return zkr__fail(ZKR_EINVAL, q->dir, "the output pointer is NULL");
    }
    struct zkr__tries t = {0};
    zkr__lock(q->c);
    while (zkr__inquiry_try(q->c, &t)) {
        t.rc = read_queue(out, q, gate, t.deadline);
    }
    int rc = t.rc;
    if (rc == ZKR_OK && watch && need_watch(q, watch) == ZKR_OK) {
        watch_from(*watch, *out);
    }
    zkr__unlock(q->c);
    return rc == ZKR_OK ? rc : fail(rc, q->dir, "cannot read the contenders of");
}

int zkr__contenders_first(char *buf,
                          size_t size,
                          struct zkr__queue *q,
                          struct zkr__node_watch **watch)
{
    zkr_contenders *all = NULL;
    int rc = zkr__contenders_list(&all, q, NULL, watch);
    if (rc != ZKR_OK) {
        return rc;
    }
    const zkr_contender *first = zkr_contenders_get(all, 0);
    size_t need = first ? strlen(first->owner) + 1 : 0;
    if (!first) {
        rc = zkr__fail(ZKR_ENONODE, q->dir, "%s has no contenders", q->dir);
    } else if (!buf || need > size) {
        rc = zkr__fail(ZKR_EINVAL, q->dir,
                       "the leader's id needs a buffer of %zu bytes", need);
    } else {
        memcpy(buf, first->owner, need);
    }
    zkr_contenders_free(all);
    return rc;
}

int zkr__contenders_await_change(struct zkr__queue *q,
                                 struct zkr__node_watch **watch,
                                 int64_t timeout_ms)
{
    zkr_client *c = q->c;
    int rc = zkr__timeout_check(timeout_ms, q->dir);
    if (rc != ZKR_OK) {
        return rc;
    }
    int64_t deadline = zkr__clock_deadline(zkr__now(c), timeout_ms);
    zkr__lock(c);
    rc = need_watch(q, watch);
    if (rc == ZKR_OK) {
        rc = zkr__node_watch_wait(*watch, deadline);
    }
    zkr__unlock(c);
    if (rc == ZKR_ETIMEDOUT) {
        return zkr__fail(rc, q->dir,
                         "the contenders of %s did not change within %lld ms", q->dir,
                         (long long)timeout_ms);
    }
    return rc == ZKR_OK ? rc : fail(rc, q->dir, "cannot watch");
}

static int
await_none(const struct zkr__queue *q, bool once, int64_t deadline) ZKR__LOCKED
{
    struct zkr__node_watch *watch = NULL;
    int rc = need_watch(q, &watch);
    if (rc == ZKR_OK) {
        /* From now on, any number read is a change. */
        zkr__node_watch_know(watch, ZKR__COUNT_BAD);
        do {
            rc = zkr__node_watch_wait(watch, deadline);
        } while (rc == ZKR_OK && !once && zkr__node_watch_number(watch) != 0 &&
                 zkr__now(q->c) < deadline);
    }
    if (rc == ZKR_OK && zkr__node_watch_number(watch) != 0) {
        rc = ZKR_ETIMEDOUT;
    } else if (rc == ZKR_ETIMEDOUT && zkr__node_watch_number(watch) < 0) {
        rc = ZKR_ENOANSWER;
    }
    zkr__node_watch_end(watch);
    return rc;
}

int zkr__contenders_await_none(const struct zkr__queue *q, int64_t timeout_ms)
{
    zkr_client *c = q->c;
    int rc = zkr__timeout_check(timeout_ms, q->dir);
    if (rc != ZKR_OK) {
        return rc;
    }
    bool once = timeout_ms == 0;
    int64_t most = once ? c->options.connect_timeout_ms : timeout_ms;
    zkr__lock(c);
    rc = await_none(q, once, zkr__clock_deadline(zkr__now(c), most));
    zkr__unlock(c);
    return rc == ZKR_OK          ? rc
           : rc == ZKR_ETIMEDOUT ? zkr__fail(rc, q->dir, "%s is not free", q->dir)
                                 : fail(rc, q->dir, "cannot watch");
}

/* --- the contender ahead --- */

/* Describe the node of one of this client's claims, as a GET would. Returns false if memory runs out. */
static bool tell_of_ours(zkr_contender *entry,
                         const struct zkr__claim *claim) ZKR__LOCKED
{
    char text[ZKR__OWNER_TEXT_MAX];
    struct zkr__creation made;
    zkr__claim_fill_data(claim, &made, text);
    bool done = zkr__contender_take(entry, &(struct zkr__answer){
                                               .owner = claim->q->c->session_id,
                                               .czxid = claim->czxid,
                                               .data = made.data,
                                               .data_len = made.data_len,
                                           }) == ZKR_OK;
    entry->held_since_ms = claim->held_since_ms;
    return done;
}

static bool tell_of_seen(zkr_contender *entry, const struct zkr__seen *seen)
{
    return zkr__contender_take(entry, &(struct zkr__answer){
                                          .owner = seen->owner,
                                          .created_ms = seen->created_ms,
                                          .czxid = seen->czxid,
                                          .data = seen->data,
                                          .data_len = seen->data_len,
                                      }) == ZKR_OK;
}

int zkr__contenders_ahead(zkr_contenders **out, const struct zkr__claim *claim)
{
    const char *path =
        claim->ahead ? claim->ahead->node : zkr__path_watched(&claim->ahead_watcher);
    struct zkr__child child = {0};
    if (!path || !(claim->ahead || claim->seen)) {
        return ZKR_ENOANSWER;
    }
    child.name = zkr__path_name(path);
    (void)zkr__name_parse(child.name, &child.kind, &child.sequence);
    zkr_contenders *list = zkr__mem_alloc(sizeof(*list) + sizeof(*list->list));
    bool done = list && zkr__contender_begin(list->list, &child) == ZKR_OK;
    if (done) {
        list->count = 1;
        done = claim->ahead ? tell_of_ours(list->list, claim->ahead)
                            : tell_of_seen(list->list, claim->seen);
    }
    if (!done) {
        zkr_contenders_free(list);
        return ZKR_ENOMEM;
    }
    list->list[0].holds =
        zkr__claim_place(claim) == 1 || list->list[0].held_since_ms > 0;
    *out = list;
    return ZKR_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/roster.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "engine/children.h"

struct zkr_contenders {
    size_t count;
    zkr_contender *list;
};

/*
 * A reading in progress. Belongs to its caller and to each request in flight: answers may come
 * when the caller has long given up, and destroyed the object it asked.
 */
struct reading {
    zkr_client *c;
    struct zkr__cv done;
    size_t refs, in_flight;
    int code;
    zkr_contenders *result;
    char prefix[];
};

size_t zkr_contenders_count(const zkr_contenders *list)
{
    return list ? list->count : 0;
}

const zkr_contender *zkr_contenders_get(const zkr_contenders *list, size_t i)
{
    return list && i < list->count ? &list->list[i] : NULL;
}

static void free_entry(zkr_contender *entry)
{
    zkr__mem_free((void *)(uintptr_t)entry->node);
    zkr__mem_free((void *)(uintptr_t)entry->owner);
}

void zkr_contenders_free(zkr_contenders *list)
{
    if (!list) {
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        free_entry(&list->list[i]);
    }
    zkr__mem_free(list->list);
    zkr__mem_free(list);
}

static void drop(struct reading *r)
{
    if (--r->refs == 0) {
        zkr_contenders_free(r->result);
        zkr__cv_destroy(&r->done);
        zkr__mem_free(r);
    }
}

static void answered(struct reading *r, int code)
{
    if (r->code == ZKR_OK) {
        r->code = code;
    }
    r->in_flight--;
    zkr__cv_signal(&r->done);
    drop(r);
}

char *zkr__roster_text(const void *data, size_t len)
{
    char *text = zkr__mem_copy(data ? data : "", len);
    for (size_t i = 0; text && i < len; i++) {
        unsigned char ch = (unsigned char)text[i];
        if (ch < 0x20 || ch == 0x7f) {
            text[i] = '?';
        }
    }
    return text;
}

static void on_data(void *ctx, unsigned tag, const struct zkr__answer *answer)
{
    struct reading *r = ctx;
    zkr_contender *entry = &r->result->list[tag];
    int code = answer->code == ZKR_ENONODE ? ZKR_OK : answer->code;
    if (answer->code == ZKR_OK) {
        entry->owner = zkr__roster_text(answer->data, answer->data_len);
        entry->session_id = answer->owner;
        entry->created_ms = answer->created_ms;
        entry->fencing_token = answer->czxid;
        code = entry->owner ? ZKR_OK : ZKR_ENOMEM;
    }
    answered(r, code);
}

static int take_names(struct reading *r, const struct zkr__answer *answer)
{
    struct zkr__children children;
    int code = zkr__children_order(&children, answer->names, answer->name_count,
                                   r->prefix, NULL, NULL);
    if (code != ZKR_OK) {
        return code;
    }
    zkr_contenders *result = zkr__mem_alloc(sizeof(*result));
    r->result = result;
    if (result) {
        result->list = zkr__mem_alloc((children.count + 1) * sizeof(*result->list));
    }
    code = result && result->list ? ZKR_OK : ZKR_ENOMEM;
    for (size_t i = 0; code == ZKR_OK && i < children.count; i++) {
        result->list[i].node = zkr__mem_string(children.list[i].name);
        result->list[i].sequence = children.list[i].sequence;
        result->count++;
        code = result->list[i].node ? ZKR_OK : ZKR_ENOMEM;
    }
    zkr__mem_free(children.list);
    return code;
}

static void on_names(void *ctx, unsigned tag, const struct zkr__answer *answer)
{
    struct reading *r = ctx;
    (void)tag;
    bool missing = answer->code == ZKR_ENONODE;
    answered(r,
             answer->code == ZKR_OK || missing ? take_names(r, answer) : answer->code);
}

static void ask(struct reading *r,
                const struct zkr__op *op,
                zkr__answer_fn fn,
                unsigned tag) ZKR__LOCKED
{
    r->refs++;
    r->in_flight++;
    zkr__submit(r->c, op, fn, r, tag);
}

/* False at the deadline. */
static bool wait_answers(struct reading *r, int64_t deadline) ZKR__LOCKED
{
    bool in_time = true;
    while (r->in_flight > 0 && in_time) {
        in_time = zkr__wait(r->c, &r->done, deadline);
    }
    return r->in_flight == 0;
}

static int read_all(struct reading *r, const char *dir, int64_t deadline) ZKR__LOCKED
{
    struct zkr__op list = {.kind = ZKR__OP_CHILDREN, .path = dir};
    ask(r, &list, on_names, 0);
    if (!wait_answers(r, deadline)) {
        return ZKR_ETIMEDOUT;
    }
    for (size_t i = 0; r->code == ZKR_OK && i < r->result->count; i++) {
        char *path = zkr__path_join(dir, r->result->list[i].node);
        struct zkr__op get = {.kind = ZKR__OP_GET, .path = path};
        if (path) {
            ask(r, &get, on_data, (unsigned)i);
        } else {
            r->code = ZKR_ENOMEM;
        }
        zkr__mem_free(path);
    }
    return wait_answers(r, deadline) ? r->code : ZKR_ETIMEDOUT;
}

static void leave_out_vanished(zkr_contenders *result)
{
    size_t kept = 0;
    for (size_t i = 0; i < result->count; i++) {
        if (result->list[i].owner) {
            result->list[kept++] = result->list[i];
        } else {
            free_entry(&result->list[i]);
        }
    }
    result->count = kept;
}

int zkr__roster_read(zkr_contenders **out,
                     zkr_client *c,
                     const char *dir,
                     const char *prefix,
                     int64_t deadline)
{
    size_t prefix_size = strlen(prefix) + 1;
    struct reading *r = zkr__mem_alloc(sizeof(*r) + prefix_size);
    if (!r) {
        return ZKR_ENOMEM;
    }
    if (zkr__cv_init(&r->done) != 0) {
        zkr__mem_free(r);
        return ZKR_ESYS;
    }
    r->c = c;
    memcpy(r->prefix, prefix, prefix_size);
    r->refs = 1;
    zkr__lock(c);
    bool in_time = true;
    while (!zkr__admitted(c) && c->state != ZKR_STATE_AUTH_FAILED && in_time) {
        in_time = zkr__wait(c, &c->changed, deadline);
    }
    int rc = zkr__admitted(c) ? read_all(r, dir, deadline) : ZKR_ETIMEDOUT;
    if (c->state == ZKR_STATE_AUTH_FAILED) {
        rc = ZKR_EAUTH; /* before or while it read */
    }
    if (rc == ZKR_OK) {
        leave_out_vanished(r->result);
        *out = r->result;
        r->result = NULL;
    }
    drop(r);
    zkr__unlock(c);
    return rc;
}

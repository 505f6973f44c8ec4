/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "engine/directory.h"

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
    zkr__mem_free(q->dir);
    zkr__mem_free(q->meter_path);
    zkr__mem_free(q->owner);
    zkr__mem_free(q->data);
    zkr__mem_free(q);
}

int zkr__queue_create(struct zkr__queue **out,
                      zkr_client *c,
                      const struct zkr__queue_spec *spec)
{
    struct zkr__queue *q = zkr__mem_alloc(sizeof(*q));
    if (!q) {
        return ZKR_ENOMEM;
    }
    q->c = c;
    q->refs = 1;
    q->kind = spec->kind;
    q->other_kinds = spec->other_kinds;
    q->rule = spec->rule;
    q->rule_arg = spec->rule_arg;
    q->tells_arg = spec->tells_arg;
    q->data_len = spec->data_len;
    q->persistent_parent = spec->persistent_parent;
    q->keeps_place = spec->keeps_place;
    q->watch_node = spec->watch_node;
    q->notes_hold = spec->notes_hold && !spec->data;
    q->dir = zkr__mem_string(spec->dir);
    q->owner = spec->owner ? zkr__mem_string(spec->owner) : NULL;
    q->data = spec->data ? zkr__mem_copy(spec->data, spec->data_len) : NULL;
    q->meter_path = spec->meter ? zkr__mem_string(spec->meter) : NULL;
    if (!q->dir || (spec->meter && !q->meter_path) || (spec->owner && !q->owner) ||
        (spec->data && !q->data)) {
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
    if (--q->refs == 0) {
        if (q->directory && zkr__directory_part(q->directory, q->dir)) {
            q->dir = NULL;
        }
        free_queue(q);
    }
}

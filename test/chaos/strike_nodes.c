/* SPDX-License-Identifier: Apache-2.0 */
/* What people do by hand. */
#include <stdio.h>
#include <string.h>

#include "raw.h"
#include "strike.h"
#include "util.h"

enum { RAW_MS = 1000 };

/* Until it says yes, or the time is up. */
static bool with_session(const struct strike *x,
                         bool (*attempt)(const struct strike *x, zkt_raw *raw))
{
    const int64_t end = zkt_now_ms() + x->f->span_ms;
    bool done = false;
    zkt_raw *raw = NULL;
    while (!done && zkt_now_ms() < end && zkc_stage_pass(x->s, 0)) {
        if (raw == NULL) {
            raw = zkt_raw_open(zkt_ensemble_hosts(x->s->ensemble), 10000);
        }
        if (raw != NULL) {
            zkt_raw_timeout(raw, RAW_MS);
            done = attempt(x, raw);
            if (zkt_raw_exists(raw, "/", false, NULL) == ZKT_LOST) {
                zkt_raw_abandon(raw);
                raw = NULL;
            }
        }
    }
    if (raw != NULL) {
        (void)zkt_raw_close(raw);
    }
    return done;
}

static bool delete_if_empty(const struct strike *x, zkt_raw *raw)
{
    for (int path = ZKC_PATHS - 1; path >= 0; path--) {
        char name[64];
        zkc_record r = {.kind = ZKC_PARENT, .at = zkc_now(), .path = (uint8_t)path};
        (void)snprintf(name, sizeof name, "%s/%d", ZKC_LOCKS, path);
        r.code = zkt_raw_delete(raw, name);
        if (r.code == ZKT_OK || r.code == ZKT_LOST) {
            zkc_stage_put(x->s, r);
        }
        if (r.code == ZKT_OK) {
            return true;
        }
    }
    return false;
}

bool zkc_delete_parent(const struct strike *x)
{
    return with_session(x, delete_if_empty);
}

/* The one with the lowest number, or NULL. */
static const char *first_of(const zkt_list *list)
{
    const char *first = NULL;
    for (int i = 0; i < list->count; i++) {
        size_t length = strlen(list->name[i]);
        if (length >= 10 && (first == NULL || strcmp(list->name[i] + length - 10,
                                                     first + strlen(first) - 10) < 0)) {
            first = list->name[i];
        }
    }
    return first;
}

static bool delete_first(const struct strike *x, zkt_raw *raw)
{
    const int path = (int)(x->f->who % 2); /* those that are always wanted */
    char dir[64];
    char node[384] = "";
    zkt_list list = {0};
    zkt_stat st;
    (void)snprintf(dir, sizeof dir, "%s/%d", ZKC_LOCKS, path);
    if (zkt_raw_children(raw, dir, false, &list) == ZKT_OK && first_of(&list) != NULL) {
        (void)snprintf(node, sizeof node, "%s/%s", dir, first_of(&list));
    }
    zkt_list_free(&list);
    if (node[0] == '\0' || zkt_raw_exists(raw, node, false, &st) != ZKT_OK) {
        return false;
    }
    zkc_record r = {
        .kind = ZKC_DELETED, .at = zkc_now(), .token = st.czxid, .path = (uint8_t)path};
    r.code = zkt_raw_delete(raw, node);
    if (r.code == ZKT_OK || r.code == ZKT_LOST) {
        zkc_stage_put(x->s, r);
    }
    return r.code == ZKT_OK;
}

bool zkc_delete_holder(const struct strike *x)
{
    return with_session(x, delete_first);
}

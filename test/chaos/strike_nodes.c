/* SPDX-License-Identifier: Apache-2.0 */
/* What people do by hand. */
#include <stdio.h>
#include <string.h>

#include "fourlw.h"
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

/* The node that holds @path, and its stat. */
static bool find_holder(zkt_raw *raw, int path, char *node, size_t size, zkt_stat *st)
{
    char dir[64];
    zkt_list list = {0};
    bool found = false;
    (void)snprintf(dir, sizeof dir, "%s/%d", ZKC_LOCKS, path);
    if (zkt_raw_children(raw, dir, false, &list) == ZKT_OK && first_of(&list) != NULL) {
        (void)snprintf(node, size, "%s/%s", dir, first_of(&list));
        found = zkt_raw_exists(raw, node, false, st) == ZKT_OK;
    }
    zkt_list_free(&list);
    return found;
}

static bool delete_first(const struct strike *x, zkt_raw *raw)
{
    const int path = (int)(x->f->who % 2); /* those that are always wanted */
    char node[384];
    zkt_stat st;
    if (!find_holder(raw, path, node, sizeof node, &st)) {
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

void zkc_aim(const struct strike *x, int index, int64_t ms)
{
    const char *host = zkt_server_host(zkt_ensemble_server(x->s->ensemble, index));
    const int64_t end = zkt_now_ms() + ms;
    char node[384];
    zkt_stat st;
    zkt_raw *raw = zkt_raw_open(host, 10000);
    while (raw != NULL && zkt_now_ms() < end && zkc_stage_pass(x->s, 0) &&
           !(find_holder(raw, ZKC_LONG_PATH, node, sizeof node, &st) &&
             zkt_cons_received(host, st.ephemeral_owner) >= 0)) {
    }
    atomic_store(&x->s->control->stay, 1);
    if (raw != NULL) {
        (void)zkt_raw_close(raw);
    }
}

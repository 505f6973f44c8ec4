/* SPDX-License-Identifier: Apache-2.0 */
/* Changes to the nodes from outside, as an administrator may make them. */
#include <stdio.h>
#include <string.h>

#include "fourlw.h"
#include "raw.h"
#include "strike.h"
#include "util.h"

enum { RAW_MS = 1000 };

/* Repeats @attempt until it returns true or the time is up. */
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

/* Returns the child with the lowest number, or NULL. */
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

/* Finds the node that holds @path, and its stat. */
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
    const int path = (int)(x->f->who % 2); /* one of the paths that are always wanted */
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

/* ---- a node that comes back as another's ----------------------------------------------- */

static char replaced[384];

static void tell_replaced(const struct strike *x, zkt_raw *raw)
{
    zkt_stat st;
    if (zkt_raw_exists(raw, replaced, false, &st) == ZKT_OK) {
        zkc_stage_put(x->s, (zkc_record){.kind = ZKC_REPLACED,
                                         .at = zkc_now(),
                                         .token = st.czxid,
                                         .path = (uint8_t)(x->f->who % 2)});
    }
}

static bool replace_first(const struct strike *x, zkt_raw *raw)
{
    zkt_stat st;
    const zkt_node node = {.path = replaced};
    if (!find_holder(raw, (int)(x->f->who % 2), replaced, sizeof replaced, &st)) {
        return false;
    }
    zkc_record r = {.kind = ZKC_DELETED,
                    .at = zkc_now(),
                    .token = st.czxid,
                    .path = (uint8_t)(x->f->who % 2)};
    r.code = zkt_raw_delete(raw, replaced);
    if (r.code == ZKT_OK || r.code == ZKT_LOST) {
        zkc_stage_put(x->s, r);
    }
    if (r.code != ZKT_OK || zkt_raw_create(raw, &node, NULL, 0) != ZKT_OK) {
        return false;
    }
    tell_replaced(x, raw);
    return true;
}

static bool remove_replaced(const struct strike *x, zkt_raw *raw)
{
    (void)x;
    int rc = zkt_raw_delete(raw, replaced);
    return rc == ZKT_OK || rc == ZKT_NONODE;
}

/*
 * Replaces the node of a holder with a foreign node of the same name. In half of the cases, a client, possibly the
 * holder, is cut off meanwhile, and is connected again before the foreign node is deleted.
 */
bool zkc_replace_holder(const struct strike *x)
{
    const bool cut = x->f->how % 2 == 0;
    if (cut) {
        zkc_doors(x, zkt_proxy_cut);
    }
    const bool done = with_session(x, replace_first);
    if (cut) {
        zkc_doors(x, zkt_proxy_heal);
    }
    (void)zkc_stage_pass(x->s, x->f->span_ms);
    while (!with_session(x, remove_replaced) && zkc_stage_pass(x->s, 0)) {
    }
    return done;
}

/* ---- permissions ------------------------------------------------------------------------ */

/* Sets the permissions of all children of a path, or of the path itself. */
static bool set_acl(zkt_raw *raw, const struct strike *x, bool children, int perms)
{
    char dir[64];
    char node[384];
    zkt_list list = {0};
    (void)snprintf(dir, sizeof dir, "%s/%d", ZKC_LOCKS, (int)(x->f->who % 2));
    int rc = children ? zkt_raw_children(raw, dir, false, &list)
                      : zkt_raw_set_acl(raw, dir, perms);
    bool done = rc == ZKT_OK || rc == ZKT_NONODE;
    for (int i = 0; i < list.count && done; i++) {
        (void)snprintf(node, sizeof node, "%s/%s", dir, list.name[i]);
        rc = zkt_raw_set_acl(raw, node, perms);
        done = rc == ZKT_OK || rc == ZKT_NONODE;
    }
    zkt_list_free(&list);
    return done;
}

static bool forbid(const struct strike *x, zkt_raw *raw)
{
    static const int kept[] = {ZKT_ALL & ~ZKT_READ, ZKT_ALL & ~ZKT_WRITE,
                               ZKT_ALL & ~(ZKT_READ | ZKT_WRITE)};
    return x->f->how % 2 == 0 ? set_acl(raw, x, true, kept[x->f->how / 2 % 3])
                              : set_acl(raw, x, false, ZKT_ALL & ~ZKT_DELETE);
}

static bool permit(const struct strike *x, zkt_raw *raw)
{
    return set_acl(raw, x, x->f->how % 2 == 0, ZKT_ALL);
}

/*
 * Forbids reading, writing or both on all nodes of a path, or deleting any of them. No hold is lost by that, and
 * released nodes are deleted later.
 */
bool zkc_forbid(const struct strike *x)
{
    const bool done = with_session(x, forbid);
    (void)zkc_stage_pass(x->s, x->f->span_ms);
    while (!with_session(x, permit) && zkc_stage_pass(x->s, 0)) {
    }
    return done;
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/directory.h"

#include <string.h>

#include "base/mem.h"
#include "guardian/guardian.h"
#include "queue/engine_state.h"
#include "session/must.h"
#include "session/zk_value.h"

/* Make room for the path of any node of ours in the directory. */
static bool make_path_room(struct zkr__scratch *scratch, size_t dir_len)
{
    size_t need = dir_len + 1 + ZKR__NAME_ROOM;
    if (need > scratch->path_room) {
        char *path = zkr__mem_alloc(need);
        if (!path) {
            return false;
        }
        zkr__mem_free(scratch->path);
        scratch->path = path;
        scratch->path_room = need;
    }
    return true;
}

struct zkr__directory *zkr__directory_of(struct zkr__engine *engine, const char *path)
{
    struct zkr__path_entry *entry = zkr__path_table_find(&engine->by_directory, path);
    if (entry) {
        struct zkr__directory *found =
            ZKR__OWNER_OF(entry, struct zkr__directory, by_path);
        found->refs++;
        return found;
    }
    struct zkr__directory *d = make_path_room(&engine->scratch, strlen(path))
                                   ? zkr__mem_alloc(sizeof(*d))
                                   : NULL;
    if (!d) {
        return NULL;
    }
    d->path = path;
    d->engine = engine;
    d->seen = -1;
    d->refs = 1;
    if (!zkr__path_table_add(&engine->by_directory, &d->by_path, d->path)) {
        zkr__mem_free(d);
        return NULL;
    }
    DL_APPEND(engine->directories, d);
    return d;
}

struct zkr__recount *zkr__recount_of(const struct zkr__directory *d)
{
    struct zkr__recount *r = d->engine->recounts;
    while (r && r->directory != d) {
        r = r->next;
    }
    return r;
}

static void free_directory(struct zkr__directory *d) ZKR__LOCKED
{
    ZKR__MUST(d->engine->c, !d->ours && !d->askers && !d->later && d->joining == 0);
    struct zkr__recount *recount = zkr__recount_of(d);
    if (d->at_guardian &&
        !d->engine->c->closing) { /* at the close, the guardian still needs the path */
        (void)zkr__guardian_directory(d->engine->c, d->path, false);
    }
    if (d->watch) {
        zkr__path_unwatch(&d->engine->watchers, &d->watch->watcher);
        zkr__known_forget(&d->watch->known);
        zkr__mem_free(d->watch);
    }
    zkr__path_table_remove(&d->engine->by_directory, &d->by_path);
    DL_DELETE(d->engine->directories, d);
    if (d->keep) {
        zkr__path_unwatch(&d->engine->watchers, &d->keep->news);
        zkr__mem_free(d->keep);
    }
    zkr__mem_free(d->order);
    if (recount) {
        LL_DELETE(d->engine->recounts, recount);
        zkr__zk_acl_free(recount->acl);
        zkr__mem_free(recount);
    }
    zkr__mem_free((void *)(uintptr_t)d->path);
    zkr__mem_free(d);
}

bool zkr__directory_keeps(struct zkr__directory *d)
{
    if (!d->keep && (d->keep = zkr__mem_alloc(sizeof(*d->keep)))) {
        d->keep->directory = d;
    }
    return d->keep;
}

void zkr__directory_unref(struct zkr__directory *d)
{
    ZKR__MUST(d->engine->c, d->refs > 0);
    if (--d->refs == 0) {
        free_directory(d);
    }
}

void zkr__directories_free(struct zkr__engine *engine)
{
    while (engine->directories) {
        free_directory(engine->directories);
    }
    zkr__mem_free(engine->scratch.path);
    zkr__mem_free(engine->scratch.row);
}

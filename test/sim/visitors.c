/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strangers in the directories. They create children with numbers from the servers, without a number, and with numbers
 * of their own choice. Directories are deleted while they are empty and a create is in flight, and are created again
 * with a stranger's node, so that the numbers seem to continue.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "queue/children_cache.h"
#include "sim.h"

enum { VISITORS = 8, VISITED = 4 };

/* No client of the test reaches such a high number, so no client ever waits behind it. */
#define FAR INT64_C(100000)

static struct visitor {
    char path[SIM_PATH];
    bool ahead; /* ahead of the count when it came */
    bool far;
} visitors[VISITORS];
static int visitor_count;
static int empty; /* 1 + the index of the directory to create again; 0 = none */

void sim_begin_visitors(void)
{
    visitor_count = empty = 0;
}

/* --- they come and go --- */

static void leave(int at)
{
    if (!zkf_find(visitors[at].path) || zkf_stranger_delete(visitors[at].path)) {
        visitors[at] = visitors[--visitor_count];
    }
}

static void come(const char *dir, bool numbered)
{
    const struct zkf_node *parent = zkf_find(dir);
    if (!parent || visitor_count == VISITORS) {
        return;
    }
    char path[SIM_PATH];
    int number = parent->creates;
    (void)snprintf(path, sizeof(path), numbered ? "%s/visitor-lock-" : "%s/visitor",
                   dir);
    if (!zkf_stranger_create(path, numbered)) {
        return;
    }
    did.visits++;
    struct visitor *v = &visitors[visitor_count++];
    v->ahead = v->far = false;
    (void)snprintf(v->path, SIM_PATH, numbered ? "%s/visitor-lock-%010d" : "%s/visitor",
                   dir, number);
}

/* Returns a number above all numbers of the servers, below them, equal to one, or negative. @next is the next number of
   the servers. */
static int64_t some_number(int64_t next)
{
    static const int64_t most[] = {INT32_MAX, INT32_MAX + INT64_C(2), 2026112100,
                                   9999999999};
    switch (zkf_below(6)) {
    case 0:
        return most[zkf_below(4)];
    case 1:
        return next + FAR + zkf_below(500000);
    case 2:
        return -1 - zkf_below(10);
    case 3:
        return next > 0 ? next - 1 - zkf_below(next < 8 ? next : 8) : 0;
    default:
        return next + zkf_below(6); /* the servers soon reach it */
    }
}

/* Create a child whose creator chooses its whole name, as no recipe does. */
static void come_named(const char *dir)
{
    /* Some names sort before those of the library, and some behind them. */
    static const char *const names[] = {"backup-", "X-",       "visitor-lock-", "",
                                        "0000",    "__READ__", "__WRIT__"};
    const struct zkf_node *parent = zkf_find(dir);
    if (!parent || visitor_count == VISITORS) {
        return;
    }
    int64_t number = some_number(parent->creates);
    struct visitor *v = &visitors[visitor_count];
    v->ahead = number >= parent->creates;
    v->far = number >= parent->creates + FAR;
    (void)snprintf(v->path, SIM_PATH, "%s/%s%010" PRId64, dir,
                   number < 0 ? "visitor--" : names[zkf_below(7)],
                   number < 0 ? -number : number);
    if (zkf_stranger_create(v->path, false)) {
        did.visits_named++;
        visitor_count++;
    }
}

bool sim_visit_as(const char *path, int64_t owner)
{
    bool came = visitor_count < VISITORS && strlen(path) < SIM_PATH &&
                zkf_stranger_create_for(path, owner);
    if (came) {
        struct visitor *v = &visitors[visitor_count++];
        v->ahead = v->far = false;
        memcpy(v->path, path, strlen(path) + 1);
    }
    return came;
}

void sim_visit(void)
{
    const char *dir = sim_dir((enum sim_dir)zkf_below(VISITED));
    if (visitor_count > 0 && zkf_chance(50)) {
        leave((int)zkf_below(visitor_count));
    } else if (scene.named && zkf_chance(70)) {
        come_named(dir);
    } else {
        come(dir, zkf_chance(80));
    }
}

bool sim_is_ahead_of_count(const struct zkf_node *node)
{
    for (int i = 0; i < visitor_count; i++) {
        if (visitors[i].ahead && strcmp(visitors[i].path, node->path) == 0) {
            return true;
        }
    }
    return false;
}

bool sim_end_visits(void)
{
    bool out = true;
    for (int i = visitor_count - 1; i >= 0; i--) {
        if (!visitors[i].far) {
            int before = visitor_count;
            leave(i);
            out = out && visitor_count < before;
        }
    }
    return out;
}

/* --- lists that were not asked for --- */

/* A third is for watches that a client can do without. */
static struct zkr__watch_bytes watch_most(void)
{
    int64_t spare = scene.watch_most / 3;
    return (struct zkr__watch_bytes){.needed = scene.watch_most - spare,
                                     .spare = spare};
}

void sim_count_lists(int client)
{
    static struct zkr__spared last[SIM_CLIENTS];
    enum { FORGETFUL = 2 };
    zkr_client *c = processes[client].checked;
    struct zkr__engine *engine = c ? c->engine : NULL;
    const struct zkr__spared now = engine ? engine->spared : (struct zkr__spared){0};
    if (engine) {
        did.bare += now.bare > last[client].bare;
        did.wrong += now.wrong > last[client].wrong;
        did.lists_shared += now.shared > last[client].shared;
        did.placed_behind += now.behind > last[client].behind;
        did.prepared += now.prepared > last[client].prepared;
        did.lined_up += engine->line != NULL;
        engine->remembered_max = scene.forgetful ? FORGETFUL : ZKR__REMEMBERED_MAX;
        engine->joining_max = scene.narrow ? 1 : ZKR__JOINING_MAX;
    }
    if (c && scene.watch_most > 0) {
        c->watch_most = watch_most();
    }
    if (c && c->link && scene.watch_most > 0) {
        c->link->watches.most = watch_most();
    }
    last[client] = now;
}

/* --- directories made again --- */

/* Returns whether a client relies right now on the numbers of this directory to continue. */
static bool is_counted_on(const char *dir)
{
    for (int i = 0; i < scene.clients; i++) {
        const zkr_client *c = processes[i].checked;
        const struct zkr__engine *engine = c ? c->engine : NULL;
        const struct zkr__claim *claim = engine ? engine->claims : NULL;
        for (; claim; claim = claim->next) {
            if (claim->k.phase == ZKR__CREATING && claim->list == ZKR__NO_LIST &&
                claim->directory->watch &&
                claim->directory->watch->state == ZKR__WATCHED &&
                strcmp(claim->directory->path, dir) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Called while the create is in flight. */
void sim_on_create(const struct zkr__op *op)
{
    for (int i = 0; i < VISITED && scene.remakes && op->kind == ZKR__OP_CREATE; i++) {
        const char *dir = sim_dir((enum sim_dir)i);
        size_t len = strlen(dir);
        const struct zkf_node *node = zkf_find(dir);
        if (node && node->children == 0 && node->creates > 0 && zkf_chance(40) &&
            strncmp(op->path, dir, len) == 0 && op->path[len] == '/') {
            empty = i + 1;
            sim_faults.due = zkf_now();
        }
    }
}

bool sim_remake(void)
{
    const char *dir = empty > 0 ? sim_dir((enum sim_dir)(empty - 1)) : NULL;
    const struct zkf_node *node = dir ? zkf_find(dir) : NULL;
    int number = node ? node->creates : 0;
    empty = 0;
    if (!node || !zkf_stranger_delete(dir)) {
        return dir != NULL;
    }
    bool counted_on = is_counted_on(dir);
    if (zkf_stranger_create(dir, false)) {
        did.remakes++;
        did.remakes_counted_on += counted_on;
        zkf_count_from(dir, number - (number > 0));
        come(dir, true);
    }
    return true;
}

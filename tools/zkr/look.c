/* SPDX-License-Identifier: Apache-2.0 */
#include "look.h"

#include <pthread.h>
#include <string.h>

#include "ask.h"
#include "cli.h"
#include "client.h"

static void forget_list(struct reading *l, int list)
{
    zkr_contenders_free(l->lists[list]);
    l->lists[list] = NULL;
}

static void forget(struct reading *l)
{
    for (int i = 0; i < VIEW_LISTS; i++) {
        forget_list(l, i);
    }
    zkr_survey_free(l->found);
    l->found = NULL;
    l->node = NULL;
    l->missing = false;
    l->below = 0;
}

/* Reads the locks at PATH and directly below it. Sets *semaphore if PATH is a semaphore. */
static int look_below(struct reading *l, int64_t flags, bool *semaphore)
{
    zkr_survey_free(l->found);
    l->found = NULL;
    l->node = NULL;
    int status = ask_survey(l->env, l->path, flags, &l->found);
    l->below = 0;
    for (size_t i = 0; i < zkr_survey_count(l->found); i++) {
        const zkr_survey_entry *e = zkr_survey_get(l->found, i);
        bool itself = strcmp(e->path, l->path) == 0;
        *semaphore = *semaphore || (itself && e->kind == ZKR_KIND_LEASE);
        l->node = itself && e->kind == ZKR_KIND_NODE ? e->holder : l->node;
        l->below += e->kind != ZKR_KIND_NODE;
    }
    return status;
}

/* Drops the lists of permits if PATH is not a semaphore, but has locks below it with the names of these lists. */
static int check_semaphore(struct reading *l)
{
    const zkr_contender *permit = zkr_contenders_get(l->lists[VIEW_PERMITS], 0);
    bool semaphore = permit && permit->kind == ZKR_KIND_LEASE;
    bool unclear = !permit && zkr_contenders_count(l->lists[VIEW_GATE]) > 0;
    int status = unclear ? look_below(l, 0, &semaphore) : 0;
    if (!semaphore) {
        forget_list(l, VIEW_PERMITS);
        forget_list(l, VIEW_GATE);
    }
    return status;
}

struct itself {
    const struct reading *reading;
    zkr_node node;
    int rc;
};

static void *read_itself(void *itself)
{
    struct itself *i = itself;
    i->rc = zkr_client_get(i->reading->env->client, i->reading->path, NULL, 0, &i->node,
                           sizeof(i->node));
    return NULL;
}

/*
 * Called after no contenders were found. Reads the path itself and the locks below it, both at once. A path that is
 * itself an ephemeral node, such as Kafka's /controller, counts as its own holder.
 */
static int look_closer(struct reading *l)
{
    pthread_t thread;
    bool semaphore = false;
    struct itself itself = {.reading = l, .rc = ZKR_ECONNLOSS};
    bool started = pthread_create(&thread, NULL, read_itself, &itself) == 0;
    int status = l->brief ? 0 : look_below(l, 0, &semaphore);
    if (started) {
        (void)pthread_join(thread, NULL);
    }
    l->missing = itself.rc == ZKR_ENONODE;
    if (status == 0 && itself.rc != ZKR_OK && !l->missing) {
        status = ask_node(l->env, l->path, &itself.node, &l->missing);
    }
    return status == 0 && !l->missing && itself.node.owner != 0
               ? look_below(l, ZKR_SURVEY_NODES, &semaphore)
               : status;
}

static int read_lists(struct reading *l)
{
    struct ask_list all[VIEW_LISTS];
    for (int i = 0; i < VIEW_LISTS; i++) {
        bool permits = i == VIEW_PERMITS;
        all[i] = (struct ask_list){{.mutex = permits ? NULL : l->mutexes[i],
                                    .semaphore = permits ? l->semaphore : NULL},
                                   NULL};
    }
    int status = client_wait(l->env, l->env->globals.connect_ms);
    if (status == 0 && l->watch) {
        /* This mutex watches the permits but does not list them, so the watch must begin before they are read. */
        (void)zkr_mutex_watch(l->mutexes[VIEW_PERMITS], 0);
    }
    status = status == 0 ? ask_lists(l->env, all, VIEW_LISTS) : status;
    for (int i = 0; i < VIEW_LISTS; i++) {
        l->lists[i] = all[i].list;
        if (status == 0 && !l->lists[i]) {
            status = ask_list(l->env, all[i].of, &l->lists[i]);
        }
    }
    return status;
}

int look_read(struct reading *l)
{
    size_t count = 0;
    forget(l);
    int status = read_lists(l);
    if (status == 0) {
        status = check_semaphore(l);
    }
    for (int i = 0; i < VIEW_LISTS; i++) {
        count += zkr_contenders_count(l->lists[i]);
    }
    return status == 0 && count == 0 ? look_closer(l) : status;
}

/* Waits for each list in turn. A change of another list is not lost, because the wait for that list reports it. */
int look_wait(const struct reading *l, int64_t timeout_ms)
{
    int rc = ZKR_ETIMEDOUT;
    for (int i = 0; i < VIEW_LISTS && rc == ZKR_ETIMEDOUT; i++) {
        rc = zkr_mutex_watch(l->mutexes[i], timeout_ms / VIEW_LISTS);
    }
    return rc;
}

bool look_view(const struct reading *l, struct view *view, const struct peers *p)
{
    bool done = view_begin(view, l->lists, p);
    if (done && l->node) {
        view_add_node(view, l->node);
    }
    return done;
}

int look_begin(struct reading *l)
{
    static const char *const below[VIEW_LISTS] = {
        [VIEW_QUEUE] = "", [VIEW_PERMITS] = "/leases", [VIEW_GATE] = "/locks"};
    int status = 0;
    for (int i = 0; i < VIEW_LISTS && status == 0; i++) {
        status = ask_mutex(l->env, l->path, below[i], &l->mutexes[i]);
    }
    return status == 0 ? cli_check(zkr_semaphore_create(&l->semaphore, l->env->client,
                                                        l->path, 1, NULL))
                       : status;
}

void look_end(struct reading *l)
{
    forget(l);
    for (int i = 0; i < VIEW_LISTS; i++) {
        (void)zkr_mutex_destroy(l->mutexes[i]);
    }
    (void)zkr_semaphore_destroy(l->semaphore);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* zkr status: who holds a lock, and who waits for it. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "cli.h"
#include "client.h"
#include "cmd.h"
#include "options.h"
#include "peers.h"
#include "settings.h"
#include "text.h"
#include "view.h"
#include "watch.h"

static const char usage[] =
    "usage: zkr [OPTION]... status [-q | --json] [--watch] PATH\n\n"
    "Shows who holds the lock at PATH (position 1) and who waits, in order. With -v\n"
    "also the servers' versions, and which serves the holder's session.\n\n"
    "  -q             show nothing: the status is 0 if it is held, else 1\n"
    "      --json     one line of JSON, see zkr(1)\n"
    "      --watch    again at each change, until a signal; on a terminal each "
    "second\n";

struct status {
    struct env *env;
    const char *path;
    bool json;
    bool watch;
    bool quiet;
    bool warned;
    bool screen;                       /* clear the screen each time */
    zkr_mutex *mutexes[VIEW_LISTS];    /* of PATH and of the queues of a semaphore */
    zkr_semaphore *semaphore;          /* tells which permits are held */
    zkr_contenders *lists[VIEW_LISTS]; /* as last read */
    bool missing;   /* there is no PATH; this and below are read when nobody is there */
    bool ephemeral; /* the path itself */
    zkr_survey *found;         /* what is there and right below */
    const zkr_contender *node; /* the path itself, an ephemeral node */
    size_t below;              /* locks right below it */
    struct peers peers;
};

static int take_arguments(struct status *s)
{
    struct globals *g = &s->env->globals;
    const struct option_row rows[] = {{NULL, 'q', option_on, &s->quiet, NULL},
                                      {"json", 0, option_on, &s->json, NULL},
                                      {"watch", 0, option_on, &s->watch, NULL},
                                      OPTIONS_END};
    int rc = options_path(g, usage, rows);
    s->path = g->path;
    if (rc == GO_ON && s->quiet && (s->json || s->watch)) {
        return options_refuse(g, "-q shows nothing: no --json or --watch");
    }
    return rc == GO_ON ? options_settle(g) : rc;
}

/* --- showing --- */

static void print_absence(const struct status *s)
{
    if (s->below > 0) {
        (void)printf("no lock; %zu below, see zkr ls\n", s->below);
    } else {
        text_line(stdout, s->missing ? "nobody; there is no " : "nobody",
                  s->missing ? s->path : "");
    }
}

static int show(const struct status *s, const struct view *view)
{
    if (s->quiet) {
        return view->holders > 0 ? 0 : CLI_HELD;
    }
    if (s->screen) {
        (void)fputs("\033[H\033[2J", stdout);
    }
    if (s->json) {
        view_json(stdout, s->path, view, !s->missing);
    } else if (view->count == 0) {
        print_absence(s);
    } else {
        view_print(stdout, view);
    }
    if (!s->json) {
        peers_print(&s->peers, stdout);
    }
    if (s->watch && !s->json && !s->screen) {
        (void)fputc('\n', stdout);
    }
    return cli_flush();
}

/* Shows the lists last read, with the ages of now. */
static int draw(void *ctx)
{
    struct status *s = ctx;
    struct view view;
    if (!view_begin(&view, s->lists, &s->peers)) {
        return cli_fail_memory();
    }
    if (s->node) {
        view_add_node(&view, s->node);
    }
    int status = show(s, &view);
    if (!s->quiet) {
        s->warned = s->warned || view_warn(s->path, s->lists);
        peers_warn(&s->peers);
    }
    view_end(&view);
    return status;
}

/* --- reading --- */

static void forget_list(struct status *s, int list)
{
    zkr_contenders_free(s->lists[list]);
    s->lists[list] = NULL;
}

static void forget(struct status *s)
{
    for (int i = 0; i < VIEW_LISTS; i++) {
        forget_list(s, i);
    }
    zkr_survey_free(s->found);
    s->found = NULL;
    s->node = NULL;
    peers_end(&s->peers);
}

/* *semaphore: PATH is one. */
static int look_below(struct status *s, int64_t flags, bool *semaphore)
{
    zkr_survey_free(s->found);
    s->found = NULL;
    s->node = NULL;
    int status = ask_survey(s->env, s->path, flags, &s->found);
    s->missing = status == 0 && !s->found;
    s->below = 0;
    for (size_t i = 0; i < zkr_survey_count(s->found); i++) {
        const zkr_survey_entry *e = zkr_survey_get(s->found, i);
        bool itself = strcmp(e->path, s->path) == 0;
        *semaphore = *semaphore || (itself && e->kind == ZKR_KIND_LEASE);
        s->node = itself && e->kind == ZKR_KIND_NODE ? e->holder : s->node;
        s->below += e->kind != ZKR_KIND_NODE;
    }
    return status;
}

/* Drops the lists of permits if PATH is no semaphore but has locks with those names below it. */
static int check_semaphore(struct status *s)
{
    const zkr_contender *permit = zkr_contenders_get(s->lists[VIEW_PERMITS], 0);
    bool semaphore = permit && permit->kind == ZKR_KIND_LEASE;
    bool unclear = !permit && zkr_contenders_count(s->lists[VIEW_GATE]) > 0;
    int status = unclear ? look_below(s, 0, &semaphore) : 0;
    if (!semaphore) {
        forget_list(s, VIEW_PERMITS);
        forget_list(s, VIEW_GATE);
    }
    return status;
}

/* Is the path itself an ephemeral node, as Kafka's /controller is? Then the node counts as its own holder. */
static void *is_ephemeral(void *status)
{
    struct status *s = status;
    zkr_node node = {.owner = 0};
    int rc = zkr_client_get(s->env->client, s->path, NULL, 0, &node, sizeof(node));
    s->ephemeral = rc == ZKR_OK && node.owner != 0;
    return NULL;
}

/* There are no contenders: what is the path, and what is below? Both are read at once. */
static int look_closer(struct status *s)
{
    pthread_t thread;
    bool semaphore = false;
    bool started = pthread_create(&thread, NULL, is_ephemeral, s) == 0;
    int status = s->quiet ? 0 : look_below(s, 0, &semaphore);
    if (started) {
        (void)pthread_join(thread, NULL);
    } else {
        (void)is_ephemeral(s);
    }
    return status == 0 && s->ephemeral ? look_below(s, ZKR_SURVEY_NODES, &semaphore)
                                       : status;
}

static int read_lists(struct status *s)
{
    struct ask_list all[VIEW_LISTS];
    for (int i = 0; i < VIEW_LISTS; i++) {
        bool permits = i == VIEW_PERMITS;
        all[i] = (struct ask_list){{.mutex = permits ? NULL : s->mutexes[i],
                                    .semaphore = permits ? s->semaphore : NULL},
                                   NULL};
    }
    int status = client_wait(s->env, s->env->globals.connect_ms);
    if (status == 0 && s->watch) {
        /* Permits are not listed by the mutex that watches them: begin to watch before they are read. */
        (void)zkr_mutex_watch(s->mutexes[VIEW_PERMITS], 0);
    }
    status = status == 0 ? ask_lists(s->env, all, VIEW_LISTS) : status;
    for (int i = 0; i < VIEW_LISTS; i++) {
        s->lists[i] = all[i].list;
        if (status == 0 && !s->lists[i]) {
            status = ask_list(s->env, all[i].of, &s->lists[i]);
        }
    }
    return status;
}

static int read_all(struct status *s)
{
    size_t count = 0;
    int status = read_lists(s);
    if (status == 0) {
        status = check_semaphore(s);
    }
    for (int i = 0; i < VIEW_LISTS; i++) {
        count += zkr_contenders_count(s->lists[i]);
    }
    s->missing = false;
    if (status == 0 && count == 0) {
        status = look_closer(s);
    }
    if (status == 0 && !s->quiet && s->env->globals.log_level > 0) {
        peers_ask(&s->peers, s->env->globals.servers, s->env->globals.tls_cert);
    }
    return status;
}

static int read_and_show(void *ctx)
{
    struct status *s = ctx;
    forget(s);
    int status = read_all(s);
    return status == 0 ? draw(s) : status;
}

/* Waits for each list in turn. A change of another list meanwhile is reported by its own wait. */
static int wait_change(void *ctx, int64_t timeout_ms)
{
    const struct status *s = ctx;
    int rc = ZKR_ETIMEDOUT;
    for (int i = 0; i < VIEW_LISTS && rc == ZKR_ETIMEDOUT; i++) {
        rc = zkr_mutex_watch(s->mutexes[i], timeout_ms / VIEW_LISTS);
    }
    return rc;
}

static int create(struct status *s)
{
    static const char *const below[VIEW_LISTS] = {
        [VIEW_QUEUE] = "", [VIEW_PERMITS] = "/leases", [VIEW_GATE] = "/locks"};
    int status = 0;
    for (int i = 0; i < VIEW_LISTS && status == 0; i++) {
        status = ask_mutex(s->env, s->path, below[i], &s->mutexes[i]);
    }
    return status == 0 ? cli_check(zkr_semaphore_create(&s->semaphore, s->env->client,
                                                        s->path, 1, NULL))
                       : status;
}

static int run(struct status *s)
{
    s->screen = s->watch && !s->json && isatty(STDOUT_FILENO);
    const struct watch how = {s->watch ? wait_change : NULL, read_and_show,
                              s->screen ? draw : NULL};
    int status = client_open(s->env, NULL, false, false);
    if (status == 0) {
        status = create(s);
    }
    status = status == 0 ? watch_run(s->env, &how, s) : status;
    forget(s);
    for (int i = 0; i < VIEW_LISTS; i++) {
        (void)zkr_mutex_destroy(s->mutexes[i]);
    }
    (void)zkr_semaphore_destroy(s->semaphore);
    return status;
}

int cmd_status(struct env *env)
{
    struct status s = {.env = env};
    int status = take_arguments(&s);
    return status == GO_ON ? run(&s) : status;
}

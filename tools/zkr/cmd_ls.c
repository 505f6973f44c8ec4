/* SPDX-License-Identifier: Apache-2.0 */
/* zkr ls: lists the locks below a path. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ask.h"
#include "cli.h"
#include "client.h"
#include "clock.h"
#include "cmd.h"
#include "contender.h"
#include "json.h"
#include "options.h"
#include "settings.h"
#include "text.h"

static const char usage[] =
    "usage: zkr [OPTION]... ls [-a] [-r] [--json] [PATH]\n"
    "\n"
    "Lists the locks, elections and semaphores in use at PATH and directly below it.\n"
    "PATH is / by default.\n"
    "\n"
    "  -a, --all        also list ephemeral nodes that do not belong to a lock\n"
    "  -r, --recursive  list at any depth\n"
    "      --json       print one line of JSON for each; see zkr(1)\n";

struct ls {
    struct env *env;
    bool json, deep, all;
    zkr_survey *found;
};

static int take_arguments(struct ls *l)
{
    struct globals *g = &l->env->globals;
    const struct option_row rows[] = {{"all", 'a', option_on, &l->all, NULL},
                                      {"json", 0, option_on, &l->json, NULL},
                                      {"recursive", 'r', option_on, &l->deep, NULL},
                                      OPTIONS_END};
    g->path = "/";
    int rc = options_path(g, usage, rows);
    return rc != GO_ON                 ? rc
           : strcmp(g->path, "/") == 0 ? settings_take_rest(g)
                                       : options_settle(g);
}

/* --- output for people --- */

enum { CELL = 48, LEAST_KIND = 11, MOST_WIDTH = 60 };

enum { PATH_WIDTH, KIND_WIDTH, OWNER_WIDTH, WIDTHS };

struct row {
    const char *path;
    char kind[CELL], owner[MOST_WIDTH * 4], held[CELL], waiting[CELL], oldest[CELL];
};

static void fill_kind(struct row *r, const zkr_survey_entry *e)
{
    if (e->kind != ZKR_KIND_LEASE) {
        (void)snprintf(r->kind, sizeof(r->kind), "%s",
                       e->holder ? contender_recipe(e->holder)
                                 : contender_kind(e->kind));
    } else if (e->max > 0) {
        (void)snprintf(r->kind, sizeof(r->kind), "permit %" PRId64 "/%" PRId64, e->held,
                       e->max);
    } else {
        (void)snprintf(r->kind, sizeof(r->kind), "permit %" PRId64, e->held);
    }
}

static void fill_owner(struct row *r, const zkr_survey_entry *e)
{
    const zkr_contender *c = e->holder;
    const char *name = c ? contender_owner(c) : "-";
    int more = e->kind == ZKR_KIND_LEASE ? 0 : (int)(e->held - 1);
    if (more > 0 && e->waiting == ZKR_UNKNOWN) {
        (void)snprintf(r->owner, sizeof(r->owner), "%.150s, first of %d", name,
                       more + 1);
    } else if (more > 0) {
        (void)snprintf(r->owner, sizeof(r->owner), "%.150s and %d more", name, more);
    } else {
        (void)snprintf(r->owner, sizeof(r->owner), "%.200s", name);
    }
}

static struct row row_of(const zkr_survey_entry *e)
{
    struct row r = {.path = e->path, .held = "-", .waiting = "-", .oldest = "-"};
    fill_kind(&r, e);
    fill_owner(&r, e);
    if (e->holder) {
        contender_held_for(r.held, sizeof(r.held), e->holder);
    }
    if (e->waiting != ZKR_UNKNOWN) {
        (void)snprintf(r.waiting, sizeof(r.waiting), "%" PRId64, e->waiting);
    }
    if (e->waiting_since_ms > 0) {
        contender_age(r.oldest, sizeof(r.oldest), e->waiting_since_ms);
    }
    return r;
}

static void print_row(const struct row *r, const int widths[WIDTHS])
{
    text_print(stdout, r->path, widths[PATH_WIDTH]);
    (void)printf("  %-*s  ", widths[KIND_WIDTH], r->kind);
    text_cell(stdout, r->owner, widths[OWNER_WIDTH]);
    (void)printf("  %7s  %7s  %7s\n", r->held, r->waiting, r->oldest);
}

static void widen(int widths[WIDTHS], const struct row *r)
{
    text_widen(&widths[PATH_WIDTH], r->path, MOST_WIDTH);
    text_widen(&widths[KIND_WIDTH], r->kind, MOST_WIDTH);
    text_widen(&widths[OWNER_WIDTH], r->owner, MOST_WIDTH);
}

static void print_table(const struct ls *l)
{
    static const struct row head = {"PATH", "KIND",    "HOLDER",
                                    "HELD", "WAITING", "OLDEST"};
    int widths[WIDTHS] = {[KIND_WIDTH] = LEAST_KIND};
    size_t count = zkr_survey_count(l->found);
    widen(widths, &head);
    for (size_t i = 0; i < count; i++) {
        struct row r = row_of(zkr_survey_get(l->found, i));
        widen(widths, &r);
    }
    if (count > 0) {
        print_row(&head, widths);
    }
    for (size_t i = 0; i < count; i++) {
        struct row r = row_of(zkr_survey_get(l->found, i));
        print_row(&r, widths);
    }
    if (count == 0) {
        text_line(stdout,
                  l->all    ? "no lock or ephemeral node at or below "
                  : l->deep ? "no lock at or below "
                            : "no lock at or directly below ",
                  l->env->globals.path);
    }
}

/* --- output for programs --- */

static void print_json(const zkr_survey_entry *e)
{
    struct json j = {.out = stdout};
    bool semaphore = e->kind == ZKR_KIND_LEASE;
    json_begin(&j, e->path);
    json_text(&j, "kind", contender_kind(e->kind));
    contender_holder_json(&j, e->holder);
    json_number(&j, "waiting", e->waiting != ZKR_UNKNOWN, e->waiting);
    json_number(&j, "waiting_since", e->waiting_since_ms > 0, e->waiting_since_ms);
    json_number(&j, "holders", !semaphore && e->waiting != ZKR_UNKNOWN, e->held);
    json_number(&j, "permits", semaphore, e->held);
    json_number(&j, "max", e->max > 0, e->max);
    json_text(&j, "maker", e->holder ? e->holder->maker : NULL);
    json_end(&j);
}

/* --- the subcommand --- */

static int show(const struct ls *l)
{
    if (l->json) {
        for (size_t i = 0; i < zkr_survey_count(l->found); i++) {
            print_json(zkr_survey_get(l->found, i));
        }
    } else {
        print_table(l);
    }
    if (zkr_survey_denied(l->found) > 0) {
        cli_note(
            "nodes left out because reading them is not allowed: %zu; check --auth",
            zkr_survey_denied(l->found));
    }
    return cli_flush();
}

/* Reports which node is missing, PATH or the chroot. Reading the queue of PATH shows which one. */
static int missing(const struct ls *l)
{
    zkr_contenders *list = NULL;
    zkr_mutex *mutex = NULL;
    const char *path = l->env->globals.path;
    int status = strcmp(path, "/") == 0 ? cli_fail_rc(ZKR_ENONODE)
                                        : ask_mutex(l->env, path, "", &mutex);
    if (status == 0) {
        status = ask_list(l->env, (struct ask_source){.mutex = mutex}, &list);
    }
    zkr_contenders_free(list);
    (void)zkr_mutex_destroy(mutex);
    return status == 0 ? cli_fail(CLI_HELD, "%.1000s does not exist", path) : status;
}

static int work(void *ctx)
{
    struct ls *l = ctx;
    int64_t flags = (l->deep ? ZKR_SURVEY_DEEP : 0) | (l->all ? ZKR_SURVEY_NODES : 0);
    int status = ask_survey(l->env, l->env->globals.path, flags, &l->found);
    return status != 0 ? status : l->found ? show(l) : missing(l);
}

int cmd_ls(struct env *env)
{
    struct ls l = {.env = env};
    int status = take_arguments(&l);
    if (status != GO_ON) {
        return status;
    }
    status = client_open(env, NULL, false, false);
    if (status == 0) {
        status = client_work(env, NEVER, work, &l);
    }
    zkr_survey_free(l.found);
    return status;
}

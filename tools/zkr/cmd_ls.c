/* SPDX-License-Identifier: Apache-2.0 */
/* zkr ls: the locks below a path. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <zkr/zkr.h>

#include "cli.h"
#include "commands.h"
#include "config.h"
#include "connect.h"
#include "json.h"
#include "owner.h"
#include "sight.h"
#include "table.h"
#include "text.h"

static const char usage[] = "usage: zkr [OPTION]... ls [-r] [--json] [PATH]\n"
                            "\n"
                            "Shows the locks, elections and semaphores at PATH and "
                            "right below it that somebody\n"
                            "holds or waits for. PATH is / by default.\n"
                            "\n"
                            "  -r, --recursive  at any depth\n"
                            "      --json       one line of JSON for each, see zkr(1)\n"
                            "  -h, --help\n"
                            "  -V, --version\n";

enum { OPTION_JSON = OPTION_OWN };

struct ls {
    struct env *env;
    const char *path;
    bool json, deep;
    zkr_client *client;
    zkr_survey *found;
};

static int take_option(struct ls *l, int option, char **argv)
{
    switch (option) {
    case OPTION_JSON:
        l->json = true;
        return OPTIONS_GO_ON;
    case 'r':
        l->deep = true;
        return OPTIONS_GO_ON;
    default:
        return options_take(&l->env->globals, option, argv, usage);
    }
}

static int take_options(struct ls *l, int argc, char **argv)
{
    static const struct option table[] = {{"json", no_argument, NULL, OPTION_JSON},
                                          {"recursive", no_argument, NULL, 'r'},
                                          OPTIONS_ROWS,
                                          {NULL, 0, NULL, 0}};
    int option;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
    while ((option = getopt_long(argc, argv, "+:r" OPTIONS_LETTERS, table, NULL)) !=
           -1) {
        int rc = take_option(l, option, argv);
        if (rc != OPTIONS_GO_ON) {
            return rc;
        }
    }
    l->path = "/";
    int rc = optind < argc ? options_alone("ls", argv + optind) : OPTIONS_GO_ON;
    if (rc == OPTIONS_GO_ON) {
        rc = config_take(&l->env->globals);
    }
    if (optind == argc || strcmp(argv[optind], "/") == 0 || rc != OPTIONS_GO_ON) {
        return rc;
    }
    l->path = argv[optind];
    return options_check_path(&l->env->globals, l->path);
}

/* --- for people --- */

enum { CELL = 48, COLUMNS = 6, MOST_WIDTH = 60 };

struct row {
    const char *path;
    char kind[CELL], owner[MOST_WIDTH * 4], held[CELL], waiting[CELL], oldest[CELL];
};

static void fill_kind(struct row *r, const zkr_survey_entry *e)
{
    if (e->kind != ZKR_KIND_LEASE) {
        (void)snprintf(r->kind, sizeof(r->kind), "%s", sight_kind(e->kind));
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
    const char *name = !c          ? "-"
                       : c->asked  ? "(asked to release)"
                       : *c->owner ? c->owner
                                   : "-";
    int more = e->kind == ZKR_KIND_LEASE ? 0 : (int)(e->held - 1);
    if (more > 0) {
        (void)snprintf(r->owner, sizeof(r->owner), "%.150s and %d more", name, more);
    } else {
        (void)snprintf(r->owner, sizeof(r->owner), "%.200s", name);
    }
}

static struct row row_of(const zkr_survey_entry *e)
{
    struct row r = {.path = e->path, .held = "-", .oldest = "-"};
    fill_kind(&r, e);
    fill_owner(&r, e);
    if (e->holder) {
        owner_held(r.held, sizeof(r.held), e->holder);
    }
    (void)snprintf(r.waiting, sizeof(r.waiting), "%" PRId64, e->waiting);
    if (e->waiting_since_ms > 0) {
        text_age(r.oldest, sizeof(r.oldest), owner_now_ms() - e->waiting_since_ms);
    }
    return r;
}

static void widen(int *width, const char *text)
{
    int w = text_width(text);
    w = w < MOST_WIDTH ? w : MOST_WIDTH;
    *width = w > *width ? w : *width;
}

static void print_row(const struct row *r, int path_width, int owner_width)
{
    text_print(stdout, r->path, path_width);
    (void)printf("  %-11s  ", r->kind);
    text_print(stdout, r->owner, owner_width);
    (void)printf("  %7s  %7s  %7s\n", r->held, r->waiting, r->oldest);
}

static void print_table(const struct ls *l)
{
    static const struct row head = {"PATH", "KIND",    "HOLDER",
                                    "HELD", "WAITING", "OLDEST"};
    int path_width = 0, owner_width = 0;
    size_t count = zkr_survey_count(l->found);
    widen(&path_width, head.path);
    widen(&owner_width, head.owner);
    for (size_t i = 0; i < count; i++) {
        struct row r = row_of(zkr_survey_get(l->found, i));
        widen(&path_width, r.path);
        widen(&owner_width, r.owner);
    }
    if (count > 0) {
        print_row(&head, path_width, owner_width);
    }
    for (size_t i = 0; i < count; i++) {
        struct row r = row_of(zkr_survey_get(l->found, i));
        print_row(&r, path_width, owner_width);
    }
    if (count == 0) {
        (void)fputs(l->deep ? "no lock at or below " : "no lock at or right below ",
                    stdout);
        text_print(stdout, l->path, 0);
        (void)fputc('\n', stdout);
    }
}

/* --- for programs --- */

static void print_json(const zkr_survey_entry *e)
{
    struct json j = {.out = stdout};
    bool semaphore = e->kind == ZKR_KIND_LEASE;
    json_open(&j, '{');
    json_key(&j, "path");
    json_string(&j, e->path);
    json_key(&j, "kind");
    json_string(&j, sight_kind(e->kind));
    table_holder_json(&j, e->holder, NULL);
    json_number(&j, "waiting", true, e->waiting);
    json_number(&j, "waiting_since", e->waiting_since_ms > 0, e->waiting_since_ms);
    json_number(&j, "holders", !semaphore, e->held);
    json_number(&j, "permits", semaphore, e->held);
    json_number(&j, "max", e->max > 0, e->max);
    json_close(&j, '}');
    (void)fputc('\n', stdout);
}

/* --- running it --- */

static int read_survey(void *ctx)
{
    struct ls *l = ctx;
    return zkr_survey_read(l->client, l->path, l->deep ? ZKR_SURVEY_DEEP : 0,
                           &l->found);
}

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
        cli_note("%zu of the nodes may not be read, and are left out; check --auth",
                 zkr_survey_denied(l->found));
    }
    return cli_flush();
}

static int read_list(void *mutex, zkr_contenders **out)
{
    return zkr_mutex_contenders(mutex, out);
}

/* The path, or all of the chroot: lists of contenders know the difference. */
static int missing(const struct ls *l)
{
    zkr_contenders *list = NULL;
    zkr_mutex *mutex = NULL;
    int rc = strcmp(l->path, "/") == 0
                 ? ZKR_ENONODE
                 : zkr_mutex_create(&mutex, l->client, l->path, NULL);
    int status = rc == ZKR_OK ? connect_read(l->client, &l->env->globals, read_list,
                                             mutex, &list)
                              : cli_fail_rc(rc);
    zkr_contenders_free(list);
    (void)zkr_mutex_destroy(mutex);
    return status == 0 ? cli_fail(CLI_HELD, "%.1000s does not exist", l->path) : status;
}

static int run(struct ls *l)
{
    int status = connect_open(&l->client, &l->env->globals, NULL);
    if (status != 0) {
        return status;
    }
    struct signals_guard *guard =
        signals_guard_begin(&l->env->signals, CLI_NEVER, NULL);
    if (!guard) {
        return cli_fail_thread();
    }
    int rc = connect_try(l->client, &l->env->globals, read_survey, l, &status);
    if (status == 0 && rc != ZKR_OK) {
        status = rc == ZKR_ENONODE ? missing(l) : cli_fail_rc(rc);
    }
    (void)signals_guard_end(guard);
    return status == 0 ? show(l) : status;
}

int cmd_ls(struct env *env, int argc, char **argv)
{
    struct ls l = {.env = env};
    int status = take_options(&l, argc, argv);
    if (status != OPTIONS_GO_ON) {
        return status;
    }
    status = run(&l);
    zkr_survey_free(l.found);
    (void)zkr_client_close(l.client);
    return status;
}

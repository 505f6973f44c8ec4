/* SPDX-License-Identifier: Apache-2.0 */
/* zkr status: who holds a lock, and who waits for it. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <zkr/zkr.h>

#include "cli.h"
#include "commands.h"
#include "connect.h"
#include "table.h"
#include "watch.h"

static const char usage[] =
    "usage: zkr [OPTION]... status [-q | --json] [--watch] PATH\n"
    "\n"
    "Shows who holds the lock at PATH (position 1) and who waits, in order.\n"
    "\n"
    "  -q             say nothing: the status is 0 when it is held, else 1\n"
    "      --json     one line of JSON, see zkr(1)\n"
    "      --watch    again at each change, until a signal\n"
    "  -h, --help\n"
    "  -V, --version\n";

enum { OPTION_JSON = OPTION_OWN, OPTION_WATCH };

/* Who is there: in the queue, with permits, and waiting for those. */
enum { QUEUE, LEASES, GATE, LISTS };

struct status {
    struct env *env;
    const char *path;
    bool json;
    bool watch;
    bool quiet;
    bool warned;
    zkr_client *client;
    zkr_mutex *mutexes[LISTS]; /* to ask: the path, and a semaphore's below it */
};

static int take_options(struct status *s, int argc, char **argv)
{
    static const struct option table[] = {{"json", no_argument, NULL, OPTION_JSON},
                                          {"watch", no_argument, NULL, OPTION_WATCH},
                                          OPTIONS_ROWS,
                                          {NULL, 0, NULL, 0}};
    int option;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
    while ((option = getopt_long(argc, argv, "+:q" OPTIONS_LETTERS, table, NULL)) !=
           -1) {
        if (option == OPTION_JSON) {
            s->json = true;
            continue;
        }
        if (option == 'q') {
            s->quiet = true;
            continue;
        }
        if (option == OPTION_WATCH) {
            s->watch = true;
            continue;
        }
        int rc = globals_take(&s->env->globals, option, argv, usage);
        if (rc != OPTIONS_GO_ON) {
            return rc;
        }
    }
    if (argc - optind != 1) {
        return options_refuse("status", "%s",
                              argc > optind ? "one PATH, please" : "which PATH?");
    }
    if (s->quiet && (s->json || s->watch)) {
        return options_refuse("status", "-q shows nothing: no --json or --watch");
    }
    s->path = argv[optind];
    return OPTIONS_GO_ON;
}

/* --- showing --- */

static void warn(struct status *s, const struct sight_lists *lists)
{
    char text[256];
    if (!s->warned && sight_warning(lists, text, sizeof(text))) {
        s->warned = true;
        cli_note("%.1000s: %s", s->path, text);
    }
}

static int show(const struct status *s, const struct sight *sight)
{
    if (s->quiet) {
        return sight->holders > 0 ? 0 : CLI_HELD;
    }
    bool clear = s->watch && !s->json && isatty(STDOUT_FILENO);
    if (clear) {
        (void)fputs("\033[H\033[2J", stdout);
    }
    if (s->json) {
        table_json(stdout, s->path, sight);
    } else {
        table_print(stdout, sight);
    }
    if (s->watch && !s->json && !clear) {
        (void)fputc('\n', stdout);
    }
    return cli_flush();
}

static int read_list(void *mutex, zkr_contenders **out)
{
    return zkr_mutex_contenders(mutex, out);
}

static int show_all(struct status *s, zkr_contenders *const lists[LISTS])
{
    const struct sight_lists all = {lists[QUEUE], lists[LEASES], lists[GATE]};
    struct sight sight;
    int status =
        sight_begin(&sight, &all) ? 0 : cli_fail(CLI_INTERNAL, "out of memory");
    if (status == 0) {
        status = show(s, &sight);
        if (!s->quiet) {
            warn(s, &all);
        }
    }
    sight_end(&sight);
    return status;
}

static int read_and_show(void *ctx)
{
    struct status *s = ctx;
    zkr_contenders *lists[LISTS] = {NULL};
    int status = 0;
    for (int i = 0; i < LISTS && status == 0; i++) {
        status = connect_read(s->client, &s->env->globals, read_list, s->mutexes[i],
                              &lists[i]);
    }
    if (status == 0) {
        status = show_all(s, lists);
    }
    for (int i = 0; i < LISTS; i++) {
        zkr_contenders_free(lists[i]);
    }
    return status;
}

/* In all lists; what has changed in one while another is looked at is still news then. */
static int wait_change(void *ctx, int64_t timeout_ms)
{
    const struct status *s = ctx;
    int rc = ZKR_ETIMEDOUT;
    for (int i = 0; i < LISTS && rc == ZKR_ETIMEDOUT; i++) {
        rc = zkr_mutex_watch(s->mutexes[i], timeout_ms / LISTS);
    }
    return rc;
}

static int make_mutex_below(struct status *s, int list, const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", s->path, name) < 0) {
        return cli_fail(CLI_INTERNAL, "out of memory");
    }
    int rc = zkr_mutex_create(&s->mutexes[list], s->client, path, NULL);
    free(path);
    return rc == ZKR_OK ? 0 : cli_fail_rc(rc);
}

static int make_mutexes(struct status *s)
{
    int rc = zkr_mutex_create(&s->mutexes[QUEUE], s->client, s->path, NULL);
    int status = rc == ZKR_OK ? 0 : cli_fail_rc(rc);
    if (status == 0) {
        status = make_mutex_below(s, LEASES, "leases");
    }
    return status == 0 ? make_mutex_below(s, GATE, "locks") : status;
}

static int run(struct status *s)
{
    int status = connect_open(&s->client, &s->env->globals, NULL);
    if (status != 0) {
        return status;
    }
    status = make_mutexes(s);
    if (status != 0) {
        return status;
    }
    struct signals_guard *guard =
        signals_guard_begin(&s->env->signals, CLI_NEVER, NULL);
    if (!guard) {
        return cli_fail_thread();
    }
    status = read_and_show(s);
    (void)signals_guard_end(guard);
    return status == 0 && s->watch
               ? watch_run(&s->env->signals, wait_change, read_and_show, s)
               : status;
}

int cmd_status(struct env *env, int argc, char **argv)
{
    struct status s = {.env = env};
    int status = take_options(&s, argc, argv);
    if (status != OPTIONS_GO_ON) {
        return status;
    }
    status = run(&s);
    for (int i = 0; i < LISTS; i++) {
        (void)zkr_mutex_destroy(s.mutexes[i]);
    }
    (void)zkr_client_close(s.client);
    return status;
}

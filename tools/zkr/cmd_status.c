/* SPDX-License-Identifier: Apache-2.0 */
/* zkr status: who holds a lock, and who waits for it. */
#include <stdio.h>
#include <unistd.h>

#include <zkr/zkr.h>

#include "cli.h"
#include "commands.h"
#include "connect.h"
#include "table.h"
#include "watch.h"

static const char usage[] =
    "usage: zkr [OPTION]... status [--json] [--watch] PATH\n"
    "\n"
    "Shows who holds the lock at PATH (position 1) and who waits, in order.\n"
    "\n"
    "      --json     one line of JSON, see zkr(1)\n"
    "      --watch    again at each change, until a signal\n"
    "  -h, --help\n"
    "  -V, --version\n";

enum { OPTION_JSON = OPTION_OWN, OPTION_WATCH };

struct status {
    struct env *env;
    const char *path;
    bool json;
    bool watch;
    zkr_client *client;
    zkr_mutex *mutex;
};

static int take_options(struct status *s, int argc, char **argv)
{
    static const struct option table[] = {{"json", no_argument, NULL, OPTION_JSON},
                                          {"watch", no_argument, NULL, OPTION_WATCH},
                                          OPTIONS_ROWS,
                                          {NULL, 0, NULL, 0}};
    int option;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
    while ((option = getopt_long(argc, argv, "+:" OPTIONS_LETTERS, table, NULL)) !=
           -1) {
        if (option == OPTION_JSON) {
            s->json = true;
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
    s->path = argv[optind];
    return OPTIONS_GO_ON;
}

/* --- showing --- */

static int show(const struct status *s, const zkr_contenders *list)
{
    bool clear = s->watch && !s->json && isatty(STDOUT_FILENO);
    if (clear) {
        (void)fputs("\033[H\033[2J", stdout);
    }
    if (s->json) {
        table_json(stdout, s->path, list);
    } else {
        table_print(stdout, list);
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

static int read_and_show(void *ctx)
{
    struct status *s = ctx;
    zkr_contenders *list;
    int status = connect_read(s->client, &s->env->globals, read_list, s->mutex, &list);
    if (status == 0) {
        status = show(s, list);
        zkr_contenders_free(list);
    }
    return status;
}

static int wait_change(void *ctx, int64_t timeout_ms)
{
    const struct status *s = ctx;
    return zkr_mutex_watch(s->mutex, timeout_ms);
}

static int run(struct status *s)
{
    int status = connect_open(&s->client, &s->env->globals, NULL);
    if (status != 0) {
        return status;
    }
    int rc = zkr_mutex_create(&s->mutex, s->client, s->path, NULL);
    if (rc != ZKR_OK) {
        return cli_fail_rc(rc);
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
    (void)zkr_mutex_destroy(s.mutex);
    (void)zkr_client_close(s.client);
    return status;
}

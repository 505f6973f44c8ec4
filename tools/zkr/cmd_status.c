/* SPDX-License-Identifier: Apache-2.0 */
/* zkr status: shows the holders and the waiters of a lock. */
#include <stdio.h>
#include <unistd.h>

#include "cli.h"
#include "client.h"
#include "cmd.h"
#include "look.h"
#include "options.h"
#include "peers.h"
#include "settings.h"
#include "text.h"
#include "view.h"
#include "watch.h"

static const char usage[] =
    "usage: zkr [OPTION]... status [-q | --json] [--watch] PATH\n"
    "\n"
    "Shows the holder of the lock at PATH (position 1) and its waiters, in order.\n"
    "With -v, also shows the versions of the servers, and which one serves the "
    "holder.\n"
    "\n"
    "  -q             print nothing: the status is 0 if the lock is held, otherwise 1\n"
    "      --json     print one line of JSON; see zkr(1)\n"
    "      --watch    print again at each change; on a terminal, every second\n";

struct status {
    struct reading reading;
    bool json;
    bool quiet;
    bool warned;
    bool screen; /* the screen is cleared before each table */
    struct peers peers;
};

static int take_arguments(struct status *s)
{
    struct globals *g = &s->reading.env->globals;
    const struct option_row rows[] = {{NULL, 'q', option_on, &s->quiet, NULL},
                                      {"json", 0, option_on, &s->json, NULL},
                                      {"watch", 0, option_on, &s->reading.watch, NULL},
                                      OPTIONS_END};
    int rc = options_path(g, usage, rows);
    s->reading.path = g->path;
    if (rc == GO_ON && s->quiet && (s->json || s->reading.watch)) {
        return options_refuse(g, "-q cannot be combined with --json or --watch");
    }
    return rc == GO_ON ? options_settle(g) : rc;
}

/* --- showing --- */

static void print_absence(const struct status *s)
{
    if (s->reading.below > 0) {
        (void)printf("no lock here; %zu below this path (see 'zkr ls')\n",
                     s->reading.below);
    } else {
        text_line(stdout, s->reading.missing ? "nobody; there is no " : "nobody",
                  s->reading.missing ? s->reading.path : "");
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
        view_json(stdout, s->reading.path, view, !s->reading.missing);
    } else if (view->count == 0) {
        print_absence(s);
    } else {
        view_print(stdout, view);
    }
    if (!s->json) {
        peers_print(&s->peers, stdout);
    }
    if (s->reading.watch && !s->json && !s->screen) {
        (void)fputc('\n', stdout);
    }
    return cli_flush();
}

/* Shows the lists read last, with the current ages. */
static int draw(void *ctx)
{
    struct status *s = ctx;
    struct view view;
    if (!look_view(&s->reading, &view, &s->peers)) {
        return cli_fail_memory();
    }
    int status = show(s, &view);
    if (!s->quiet) {
        s->warned = s->warned || view_warn(s->reading.path, s->reading.lists);
        peers_warn(&s->peers);
    }
    view_end(&view);
    return status;
}

static int read_and_show(void *ctx)
{
    struct status *s = ctx;
    const struct globals *g = &s->reading.env->globals;
    peers_end(&s->peers);
    int status = look_read(&s->reading);
    if (status == 0 && !s->quiet && g->log_level > 0) {
        peers_ask(&s->peers, g->servers, g->tls_cert);
    }
    return status == 0 ? draw(s) : status;
}

static int wait_change(void *ctx, int64_t timeout_ms)
{
    return look_wait(&((const struct status *)ctx)->reading, timeout_ms);
}

static int run(struct status *s)
{
    bool watch = s->reading.watch;
    s->screen = watch && !s->json && isatty(STDOUT_FILENO);
    s->reading.brief = s->quiet;
    const struct watch how = {watch ? wait_change : NULL, read_and_show,
                              s->screen ? draw : NULL};
    int status = client_open(s->reading.env, NULL, false, false);
    if (status == 0) {
        status = look_begin(&s->reading);
    }
    status = status == 0 ? watch_run(s->reading.env, &how, s) : status;
    peers_end(&s->peers);
    look_end(&s->reading);
    return status;
}

int cmd_status(struct env *env)
{
    struct status s = {.reading.env = env};
    int status = take_arguments(&s);
    return status == GO_ON ? run(&s) : status;
}

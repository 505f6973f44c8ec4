/* SPDX-License-Identifier: Apache-2.0 */
/* zkr status: who holds a lock, and who waits for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zkr/zkr.h>

#include "absence.h"
#include "cli.h"
#include "commands.h"
#include "config.h"
#include "connect.h"
#include "peers.h"
#include "table.h"
#include "watch.h"

static const char usage[] =
    "usage: zkr [OPTION]... status [-q | --json] [--watch] PATH\n"
    "\n"
    "Shows who holds the lock at PATH (position 1) and who waits, in order. With -v\n"
    "also the servers' versions, and which serves the holder's session.\n"
    "\n"
    "  -q             show nothing: the status is 0 if it is held, else 1\n"
    "      --json     one line of JSON, see zkr(1)\n"
    "      --watch    again at each change, until a signal; on a terminal each second\n"
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
    bool screen; /* is cleared for each picture */
    zkr_client *client;
    zkr_mutex *mutexes[LISTS];    /* to ask: the path, and a semaphore's below it */
    zkr_semaphore *semaphore;     /* knows which leases are held */
    zkr_contenders *lists[LISTS]; /* as last read */
    struct absence absence;       /* when nobody is there */
    struct peers peers;
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
        int rc = options_take(&s->env->globals, option, argv, usage);
        if (rc != OPTIONS_GO_ON) {
            return rc;
        }
    }
    int rc = options_alone("status", argv + optind);
    if (rc != OPTIONS_GO_ON) {
        return rc;
    }
    if (s->quiet && (s->json || s->watch)) {
        return options_refuse("status", "-q shows nothing: no --json or --watch");
    }
    s->path = argv[optind];
    rc = config_take(&s->env->globals);
    return rc == OPTIONS_GO_ON ? options_check_path(&s->env->globals, s->path) : rc;
}

/* --- showing --- */

static void warn(struct status *s, const struct sight_lists *lists)
{
    char text[256];
    if (!s->warned && sight_warning(lists, text, sizeof(text))) {
        s->warned = true;
        cli_note("%.1000s: %s", s->path, text);
    }
    peers_warn(&s->peers);
}

static int show(const struct status *s, const struct sight *sight)
{
    if (s->quiet) {
        return sight->holders > 0 ? 0 : CLI_HELD;
    }
    if (s->screen) {
        (void)fputs("\033[H\033[2J", stdout);
    }
    if (s->json) {
        table_json(stdout, s->path, sight, !s->absence.missing, &s->peers);
    } else if (sight->count == 0) {
        absence_print(&s->absence, stdout, s->path);
    } else {
        table_print(stdout, sight);
    }
    if (!s->json) {
        peers_print(&s->peers, stdout);
    }
    if (s->watch && !s->json && !s->screen) {
        (void)fputc('\n', stdout);
    }
    return cli_flush();
}

static void find_servers(const struct status *s, struct sight *sight)
{
    for (size_t i = 0; i < sight->count; i++) {
        const char *server = peers_find(&s->peers, sight->rows[i].c->session_id);
        sight->rows[i].server = server ? strdup(server) : NULL;
    }
}

/* What was read last, with ages as of now. */
static int draw(void *ctx)
{
    struct status *s = ctx;
    const struct sight_lists all = {s->lists[QUEUE], s->lists[LEASES], s->lists[GATE]};
    struct sight sight;
    int status =
        sight_begin(&sight, &all) ? 0 : cli_fail(CLI_INTERNAL, "out of memory");
    if (status == 0) {
        find_servers(s, &sight);
        status = show(s, &sight);
        if (!s->quiet) {
            warn(s, &all);
        }
    }
    sight_end(&sight);
    return status;
}

/* --- reading --- */

static int read_list(void *mutex, zkr_contenders **out)
{
    return zkr_mutex_contenders(mutex, out);
}

static int read_leases(void *semaphore, zkr_contenders **out)
{
    return zkr_semaphore_holders(semaphore, out);
}

static void forget_list(struct status *s, int list)
{
    zkr_contenders_free(s->lists[list]);
    s->lists[list] = NULL;
}

static void forget(struct status *s)
{
    for (int i = 0; i < LISTS; i++) {
        forget_list(s, i);
    }
    peers_end(&s->peers);
}

/* Others may have locks of these names below the path. Returns 0 or an exit code, reported. */
static int check_semaphore(struct status *s)
{
    const zkr_contender *lease = zkr_contenders_get(s->lists[LEASES], 0);
    bool is_one = lease && lease->kind == ZKR_KIND_LEASE;
    struct absence found = {.missing = false};
    int status = 0;
    if (!lease && zkr_contenders_count(s->lists[GATE]) > 0) {
        status = absence_look(&found, s->client, &s->env->globals, s->path);
        is_one = found.semaphore;
    }
    if (!is_one) {
        forget_list(s, LEASES);
        forget_list(s, GATE);
    }
    return status;
}

static int read_all(struct status *s)
{
    int status = 0;
    size_t count = 0;
    for (int i = 0; i < LISTS && status == 0; i++) {
        status = i == LEASES ? connect_read(s->client, &s->env->globals, read_leases,
                                            s->semaphore, &s->lists[i])
                             : connect_read(s->client, &s->env->globals, read_list,
                                            s->mutexes[i], &s->lists[i]);
    }
    if (status == 0) {
        status = check_semaphore(s);
    }
    for (int i = 0; i < LISTS; i++) {
        count += zkr_contenders_count(s->lists[i]);
    }
    s->absence = (struct absence){.missing = false};
    if (status == 0 && count == 0 && !s->quiet) {
        status = absence_look(&s->absence, s->client, &s->env->globals, s->path);
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
    if (status == 0) {
        status = make_mutex_below(s, GATE, "locks");
    }
    rc = status == 0 ? zkr_semaphore_create(&s->semaphore, s->client, s->path, 1, NULL)
                     : ZKR_OK;
    return rc == ZKR_OK ? status : cli_fail_rc(rc);
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
    s->screen = s->watch && !s->json && isatty(STDOUT_FILENO);
    const struct watch how = {wait_change, read_and_show, s->screen ? draw : NULL};
    status = read_and_show(s);
    (void)signals_guard_end(guard);
    return status == 0 && s->watch ? watch_run(&s->env->signals, &how, s) : status;
}

int cmd_status(struct env *env, int argc, char **argv)
{
    struct status s = {.env = env};
    int status = take_options(&s, argc, argv);
    if (status != OPTIONS_GO_ON) {
        return status;
    }
    status = run(&s);
    forget(&s);
    for (int i = 0; i < LISTS; i++) {
        (void)zkr_mutex_destroy(s.mutexes[i]);
    }
    (void)zkr_semaphore_destroy(s.semaphore);
    (void)zkr_client_close(s.client);
    return status;
}

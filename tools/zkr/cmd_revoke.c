/* SPDX-License-Identifier: Apache-2.0 */
/* zkr revoke: ask the holder of a lock to let go, and perhaps make it. */
#include <string.h>

#include <zkr/zkr.h>

#include "cli.h"
#include "commands.h"
#include "connect.h"

static const char usage[] =
    "usage: zkr [OPTION]... revoke [-w SEC [--force]] PATH\n"
    "\n"
    "Asks the holder of the lock at PATH to release it.\n"
    "\n"
    "  -w, --wait SEC  wait at most this long until it has; status 1 if it has not\n"
    "      --force     then delete its node: the next gets the lock at once, whatever\n"
    "                  the holder still does\n"
    "  -h, --help\n"
    "  -V, --version\n";

enum { OPTION_FORCE = OPTION_OWN, NOT_WAITING = -1 };

struct revoke {
    struct env *env;
    const char *path;
    int64_t wait_ms; /* or NOT_WAITING */
    bool force;
    zkr_client *client;
    zkr_mutex *mutex;
    zkr_contenders *before; /* who held when it was asked, and who waited */
};

static int take_option(struct revoke *r, int option, char **argv)
{
    switch (option) {
    case 'w':
        return cli_parse_seconds(optarg, &r->wait_ms)
                   ? OPTIONS_GO_ON
                   : options_refuse("revoke", "-w needs seconds, not '%s'", optarg);
    case OPTION_FORCE:
        r->force = true;
        return OPTIONS_GO_ON;
    default:
        return options_take(&r->env->globals, option, argv, usage);
    }
}

static int take_options(struct revoke *r, int argc, char **argv)
{
    static const struct option table[] = {{"wait", required_argument, NULL, 'w'},
                                          {"force", no_argument, NULL, OPTION_FORCE},
                                          OPTIONS_ROWS,
                                          {NULL, 0, NULL, 0}};
    int option;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
    while ((option = getopt_long(argc, argv, "+:w:" OPTIONS_LETTERS, table, NULL)) !=
           -1) {
        int rc = take_option(r, option, argv);
        if (rc != OPTIONS_GO_ON) {
            return rc;
        }
    }
    int rc = options_alone("revoke", argv + optind);
    if (rc != OPTIONS_GO_ON) {
        return rc;
    }
    if (r->force && r->wait_ms == NOT_WAITING) {
        return options_refuse("revoke", "--force needs -w: how long the holder has to "
                                        "release by itself");
    }
    r->path = argv[optind];
    return options_check_path(&r->env->globals, r->path);
}

/* --- the holders --- */

static int read_list(void *mutex, zkr_contenders **out)
{
    return zkr_mutex_contenders(mutex, out);
}

static int read_contenders(struct revoke *r, zkr_contenders **out)
{
    return connect_read(r->client, &r->env->globals, read_list, r->mutex, out);
}

static bool is_in(const zkr_contenders *list, const char *node)
{
    for (size_t i = 0; i < zkr_contenders_count(list); i++) {
        if (strcmp(zkr_contenders_get(list, i)->node, node) == 0) {
            return true;
        }
    }
    return false;
}

/* The first of those who held that is still there; NULL: none is. */
static const zkr_contender *still_there(const struct revoke *r,
                                        const zkr_contenders *now)
{
    for (size_t i = 0; i < zkr_contenders_count(r->before); i++) {
        const zkr_contender *c = zkr_contenders_get(r->before, i);
        if (c->holds && is_in(now, c->node)) {
            return c;
        }
    }
    return NULL;
}

/* Until all who held have gone, or the time is over. *freed says which. Returns 0, or an exit code, reported. */
static int await_end(struct revoke *r, bool *freed)
{
    int64_t until = cli_now_ms() + r->wait_ms;
    for (;;) {
        zkr_contenders *now = NULL;
        int status = read_contenders(r, &now);
        if (status != 0) {
            return status;
        }
        *freed = still_there(r, now) == NULL;
        zkr_contenders_free(now);
        int left = cli_until(until);
        if (*freed || left == 0) {
            return 0;
        }
        int rc = zkr_mutex_watch(r->mutex, left);
        if (rc != ZKR_OK && rc != ZKR_ETIMEDOUT && !zkr_err_retriable(rc)) {
            return cli_fail_rc(rc);
        }
    }
}

/* --- what is done --- */

static int evict_all(struct revoke *r)
{
    for (size_t i = 0; i < zkr_contenders_count(r->before); i++) {
        const zkr_contender *c = zkr_contenders_get(r->before, i);
        int rc = c->holds ? zkr_mutex_evict(r->mutex, c->node) : ZKR_OK;
        if (rc != ZKR_OK) {
            return cli_fail_rc(rc);
        }
        if (c->holds) {
            cli_note("deleted the node of %.200s by force: the next gets the lock, and "
                     "until that holder notices two may hold it",
                     *c->owner ? c->owner : c->node);
        }
    }
    return 0;
}

static int nobody(const struct revoke *r)
{
    return cli_fail(CLI_HELD, "nobody holds %.1000s; 'zkr status %.1000s' shows more",
                    r->path, r->path);
}

static int ask(struct revoke *r)
{
    int status = read_contenders(r, &r->before);
    if (status != 0) {
        return status;
    }
    int rc = zkr_mutex_revoke(r->mutex);
    return rc == ZKR_OK ? 0 : rc == ZKR_ENONODE ? nobody(r) : cli_fail_rc(rc);
}

static int work(struct revoke *r)
{
    bool freed = false;
    int status = ask(r);
    if (status != 0 || r->wait_ms == NOT_WAITING) {
        return status;
    }
    status = await_end(r, &freed);
    if (status != 0 || freed) {
        return status;
    }
    if (r->force) {
        return evict_all(r);
    }
    return cli_fail(CLI_HELD,
                    "%.1000s is still held; its holder was asked; --force deletes its "
                    "node",
                    r->path);
}

/* A signal ends us at once: we have nothing there. */
static int run(struct revoke *r)
{
    int status = connect_open(&r->client, &r->env->globals, NULL);
    if (status != 0) {
        return status;
    }
    int rc = zkr_mutex_create(&r->mutex, r->client, r->path, NULL);
    if (rc != ZKR_OK) {
        return cli_fail_rc(rc);
    }
    struct signals_guard *guard =
        signals_guard_begin(&r->env->signals, CLI_NEVER, NULL);
    if (!guard) {
        return cli_fail_thread();
    }
    status = work(r);
    (void)signals_guard_end(guard);
    return status;
}

int cmd_revoke(struct env *env, int argc, char **argv)
{
    struct revoke r = {.env = env, .wait_ms = NOT_WAITING};
    int status = take_options(&r, argc, argv);
    if (status != OPTIONS_GO_ON) {
        return status;
    }
    status = run(&r);
    zkr_contenders_free(r.before);
    (void)zkr_mutex_destroy(r.mutex);
    (void)zkr_client_close(r.client);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* zkr revoke: ask the holder of a lock to let go, and perhaps make it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <zkr/zkr.h>

#include "cli.h"
#include "commands.h"
#include "config.h"
#include "connect.h"
#include "text.h"

static const char usage[] =
    "usage: zkr [OPTION]... revoke [-w SEC [--force]] [--token N] PATH\n"
    "\n"
    "Asks the holder of the lock at PATH to release it, and says whom it asked.\n"
    "\n"
    "  -w, --wait SEC  wait at most this long until it has; status 1 if it has not\n"
    "      --force     then delete its node: the next gets the lock at once, whatever\n"
    "                  the holder still does\n"
    "      --token N   only if its fencing token is N, and nobody who comes after it\n"
    "  -h, --help\n"
    "  -V, --version\n";

enum { OPTION_FORCE = OPTION_OWN, OPTION_TOKEN, NOT_WAITING = -1 };

struct revoke {
    struct env *env;
    const char *path;
    int64_t wait_ms; /* or NOT_WAITING */
    bool force;
    int64_t token; /* of the one who is meant, 0 = all who hold */
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
    case OPTION_TOKEN:
        return cli_parse_int(optarg, 1, INT64_MAX, &r->token)
                   ? OPTIONS_GO_ON
                   : options_refuse("revoke", "--token needs a fencing token, not '%s'",
                                    optarg);
    default:
        return options_take(&r->env->globals, option, argv, usage);
    }
}

static int take_options(struct revoke *r, int argc, char **argv)
{
    static const struct option table[] = {
        {"wait", required_argument, NULL, 'w'},
        {"force", no_argument, NULL, OPTION_FORCE},
        {"token", required_argument, NULL, OPTION_TOKEN},
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
    rc = config_take(&r->env->globals);
    return rc == OPTIONS_GO_ON ? options_check_path(&r->env->globals, r->path) : rc;
}

/* --- the holders --- */

static int read_list(void *mutex, zkr_contenders **out)
{
    return zkr_mutex_contenders(mutex, out);
}

static int read_leases(void *semaphore, zkr_contenders **out)
{
    return zkr_semaphore_holders(semaphore, out);
}

static int read_contenders(struct revoke *r, zkr_contenders **out)
{
    return connect_read(r->client, &r->env->globals, read_list, r->mutex, out);
}

/* Who is to let go. */
static bool is_meant(const struct revoke *r, const zkr_contender *c)
{
    return c->holds && (r->token == 0 || c->fencing_token == r->token);
}

static const char *name_of(const zkr_contender *c)
{
    return *c->owner ? c->owner : c->node;
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
        if (is_meant(r, c) && is_in(now, c->node)) {
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
        int rc = is_meant(r, c) ? zkr_mutex_evict(r->mutex, c->node) : ZKR_OK;
        if (rc != ZKR_OK) {
            return cli_fail_rc(rc);
        }
        if (is_meant(r, c)) {
            cli_note("deleted the node of %.200s by force: the next gets the lock, and "
                     "until that holder notices two may hold it",
                     name_of(c));
        }
    }
    return 0;
}

/* Permits may be held there. */
static int nobody(const struct revoke *r)
{
    zkr_semaphore *semaphore;
    zkr_contenders *leases = NULL;
    int rc = zkr_semaphore_create(&semaphore, r->client, r->path, 1, NULL);
    if (rc != ZKR_OK) {
        return cli_fail_rc(rc);
    }
    int status =
        connect_read(r->client, &r->env->globals, read_leases, semaphore, &leases);
    const zkr_contender *first = zkr_contenders_get(leases, 0);
    bool permits = first && first->kind == ZKR_KIND_LEASE;
    zkr_contenders_free(leases);
    (void)zkr_semaphore_destroy(semaphore);
    if (status != 0) {
        return status;
    }
    if (permits) {
        return cli_fail(
            CLI_PATH,
            "%.1000s is a semaphore: who holds permits cannot be asked; stop "
            "one of 'zkr status %.1000s' on its host",
            r->path, r->path);
    }
    return cli_fail(CLI_HELD, "nobody holds %.1000s; 'zkr status %.1000s' shows more",
                    r->path, r->path);
}

static int print(const char *what, const zkr_contender *c)
{
    (void)printf("%s ", what);
    text_print(stdout, name_of(c), 0);
    (void)printf(", token %" PRId64 "\n", c->fencing_token);
    return cli_flush();
}

/* Those that were listed, and nobody who has got it since. With --force one that we may not write to can go all the same. */
static int ask_one(const struct revoke *r, const zkr_contender *c)
{
    int rc = zkr_mutex_revoke_node(r->mutex, c->node);
    if (rc == ZKR_EAUTH && r->force) {
        cli_note("%.200s cannot be asked: its node may not be written; check --auth",
                 name_of(c));
        return 0;
    }
    return rc == ZKR_OK ? print("asked", c) : cli_fail_rc(rc);
}

static int ask(struct revoke *r)
{
    size_t meant = 0;
    int status = read_contenders(r, &r->before);
    const zkr_contender *first = zkr_contenders_get(r->before, 0);
    if (status == 0 && !first) {
        return nobody(r);
    }
    for (size_t i = 0; status == 0 && i < zkr_contenders_count(r->before); i++) {
        const zkr_contender *c = zkr_contenders_get(r->before, i);
        if (is_meant(r, c)) {
            meant++;
            status = ask_one(r, c);
        }
    }
    return status != 0 || meant > 0
               ? status
               : cli_fail(CLI_HELD,
                          "%.1000s is not held with token %" PRId64
                          ", but by %.200s with token %" PRId64 "; nobody was asked",
                          r->path, r->token, name_of(first), first->fencing_token);
}

static int work(struct revoke *r)
{
    bool freed = false;
    int status = ask(r);
    if (status != 0 || r->wait_ms == NOT_WAITING) {
        return status;
    }
    status = await_end(r, &freed);
    if (status != 0) {
        return status;
    }
    if (freed) {
        (void)printf("released\n");
        return cli_flush();
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

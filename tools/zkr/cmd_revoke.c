/* SPDX-License-Identifier: Apache-2.0 */
/* zkr revoke: asks the holder of a lock to release it, or deletes the holder's node. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ask.h"
#include "cli.h"
#include "client.h"
#include "clock.h"
#include "cmd.h"
#include "contender.h"
#include "options.h"
#include "settings.h"

static const char usage[] =
    "usage: zkr [OPTION]... revoke [-w SEC [--force]] [--token N] PATH\n"
    "       zkr [OPTION]... revoke [-w SEC] --force --token N PATH\n"
    "\n"
    "Asks the holder of the lock at PATH to release it, and prints its name. A holder\n"
    "of permits cannot be asked to; --force with --token N deletes its nodes.\n"
    "\n"
    "  -w, --wait SEC  wait at most SEC seconds for the release, then exit with\n"
    "                  status 1\n"
    "      --force     then delete the node of the holder: the next contender gets\n"
    "                  the lock at once, while the holder may still work\n"
    "      --token N   act only on the holder with the fencing token N\n";

enum { NOT_WAITING = -1 };

struct revoke {
    struct env *env;
    int64_t wait_ms; /* may be NOT_WAITING */
    bool force;
    int64_t token; /* token of the intended holder; 0 = all holders */
    const char *path;
    zkr_mutex *mutex;       /* reads the queue or the permits */
    bool permits;           /* the intended holder has permits */
    zkr_contenders *before; /* the queue before the request */
    int64_t until;          /* deadline of the wait */
    bool freed;             /* all intended holders are gone */
};

static int refuse_force(const struct revoke *r)
{
    return options_refuse(
        &r->env->globals,
        "--force requires -w, the time that the holder has to release the lock");
}

static int take_arguments(struct revoke *r)
{
    struct globals *g = &r->env->globals;
    struct option_range token = {&r->token, 1, INT64_MAX};
    const struct option_row rows[] = {
        {"wait", 'w', option_seconds, &r->wait_ms, "seconds"},
        {"force", 0, option_on, &r->force, NULL},
        {"token", 0, option_int, &token, "a fencing token"},
        OPTIONS_END};
    int rc = options_path(g, usage, rows);
    r->path = g->path;
    return rc != GO_ON                                              ? rc
           : r->force && r->token == 0 && r->wait_ms == NOT_WAITING ? refuse_force(r)
                                                                    : options_settle(g);
}

/* --- the holders --- */

/* Returns whether @c is a holder that must release the lock. All nodes of one holder of permits share its token. */
static bool is_meant(const struct revoke *r, const zkr_contender *c)
{
    bool holds = r->permits ? c->kind == ZKR_KIND_LEASE : c->holds;
    return holds && (r->token == 0 || c->fencing_token == r->token);
}

/* Returns how many contenders must release the lock. */
static size_t count_meant(const struct revoke *r)
{
    size_t count = 0;
    for (size_t i = 0; i < zkr_contenders_count(r->before); i++) {
        count += is_meant(r, zkr_contenders_get(r->before, i));
    }
    return count;
}

/* Returns whether an intended holder still holds the lock. */
static bool is_held(const struct revoke *r, const zkr_contenders *now)
{
    for (size_t i = 0; i < zkr_contenders_count(r->before); i++) {
        const zkr_contender *c = zkr_contenders_get(r->before, i);
        for (size_t k = 0; is_meant(r, c) && k < zkr_contenders_count(now); k++) {
            if (strcmp(zkr_contenders_get(now, k)->node, c->node) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Waits until all intended holders are gone, or the time is over. */
static int await_end(void *ctx)
{
    struct revoke *r = ctx;
    for (;;) {
        zkr_contenders *now = NULL;
        int status = ask_list(r->env, (struct ask_source){.mutex = r->mutex}, &now);
        if (status != 0) {
            return status;
        }
        r->freed = !is_held(r, now);
        zkr_contenders_free(now);
        int left = clock_left_ms(r->until);
        if (r->freed || left == 0) {
            return 0;
        }
        int rc = zkr_mutex_watch(r->mutex, left);
        if (rc != ZKR_OK && rc != ZKR_ETIMEDOUT && !zkr_err_retriable(rc)) {
            return cli_fail_rc(rc);
        }
    }
}

/* --- requests and deletions --- */

static int evict_all(void *ctx)
{
    const struct revoke *r = ctx;
    const zkr_contender *last = NULL;
    for (size_t i = 0; i < zkr_contenders_count(r->before); i++) {
        const zkr_contender *c = zkr_contenders_get(r->before, i);
        if (!is_meant(r, c)) {
            continue;
        }
        int rc = zkr_mutex_evict(r->mutex, c->node);
        if (rc != ZKR_OK) {
            return cli_fail_rc(rc);
        }
        last = c;
        if (!r->permits) {
            cli_note("deleted the node of %.200s; the next contender gets the lock, "
                     "and two may hold it until the former holder notices the loss",
                     contender_name(c));
        }
    }
    if (r->permits && last) {
        cli_note("deleted the permits of %.200s; other contenders get them, and too "
                 "many may be held until the former holder notices the loss",
                 contender_name(last));
    }
    return 0;
}

/* Reports that the queue is empty, or that PATH is a semaphore. */
static int nobody(const struct revoke *r)
{
    bool permits = false;
    int status = ask_has_permits(r->env, r->path, &permits);
    return status != 0 ? status
           : permits
               ? cli_fail(CLI_PATH,
                          "%.1000s is a semaphore, whose holders cannot be asked to "
                          "release it; find "
                          "one with 'zkr status %.1000s' and stop it on its host, or "
                          "delete its permits with --force --token N",
                          r->path, r->path)
               : cli_fail(CLI_HELD, "nobody holds %.1000s; see 'zkr status %.1000s'",
                          r->path, r->path);
}

static void note_refusal(const zkr_contender *c, int rc)
{
    if (rc == ZKR_EAUTH) {
        cli_note("cannot ask %.200s to release the lock: writing its node is not "
                 "allowed; check --auth",
                 contender_name(c));
    } else {
        cli_note("cannot ask %.200s to release the lock: %s (ZooKeeper code %d)",
                 contender_name(c), zkr_strerror(rc), zkr_err_zk(rc));
    }
}

/*
 * Asks this holder, but no later one, to release. With --force, if the servers or another recipe refuse the request,
 * that is not a failure, because the node will be deleted.
 */
static int ask_one(const struct revoke *r, const zkr_contender *c)
{
    int rc = zkr_mutex_revoke_node(r->mutex, c->node);
    bool refused = rc == ZKR_EAUTH || (zkr_err_zk(rc) != 0 && !zkr_err_retriable(rc));
    if (refused && r->force) {
        note_refusal(c, rc);
        return 0;
    }
    bool ephemeral = c->session_id != 0;
    if (rc == ZKR_EINVAL && r->force && ephemeral && c->kind != ZKR_KIND_LEADER) {
        cli_note(
            "cannot ask %.200s to release the lock: its node belongs to another recipe",
            contender_name(c));
        return 0;
    }
    if (rc != ZKR_OK) {
        return cli_fail_rc(rc);
    }
    return contender_say("asked ", c);
}

static int read_queue(struct revoke *r)
{
    return ask_list(r->env, (struct ask_source){.mutex = r->mutex}, &r->before);
}

/*
 * Looks for the token among the holders of permits, because no holder of the lock has it. If one of them has it, sets
 * *found, and the permits must be released.
 */
static int look_at_permits(struct revoke *r, bool *found)
{
    zkr_mutex *queue = r->mutex;
    zkr_contenders *list = r->before;
    int status = ask_mutex(r->env, r->path, "/leases", &r->mutex);
    if (status != 0) {
        return status;
    }
    r->before = NULL;
    r->permits = true;
    status = read_queue(r);
    *found = count_meant(r) > 0;
    if (*found) {
        zkr_contenders_free(list);
        (void)zkr_mutex_destroy(queue);
    } else {
        zkr_contenders_free(r->before);
        (void)zkr_mutex_destroy(r->mutex);
        r->mutex = queue;
        r->before = list;
        r->permits = false;
    }
    return status;
}

static int ask_all(const struct revoke *r)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < zkr_contenders_count(r->before); i++) {
        const zkr_contender *c = zkr_contenders_get(r->before, i);
        status = is_meant(r, c) ? ask_one(r, c) : 0;
    }
    return status;
}

static int ask(void *ctx)
{
    struct revoke *r = ctx;
    bool found = false;
    int status = read_queue(r);
    if (status == 0 && count_meant(r) == 0 && r->force && r->token != 0) {
        status = look_at_permits(r, &found);
    }
    const zkr_contender *first = zkr_contenders_get(r->before, 0);
    if (status != 0 || found) {
        return status;
    }
    if (!first) {
        return nobody(r);
    }
    if (count_meant(r) == 0) {
        return cli_fail(CLI_HELD,
                        "no holder of %.1000s has the token %" PRId64
                        ": %.200s holds it with token %" PRId64 "; no request was sent",
                        r->path, r->token, contender_name(first), first->fencing_token);
    }
    return r->force && r->wait_ms == NOT_WAITING ? refuse_force(r) : ask_all(r);
}

static int say_released(void *unused)
{
    (void)unused;
    (void)printf("released\n");
    return cli_flush();
}

static int ask_and_wait(struct revoke *r)
{
    int status = client_work(r->env, NEVER, ask, r);
    if (status == 0 && r->wait_ms != NOT_WAITING) {
        r->until = clock_now_ms() + r->wait_ms;
        status = client_work(r->env, r->wait_ms == 0 ? NEVER : r->until, await_end, r);
    }
    if (status != 0 || (r->wait_ms == NOT_WAITING && !r->permits)) {
        return status;
    }
    if (r->freed) {
        return client_work(r->env, NEVER, say_released, NULL);
    }
    return r->force
               ? client_work(r->env, NEVER, evict_all, r)
               : cli_fail(CLI_HELD,
                          "%.1000s is still held: its holder got the request, but zkr "
                          "keeps the lock until all processes of its command have "
                          "ended; --force deletes the node",
                          r->path);
}

int cmd_revoke(struct env *env)
{
    struct revoke r = {.env = env, .wait_ms = NOT_WAITING};
    int status = take_arguments(&r);
    if (status != GO_ON) {
        return status;
    }
    status = client_open(env, NULL, false, false);
    if (status == 0) {
        status = ask_mutex(env, r.path, "", &r.mutex);
    }
    if (status == 0) {
        status = ask_and_wait(&r);
    }
    zkr_contenders_free(r.before);
    (void)zkr_mutex_destroy(r.mutex);
    int64_t until = r.wait_ms == NOT_WAITING ? NEVER : CLIENT_NOW;
    return client_end(env, client_grace(until), true, status);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* zkr wait: waits until a lock is free, without taking it. */
#include "ask.h"
#include "cli.h"
#include "client.h"
#include "clock.h"
#include "cmd.h"
#include "options.h"
#include "settings.h"
#include "view.h"

static const char usage[] =
    "usage: zkr [OPTION]... wait [-w SEC] PATH\n"
    "\n"
    "Waits until nobody holds the lock at PATH or waits for it, without taking it.\n"
    "\n"
    "  -w, --wait SEC  wait at most SEC seconds, then exit with status 1;\n"
    "                  0 checks once\n";

struct await {
    struct env *env;
    int64_t wait_ms; /* may be ZKR_FOREVER */
    int64_t until;
    const char *path;
    zkr_mutex *mutex;
};

static int take_arguments(struct await *a)
{
    struct globals *g = &a->env->globals;
    const struct option_row rows[] = {
        {"wait", 'w', option_seconds, &a->wait_ms, "seconds"}, OPTIONS_END};
    int rc = options_path(g, usage, rows);
    a->path = g->path;
    rc = rc == GO_ON ? options_settle(g) : rc;
    if (a->wait_ms > 0 && a->wait_ms < g->connect_ms) {
        g->connect_ms = a->wait_ms;
    }
    return rc;
}

/* A shorter wait needs no explanation. */
enum { SOON_MS = 500 };

/* Warns if the first contender is not ephemeral, because then no end of a session deletes its node. */
static void note_first(const struct await *a)
{
    zkr_contenders *list = NULL;
    if (zkr_mutex_contenders(a->mutex, &list) == ZKR_OK) {
        (void)view_warn_stays(a->path, list);
    }
    zkr_contenders_free(list);
}

/* Waits until the lock is free. The time limit includes the time to connect. */
static int work(void *ctx)
{
    struct await *a = ctx;
    bool permits = false;
    int status = ask_has_permits(a->env, a->path, &permits);
    if (status == 0 && permits) {
        return cli_fail(CLI_PATH,
                        "%.1000s is a semaphore, and zkr wait cannot wait for permits; "
                        "see 'zkr status %.1000s'",
                        a->path, a->path);
    }
    if (status != 0) {
        return status;
    }
    int64_t left = a->wait_ms == ZKR_FOREVER ? ZKR_FOREVER : clock_left_ms(a->until);
    bool patient = left == ZKR_FOREVER || left > SOON_MS;
    int rc = zkr_mutex_await_free(a->mutex, patient ? SOON_MS : left);
    if (rc == ZKR_ETIMEDOUT && patient) {
        note_first(a);
        left = a->wait_ms == ZKR_FOREVER ? ZKR_FOREVER : clock_left_ms(a->until);
        rc = zkr_mutex_await_free(a->mutex, left);
    }
    return rc == ZKR_ETIMEDOUT
               ? cli_fail(CLI_HELD, "%.1000s is not free; see 'zkr status %.1000s'",
                          a->path, a->path)
               : cli_check(rc);
}

int cmd_wait(struct env *env)
{
    struct await a = {.env = env, .wait_ms = ZKR_FOREVER};
    int status = take_arguments(&a);
    if (status != GO_ON) {
        return status;
    }
    a.until = a.wait_ms == ZKR_FOREVER ? NEVER : clock_now_ms() + a.wait_ms;
    status = client_open(env, NULL, false, false);
    if (status == 0) {
        status = ask_mutex(env, a.path, "", &a.mutex);
    }
    if (status == 0) {
        status = client_work(env, a.wait_ms == 0 ? NEVER : a.until, work, &a);
    }
    (void)zkr_mutex_destroy(a.mutex);
    return client_end(env, client_grace(a.until == NEVER ? NEVER : CLIENT_NOW), true,
                      status);
}

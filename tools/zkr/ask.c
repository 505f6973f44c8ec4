/* SPDX-License-Identifier: Apache-2.0 */
#include "ask.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "client.h"

/* A request to the servers, which is sent again if the connection is lost. Initially zeroed. */
struct question {
    int attempts;
    int rc;     /* result of the last attempt; the caller sets it */
    int status; /* after the last attempt: 0 or an exit code */
};

/* Waits for the session. Usage: while (may_ask(env, &q)) { q.rc = ...; } return q.status; */
static bool may_ask(const struct env *env, struct question *q)
{
    enum { ATTEMPTS = 3 };
    bool broken = q->rc == ZKR_ECONNLOSS || q->rc == ZKR_ESESSION;
    bool again = q->attempts == 0 || (q->attempts < ATTEMPTS && broken);
    q->attempts++;
    q->status = again ? client_wait(env, env->globals.connect_ms) : cli_check(q->rc);
    return again && q->status == 0;
}

static int read_list(struct ask_source of, zkr_contenders **out)
{
    return of.mutex   ? zkr_mutex_contenders(of.mutex, out)
           : of.latch ? zkr_leader_latch_participants(of.latch, out)
                      : zkr_semaphore_holders(of.semaphore, out);
}

int ask_list(const struct env *env, struct ask_source of, zkr_contenders **out)
{
    struct question q = {0};
    while (may_ask(env, &q)) {
        q.rc = read_list(of, out);
    }
    return q.status;
}

static void *read_in_thread(void *ask_list)
{
    struct ask_list *l = ask_list;
    (void)read_list(l->of, &l->list);
    return NULL;
}

int ask_lists(const struct env *env, struct ask_list *lists, size_t count)
{
    enum { MOST = 8 };
    pthread_t threads[MOST];
    size_t started = 0;
    int status = client_wait(env, env->globals.connect_ms);
    if (status != 0) {
        return status;
    }
    while (started < MOST && started < count &&
           pthread_create(&threads[started], NULL, read_in_thread, &lists[started]) ==
               0) {
        started++;
    }
    for (size_t i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    return 0;
}

int ask_has_permits(const struct env *env, const char *path, bool *out)
{
    zkr_semaphore *semaphore;
    zkr_contenders *permits = NULL;
    int rc = zkr_semaphore_create(&semaphore, env->client, path, 1, NULL);
    if (rc != ZKR_OK) {
        return cli_fail_rc(rc);
    }
    int status = ask_list(env, (struct ask_source){.semaphore = semaphore}, &permits);
    const zkr_contender *first = zkr_contenders_get(permits, 0);
    *out = first && first->kind == ZKR_KIND_LEASE;
    zkr_contenders_free(permits);
    (void)zkr_semaphore_destroy(semaphore);
    return status;
}

int ask_node(const struct env *env, const char *path, zkr_node *out, bool *missing)
{
    struct question q = {0};
    while (may_ask(env, &q)) {
        int rc = zkr_client_get(env->client, path, NULL, 0, out, sizeof(*out));
        *missing = rc == ZKR_ENONODE;
        q.rc = *missing ? ZKR_OK : rc;
    }
    return q.status;
}

int ask_survey(const struct env *env, const char *path, int64_t flags, zkr_survey **out)
{
    struct question q = {0};
    while (may_ask(env, &q)) {
        int rc = zkr_survey_read(env->client, path, flags, out);
        q.rc = rc == ZKR_ENONODE ? ZKR_OK : rc;
    }
    return q.status;
}

int ask_mutex(const struct env *env,
              const char *path,
              const char *below,
              zkr_mutex **out)
{
    char *whole = NULL;
    if (*below != '\0' && asprintf(&whole, "%s%s", path, below) < 0) {
        return cli_fail_memory();
    }
    int rc = zkr_mutex_create(out, env->client, whole ? whole : path, NULL);
    free(whole);
    return cli_check(rc);
}

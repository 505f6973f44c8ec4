/* SPDX-License-Identifier: Apache-2.0 */
/* A client process: opens its client, lets its threads contend, cancels waits, and kills itself or ends in order. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clean.h"
#include "control.h"
#include "guarded.h"
#include "names.h"
#include "plan.h"
#include "store.h"
#include "tickets.h"
#include "util.h"
#include "wall.h"
#include "worker.h"

enum { FLUSH_MS = 20000, THREADS_MS = 5000, STEP_MS = 10, STALL_MS = 50 };

/* All threads share one set of objects, except the last, which has its own. */
static struct zkc_locks locks[2];

zkc_record zkc_client_record(const struct zkc_process *p, enum zkc_kind kind, int path)
{
    return (zkc_record){.at = zkc_now(),
                        .kind = (uint16_t)kind,
                        .life = (uint16_t)p->args->life,
                        .process = (uint8_t)p->args->index,
                        .path = (uint8_t)path};
}

static void say(const struct zkc_process *p, enum zkc_kind kind, int code)
{
    zkc_record r = zkc_client_record(p, kind, 0);
    r.code = code;
    zkc_put(p->history, &r);
}

static void on_log(int level, const char *line, void *ctx)
{
    const struct zkc_process *p = ctx;
    (void)fprintf(stderr, "%lld client %d.%d [%d] %s\n", (long long)zkc_now(),
                  p->args->index, p->args->life, level, line);
}

static int complain(const struct zkc_process *p, const char *what)
{
    (void)fprintf(stderr, "%lld client %d.%d: %s: %s\n", (long long)zkc_now(),
                  p->args->index, p->args->life, what, zkr_last_error()->message);
    return 1;
}

static bool open_files(struct zkc_process *p)
{
    char file[256];
    (void)snprintf(file, sizeof file, "%s/%s", p->args->dir, ZKC_HISTORY_FILE);
    p->history = zkc_history_open(file);
    (void)snprintf(file, sizeof file, "%s/%s", p->args->dir, ZKC_CONTROL_FILE);
    int fd = open(file, O_RDWR | O_CLOEXEC);
    if (p->history < 0 || fd < 0) {
        return false;
    }
    void *memory =
        mmap(NULL, sizeof *p->control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    p->control = memory;
    if (memory == MAP_FAILED) {
        return false;
    }
    zkc_names_begin(p->control);
    zkc_wall_begin(memory);
    return true;
}

static int open_client(struct zkc_process *p)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = ZKC_SESSION_MS;
    o.connect_timeout_ms = 3000;
    o.retry_max_ms = 500;
    o.guardian = zkc_is_guarded(p->args->index) ? ZKR_GUARDIAN_REQUIRED : 0;
    o.log_level = ZKR_LOG_WARN;
    o.log = on_log;
    o.log_ctx = p;
    return zkr_client_open(&p->client, p->args->servers, &o);
}

static bool make_workers(struct zkc_process *p, struct zkc_worker *workers)
{
    if (zkc_locks_make(&locks[0], p) != ZKR_OK ||
        zkc_locks_make(&locks[1], p) != ZKR_OK) {
        return false;
    }
    char socket[256];
    (void)snprintf(socket, sizeof socket, "%s/%s", p->args->dir, ZKC_STORE_FILE);
    for (int i = 0; i < ZKC_THREADS; i++) {
        struct zkc_worker *w = &workers[i];
        w->process = p;
        w->number = i;
        (void)pthread_mutex_init(&w->lock, NULL);
        (void)pthread_cond_init(&w->moved, NULL);
        w->random = p->args->seed + (uint64_t)(p->args->index * 1000003) +
                    (uint64_t)(p->args->life * 7919 + i);
        w->store = zkc_store_connect(socket);
        w->locks = &locks[i == ZKC_THREADS - 1];
        if (w->store < 0) {
            return false;
        }
    }
    return true;
}

static void start_threads(struct zkc_worker *workers)
{
    for (int i = 0; i < ZKC_THREADS; i++) {
        if (pthread_create(&workers[i].thread, NULL, zkc_worker_run, &workers[i]) !=
            0) {
            zkt_fail("no thread");
        }
    }
}

static bool all_done(const struct zkc_worker *workers)
{
    bool done = true;
    for (int i = 0; i < ZKC_THREADS; i++) {
        done = done && atomic_load(&workers[i].done);
    }
    return done;
}

static void cancel(struct zkc_process *p, const struct zkc_locks *l, int mutex)
{
    zkc_record r = zkc_client_record(p, ZKC_CANCEL, zkc_locks_path(mutex));
    r.code = zkr_mutex_cancel(l->mutexes[mutex]);
    zkc_put(p->history, &r);
}

/* Ends every wait of the threads. */
static void cancel_all(struct zkc_worker *workers)
{
    for (int i = 0; i < ZKC_THREADS; i++) {
        for (int mutex = 0; mutex < ZKC_MUTEXES; mutex++) {
            (void)zkr_mutex_cancel(workers[i].locks->mutexes[mutex]);
        }
        (void)zkc_ticket_cancel(&workers[i]);
    }
}

/* Sleeps. A sleep that takes far too long means that the machine was busy, and is recorded. */
static void nap(const struct zkc_process *p)
{
    zkc_record r = zkc_client_record(p, ZKC_STALLED, 0);
    zkt_sleep_ms(STEP_MS);
    r.until = zkc_now();
    if (r.until - r.at > (int64_t)(STEP_MS + STALL_MS) * 1000000) {
        zkc_put(p->history, &r);
    }
}

/*
 * Watches over the threads until all have ended, and ends the tickets that they leave. While the run goes on, cancels
 * waits at random. At the end of this life, kills the process or makes the threads quit.
 */
static void watch_over(struct zkc_process *p, struct zkc_worker *workers)
{
    uint64_t random =
        p->args->seed ^ (uint64_t)(p->args->index * 65537 + p->args->life);
    const int64_t end = zkt_now_ms() + zkc_between(&random, 10000, 80000);
    const bool by_kill = zkc_between(&random, 1, 10) <= 6;
    for (; !all_done(workers); nap(p)) {
        const bool running = atomic_load(&p->control->phase) == ZKC_RUNNING;
        zkc_tickets_end_left(p);
        if (atomic_load(&p->quit)) {
            cancel_all(workers);
        } else if (running && zkt_now_ms() >= end) {
            if (by_kill) {
                say(p, ZKC_SELF_KILL, 0);
                (void)kill(getpid(), SIGKILL);
            }
            atomic_store(&p->quit, true);
        } else if (running && zkc_between(&random, 1, 80) == 1) {
            cancel(p, &locks[zkc_between(&random, 0, 1)],
                   (int)zkc_between(&random, 0, ZKC_MUTEXES - 1));
        } else if (running && zkc_between(&random, 1, 50) == 1) {
            (void)zkc_ticket_cancel(&workers[zkc_between(&random, 0, ZKC_THREADS - 1)]);
        }
    }
}

static int end(struct zkc_process *p, struct zkc_worker *workers)
{
    for (int i = 0; i < ZKC_THREADS; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        (void)close(workers[i].store);
    }
    zkc_tickets_end_left(p);
    if (!atomic_load(&p->quit) && zkr_client_flush(p->client, FLUSH_MS) != ZKR_OK) {
        return complain(p, "nodes are left after the calm");
    }
    if (zkc_locks_destroy(&locks[0]) != ZKR_OK ||
        zkc_locks_destroy(&locks[1]) != ZKR_OK) {
        return complain(p, "a lock cannot be destroyed");
    }
    if (zkr_client_close(p->client) != ZKR_OK) {
        return complain(p, "the client cannot be closed");
    }
    zkc_handle_close(p->handle);
    const int64_t limit = zkt_now_ms() + THREADS_MS;
    while (zkt_thread_count() > p->threads_before) {
        if (zkt_now_ms() >= limit) {
            return complain(p, "threads are left after close");
        }
        zkt_sleep_ms(5);
    }
    const int status = atomic_load(&p->quit) ? ZKC_STATUS_AGAIN : ZKC_STATUS_CALM;
    say(p, ZKC_END, status);
    return status;
}

int zkc_client_run(const struct zkc_client_args *args)
{
    static struct zkc_worker workers[ZKC_THREADS];
    static struct zkc_process process;
    struct zkc_process *p = &process;
    p->args = args;
    (void)pthread_mutex_init(&p->lock, NULL);
    if (!open_files(p)) {
        (void)fprintf(stderr, "client: %s: %s\n", args->dir, strerror(errno));
        return 2;
    }
    zkt_baseline(); /* a sanitizer may now start its own thread */
    p->threads_before = zkt_thread_count();
    if (open_client(p) != ZKR_OK || !make_workers(p, workers)) {
        return complain(p, "cannot start");
    }
    p->handle = zkc_handle_open(args->servers);
    say(p, ZKC_BEGIN, (int)getpid());
    start_threads(workers);
    watch_over(p, workers);
    return end(p, workers);
}

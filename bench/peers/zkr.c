/* SPDX-License-Identifier: Apache-2.0 */
/* zkr-bench: the driver of zkrecipes. It uses the public headers. */
#include <stdlib.h>
#include <string.h>

#include <zkr/zkr.h>

#include "die.h"
#include "driver.h"

static zkr_leader_latch *latch;

static void must(int rc, const char *what)
{
    if (rc != ZKR_OK) {
        bench_die("%s: %s: %s", what, zkr_err_name(rc), zkr_last_error()->message);
    }
}

static void *open_client(void)
{
    zkr_client *c = NULL;
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = driver_options.ttl_ms;
    o.look_ahead = strcmp(driver_options.kind, "never_ahead") == 0    ? -1
                   : strcmp(driver_options.kind, "always_ahead") == 0 ? 1
                                                                      : 0;
    o.nearby = strcmp(driver_options.kind, "nearby") == 0;
    o.guardian =
        strcmp(driver_options.kind, "guarded") == 0 ? ZKR_GUARDIAN_REQUIRED : 0;
    must(zkr_client_open(&c, driver_options.servers, &o), "open");
    must(zkr_client_wait_connected(c, 15000), "connect");
    return c;
}

/* A mutex, a side of a read-write lock, or a semaphore. */
struct lock {
    zkr_mutex *mutex;
    zkr_semaphore *semaphore;
    zkr_ticket *ticket; /* ticket of the semaphore, or of a waiter without a thread */
    void (*granted)(void *contender);
    void *contender;
};

static zkr_mutex *make_mutex(zkr_client *c, const char *path)
{
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.keep_ms = strcmp(driver_options.kind, "keeper") == 0 ? 100 : 0;
    zkr_mutex *m = NULL;
    must(zkr_mutex_create(&m, c, path, &o), "create a mutex");
    return m;
}

static void *make_lock(void *client, const char *path, int number)
{
    struct lock *l = calloc(1, sizeof(*l));
    zkr_rwlock *rw = NULL;
    if (!l) {
        bench_die("out of memory");
    }
    if (strcmp(driver_options.lock, "rw") == 0) {
        must(zkr_rwlock_create(&rw, client, path, NULL), "create a read-write lock");
        l->mutex =
            driver_writes(number) ? zkr_rwlock_writer(rw) : zkr_rwlock_reader(rw);
    } else if (strcmp(driver_options.lock, "semaphore") == 0) {
        must(zkr_semaphore_create(&l->semaphore, client, path, driver_options.permits,
                                  NULL),
             "create a semaphore");
    } else {
        l->mutex = make_mutex(client, path);
    }
    return l;
}

static bool take(void *lock, bool wait)
{
    struct lock *l = lock;
    int64_t timeout = wait ? ZKR_FOREVER : 0;
    int rc = l->semaphore ? zkr_semaphore_acquire(l->semaphore, 1, timeout, &l->ticket)
                          : zkr_mutex_acquire(l->mutex, timeout);
    if (rc == ZKR_ETIMEDOUT) {
        return false;
    }
    must(rc, "acquire");
    return true;
}

static void on_ticket(zkr_ticket *t, int state, void *ctx)
{
    struct lock *l = ctx;
    if (state != ZKR_TICKET_HELD) {
        must(zkr_ticket_error(t), "wait");
    }
    l->ticket = t; /* zkr_mutex_request() may not have returned yet */
    l->granted(l->contender);
}

static void request(void *lock, void (*granted)(void *contender), void *contender)
{
    struct lock *l = lock;
    l->granted = granted;
    l->contender = contender;
    zkr_ticket *t;
    must(zkr_mutex_request(l->mutex, ZKR_FOREVER, on_ticket, l, &t), "request");
}

static void give_back(void *lock)
{
    struct lock *l = lock;
    if (l->ticket) {
        must(zkr_ticket_release(l->ticket), "release");
        must(zkr_ticket_destroy(l->ticket), "destroy");
        l->ticket = NULL;
    } else {
        must(zkr_mutex_release(l->mutex), "release");
    }
}

static void lead(void *client, const char *path)
{
    must(zkr_leader_latch_create(&latch, client, path, "bench", NULL),
         "create a latch");
    must(zkr_leader_latch_start(latch), "start");
    must(zkr_leader_latch_await(latch, ZKR_FOREVER), "lead");
}

static void resign(void *client)
{
    (void)client;
    must(zkr_leader_latch_stop(latch, ZKR_LATCH_SILENT), "stop");
}

static void close_client(void *client)
{
    (void)zkr_client_flush(client, 1000);
    /* Fails with ZKR_EBUSY, because the locks still exist; the process will exit. */
    (void)zkr_client_close(client);
}

int main(int argc, char **argv)
{
    static const struct driver_peer peer = {.open = open_client,
                                            .make = make_lock,
                                            .lock = take,
                                            .unlock = give_back,
                                            .request = request,
                                            .close = close_client,
                                            .lead = lead,
                                            .resign = resign};
    return driver_main(argc, argv, &peer);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces SERVERS PATH: the short pieces of code that README.md, docs/ and zkrecipes-guide(7) show, as functions.
 * Runs each of them below PATH.
 */
#include <stdio.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include <zkr/guard.h>
#include <zkr/zkr.h>

static int failures;

static void expect_ok(const char *what, int rc)
{
    if (rc != ZKR_OK) {
        printf("%s: %s: %s\n", what, zkr_err_name(rc), zkr_last_error()->message);
        failures++;
    }
}

static void work(void)
{
}

/* ---- loss ----------------------------------------------------------------------- */

static void guarded_write(zkr_mutex *mutex, const char *node, const char *text)
{
    zoo_op_t op;
    zoo_set_op_init(&op, node, text, (int)strlen(text), -1, NULL);
    int rc = zkr_mutex_multi(mutex, 1, &op, NULL, 5000); /* ZKR_ESESSION: not held */
    expect_ok("guarded write", rc == ZKR_ENONODE ? ZKR_OK : rc);
}

/* ---- tickets -------------------------------------------------------------------- */

static void begin_the_work(zkr_ticket *ticket)
{
    (void)ticket;
    work();
}

static void stop_the_work(void)
{
}

static void run_the_loop(zkr_ticket *ticket)
{
    expect_ok("wait for a ticket", zkr_ticket_wait(ticket, 10000));
}

static void on_ticket(zkr_ticket *ticket, int state, void *ctx)
{
    (void)ctx;
    if (state == ZKR_TICKET_HELD)
        begin_the_work(ticket);
    else if (state == ZKR_TICKET_LOST)
        stop_the_work();
    else /* ZKR_TICKET_FAILED */
        fprintf(stderr, "%s\n", zkr_strerror(zkr_ticket_error(ticket)));
}

static void use_a_ticket(zkr_mutex *mutex)
{
    zkr_ticket *ticket = NULL; /* the next call returns at once */
    zkr_mutex_request(mutex, ZKR_FOREVER, on_ticket, NULL, &ticket);
    run_the_loop(ticket);
    zkr_ticket_release(ticket); /* on any thread; a waiting ticket leaves the queue */
    zkr_ticket_destroy(ticket);
}

/* ---- the other locks ------------------------------------------------------------ */

static void read_and_write(zkr_client *client, const char *path)
{
    zkr_rwlock *lock = NULL;
    expect_ok("create", zkr_rwlock_create(&lock, client, path, NULL));
    zkr_mutex *reader = zkr_rwlock_reader(lock), *writer = zkr_rwlock_writer(lock);
    if (zkr_mutex_acquire(reader, 10000) == ZKR_OK) { /* together with other readers */
        work();
        zkr_mutex_release(reader);
    }
    if (zkr_mutex_acquire(writer, 10000) == ZKR_OK) { /* alone */
        work();
        zkr_mutex_release(writer);
    }
    zkr_rwlock_destroy(lock);
}

static void take_permits(zkr_client *client, const char *path)
{
    zkr_semaphore *uploads = NULL;
    zkr_ticket *ticket = NULL;
    zkr_semaphore_create(&uploads, client, path, 5, NULL); /* 5 permits in all */
    if (zkr_semaphore_acquire(uploads, 2, 10000, &ticket) == ZKR_OK) { /* 2 of them */
        work();
        zkr_ticket_release(ticket);
        zkr_ticket_destroy(ticket);
    }
    zkr_semaphore_destroy(uploads);
}

static void lock_several(zkr_client *client)
{
    const char *paths[] = {"/accounts/17", "/accounts/4"}; /* in any order */
    zkr_multi_lock *lock = NULL;
    zkr_ticket *ticket = NULL;
    zkr_multi_lock_create(&lock, client, paths, 2, NULL);
    if (zkr_multi_lock_acquire(lock, 5000, &ticket) == ZKR_OK) { /* both, or none */
        work();
        zkr_ticket_release(ticket);
        zkr_ticket_destroy(ticket);
    }
    zkr_multi_lock_destroy(lock);
}

/* ---- leading -------------------------------------------------------------------- */

static void run_the_next_job(zkr_leader_latch *latch, int64_t token)
{
    enum { JOB_MS = 50 }; /* the longest time of the job */
    if (zkr_leader_latch_term_valid_for_ms(latch, token) > JOB_MS)
        work();
}

static int lead(zkr_client *client, const char *path)
{
    int64_t token = 0;
    zkr_leader_latch *latch = NULL;
    int rc = zkr_leader_latch_create(&latch, client, path, "host-17", NULL);
    if (rc == ZKR_OK)
        rc = zkr_leader_latch_start(latch); /* a candidate from here on */
    if (rc == ZKR_OK)
        rc = zkr_leader_latch_await(latch, 10000); /* or query from time to time */
    if (rc == ZKR_OK)
        rc = zkr_leader_latch_fencing_token(latch, &token); /* once in each term */
    if (rc == ZKR_OK)
        run_the_next_job(latch, token);
    zkr_leader_latch_stop(latch, ZKR_LATCH_SILENT);
    zkr_leader_latch_destroy(latch);
    return rc;
}

/* ---- TLS ------------------------------------------------------------------------ */

static int open_with_tls(zkr_client **client)
{
    zkr_client_options options = ZKR_CLIENT_OPTIONS_INIT;
    options.tls_cert = "/etc/zk/ca.pem,/etc/zk/client.pem,/etc/zk/client.key";
    return zkr_client_open(client, "zk1.example.com:2281", &options);
}

/* ---- a guardian ----------------------------------------------------------------- */

static int open_guarded(zkr_client **client, const char *servers)
{
    zkr_client_options options = ZKR_CLIENT_OPTIONS_INIT;
    options.guardian = ZKR_GUARDIAN_TRY; /* ..._REQUIRED fails without a guardian */
    return zkr_client_open(client, servers, &options);
}

int main(int argc, char **argv)
{
    zkr_client *client = NULL;
    zkr_mutex *mutex = NULL;
    char path[256];
    if (argc != 3) {
        fputs("usage: pieces SERVERS PATH\n", stderr);
        return 64;
    }
    if (open_with_tls(&client) == ZKR_OK) { /* only if these files happen to exist */
        zkr_client_close(client);
    }
    snprintf(path, sizeof(path), "%s/mutex", argv[2]);
    expect_ok("open", open_guarded(&client, argv[1]));
    expect_ok("create", zkr_mutex_create(&mutex, client, path, NULL));
    expect_ok("acquire", zkr_mutex_acquire(mutex, 10000));
    guarded_write(mutex, "/stock/apples", "12");
    expect_ok("release", zkr_mutex_release(mutex));
    use_a_ticket(mutex);
    zkr_mutex_destroy(mutex);
    snprintf(path, sizeof(path), "%s/table", argv[2]);
    read_and_write(client, path);
    snprintf(path, sizeof(path), "%s/uploads", argv[2]);
    take_permits(client, path);
    lock_several(client);
    snprintf(path, sizeof(path), "%s/schedulers", argv[2]);
    expect_ok("lead", lead(client, path));
    expect_ok("close", zkr_client_close(client));
    return failures == 0 ? 0 : 1;
}

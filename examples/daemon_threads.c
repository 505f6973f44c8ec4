/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_threads SERVERS NAME THREADS PATH: worker threads that share one lock, with each other and with other hosts.
 * It exits cleanly on SIGTERM or SIGINT. It prints "NAME works TOKEN" for each piece of work.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <zkr/zkr.h>

enum { WORK_MS = 20, THREADS_MAX = 64 };

static const char *name;

/* Runs under the lock. It stands for a write to a store that refuses a token lower than the highest one it has seen. */
static void work(int64_t token)
{
    const struct timespec pause = {.tv_nsec = WORK_MS * 1000000};
    printf("%s works %" PRId64 "\n", name, token);
    fflush(stdout);
    nanosleep(&pause, NULL);
}

static void *worker(void *arg)
{
    zkr_mutex *mutex = arg;
    int rc;
    while ((rc = zkr_mutex_acquire(mutex, ZKR_FOREVER)) == ZKR_OK) {
        int64_t token;
        if (zkr_mutex_valid_for_ms(mutex) > WORK_MS &&
            zkr_mutex_fencing_token(mutex, &token) == ZKR_OK) {
            work(token);
        }
        zkr_mutex_release(mutex); /* also after a loss; the next acquire queues again */
    }
    /* Unless the client was shut down, the error is permanent, because transient errors are retried. */
    if (rc != ZKR_ECLOSED) {
        fprintf(stderr, "daemon_threads: %s\n", zkr_last_error()->message);
        kill(getpid(), SIGTERM);
    }
    return NULL;
}

static int run_workers(zkr_client *client, zkr_mutex *mutex, int count, sigset_t *ends)
{
    pthread_t threads[THREADS_MAX];
    int started = 0, number;
    while (started < count &&
           pthread_create(&threads[started], NULL, worker, mutex) == 0) {
        started++;
    }
    if (started == count) {
        sigwait(ends, &number);
    }
    zkr_client_shutdown(client); /* all waits return ZKR_ECLOSED, but holds stay */
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    return started == count ? ZKR_OK : ZKR_ESYS;
}

int main(int argc, char **argv)
{
    int count = argc == 5 ? atoi(argv[3]) : 0;
    if (count < 1 || count > THREADS_MAX) {
        fputs("usage: daemon_threads SERVERS NAME THREADS PATH\n", stderr);
        return 64;
    }
    name = argv[2];
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    /* This must precede the start of threads, because they inherit the mask. */
    pthread_sigmask(SIG_BLOCK, &ends, NULL);

    zkr_client *client = NULL; /* one client for the process */
    zkr_mutex *mutex = NULL;   /* one mutex for all threads */
    int rc = zkr_client_open(&client, argv[1], NULL);
    if (rc == ZKR_OK) {
        rc = zkr_mutex_create(&mutex, client, argv[4], NULL);
    }
    if (rc == ZKR_OK) {
        rc = run_workers(client, mutex, count, &ends);
    }
    if (rc != ZKR_OK) {
        fprintf(stderr, "daemon_threads: %s\n", zkr_strerror(rc));
    }
    zkr_mutex_destroy(mutex);
    /* Ends the session, so the servers delete all our nodes. */
    zkr_client_close(client);
    return rc == ZKR_OK ? 0 : 1;
}

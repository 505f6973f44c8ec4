/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does your program stop when it loses its lock? A worker holds a lock on a server that the test has started. The test
 * ends the session of that lock, and the worker must stop.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <zkr/testing.h>
#include <zkr/zkr.h>

static void must(int rc)
{
    if (rc != ZKR_OK) {
        fprintf(stderr, "lose_a_lock: %s\n", zkr_last_error()->message);
        exit(1);
    }
}

static long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void take_a_step(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 5 * 1000 * 1000}, NULL);
}

/* The program under test. It works for as long as it surely holds the lock. */
static void *work(void *mutex)
{
    must(zkr_mutex_acquire(mutex, 10000));
    while (zkr_mutex_valid_for_ms(mutex) > 5) {
        take_a_step();
    }
    printf("worker: %s\n", zkr_strerror(zkr_mutex_release(mutex)));
    return NULL;
}

int main(void)
{
    zkr_test_server *server = NULL;
    zkr_client *client = NULL;
    zkr_mutex *mutex = NULL;
    pthread_t worker;

    /* A ZooKeeper server for this test only. */
    must(zkr_test_server_start(&server, NULL));
    must(zkr_client_open(&client, zkr_test_server_host(server), NULL));
    must(zkr_mutex_create(&mutex, client, "/demo/lock", NULL));
    if (pthread_create(&worker, NULL, work, mutex) != 0) {
        return 1;
    }
    while (!zkr_mutex_is_held_in_process(mutex)) {
        take_a_step();
    }

    const long start = now_ms();
    must(zkr_test_expire_holder(zkr_test_server_host(server), "/demo/lock"));
    pthread_join(worker, NULL); /* the worker must stop */
    printf("test: it stopped within %ld ms\n", now_ms() - start);

    must(zkr_mutex_destroy(mutex));
    must(zkr_client_close(client));
    must(zkr_test_server_stop(server));
    return 0;
}

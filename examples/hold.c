/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold SERVERS PATH NAME HOLD_MS [SESSION_MS]: waits for the lock at PATH, holds it for HOLD_MS (-1: until SIGTERM or
 * SIGINT, or until it is lost), and releases it. A signal during the wait makes it leave the queue. It prints, with
 * TIME in milliseconds since 1970:
 *
 *   NAME acquired TIME TOKEN SESSION_MS
 *   NAME released TIME
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <zkr/zkr.h>

static sigset_t ends;    /* the signals that end the program */
static sem_t enough;     /* posted by SIGTERM or SIGINT, or when the hold is lost */
static atomic_bool left; /* the program no longer waits or holds */

static void on_lost(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    (void)m, (void)ctx;
    fprintf(stderr, "hold: lost %s\n", lost->node);
    sem_post(&enough);
}

/* A signal handler must not call the library, but a thread may. */
static void *end_on_signal(void *mutex)
{
    const struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};
    int number;
    sigwait(&ends, &number);
    sem_post(&enough);
    while (!left) { /* repeated, because the main thread may be just about to wait */
        zkr_mutex_cancel(mutex);
        nanosleep(&moment, NULL);
    }
    return NULL;
}

static void say(const char *name, const char *what, const char *more)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    printf("%s %s %" PRId64 ".%03ld%s\n", name, what,
           (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000,
           now.tv_nsec / 1000 % 1000, more);
    fflush(stdout);
}

static void stay(int64_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    int64_t ns = until.tv_nsec + ms % 1000 * 1000000;
    until.tv_sec += (time_t)(ms / 1000 + ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    while ((ms < 0 ? sem_wait(&enough) : sem_timedwait(&enough, &until)) != 0 &&
           errno == EINTR) {
    }
}

static int hold(zkr_client *c, zkr_mutex *m, const char *name, int64_t ms)
{
    int rc = zkr_mutex_acquire(m, ZKR_FOREVER);
    if (rc != ZKR_OK) {
        return rc;
    }
    int64_t token = 0;
    char more[64] = "";
    if (zkr_mutex_fencing_token(m, &token) == ZKR_OK) {
        snprintf(more, sizeof(more), " %" PRId64 " %" PRId64, token,
                 zkr_client_session_timeout_ms(c));
        say(name, "acquired", more);
        stay(ms);
        /* Printed before the release, so that no successor can print earlier. */
        say(name, "released", "");
    }
    return zkr_mutex_release(m);
}

static int hold_unless_told(zkr_client *c, zkr_mutex *m, const char *name, int64_t ms)
{
    pthread_t listener;
    if (pthread_create(&listener, NULL, end_on_signal, m) != 0) {
        return ZKR_ESYS;
    }
    int rc = hold(c, m, name, ms);
    left = true;
    pthread_kill(listener, SIGTERM); /* in case it is still listening */
    pthread_join(listener, NULL);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc < 5 || argc > 6) {
        fputs("usage: hold SERVERS PATH NAME HOLD_MS [SESSION_MS]\n", stderr);
        return 64;
    }
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sem_init(&enough, 0, 0);
    pthread_sigmask(SIG_BLOCK, &ends,
                    NULL); /* before threads start, because they inherit the mask */

    zkr_client_options co = ZKR_CLIENT_OPTIONS_INIT;
    zkr_mutex_options mo = ZKR_MUTEX_OPTIONS_INIT;
    co.session_timeout_ms = argc > 5 ? strtoll(argv[5], NULL, 10) : 0;
    mo.owner = argv[3];
    mo.on_lost = on_lost;
    zkr_client *c = NULL;
    zkr_mutex *m = NULL;
    int rc = zkr_client_open(&c, argv[1], &co);
    if (rc == ZKR_OK) {
        rc = zkr_mutex_create(&m, c, argv[2], &mo);
    }
    if (rc == ZKR_OK) {
        rc = hold_unless_told(c, m, argv[3], strtoll(argv[4], NULL, 10));
    }
    if (rc != ZKR_OK && rc != ZKR_ECANCELED) {
        fprintf(stderr, "hold: %s: %s\n", zkr_err_name(rc), zkr_last_error()->message);
    }
    zkr_mutex_destroy(m);
    zkr_client_close(c);
    return rc == ZKR_OK ? 0 : 1;
}

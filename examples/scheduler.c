/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler SERVERS PATH NAME [SESSION_MS]: a daemon that runs in several instances, of which exactly one acts. While
 * it leads, it runs a job at each full second. It exits cleanly on SIGTERM or SIGINT. It prints, with NOW in
 * milliseconds since 1970, TICK as the second of the job, and TOKEN as the number of the term:
 *
 *   NAME leads NOW TOKEN
 *   NAME job NOW TOKEN TICK
 *   NAME follows NOW
 *
 * The line of a job stands for a write to a store, which uses TOKEN to refuse former leaders.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <zkr/zkr.h>

enum { JOB_MS = 50 }; /* a job, including its write, takes at most this long */

static const char *name;
static volatile sig_atomic_t failed; /* an error that no retry can fix */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    char line[128];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    printf("%s %s\n", name, line);
    fflush(stdout);
}

/* Runs on the selector's thread while this process leads. When it returns, this process gives up leadership. */
static void take_leadership(zkr_leadership *lead, void *ctx)
{
    int64_t token = zkr_leadership_fencing_token(lead);
    int64_t tick = now_ms() / 1000;
    (void)ctx;
    say("leads %" PRId64 " %" PRId64, now_ms(), token);
    for (;;) {
        /* Begin with the next second, because our predecessor may have done the current one. */
        tick++;
        int64_t pause = tick * 1000 - now_ms();
        if (zkr_leadership_wait(lead, pause > 0 ? pause : 0) != ZKR_ETIMEDOUT) {
            break; /* the leadership is lost, or the program must stop */
        }
        /* Begin only a job that is sure to end in time. ZKR_UNKNOWN (< 0) means that probes are off. */
        int64_t left = zkr_leadership_valid_for_ms(lead);
        if (left < 0 || left > JOB_MS) {
            say("job %" PRId64 " %" PRId64 " %" PRId64, now_ms(), token, tick);
        }
    }
    say("follows %" PRId64, now_ms());
}

static void on_failed(zkr_leader_selector *s, int code, void *ctx)
{
    (void)s, (void)ctx;
    fprintf(stderr, "scheduler: no candidate any more: %s\n", zkr_strerror(code));
    failed = 1;
    kill(getpid(), SIGTERM);
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc > 5) {
        fputs("usage: scheduler SERVERS PATH NAME [SESSION_MS]\n", stderr);
        return 64;
    }
    name = argv[3];
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    /* This must precede the start of threads, because they inherit the mask. */
    sigprocmask(SIG_BLOCK, &ends, NULL);

    zkr_client_options co = ZKR_CLIENT_OPTIONS_INIT;
    zkr_leader_selector_options so = ZKR_LEADER_SELECTOR_OPTIONS_INIT;
    co.session_timeout_ms = argc > 4 ? strtoll(argv[4], NULL, 10) : 0;
    so.auto_requeue = 1;
    so.on_failed = on_failed;
    zkr_client *c = NULL;
    zkr_leader_selector *s = NULL;
    int rc = zkr_client_open(&c, argv[1], &co);
    if (rc == ZKR_OK) {
        rc = zkr_leader_selector_create(&s, c, argv[2], name, take_leadership, NULL,
                                        &so);
    }
    if (rc == ZKR_OK) {
        rc = zkr_leader_selector_start(s);
    }
    if (rc == ZKR_OK) {
        int number;
        sigwait(&ends, &number);
        rc = zkr_leader_selector_stop(s, ZKR_FOREVER); /* this waits for the job */
    }
    if (rc != ZKR_OK) {
        fprintf(stderr, "scheduler: %s\n", zkr_last_error()->message);
    }
    zkr_leader_selector_destroy(s);
    zkr_client_close(c); /* ends the session, so the next candidate leads at once */
    return rc == ZKR_OK && !failed ? 0 : 1;
}

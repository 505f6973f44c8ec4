/* SPDX-License-Identifier: Apache-2.0 */
#include "health.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "children.h"
#include "cli.h"
#include "clock.h"
#include "fds.h"
#include "news.h"
#include "parse.h"
#include "signals.h"

static struct {
    struct held *held;
    struct health_options o;
    bool started;
    int stop; /* an eventfd that ends the thread */
    pthread_t thread;
} health;

/* --- one check --- */

/* The status arrives through descriptor 3, because another thread may have reaped the check. */
enum { STATUS_FD = 3 };
static char script[] = "sh -c \"$1\" 3>&-; echo $? >&3";

/* Becomes the check. Makes only calls that are safe after fork() in a threaded process. */
static _Noreturn void become(int status_fd)
{
    char shell[] = "sh", dash_c[] = "-c", name[] = "zkr-health";
    char *check = (char *)(uintptr_t)health.o.check;
    char *const argv[] = {shell, dash_c, script, name, check, NULL};
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* children_kill_check() needs it */
    int null = open("/dev/null", O_RDONLY);
    (void)dup2(null, STDIN_FILENO);
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    signals_restore(&health.held->env->signals);
    fds_hide();
    if (status_fd == STATUS_FD) {
        (void)fcntl(STATUS_FD, F_SETFD, 0);
    } else {
        (void)dup2(status_fd, STATUS_FD);
    }
    (void)execv("/bin/sh", argv);
    _exit(CLI_COMMAND);
}

/* Waits until @fd is readable, the checks end, or @until has passed. */
enum found { NOTHING, READABLE, STOP };
static enum found await(int fd, int64_t until)
{
    struct pollfd fds[] = {{.fd = health.stop, .events = POLLIN},
                           {.fd = fd, .events = POLLIN}};
    int n;
    do {
        n = poll(fds, sizeof(fds) / sizeof(fds[0]), clock_left_ms(until));
    } while (n <= 0 && clock_left_ms(until) > 0);
    return n <= 0 ? NOTHING : fds[0].revents != 0 ? STOP : READABLE;
}

/* Returns the exit status of the check, or -1 if none arrived in time, or the check was killed. */
static int read_status(int fd, int64_t until)
{
    char text[8] = "";
    int64_t status;
    bool readable = await(fd, until) == READABLE;
    ssize_t n = readable ? read(fd, text, sizeof(text) - 1) : 0;
    text[strcspn(text, "\n")] = '\0';
    return n > 0 && parse_int(text, 0, 255, &status) ? (int)status : -1;
}

/*
 * Kills a check that still runs, with all its descendants. Does not wait for a check that hangs in the kernel, because
 * zkr must report the hang. Returns false if the check still exists.
 */
static bool end_check(void)
{
    enum { MOST_MS = 200 };
    const struct timespec turn = {.tv_nsec = 1000000};
    const int64_t until = clock_now_ms() + MOST_MS;
    while (!children_check_ended() && clock_left_ms(until) > 0) {
        children_kill_check();
        (void)nanosleep(&turn, NULL);
    }
    return children_check_ended();
}

/*
 * Runs a check. Returns NULL if it succeeded, else a text that describes the failure, possibly in @buf. Fails while an
 * earlier check cannot be killed, so that only one check exists.
 */
static const char *run_check(int64_t until, char *buf, size_t size)
{
    int ends[2];
    if (!end_check()) {
        return "hangs, and cannot be killed";
    }
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return "cannot be run: too many open files";
    }
    pid_t pid = children_fork_check();
    if (pid == 0) {
        become(ends[1]);
    }
    (void)close(ends[1]);
    if (pid < 0) {
        (void)close(ends[0]);
        return "cannot be run: too many processes, or no memory";
    }
    int status = read_status(ends[0], until);
    (void)close(ends[0]);
    if (status < 0) {
        (void)end_check();
        return clock_left_ms(until) == 0 ? "did not end in time" : "was killed";
    }
    (void)snprintf(buf, size, "ended with status %d", status);
    return status == 0 ? NULL : buf;
}

/* --- the sequence of checks --- */

static void *run(void *arg)
{
    char buf[100];
    int64_t failed = 0;
    bool known = false, healthy = false;
    int64_t next = 0;
    while (await(-1, next) != STOP) {
        next = clock_now_ms() + health.o.every_ms;
        const char *wrong = run_check(next, buf, sizeof(buf));
        if (await(-1, 0) == STOP) {
            break; /* ending the checks may have killed this check */
        }
        failed = wrong ? failed + 1 : 0;
        if (!wrong && !healthy) {
            cli_note("healthy: now a candidate at %.1000s", health.held->path);
            healthy = true;
            news_set_fit(&health.held->news, health.held->grant.latch, true);
        } else if (wrong && (healthy ? failed >= health.o.failures : !known)) {
            cli_note("not healthy: the check %s; not a candidate at %.1000s until the "
                     "check succeeds",
                     wrong, health.held->path);
            healthy = false;
            news_set_fit(&health.held->news, health.held->grant.latch, false);
        }
        known = true;
    }
    return arg;
}

int health_begin(struct held *h, const struct health_options *options)
{
    health.held = h;
    health.o = *options;
    if (!health.o.check) {
        return 0;
    }
    health.stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (health.stop < 0) {
        return cli_fail_limits();
    }
    news_set_fit(&health.held->news, health.held->grant.latch, false);
    /*
     * This process must reap the processes that a check leaves behind, because the first process of a container may not
     * reap them.
     */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    errno = pthread_create(&health.thread, NULL, run, NULL);
    health.started = errno == 0;
    return health.started ? 0 : cli_fail_thread();
}

void health_end(void)
{
    if (health.started) {
        (void)eventfd_write(health.stop, 1);
        (void)pthread_join(health.thread, NULL);
        (void)close(health.stop);
    }
}

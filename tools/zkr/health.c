/* SPDX-License-Identifier: Apache-2.0 */
#include "health.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "held.h"

/* --- one check --- */

/* The status comes by descriptor 3: while a command runs, child_run() may reap the check as well. */
enum { STATUS_FD = 3 };
static char script[] = "sh -c \"$1\" 3>&-; echo $? >&3";

/* In the child: only calls that are safe after a fork among threads. */
static _Noreturn void become(const struct health *t, int status_fd)
{
    char shell[] = "sh", dash_c[] = "-c", name[] = "zkr-health";
    char *check = (char *)(uintptr_t)t->check;
    char *const argv[] = {shell, dash_c, script, name, check, NULL};
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    int null = open("/dev/null", O_RDONLY);
    (void)dup2(null, STDIN_FILENO);
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    signals_restore(&t->held->env->signals);
    fds_hide(&t->held->env->fds);
    if (status_fd == STATUS_FD) {
        (void)fcntl(STATUS_FD, F_SETFD, 0);
    } else {
        (void)dup2(status_fd, STATUS_FD);
    }
    (void)execv("/bin/sh", argv);
    _exit(CLI_COMMAND);
}

/* Waits for something to read at @fd, for the end of the checks, or until @until. */
enum found { NOTHING, READABLE, STOP };
static enum found await(const struct health *t, int fd, int64_t until)
{
    struct pollfd fds[] = {{.fd = t->stop, .events = POLLIN},
                           {.fd = fd, .events = POLLIN}};
    int n;
    do {
        n = poll(fds, sizeof(fds) / sizeof(fds[0]), cli_until(until));
    } while (n <= 0 && cli_until(until) > 0);
    return n <= 0 ? NOTHING : fds[0].revents != 0 ? STOP : READABLE;
}

/* The exit status; -1: it has none in time, or was killed. */
static int read_status(const struct health *t, int fd, int64_t until)
{
    char text[8] = "";
    int64_t status;
    bool told = await(t, fd, until) == READABLE;
    ssize_t n = told ? read(fd, text, sizeof(text) - 1) : 0;
    text[strcspn(text, "\n")] = '\0';
    return n > 0 && cli_parse_int(text, 0, 255, &status) ? (int)status : -1;
}

/*
 * Kills the group of a check that is not over, and takes its processes, of which orphans are ours, too. One that hangs in
 * the kernel is not waited for: that it hangs has to be known.
 */
static void end_group(pid_t group)
{
    enum { MOST_MS = 200 };
    const struct timespec turn = {.tv_nsec = 1000000};
    const int64_t until = cli_now_ms() + MOST_MS;
    (void)kill(-group, SIGKILL);
    while (waitpid(-group, NULL, WNOHANG) >= 0 && cli_until(until) > 0) {
        (void)nanosleep(&turn, NULL);
    }
}

/* NULL: it succeeded; else what is wrong, perhaps in @buf. */
static const char *
run_check(const struct health *t, int64_t until, char *buf, size_t size)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return "cannot be run: too many open files";
    }
    pid_t pid = fork();
    if (pid == 0) {
        become(t, ends[1]);
    }
    (void)close(ends[1]);
    if (pid < 0) {
        (void)close(ends[0]);
        return "cannot be run: too many processes, or no memory";
    }
    (void)setpgid(pid, pid); /* as the child does: either may be first */
    int status = read_status(t, ends[0], until);
    (void)close(ends[0]);
    if (status < 0) {
        end_group(pid);
        return cli_until(until) == 0 ? "did not end in time" : "was killed";
    }
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
    (void)snprintf(buf, size, "ended with status %d", status);
    return status == 0 ? NULL : buf;
}

/* --- one check after the other --- */

static void set_healthy(struct health *t, bool healthy)
{
    (void)pthread_mutex_lock(&t->mu);
    t->healthy = healthy;
    held_set_fit(t->held, healthy);
    (void)pthread_mutex_unlock(&t->mu);
}

static void *run(void *arg)
{
    struct health *t = arg;
    char buf[100];
    int64_t failed = 0;
    bool known = false;
    int64_t next = 0;
    while (await(t, -1, next) != STOP) {
        next = cli_now_ms() + t->every_ms;
        const char *wrong = run_check(t, next, buf, sizeof(buf));
        if (await(t, -1, 0) == STOP) {
            break; /* which the check may have been killed for */
        }
        failed = wrong ? failed + 1 : 0;
        bool was = t->healthy;
        if (!wrong && !was) {
            cli_note("healthy: a candidate at %.1000s", t->held->path);
            set_healthy(t, true);
        } else if (wrong && (was ? failed >= t->failures : !known)) {
            cli_note("not healthy: the check %s; no candidate at %.1000s until it "
                     "succeeds",
                     wrong, t->held->path);
            set_healthy(t, false);
        }
        known = true;
    }
    return NULL;
}

int health_begin(struct health *t)
{
    if (!t->check) {
        return 0;
    }
    (void)pthread_mutex_init(&t->mu, NULL);
    t->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (t->stop < 0) {
        return cli_fail_limits();
    }
    held_set_fit(t->held, false);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    errno = pthread_create(&t->thread, NULL, run, t);
    t->started = errno == 0;
    return t->started ? 0 : cli_fail_thread();
}

void health_apply(struct health *t)
{
    if (t->started) {
        (void)pthread_mutex_lock(&t->mu);
        held_set_fit(t->held, t->healthy);
        (void)pthread_mutex_unlock(&t->mu);
    }
}

void health_end(struct health *t)
{
    const uint64_t one = 1;
    if (t->started) {
        (void)!write(t->stop, &one, sizeof(one));
        (void)pthread_join(t->thread, NULL);
        (void)close(t->stop);
    }
}

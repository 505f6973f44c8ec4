/* SPDX-License-Identifier: Apache-2.0 */
#include "children.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descendants.h"

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pid_t check; /* 0: no check, or already reaped; guarded by mu */

/* Calls waitpid() for @which. The caller holds the mutex. */
static pid_t next(pid_t which, int *status)
{
    pid_t pid = waitpid(which, status, WNOHANG | WUNTRACED | WCONTINUED);
    if (pid > 0 && pid == check && !WIFSTOPPED(*status) && !WIFCONTINUED(*status)) {
        check = 0;
    }
    return pid;
}

pid_t children_next(int *status)
{
    (void)pthread_mutex_lock(&mu);
    pid_t pid = next(-1, status);
    (void)pthread_mutex_unlock(&mu);
    return pid;
}

void children_reap(void)
{
    int status;
    while (children_next(&status) > 0) {
    }
}

pid_t children_fork_check(void)
{
    (void)pthread_mutex_lock(&mu);
    pid_t pid = fork();
    if (pid == 0) {
        return 0; /* the child does not use the mutex */
    }
    if (pid > 0) {
        (void)setpgid(pid, pid); /* the child does the same, and either may be first */
        check = pid;
    }
    (void)pthread_mutex_unlock(&mu);
    return pid;
}

/* Returns whether the check has exited. The caller holds the mutex. */
static bool has_ended(void)
{
    int status;
    while (check != 0 && next(check, &status) > 0) {
    }
    return check == 0;
}

bool children_check_ended(void)
{
    (void)pthread_mutex_lock(&mu);
    bool ended = has_ended();
    (void)pthread_mutex_unlock(&mu);
    return ended;
}

/*
 * Kills the check last. The check is a subreaper, so its descendants can be found only while it exists. It is stopped
 * first, so that it cannot exit meanwhile.
 */
void children_kill_check(void)
{
    (void)pthread_mutex_lock(&mu);
    if (!has_ended()) {
        (void)kill(check, SIGSTOP);
        if (descendants_signal(check, SIGKILL).alive == 0) {
            (void)kill(-check, SIGKILL);
        }
    }
    (void)pthread_mutex_unlock(&mu);
}

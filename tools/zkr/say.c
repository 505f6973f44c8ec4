/* SPDX-License-Identifier: Apache-2.0 */
#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "text.h"

_Static_assert(SAY_MOST <= PIPE_BUF, "pipes take a line in one piece");

enum { ROOM = 262144, LOG_ROOM = ROOM / 2, PATIENCE_MS = 1000 };

static struct {
    pthread_mutex_t mu;
    /* A line was queued or written; valid once `started` is set. */
    pthread_cond_t changed;
    bool started;
    char text[ROOM]; /* a ring of lines */
    size_t from, used;
    uint64_t left_out; /* lines dropped since the last line was queued */
    bool haste;        /* do not wait for a stalled reader */
} say = {.mu = PTHREAD_MUTEX_INITIALIZER};

/* Returns whether stderr can take a line at once. This is also true if the write would fail at once. */
static bool has_room(int patience_ms)
{
    struct pollfd poll_fd = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&poll_fd, 1, patience_ms) > 0;
}

/* Writes all bytes, even if another process has made the descriptor non-blocking. Returns 0 or errno. */
static int write_all(int fd, const char *text, size_t length)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
    while (length > 0) {
        ssize_t n = write(fd, text, length);
        if (n >= 0) {
            text += n;
            length -= (size_t)n;
        } else if (errno == EAGAIN) {
            (void)poll(&poll_fd, 1, -1);
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

/* Starts a detached thread that receives no signals. Returns 0 or errno. */
static int start(void *(*run)(void *), void *arg)
{
    pthread_t thread;
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, run, arg);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) {
        (void)pthread_detach(thread);
    }
    return error;
}

/* --- stderr --- */

static void put(const char *line, size_t length)
{
    size_t at = (say.from + say.used) % ROOM;
    size_t first = length < ROOM - at ? length : ROOM - at;
    memcpy(say.text + at, line, first);
    memcpy(say.text, line + first, length - first);
    say.used += length;
}

/* Copies the first line of the ring. Returns its length. */
static size_t copy_first(char *line)
{
    size_t length = 0;
    char last;
    do {
        last = say.text[(say.from + length) % ROOM];
        line[length++] = last;
    } while (last != '\n' && length < say.used && length < SAY_MOST);
    return length;
}

static void *write_lines(void *unused)
{
    char line[SAY_MOST];
    (void)pthread_mutex_lock(&say.mu);
    for (;;) {
        while (say.used == 0) {
            (void)pthread_cond_wait(&say.changed, &say.mu);
        }
        size_t length = copy_first(line);
        (void)pthread_mutex_unlock(&say.mu);
        (void)write_all(STDERR_FILENO, line, length);
        (void)pthread_mutex_lock(&say.mu);
        say.from = (say.from + length) % ROOM;
        say.used -= length;
        (void)pthread_cond_broadcast(&say.changed);
    }
    return unused;
}

/* Starts the thread for stderr. The caller holds the mutex. Returns 0 or errno. */
static int begin(void)
{
    pthread_condattr_t monotonic;
    if (say.started) {
        return 0;
    }
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&say.changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    int error = start(write_lines, NULL);
    say.started = error == 0;
    return error;
}

bool say_begin(void)
{
    (void)pthread_mutex_lock(&say.mu);
    int error = begin();
    (void)pthread_mutex_unlock(&say.mu);
    errno = error;
    return error == 0;
}

static void enqueue(const char *line, size_t length, bool log)
{
    char lack[80] = "";
    if (say.left_out > 0) {
        (void)snprintf(lack, sizeof(lack),
                       "zkr: %" PRIu64
                       " lines were dropped here because stderr was full\n",
                       say.left_out);
    }
    if (say.used + strlen(lack) + length > (log ? LOG_ROOM : ROOM)) {
        say.left_out++;
        return;
    }
    put(lack, strlen(lack));
    put(line, length);
    say.left_out = 0;
    (void)pthread_cond_broadcast(&say.changed);
}

void say_line(char line[SAY_MOST], size_t length, bool log)
{
    length = length < SAY_MOST - 2 ? length : SAY_MOST - 2;
    line[length] = '\0';
    text_clean(line);
    line[length++] = '\n';
    (void)pthread_mutex_lock(&say.mu);
    bool started = begin() == 0;
    if (started) {
        enqueue(line, length, log);
    }
    (void)pthread_mutex_unlock(&say.mu);
    if (!started && has_room(log ? 0 : PATIENCE_MS)) {
        (void)write_all(STDERR_FILENO, line, length);
    }
}

void say_in_haste(void)
{
    (void)pthread_mutex_lock(&say.mu);
    say.haste = true;
    (void)pthread_mutex_unlock(&say.mu);
}

void say_drain(void)
{
    enum { TURN_NS = 10000000, SECOND_NS = 1000000000 };
    const int64_t until = clock_now_ms() + PATIENCE_MS;
    (void)pthread_mutex_lock(&say.mu);
    while (say.used > 0 && clock_left_ms(until) > 0 && (!say.haste || has_room(0))) {
        struct timespec turn;
        (void)clock_gettime(CLOCK_MONOTONIC, &turn);
        turn.tv_nsec += TURN_NS;
        turn.tv_sec += turn.tv_nsec / SECOND_NS;
        turn.tv_nsec %= SECOND_NS;
        (void)pthread_cond_timedwait(&say.changed, &say.mu, &turn);
    }
    (void)pthread_mutex_unlock(&say.mu);
}

/* --- stdout --- */

static struct {
    char *text;
    int done_fd; /* our own duplicate, because the caller may close the original */
    atomic_int error;
} result = {.error = -1};

static void *write_out(void *unused)
{
    atomic_store(&result.error,
                 write_all(STDOUT_FILENO, result.text, strlen(result.text)));
    (void)eventfd_write(result.done_fd, 1);
    return unused;
}

bool say_out(char *text, int done_fd)
{
    result.text = text;
    result.done_fd = fcntl(done_fd, F_DUPFD_CLOEXEC, 0);
    errno = result.done_fd < 0 ? errno : start(write_out, NULL);
    return errno == 0;
}

int say_out_error(void)
{
    return atomic_load(&result.error);
}

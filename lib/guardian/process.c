/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* for POSIX_SPAWN_SETSID, F_SETSIG, secure_getenv() */

#include "guardian/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zkr/error.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "guardian/wire.h"

#ifndef ZKR_GUARDIAN_PROGRAM /* the build defines where it installs the program */
#define ZKR_GUARDIAN_PROGRAM "/usr/libexec/zkr-guardian"
#endif

extern char **environ;

struct zkr__guardian {
    int fd;
    /* Identifies the socket, because the application may close fd, and reuse its number. */
    dev_t dev;
    ino_t ino;
    pid_t pid;
    /* Start time, which distinguishes the guardian from a later process with its pid; 0 = unknown. */
    uint64_t started;
    int users;     /* number of clients; guarded by mu */
    uint64_t last; /* number of the latest client; guarded by mu */
};

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t forks = PTHREAD_ONCE_INIT;
static struct zkr__guardian *current; /* the guardian for new clients; NULL = none */

/* --- the socket --- */

static bool is_ours(const struct zkr__guardian *g)
{
    struct stat st;
    return fstat(g->fd, &st) == 0 && st.st_dev == g->dev && st.st_ino == g->ino;
}

/* Returns 0 or errno. EPIPE: the guardian has ended. */
int zkr__guardian_message(const struct zkr__guardian *g, const struct msghdr *message)
{
    if (!is_ours(g)) {
        return EBADF;
    }
    ssize_t n;
    do {
        n = sendmsg(g->fd, message, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    return n >= 0 ? 0 : errno == ECONNRESET || errno == ENOTCONN ? EPIPE : errno;
}

int zkr__guardian_tell(const struct zkr__guardian *g,
                       struct zkr__guardian_record *record)
{
    record->version = ZKR__GUARDIAN_VERSION;
    struct iovec part = {.iov_base = record, .iov_len = sizeof(*record)};
    const struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    return zkr__guardian_message(g, &message);
}

/* --- the start --- */

static const char *program(void)
{
    const char *path = secure_getenv("ZKR_GUARDIAN_PATH");
    return path && path[0] != '\0' ? path : ZKR_GUARDIAN_PROGRAM;
}

int zkr__guardian_refuse(int code, const char *why)
{
    return zkr__fail(code, NULL, "zkr_client_open: no guardian: %.200s: %s", program(),
                     why);
}

int zkr__guardian_refuse_errno(int error)
{
    char what[320];
    (void)snprintf(what, sizeof(what), "zkr_client_open: no guardian: %.200s%s",
                   program(),
                   error == ENOENT ? ", which $ZKR_GUARDIAN_PATH may name" : "");
    return zkr__fail_sys(error, what);
}

/* Returns whether @variable configures the dynamic linker, OpenSSL, or a sanitizer. */
static bool is_needed(const char *variable)
{
    static const char *const begins[] = {"LD_", "OPENSSL_", "SSL_CERT_"};
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        if (strncmp(variable, begins[i], strlen(begins[i])) == 0) {
            return true;
        }
    }
    const char *value = strchr(variable, '='), sanitizer[] = "SAN_OPTIONS";
    const size_t len = sizeof(sanitizer) - 1;
    return value && value - variable > (ptrdiff_t)len &&
           memcmp(value - len, sanitizer, len) == 0;
}

/*
 * Returns the environment variables that the guardian needs, or NULL if memory runs out. It gets no others, because a
 * CI server may use the variables of a job to find and kill all its processes, including the guardian.
 */
static char **few_variables(void)
{
    size_t count = 0, kept = 0;
    while (environ && environ[count]) {
        count++;
    }
    char **few = zkr__mem_alloc((count + 1) * sizeof(*few));
    for (size_t i = 0; few && i < count; i++) {
        if (is_needed(environ[i])) {
            few[kept++] = environ[i];
        }
    }
    return few;
}

/*
 * The guardian runs in its own POSIX session, so that it survives when the process group of this process is killed, or
 * the terminal is closed. Returns 0 or errno.
 */
static int spawn(struct zkr__guardian *g, int fd)
{
    char name[] = "zkr-guardian";
    char *const argv[] = {name, NULL};
    char **variables = few_variables();
    sigset_t all;
    posix_spawnattr_t attr;
    posix_spawn_file_actions_t files;
    if (!variables) {
        return ENOMEM;
    }
    (void)sigfillset(&all);
    /* None of these calls can fail, because no C library on Linux allocates memory for them. */
    (void)posix_spawnattr_init(&attr);
    /* Signals are blocked until the guardian ignores them. */
    (void)posix_spawnattr_setsigmask(&attr, &all);
    (void)posix_spawnattr_setsigdefault(&attr, &all);
    (void)posix_spawnattr_setflags(
        &attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    (void)posix_spawn_file_actions_init(&files);
    int error = posix_spawn_file_actions_adddup2(&files, fd, ZKR__GUARDIAN_FD);
    if (error == 0) {
        error = posix_spawn(&g->pid, program(), &files, &attr, argv, variables);
    }
    (void)posix_spawn_file_actions_destroy(&files);
    (void)posix_spawnattr_destroy(&attr);
    zkr__mem_free(variables);
    return error;
}

/*
 * Connect a pair of sockets. The library's end must not become a standard descriptor, because the application may write
 * to those. Returns 0 or errno.
 */
static int connect_to(struct zkr__guardian *g, int *theirs)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return errno;
    }
    g->fd = fcntl(pair[0], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int error = g->fd < 0 ? errno : 0;
    (void)close(pair[0]);
    struct stat st;
    if (error != 0 || fstat(g->fd, &st) != 0) {
        error = error != 0 ? error : errno;
        (void)close(pair[1]);
        return error;
    }
    g->dev = st.st_dev;
    g->ino = st.st_ino;
    *theirs = pair[1];
    return 0;
}

static bool poll_until(int fd, int events, int ms)
{
    struct pollfd p = {.fd = fd, .events = (short)events};
    int64_t deadline = zkr__clock_deadline(zkr__clock_now(), ms);
    int rc;
    do {
        int64_t left = (deadline - zkr__clock_now()) / ZKR__MS;
        rc = poll(&p, 1, left > 0 ? (int)left : 0);
    } while (rc < 0 && errno == EINTR);
    return rc > 0;
}

static int judge(const struct zkr__guardian_record *record)
{
    if (record->version != ZKR__GUARDIAN_VERSION) {
        return zkr__guardian_refuse(ZKR_ESYS,
                                    "it belongs to another version of the library");
    }
    if (record->kind == ZKR__GUARDIAN_READY) {
        return ZKR_OK;
    }
    return record->value == ZKR__GUARDIAN_NO_PARENT
               ? zkr__guardian_refuse(
                     ZKR_ESYS,
                     "it cannot see this process, which has put its children into "
                     "another PID namespace")
           : record->value == ENOSYS || record->value == EPERM
               ? zkr__guardian_refuse(ZKR_ESYS,
                                      "the system has no pidfd_open(), which needs "
                                      "Linux 5.3 and a container that allows it")
               : zkr__guardian_refuse_errno((int)record->value);
}

/* The guardian reports once whether it watches this process. The record stays in the socket, for all callers. */
int zkr__guardian_verdict(const struct zkr__guardian *g, int ms)
{
    struct zkr__guardian_record record;
    if (!is_ours(g)) {
        return zkr__guardian_refuse(ZKR_ESYS, "its socket was closed");
    }
    if (!poll_until(g->fd, POLLIN, ms)) {
        return zkr__guardian_refuse(ZKR_ESYS, "it does not answer");
    }
    ssize_t n;
    do { /* if the guardian left a record unread, recv() fails once */
        n = recv(g->fd, &record, sizeof(record), MSG_DONTWAIT | MSG_PEEK);
    } while (n < 0 && errno == ECONNRESET);
    return n == (ssize_t)sizeof(record)
               ? judge(&record)
               : zkr__guardian_refuse(
                     ZKR_ESYS, "it ended at once; start it in a shell to see why");
}

/* --- the process, which the application may already have reaped --- */

/* Returns the start time of process @pid in ticks since boot, or 0 if /proc does not show it. */
static uint64_t start_time(pid_t pid)
{
    enum { FIELDS = 20 }; /* number of fields from the name to this one */
    char path[32], text[1024];
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
    if (fd >= 0) {
        (void)close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    const char *at = strrchr(text, ')');
    for (int i = 0; at && i < FIELDS; i++) {
        at = strchr(at + 1, ' ');
    }
    return at ? strtoull(at, NULL, 10) : 0;
}

/* Returns whether the process with the guardian's number is still the guardian. */
static bool is_it(const struct zkr__guardian *g)
{
    return g->started == 0 || start_time(g->pid) == g->started;
}

/*
 * Wait until the guardian has ended. @told is true if the guardian has received the request to end. Otherwise the
 * application has closed the socket, and the guardian would stay for a session timeout, so it is killed. A guardian
 * stopped by a signal stays until this process ends.
 */
static void await_process(const struct zkr__guardian *g, bool told)
{
    enum { END_MS = 1000, BY_PIDFD = 3 /* BY_PIDFD: P_PIDFD, since Linux 5.4 */ };
    siginfo_t unused;
    int process = (int)syscall(SYS_pidfd_open, g->pid, 0), rc = 0;
    const bool known = process >= 0 || errno != ESRCH;
    /* If is_it(), the pidfd refers to the guardian, even if another thread reaps the guardian afterwards. */
    if (known && is_it(g)) {
        if (process >= 0 && !told) {
            (void)syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0);
        }
        const bool ended = process >= 0 && poll_until(process, POLLIN, END_MS);
        const int flags = WEXITED | (ended || process < 0 ? 0 : WNOHANG);
        do {
            rc = process >= 0
                     ? waitid((idtype_t)BY_PIDFD, (id_t)process, &unused, flags)
                     : waitid(P_PID, (id_t)g->pid, &unused, flags);
        } while (rc != 0 && errno == EINTR);
    }
    if (process >= 0) {
        (void)close(process);
    }
}

/* The guardian ends when its socket is closed. */
static void end_guardian(struct zkr__guardian *g)
{
    struct zkr__guardian_record bye = {.kind = ZKR__GUARDIAN_BYE};
    const bool ours = is_ours(g);
    if (ours) {
        (void)zkr__guardian_tell(g, &bye);
        (void)close(g->fd);
    }
    await_process(g, ours);
    zkr__mem_free(g);
}

static int start(struct zkr__guardian **out)
{
    struct zkr__guardian *g = zkr__mem_alloc(sizeof(*g));
    int theirs = -1, error = g ? connect_to(g, &theirs) : ENOMEM;
    if (error != 0) {
        zkr__mem_free(g);
        return zkr__guardian_refuse_errno(error);
    }
    error = spawn(g, theirs);
    (void)close(theirs);
    if (error != 0) {
        (void)close(g->fd);
        zkr__mem_free(g);
        return zkr__guardian_refuse_errno(error);
    }
    g->started = start_time(g->pid);
    *out = g;
    return ZKR_OK;
}

/* --- fork: the child has no guardian, and does not keep its parent's socket --- */

static void before_fork(void)
{
    (void)pthread_mutex_lock(&mu);
}

static void after_fork(void)
{
    (void)pthread_mutex_unlock(&mu);
}

static void begin_child(void)
{
    if (current && is_ours(current)) {
        (void)close(current->fd);
    }
    current = NULL;
    (void)pthread_mutex_init(&mu, NULL);
}

static void prepare_for_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork, begin_child);
}

/* Returns whether the guardian is alive, judging by its socket. */
static bool is_alive(const struct zkr__guardian *g)
{
    return is_ours(g) && !poll_until(g->fd, 0, 0);
}

/* --- functions for all clients of the process --- */

int zkr__guardian_take(struct zkr__guardian **out, uint64_t *ward)
{
    int rc = ZKR_OK;
    (void)pthread_once(&forks, prepare_for_forks);
    (void)pthread_mutex_lock(&mu);
    if (!current || !is_alive(current)) {
        current = NULL;
        rc = start(&current);
    }
    if (current) {
        current->users++;
        *ward = ++current->last;
        *out = current;
    }
    (void)pthread_mutex_unlock(&mu);
    return rc;
}

void zkr__guardian_drop(struct zkr__guardian *g)
{
    (void)pthread_mutex_lock(&mu);
    bool last = --g->users == 0;
    if (last && current == g) {
        current = NULL;
    }
    (void)pthread_mutex_unlock(&mu);
    if (last) {
        end_guardian(g);
    }
}

bool zkr__guardian_has_spoken(const struct zkr__guardian *g)
{
    return is_ours(g) && poll_until(g->fd, POLLIN, 0);
}

/* Directories must leave part of the socket's buffer for sessions and process groups, which matter more. */
bool zkr__guardian_is_full(const struct zkr__guardian *g)
{
    enum { MOST_BYTES = 131072 };
    int unread = 0;
    return is_ours(g) && ioctl(g->fd, TIOCOUTQ, &unread) == 0 && unread >= MOST_BYTES;
}

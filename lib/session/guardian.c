/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* POSIX_SPAWN_SETSID, F_SETSIG, secure_getenv() */

#include "session/guardian.h"

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
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "session/guardian_wire.h"
#include "session/log.h"

#ifndef ZKR_GUARDIAN_PROGRAM /* where the build installs it */
#define ZKR_GUARDIAN_PROGRAM "/usr/libexec/zkr-guardian"
#endif

extern char **environ;

struct zkr__guardian {
    int fd;
    dev_t
        dev; /* what fd is: the application may have closed it, and use its number again */
    ino_t ino;
    pid_t pid;
    uint64_t
        started; /* start time, to tell it from other processes with its number; 0 = not known */
    int users;     /* under mu */
    uint64_t last; /* the number of the last client; under mu */
};

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t forks = PTHREAD_ONCE_INIT;
static struct zkr__guardian *current; /* of the next client; NULL = none yet */

/* --- its socket --- */

static bool is_ours(const struct zkr__guardian *g)
{
    struct stat st;
    return fstat(g->fd, &st) == 0 && st.st_dev == g->dev && st.st_ino == g->ino;
}

/* 0 or errno. EPIPE: it has ended. */
static int send_message(const struct zkr__guardian *g, const struct msghdr *message)
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

static int send_record(const struct zkr__guardian *g,
                       struct zkr__guardian_record *record)
{
    record->version = ZKR__GUARDIAN_VERSION;
    struct iovec part = {.iov_base = record, .iov_len = sizeof(*record)};
    const struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    return send_message(g, &message);
}

/* --- its start --- */

static const char *program(void)
{
    const char *path = secure_getenv("ZKR_GUARDIAN_PATH");
    return path && path[0] != '\0' ? path : ZKR_GUARDIAN_PROGRAM;
}

static int refuse(int code, const char *why)
{
    return zkr__fail(code, NULL, "zkr_client_open: no guardian: %.200s: %s", program(),
                     why);
}

static int refuse_errno(int error)
{
    char what[320];
    (void)snprintf(what, sizeof(what), "zkr_client_open: no guardian: %.200s%s",
                   program(),
                   error == ENOENT ? ", which $ZKR_GUARDIAN_PATH may name" : "");
    return zkr__fail_sys(error, what);
}

/* For the dynamic linker, OpenSSL, and builds with sanitizers. */
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
 * The variables that the guardian needs. A job's environment may have more, by which a CI server finds all processes of
 * the job to kill them, the guardian included. NULL: no memory.
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

/* A session of its own: who kills the group of the process, or its terminal, leaves the guardian be. 0 or errno. */
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
    /* None of these can fail: no C library of Linux allocates memory for them. */
    (void)posix_spawnattr_init(&attr);
    (void)posix_spawnattr_setsigmask(&attr, &all); /* until the guardian ignores them */
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

/* Our end is none of the standard descriptors, to which the application may write. 0 or errno. */
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
        return refuse(ZKR_ESYS, "it is of another version of the library");
    }
    if (record->kind == ZKR__GUARDIAN_READY) {
        return ZKR_OK;
    }
    return record->value == ZKR__GUARDIAN_NO_PARENT
               ? refuse(ZKR_ESYS,
                        "it cannot see this process, which has put its children into "
                        "another PID namespace")
           : record->value == ENOSYS || record->value == EPERM
               ? refuse(ZKR_ESYS,
                        "the system has no pidfd_open(): that needs Linux 5.3, and a "
                        "container that allows it")
               : refuse_errno((int)record->value);
}

/* Does it watch this process? What it says of that it says once, and stays in the socket, for all who ask. */
static int verdict(const struct zkr__guardian *g, int ms)
{
    struct zkr__guardian_record record;
    if (!is_ours(g)) {
        return refuse(ZKR_ESYS, "its socket was closed");
    }
    if (!poll_until(g->fd, POLLIN, ms)) {
        return refuse(ZKR_ESYS, "it does not answer");
    }
    ssize_t n;
    do { /* a record that it has not read is an error once */
        n = recv(g->fd, &record, sizeof(record), MSG_DONTWAIT | MSG_PEEK);
    } while (n < 0 && errno == ECONNRESET);
    return n == (ssize_t)sizeof(record)
               ? judge(&record)
               : refuse(ZKR_ESYS, "it ended at once; start it by hand to see why");
}

/* --- its process, which the application may have waited for already --- */

/* When the process began, in ticks since the boot; 0: /proc does not say. */
static uint64_t start_time(pid_t pid)
{
    enum { FIELDS = 20 }; /* from the name to this one */
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

/* Is the process that has its number the guardian? */
static bool is_it(const struct zkr__guardian *g)
{
    return g->started == 0 || start_time(g->pid) == g->started;
}

/*
 * Let the process end, and wait for its end. @told: it knows already that it has to end. Otherwise the application has
 * closed its socket, and it would stay for a session timeout. A stopped process stays until the end of this process.
 */
static void await_process(const struct zkr__guardian *g, bool told)
{
    enum { END_MS = 1000, BY_PIDFD = 3 /* P_PIDFD, since Linux 5.4 */ };
    siginfo_t unused;
    int process = (int)syscall(SYS_pidfd_open, g->pid, 0), rc = 0;
    const bool known = process >= 0 || errno != ESRCH;
    if (known &&
        is_it(g)) { /* so the pidfd is the guardian's, whoever waits for its end */
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

/* The guardian ends by itself when its socket is closed. */
static void end_guardian(struct zkr__guardian *g)
{
    struct zkr__guardian_record bye = {.kind = ZKR__GUARDIAN_BYE};
    const bool ours = is_ours(g);
    if (ours) {
        (void)send_record(g, &bye);
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
        return refuse_errno(error);
    }
    error = spawn(g, theirs);
    (void)close(theirs);
    if (error != 0) {
        (void)close(g->fd);
        zkr__mem_free(g);
        return refuse_errno(error);
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

/* --- joining and leaving --- */

/* Does it live, as far as its socket tells? */
static bool is_alive(const struct zkr__guardian *g)
{
    return is_ours(g) && !poll_until(g->fd, 0, 0);
}

/* The guardian of the process, which is started if none lives. A fork waits meanwhile. */
static int take(zkr_client *c)
{
    int rc = ZKR_OK;
    (void)pthread_mutex_lock(&mu);
    if (!current || !is_alive(current)) {
        current = NULL;
        rc = start(&current);
    }
    if (current) {
        current->users++;
        c->ward = ++current->last;
        c->guardian = current;
    }
    (void)pthread_mutex_unlock(&mu);
    return rc;
}

/* The files of option tls_cert with absolute names: the guardian is in another directory. */
static int name_files(zkr_client *c)
{
    enum { FILES = 3, PATH_ROOM = 4096 };
    char cwd[PATH_ROOM];
    if (!c->tls_cert) {
        return ZKR_OK;
    }
    if (!getcwd(cwd, sizeof(cwd))) {
        return refuse_errno(errno);
    }
    char *to = zkr__mem_alloc(strlen(c->tls_cert) + FILES * (strlen(cwd) + 1) + 1);
    if (!to) {
        return refuse_errno(ENOMEM);
    }
    c->guardian_tls = to;
    const char *from = c->tls_cert;
    for (int i = 0; *from != '\0'; i++) {
        size_t len = strcspn(from, ",");
        len += from[len] == ',';
        if (i < FILES && from[0] != '/') {
            to = stpcpy(stpcpy(to, cwd), "/");
        }
        memcpy(to, from, len);
        to += len;
        from += len;
    }
    return ZKR_OK;
}

static int join(zkr_client *c)
{
    if (c->options.open_handle) {
        return refuse(ZKR_EINVAL, "it has no option open_handle, and cannot connect as "
                                  "this client does");
    }
    (void)pthread_once(&forks, prepare_for_forks);
    int rc = name_files(c);
    return rc == ZKR_OK ? take(c) : rc;
}

/* The guardian needs some milliseconds to start. Who can do without it goes on meanwhile. */
static int require(zkr_client *c)
{
    enum { START_MS = 10000 };
    int rc = verdict(c->guardian, START_MS);
    if (rc != ZKR_OK) {
        const zkr_error why = zkr__thread_self()->error;
        c->unguarded = true; /* no line besides */
        zkr__guardian_leave(c);
        zkr__thread_self()->error = why;
    }
    return rc;
}

int zkr__guardian_join(zkr_client *c)
{
    if (c->options.guardian == 0) {
        return ZKR_OK;
    }
    int rc = join(c);
    if (rc == ZKR_OK && c->options.guardian == ZKR_GUARDIAN_REQUIRED) {
        return require(c);
    }
    if (rc != ZKR_OK && c->options.guardian == ZKR_GUARDIAN_TRY) {
        zkr__lock(c);
        zkr__log(c, ZKR_LOG_WARN,
                 ZKR__EVENT("no_guardian", .reason = zkr_last_error()->message));
        zkr__unlock(c);
        rc = ZKR_OK;
    }
    return rc;
}

static void say_unguarded(zkr_client *c, const char *why) ZKR__LOCKED
{
    if (!c->unguarded) {
        c->unguarded = true;
        zkr__log(c, ZKR_LOG_WARN, ZKR__EVENT("no_guardian", .reason = why));
    }
}

/* Has the guardian spoken? If it has said that it does not watch us, that is logged. */
static bool look(zkr_client *c) ZKR__LOCKED
{
    bool said = is_ours(c->guardian) && poll_until(c->guardian->fd, POLLIN, 0);
    if (said && verdict(c->guardian, 0) != ZKR_OK) {
        say_unguarded(c, zkr_last_error()->message);
    }
    return said;
}

int64_t zkr__guardian_look(zkr_client *c, int64_t now)
{
    enum { LOOK_MS = 100, LOOKS = 50 };
    if (!c->guardian || c->guardian_looks == LOOKS) {
        return ZKR__NEVER;
    }
    if (now >= c->guardian_look_at) {
        bool known = c->unguarded || look(c);
        c->guardian_looks = known ? LOOKS : c->guardian_looks + 1;
        c->guardian_look_at = now + LOOK_MS * ZKR__MS;
    }
    return c->guardian_looks == LOOKS ? ZKR__NEVER : c->guardian_look_at;
}

void zkr__guardian_leave(zkr_client *c)
{
    struct zkr__guardian *g = c->guardian;
    if (!g) {
        return;
    }
    zkr__lock(c);
    (void)look(c);
    (void)zkr__guardian_directory(c, "", false);
    c->guardian = NULL;
    zkr__unlock(c);
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

/* --- sessions --- */

enum { ADDRESS_ROOM = 128 }; /* for a numeric one */

/* The length of the address in @servers to which the handle is connected, and in @at its begin; 0: not connected. */
static size_t
connected_address(const zkr_client *c, void *zh, const char *servers, const char **at)
{
    char address[ADDRESS_ROOM];
    for (const char *p = servers; *p != '\0' && *p != '/';) {
        size_t n = strcspn(p, ",/");
        if (n < sizeof(address)) {
            memcpy(address, p, n);
            address[n] = '\0';
            if (c->door->connected_to(zh, address)) {
                *at = p;
                return n;
            }
        }
        p += n + (p[n] == ',');
    }
    return 0;
}

/* The credentials as guardian_wire.h has them. NULL: no memory. */
static char *pack_credentials(const zkr_client *c, size_t *size)
{
    *size = 0;
    for (size_t i = 0; i < c->auth_count; i++) {
        *size +=
            strlen(c->auths[i].scheme) + 1 + sizeof(uint32_t) + c->auths[i].cert_len;
    }
    char *packed = zkr__mem_alloc(*size + 1), *to = packed;
    for (size_t i = 0; packed && i < c->auth_count; i++) {
        const zkr_auth *auth = &c->auths[i];
        const uint32_t len = (uint32_t)auth->cert_len;
        to = stpcpy(to, auth->scheme) + 1;
        memcpy(to, &len, sizeof(len));
        to += sizeof(len);
        if (len > 0) {
            memcpy(to, auth->cert, len);
        }
        to += len;
    }
    return packed;
}

/* 0 or errno. */
static int tell_session(const zkr_client *c, void *zh, const char *servers) ZKR__LOCKED
{
    struct zkr__guardian_record record = {.version = ZKR__GUARDIAN_VERSION,
                                          .kind = ZKR__GUARDIAN_SESSION,
                                          .client = c->ward,
                                          .session = c->session_id,
                                          .value = c->granted_ms};
    const char *tls = c->guardian_tls ? c->guardian_tls : "", *first = "";
    size_t size, first_len = connected_address(c, zh, servers, &first);
    char *credentials = pack_credentials(c, &size);
    if (!credentials) {
        return ENOMEM;
    }
    c->door->password(zh, record.password);
    struct iovec parts[] = {
        {.iov_base = &record, .iov_len = sizeof(record)},
        {.iov_base = (void *)(uintptr_t)first, .iov_len = first_len},
        {.iov_base = (void *)(uintptr_t) ",", .iov_len = first_len > 0},
        {.iov_base = (void *)(uintptr_t)servers, .iov_len = strlen(servers) + 1},
        {.iov_base = (void *)(uintptr_t)tls, .iov_len = strlen(tls) + 1},
        {.iov_base = credentials, .iov_len = size}};
    enum { PARTS = sizeof(parts) / sizeof(parts[0]) };
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = PARTS};
    size_t text = 0;
    for (int i = 1; i < PARTS; i++) {
        text += parts[i].iov_len;
    }
    int error =
        text <= ZKR__GUARDIAN_TEXT_MAX ? send_message(c->guardian, &message) : EMSGSIZE;
    explicit_bzero(record.password, sizeof(record.password));
    explicit_bzero(credentials, size);
    zkr__mem_free(credentials);
    return error;
}

int64_t zkr__guardian_session(zkr_client *c, void *zh, const char *servers)
{
    if (!c->guardian) {
        return 0;
    }
    int error = tell_session(c, zh, servers);
    if (error != 0) {
        (void)look(c); /* it knows more */
        say_unguarded(c, error == EPIPE ? "it has ended"
                                        : "it cannot be told of the session");
    }
    return error == 0 ? c->session_id : 0;
}

void zkr__guardian_over(const zkr_client *c, int64_t session, bool settled)
{
    struct zkr__guardian_record record = {.kind = settled ? ZKR__GUARDIAN_OVER
                                                          : ZKR__GUARDIAN_CLOSED,
                                          .client = c->ward,
                                          .session = session};
    if (c->guardian && session != 0) {
        (void)send_record(c->guardian, &record);
    }
}

/* --- directories --- */

/* Sessions and process groups matter more: directories leave them a part of the socket's buffer. */
static bool is_full(const struct zkr__guardian *g)
{
    enum { MOST_BYTES = 131072 };
    int unread = 0;
    return is_ours(g) && ioctl(g->fd, TIOCOUTQ, &unread) == 0 && unread >= MOST_BYTES;
}

static int tell_directory(const zkr_client *c, const char *path, bool used)
{
    struct zkr__guardian_record record = {.version = ZKR__GUARDIAN_VERSION,
                                          .kind = ZKR__GUARDIAN_DIRECTORY,
                                          .client = c->ward,
                                          .value = used};
    const size_t size = strlen(path) + 1;
    struct iovec parts[] = {{.iov_base = &record, .iov_len = sizeof(record)},
                            {.iov_base = (void *)(uintptr_t)path, .iov_len = size}};
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    return size <= ZKR__GUARDIAN_TEXT_MAX ? send_message(c->guardian, &message)
                                          : EMSGSIZE;
}

bool zkr__guardian_directory(zkr_client *c, const char *path, bool used)
{
    if (!c->guardian) {
        return false;
    }
    if (!used) {
        c->guardian_directories--;
        return tell_directory(c, path, false) != 0;
    }
    bool full =
        c->guardian_directories >= ZKR__GUARDIAN_DIRECTORIES || is_full(c->guardian);
    bool told = !full && tell_directory(c, path, true) == 0;
    c->guardian_directories += told;
    if (full && !c->guardian_full) {
        c->guardian_full = true;
        zkr__log(c, ZKR_LOG_INFO,
                 ZKR__EVENT("guardian_full", .path = path,
                            .reason =
                                "the guardian does not know of this path: on "
                                "servers that give each connection a new session, "
                                "nodes stay there until the session times out"));
    }
    return told;
}

int zkr__guardian_send(const zkr_client *c,
                       struct zkr__guardian_record *record,
                       const int *fds,
                       size_t count)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(ZKR__GROUP_FDS * sizeof(int))];
    } control = {.room = {0}};
    struct iovec part = {.iov_base = record, .iov_len = sizeof(*record)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (!c->guardian) {
        return EPIPE;
    }
    record->version = ZKR__GUARDIAN_VERSION;
    record->client = c->ward;
    if (count > 0) {
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(&control.head), fds, count * sizeof(int));
        message.msg_control = control.room;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    }
    return send_message(c->guardian, &message);
}

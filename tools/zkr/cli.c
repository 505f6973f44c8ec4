/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <zkr/zkr.h>

#include "say.h"
#include "text.h"

enum { LINE_SIZE = SAY_MOST };

static void write_line(char *line, int printed, bool log)
{
    size_t length = printed < LINE_SIZE - 2 ? (size_t)printed : LINE_SIZE - 2;
    line[length] = '\0';
    text_clean(line);
    line[length++] = '\n';
    say_line(line, length, log);
}

int cli_fail(int status, const char *format, ...)
{
    enum { PREFIX = sizeof("zkr: ") - 1 };
    char line[LINE_SIZE] = "zkr: ";
    va_list args;
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it was started right above */
    int printed = vsnprintf(line + PREFIX, sizeof(line) - PREFIX, format, args);
    va_end(args);
    write_line(line, PREFIX + (printed > 0 ? printed : 0), false);
    return status;
}

/* UTC, as 2026-01-31T23:59:59.123Z. */
static void stamp(char *buf, size_t size)
{
    enum { NS_PER_MS = 1000000 };
    struct timespec now;
    struct tm tm;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &tm);
    size_t used = strftime(buf, size, "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(buf + used, size - used, ".%03dZ", (int)(now.tv_nsec / NS_PER_MS));
}

/* A log line of libzookeeper without its time, process and thread; NULL: the line is not from libzookeeper. */
static const char *foreign_text(const char *line)
{
    enum { MOST = 80 };
    const char *mark = strstr(line, ":ZOO_");
    return mark && mark - line < MOST ? mark + 1 : NULL;
}

void cli_log(int level, const char *line, void *ctx)
{
    static const char *const names[] = {"", "error", "warning", "info", "debug"};
    const int *most = ctx;
    const char *foreign = foreign_text(line);
    if (foreign && level >= ZKR_LOG_INFO && *most < ZKR_LOG_DEBUG) {
        return;
    }
    char time[32], text[LINE_SIZE];
    stamp(time, sizeof(time));
    const char *name = names[level > 0 && level <= ZKR_LOG_DEBUG ? level : 0];
    int printed = snprintf(text, sizeof(text), "zkr: %s: time=%s %s", name, time,
                           foreign ? foreign : line);
    write_line(text, printed, true);
}

/* One field, from @at: its key, and its value without quotes, into @room bytes. Returns where the next begins. */
static const char *next_field(const char *at,
                              const char **key,
                              size_t *key_length,
                              char *value,
                              size_t room)
{
    size_t used = 0;
    *key = at;
    *key_length = strcspn(at, "= ");
    at += *key_length + (at[*key_length] == '=');
    bool quoted = *at == '"';
    for (at += quoted; *at != '\0' && *at != (quoted ? '"' : ' '); at++) {
        at += quoted && *at == '\\' && at[1] != '\0';
        if (used + 1 < room) {
            value[used++] = *at;
        }
    }
    value[used] = '\0';
    at += quoted && *at == '"';
    return at + strspn(at, " ");
}

void cli_hint(int level, const char *line, void *unused)
{
    enum { ROOM = 1024, EVENT = 0, PATH, NODE, REASON, FIELDS };
    static const char *const keys[FIELDS] = {"event", "path", "node", "reason"};
    char values[FIELDS][ROOM] = {"", "", "", ""}, value[ROOM];
    (void)level;
    (void)unused;
    while (*line) {
        const char *key;
        size_t length;
        line = next_field(line, &key, &length, value, sizeof(value));
        for (int i = 0; i < FIELDS; i++) {
            if (strlen(keys[i]) == length && strncmp(keys[i], key, length) == 0) {
                memcpy(values[i], value, sizeof(value));
            }
        }
    }
    bool meant = strcmp(values[EVENT], "stranger") == 0 ||
                 strcmp(values[EVENT], "ahead_stays") == 0;
    if (meant && *values[REASON]) {
        cli_note("%s: %s%s%s", values[PATH], values[REASON],
                 *values[NODE] ? ": node " : "", values[NODE]);
    }
}

/* Error codes of ZooKeeper that the library passes on. */
enum {
    ZK_UNIMPLEMENTED = -6,
    ZK_NO_REASON = -100, /* zetcd */
    ZK_NO_CHILDREN_FOR_EPHEMERALS = -108,
    ZK_INVALID_ACL = -114,
    ZK_NOT_READ_ONLY = -119,
    ZK_LOCAL_SESSION = -120,
    ZK_THROTTLED = -127
};

/* The exit code for a ZKR_E… code other than a conflict. */
static int exit_of(int rc)
{
    switch (rc) {
    case ZKR_EINVAL:
    case ZKR_ENONODE:
    case ZKR_ESEQUENCE:
    case ZKR_ELIMIT:
    case ZKR_EFOREIGN:
    case ZKR_EZK(ZK_NO_CHILDREN_FOR_EPHEMERALS):
        return CLI_PATH;
    case ZKR_EAUTH:
    case ZKR_EZK(ZK_LOCAL_SESSION):
        return CLI_DENIED;
    case ZKR_ETIMEDOUT:
    case ZKR_ENOANSWER:
    case ZKR_ECONNLOSS:
    case ZKR_ESESSION:
    case ZKR_EZK(ZK_NOT_READ_ONLY):
    case ZKR_EZK(ZK_THROTTLED):
    case ZKR_EZK(ZK_NO_REASON):
    case ZKR_EZK(ZK_UNIMPLEMENTED):
        return CLI_SERVER;
    default:
        return CLI_INTERNAL;
    }
}

static const char *remedy(int rc)
{
    if (rc == ZKR_ENONODE) {
        return "; create it first, or leave it out of -z";
    }
    if (rc == ZKR_EZK(ZK_UNIMPLEMENTED) || rc == ZKR_EZK(ZK_NO_REASON)) {
        return "; use ZooKeeper 3.8 or later";
    }
    if (rc == ZKR_EZK(ZK_LOCAL_SESSION)) {
        return "; set that to true on each server";
    }
    switch (exit_of(rc)) {
    case CLI_DENIED:
        return "; check --auth, and the ACL of the path";
    case CLI_SERVER:
        return "; try again later, or check -z and the servers";
    case CLI_INTERNAL:
        return "; with -v it says more";
    default:
        return "";
    }
}

int cli_fail_thread(void)
{
    bool files = errno == EMFILE || errno == ENFILE;
    return cli_fail(CLI_INTERNAL, "cannot %s: %s; raise the limit of %s",
                    files ? "open a descriptor" : "start a thread",
                    strerrordesc_np(errno),
                    files ? "open files (ulimit -n)" : "processes (ulimit -u)");
}

int cli_fail_memory(void)
{
    return cli_fail(CLI_INTERNAL, "out of memory");
}

int cli_fail_limits(void)
{
    return cli_fail(CLI_INTERNAL,
                    "out of memory or descriptors; raise the limits (ulimit)");
}

int cli_fail_rc(int rc)
{
    const zkr_error *e = zkr_last_error();
    bool known = e->code == rc && e->message[0] != '\0';
    if (known && e->zk_rc == ZK_INVALID_ACL) {
        return cli_fail(CLI_DENIED, "%s; check --acl", e->message);
    }
    return cli_fail(exit_of(rc), "%s%s", known ? e->message : zkr_strerror(rc),
                    remedy(rc));
}

/* --- files with secrets --- */

enum { FILE_MOST = 262144 };

void cli_free_file(char *text)
{
    if (text) {
        explicit_bzero(text, FILE_MOST);
    }
    free(text);
}

/* False: errno says why. */
static bool read_all(int fd, char *text)
{
    size_t used = 0;
    ssize_t n = 1;
    while (n > 0 && used < FILE_MOST) {
        n = read(fd, text + used, FILE_MOST - used);
        used += n > 0 ? (size_t)n : 0;
    }
    errno = n < 0 ? errno : EFBIG;
    return n == 0;
}

char *cli_read_file(const char *file, mode_t *mode)
{
    struct stat st = {.st_mode = 0};
    /* A pipe without a writer must not block. */
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = fd >= 0 && fstat(fd, &st) == 0 ? calloc(1, FILE_MOST + 1) : NULL;
    bool whole = text && read_all(fd, text);
    int error = errno;
    if (!whole) {
        cli_free_file(text);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    *mode = st.st_mode;
    errno = error;
    return whole ? text : NULL;
}

int cli_fail_output(int error)
{
    return error == EPIPE
               ? cli_exit_signal(SIGPIPE)
               : cli_fail(CLI_INTERNAL, "cannot write: %s", strerrordesc_np(error));
}

int cli_flush(void)
{
    say_drain(); /* on a terminal lines stay in their order */
    errno = 0;
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : cli_fail_output(errno);
}

/* --- messages to a service manager --- */

static struct {
    struct sockaddr_un to;
    socklen_t length; /* of that address; 0: no service manager listens */
    int64_t every_ms; /* between two keep-alive messages; 0: no watchdog */
    int64_t next;     /* when the next one is due */
    bool mute;        /* none is sent */
} manager;

/* A path, or @ and the name of an abstract socket. */
static void read_socket(void)
{
    const char *name = cli_variable("NOTIFY_SOCKET");
    size_t length = name ? strlen(name) : 0;
    if (length < 2 || length >= sizeof(manager.to.sun_path) || !strchr("/@", name[0])) {
        return;
    }
    manager.to.sun_family = AF_UNIX;
    memcpy(manager.to.sun_path, name, length);
    if (name[0] == '@') {
        manager.to.sun_path[0] = '\0';
    }
    manager.length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

/* Twice as often as necessary. */
static void read_watchdog(void)
{
    const char *usec = cli_variable("WATCHDOG_USEC"),
               *pid = cli_variable("WATCHDOG_PID");
    int64_t every, whose = getpid();
    if (usec && cli_parse_int(usec, 1, INT64_MAX, &every) &&
        (!pid || cli_parse_int(pid, 1, INT64_MAX, &whose)) && whose == getpid()) {
        manager.every_ms = every / 2000 > 0 ? every / 2000 : 1;
    }
}

void cli_notify_begin(void)
{
    read_socket();
    if (manager.length > 0) {
        read_watchdog();
    }
}

void cli_notify(const char *format, ...)
{
    enum { LINES = 2048, PATIENCE_US = 200000 };
    const struct timeval patience = {.tv_usec = PATIENCE_US};
    char text[LINES];
    va_list args;
    int fd = manager.length > 0 ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    if (fd < 0) {
        return;
    }
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it was started right above */
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    (void)!sendto(fd, text, strlen(text), MSG_NOSIGNAL,
                  (const struct sockaddr *)&manager.to, manager.length);
    (void)close(fd);
}

void cli_alive(void)
{
    if (manager.every_ms > 0 && !manager.mute && cli_until(manager.next) == 0) {
        manager.next = cli_now_ms() + manager.every_ms;
        cli_notify("WATCHDOG=1");
    }
}

int64_t cli_alive_rest(int64_t ms)
{
    return manager.every_ms > 0 && !manager.mute
               ? cli_lesser(cli_until(manager.next), ms)
               : ms;
}

void cli_alive_mute(bool mute)
{
    manager.mute = mute;
}

/* --- variables and numbers --- */

const char *cli_variable(const char *name)
{
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

bool cli_parse_int(const char *text, int64_t least, int64_t most, int64_t *value)
{
    const char *at = text;
    for (*value = 0; *at >= '0' && *at <= '9'; at++) {
        int64_t digit = *at - '0';
        if (*value > (most - digit) / 10) {
            return false;
        }
        *value = *value * 10 + digit;
    }
    return at != text && *at == '\0' && *value >= least;
}

bool cli_parse_seconds(const char *text, int64_t *ms)
{
    enum { MOST = 1000000000, MS = 1000 };
    int64_t seconds = 0, part = 0, unit = MS; /* of the digit read last, in ms */
    const char *from = text;
    bool more = false; /* than part tells */
    for (; *text >= '0' && *text <= '9' && seconds <= MOST; text++) {
        seconds = seconds * 10 + (*text - '0');
    }
    bool digits = text > from, point = *text == '.';
    for (text += point; point && *text >= '0' && *text <= '9'; text++) {
        unit /= 10;
        part += unit * (*text - '0');
        more = more || (unit == 0 && *text > '0');
        digits = true;
    }
    *ms = seconds * MS + part + more;
    return digits && *text == '\0' && seconds <= MOST;
}

bool cli_parse_signal(const char *text, int *signo)
{
    int64_t number;
    if (cli_parse_int(text, 1, SIGRTMAX, &number)) {
        *signo = (int)number;
        return true;
    }
    if (strncasecmp(text, "SIG", 3) == 0) {
        text += 3;
    }
    for (int i = 1; i < SIGRTMIN; i++) {
        const char *name = sigabbrev_np(i);
        if (name && strcasecmp(text, name) == 0) {
            *signo = i;
            return true;
        }
    }
    return false;
}

int64_t cli_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int cli_until(int64_t at)
{
    int64_t left = at == CLI_NEVER ? INT_MAX : at - cli_now_ms();
    return left <= 0 ? 0 : left < INT_MAX ? (int)left : INT_MAX;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include <zkr/zkr.h>

#include "text.h"

enum { LINE_SIZE = PIPE_BUF, PATIENCE_MS = 1000 };

/*
 * Writes at most PIPE_BUF bytes at once: when poll() reports room, write() does not block. A stalled reader of stderr must
 * not keep zkr from watching the lock.
 */
static void write_line(char *line, int printed, int patience_ms)
{
    size_t length = printed < LINE_SIZE - 2 ? (size_t)printed : LINE_SIZE - 2;
    line[length] = '\0';
    text_clean(line);
    line[length++] = '\n';
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&out, 1, patience_ms) > 0 && write(STDERR_FILENO, line, length) < 0) {
        return; /* nobody reads stderr */
    }
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
    write_line(line, PREFIX + (printed > 0 ? printed : 0), PATIENCE_MS);
    return status;
}

enum { STAMP = 32 };

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
    char time[STAMP], text[LINE_SIZE];
    stamp(time, sizeof(time));
    const char *name = names[level > 0 && level <= ZKR_LOG_DEBUG ? level : 0];
    int printed = snprintf(text, sizeof(text), "zkr: %s: time=%s %s", name, time,
                           foreign ? foreign : line);
    write_line(text, printed, 0);
}

/* Error codes of ZooKeeper that the library passes on. */
enum {
    ZK_NO_CHILDREN_FOR_EPHEMERALS = -108,
    ZK_INVALID_ACL = -114,
    ZK_NOT_READ_ONLY = -119
};

int cli_exit_of(int rc)
{
    switch (rc) {
    case ZKR_EINVAL:
    case ZKR_ENONODE:
    case ZKR_ESEQUENCE:
    case ZKR_EZK(ZK_NO_CHILDREN_FOR_EPHEMERALS):
        return CLI_PATH;
    case ZKR_EAUTH:
        return CLI_DENIED;
    case ZKR_ETIMEDOUT:
    case ZKR_ENOANSWER:
    case ZKR_ECONNLOSS:
    case ZKR_ESESSION:
    case ZKR_EZK(ZK_NOT_READ_ONLY):
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
    switch (cli_exit_of(rc)) {
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
    int error = errno;
    if (error == EMFILE || error == ENFILE) {
        return cli_fail(CLI_INTERNAL,
                        "cannot open a descriptor: %s; raise the limit of open files "
                        "(ulimit -n)",
                        strerrordesc_np(error));
    }
    return cli_fail(
        CLI_INTERNAL,
        "cannot start a thread: %s; raise the limit of processes (ulimit -u)",
        strerrordesc_np(error));
}

int cli_fail_rc(int rc)
{
    const zkr_error *e = zkr_last_error();
    bool known = e->code == rc && e->message[0] != '\0';
    if (known && e->zk_rc == ZK_INVALID_ACL) {
        return cli_fail(CLI_DENIED, "%s; check --acl", e->message);
    }
    return cli_fail(cli_exit_of(rc), "%s%s", known ? e->message : zkr_strerror(rc),
                    remedy(rc));
}

int cli_flush(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return 0;
    }
    return errno == EPIPE
               ? cli_exit_signal(SIGPIPE)
               : cli_fail(CLI_INTERNAL, "cannot write: %s", strerrordesc_np(errno));
}

const char *cli_variable(const char *name)
{
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* Digits only. Returns what follows them, or NULL when the number is too large. */
static const char *take_digits(const char *text, int64_t most, int64_t *value)
{
    *value = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        int64_t digit = *text - '0';
        if (*value > (most - digit) / 10) {
            return NULL;
        }
        *value = *value * 10 + digit;
    }
    return text;
}

bool cli_parse_int(const char *text, int64_t least, int64_t most, int64_t *value)
{
    const char *end = take_digits(text, most, value);
    return end && end != text && *end == '\0' && *value >= least;
}

/* The digits behind the point, as milliseconds, rounded up. */
static const char *take_fraction(const char *text, int64_t *ms)
{
    int64_t weight = 100;
    bool rest = false;
    for (; *text >= '0' && *text <= '9'; text++) {
        *ms += (*text - '0') * weight;
        rest = rest || (weight == 0 && *text != '0');
        weight /= 10;
    }
    *ms += rest ? 1 : 0;
    return text;
}

bool cli_parse_seconds(const char *text, int64_t *ms)
{
    enum { MOST = 1000000000 };
    int64_t whole, part = 0;
    const char *end = take_digits(text, MOST, &whole);
    if (!end) {
        return false;
    }
    bool digits = end != text;
    if (*end == '.') {
        const char *point = end;
        end = take_fraction(point + 1, &part);
        digits = digits || end > point + 1;
    }
    *ms = whole * 1000 + part;
    return digits && *end == '\0';
}

bool cli_parse_signal(const char *text, int *signo)
{
    static const struct {
        const char *name;
        int signo;
    } names[] = {{"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT},
                 {"ABRT", SIGABRT}, {"KILL", SIGKILL}, {"USR1", SIGUSR1},
                 {"USR2", SIGUSR2}, {"ALRM", SIGALRM}, {"TERM", SIGTERM}};
    int64_t number;
    if (cli_parse_int(text, 1, SIGRTMAX, &number)) {
        *signo = (int)number;
        return true;
    }
    if (strncasecmp(text, "SIG", 3) == 0) {
        text += 3;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcasecmp(text, names[i].name) == 0) {
            *signo = names[i].signo;
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

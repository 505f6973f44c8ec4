/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <zkr/zkr.h>

#include "say.h"

static int (*divert)(int status, const char *text);

void cli_divert(int (*take)(int status, const char *text))
{
    divert = take;
}

int cli_fail(int status, const char *format, ...)
{
    enum { PREFIX = sizeof("zkr: ") - 1 };
    char line[SAY_MOST] = "zkr: ";
    va_list args;
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start() is right above */
    int printed = vsnprintf(line + PREFIX, sizeof(line) - PREFIX, format, args);
    va_end(args);
    if (divert) {
        return status != 0 ? divert(status, line + PREFIX) : 0;
    }
    say_line(line, PREFIX + (size_t)(printed > 0 ? printed : 0), false);
    return status;
}

/* Error codes of ZooKeeper that the library passes through. */
enum {
    ZK_UNIMPLEMENTED = -6,
    ZK_NO_REASON = -100, /* from zetcd */
    ZK_NO_CHILDREN_FOR_EPHEMERALS = -108,
    ZK_INVALID_ACL = -114,
    ZK_NOT_READ_ONLY = -119,
    ZK_LOCAL_SESSION = -120,
    ZK_THROTTLED = -127
};

/* Returns the exit code for a ZKR_E… code that is not a conflict. */
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
        return "; set it to true on each server";
    }
    switch (exit_of(rc)) {
    case CLI_DENIED:
        return "; check --auth, and the ACL of the path";
    case CLI_SERVER:
        return "; try again later, or check -z and the servers";
    case CLI_INTERNAL:
        return "; -v logs more";
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

int cli_check(int rc)
{
    return rc == ZKR_OK ? 0 : cli_fail_rc(rc);
}

int cli_fail_output(int error)
{
    return error == EPIPE
               ? cli_exit_signal(SIGPIPE)
               : cli_fail(CLI_INTERNAL, "cannot write to standard output: %s",
                          strerrordesc_np(error));
}

int cli_flush(void)
{
    say_drain(); /* this keeps the order of lines on a terminal */
    errno = 0;
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : cli_fail_output(errno);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What all subcommands share: exit codes, messages, numbers, the clock. */
#ifndef ZKR_CLI_H
#define ZKR_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** Exit codes; part of the interface, see zkr.1. */
enum cli_exit {
    CLI_HELD = 1,      /* not obtained with -n or -w; -E changes it */
    CLI_USAGE = 64,    /* wrong options */
    CLI_PATH = 65,     /* no such path can be locked */
    CLI_COMMAND = 69,  /* the command could not be started */
    CLI_INTERNAL = 70, /* anything without a code of its own */
    CLI_SERVER = 75,   /* no ZooKeeper in time */
    CLI_DENIED = 77,   /* credentials, ACL or the session refused */
    CLI_LOST = 79      /* the lock was lost while the command ran */
};

/** Exit code of a process that died of, or was told to stop by, a signal. */
static inline int cli_exit_signal(int signo)
{
    return 128 + signo;
}

/**
 * Writes "zkr: ..." as one line on stderr, with unprintable characters replaced. Returns @status, for
 * `return cli_fail(...)`. Does not wait for the reader, see say.h.
 */
int cli_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The same message for an event that is no failure. */
#define cli_note(...) ((void)cli_fail(0, __VA_ARGS__))

/**
 * Writes a line of the library's log; does not wait for the reader either. @ctx: an int, the highest level asked for; below
 * ZKR_LOG_DEBUG only errors and warnings of libzookeeper itself are written.
 */
void cli_log(int level, const char *line, void *ctx);
/* Without -v: prints only what an operator has to know of the nodes of others on the path. */
void cli_hint(int level, const char *line, void *unused);

/** Reports that a thread, or a descriptor for one, could not be made; errno says why. Returns the exit code. */
int cli_fail_thread(void);
/** The same for memory, and for memory or descriptors. */
int cli_fail_memory(void);
int cli_fail_limits(void);
/** Reports the last failure of the library. Returns the exit code. */
int cli_fail_rc(int rc);
/** A whole file as a string. *mode: its mode, 0 = not known. NULL: errno says why. */
char *cli_read_file(const char *file, mode_t *mode);
/** Wipes and frees what cli_read_file() returned. */
void cli_free_file(char *text);
/** Reports that stdout cannot be written, unless its reader has closed it. @error: errno. Returns the exit code. */
int cli_fail_output(int error);
/** Flushes stdout, after stderr. Waits for the reader. Returns 0 or an exit code. Failures are reported, except a reader that closed its end. */
int cli_flush(void);

/* --- sd_notify(3) without its library, from one thread at a time, to whatever sets $NOTIFY_SOCKET --- */

/** Reads $NOTIFY_SOCKET and $WATCHDOG_USEC. */
void cli_notify_begin(void);
/** Sends one datagram, or drops it when the socket is full. */
void cli_notify(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Sends a keep-alive message if one is due. */
void cli_alive(void);
/** How long until the next keep-alive message is due, or @ms if that is less. */
int64_t cli_alive_rest(int64_t ms);
/** @mute: no keep-alive message is sent, or due, until it is lifted. */
void cli_alive_mute(bool mute);

/* --- variables, numbers, the clock --- */

/** An environment variable; NULL = not set, or empty. */
const char *cli_variable(const char *name);
/** Decimal seconds such as "1.5", rounded up to milliseconds. False: not a number in range. */
bool cli_parse_seconds(const char *text, int64_t *ms);
/** A decimal integer from @least to @most. */
bool cli_parse_int(const char *text, int64_t least, int64_t most, int64_t *value);
/** "TERM", "SIGTERM" or "15". */
bool cli_parse_signal(const char *text, int *signo);

/** A deadline that never comes. */
#define CLI_NEVER INT64_MAX

/** Milliseconds of CLOCK_BOOTTIME, which goes on while the machine sleeps: the clock of all deadlines. */
int64_t cli_now_ms(void);
/** Milliseconds from now until @at, 0 when it has passed; for poll(). */
int cli_until(int64_t at);

static inline int64_t cli_lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#endif

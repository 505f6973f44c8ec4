/* SPDX-License-Identifier: Apache-2.0 */
/* What each subcommand ends with: an exit code, and a message that says why. */
#ifndef ZKR_CLI_H
#define ZKR_CLI_H

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

/**
 * From now on @take gets the text of each failure, and cli_fail() returns what @take does. Nothing is written on stderr, nor are
 * notes. @take may be called by several threads.
 */
void cli_divert(int (*take)(int status, const char *text));
/** The same message for an event that is no failure. */
#define cli_note(...) ((void)cli_fail(0, __VA_ARGS__))

/** Reports that a thread, or a descriptor for one, could not be made; errno says why. Returns the exit code. */
int cli_fail_thread(void);
/** The same for memory, and for memory or descriptors. */
int cli_fail_memory(void);
int cli_fail_limits(void);
/** Reports the last failure of the library. Returns the exit code. */
int cli_fail_rc(int rc);
/** The same, unless @rc is ZKR_OK: then returns 0. */
int cli_check(int rc);
/** Reports that stdout cannot be written, unless its reader has closed it. @error: errno. Returns the exit code. */
int cli_fail_output(int error);
/** Flushes stdout, after stderr. Waits for the reader. Returns 0 or an exit code. Failures are reported, except a reader that closed its end. */
int cli_flush(void);

#endif

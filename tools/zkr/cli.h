/* SPDX-License-Identifier: Apache-2.0 */
/* Exit codes and messages. If an exit code is "reported", its message has already been written. */
#ifndef ZKR_CLI_H
#define ZKR_CLI_H

/** Exit codes. They are part of the interface (zkr.1). */
enum cli_exit {
    CLI_HELD = 1,      /* not obtained with -n or -w; -E replaces this code */
    CLI_USAGE = 64,    /* wrong options */
    CLI_PATH = 65,     /* the path cannot be locked */
    CLI_COMMAND = 69,  /* the command could not be started */
    CLI_INTERNAL = 70, /* any failure that has no other code */
    CLI_SERVER = 75,   /* no answer from ZooKeeper in time */
    CLI_DENIED = 77,   /* credentials, ACL or session refused */
    CLI_LOST = 79      /* the lock was lost while the command ran */
};

/** Returns the exit code of a process that a signal has killed, or that has ended because of a signal. */
static inline int cli_exit_signal(int signo)
{
    return 128 + signo;
}

/**
 * Writes "zkr: ..." as one line to stderr, with unprintable characters replaced. Returns @status, for `return
 * cli_fail(...)`. Does not block if the reader stalls (say.h).
 */
int cli_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * From now on, cli_fail() passes the text of each failure to @take, and returns what @take returns. It writes nothing
 * to stderr, and drops notes. Several threads may call @take at once.
 */
void cli_divert(int (*take)(int status, const char *text));
/** Writes a line in the same format for an event that is not a failure. */
#define cli_note(...) ((void)cli_fail(0, __VA_ARGS__))

/**
 * Reports that a thread, or a descriptor for a thread, could not be created for the reason in errno. Returns the exit
 * code.
 */
int cli_fail_thread(void);
/**
 * The first reports that memory ran out, and the second that memory or descriptors ran out. Both return the exit code.
 */
int cli_fail_memory(void);
int cli_fail_limits(void);
/** Reports the last failure of the library, which has returned @rc. Returns the exit code. */
int cli_fail_rc(int rc);
/** Returns 0 if @rc is ZKR_OK, else cli_fail_rc(@rc). */
int cli_check(int rc);
/**
 * Reports that a write to stdout failed with errno @error, or nothing if the reader is gone (EPIPE). Returns the exit
 * code.
 */
int cli_fail_output(int error);
/**
 * Drains stderr, and then flushes stdout. Blocks if the reader stalls. Returns 0 or a reported exit code. A reader that
 * is gone is not an error.
 */
int cli_flush(void);

#endif

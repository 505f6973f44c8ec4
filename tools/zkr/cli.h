/* SPDX-License-Identifier: Apache-2.0 */
/* Exit codes and messages. An exit code that is "reported" has its message already written. */
#ifndef ZKR_CLI_H
#define ZKR_CLI_H

/** Exit codes. They are part of the interface, see zkr.1. */
enum cli_exit {
    CLI_HELD = 1,      /* not obtained with -n or -w; -E changes it */
    CLI_USAGE = 64,    /* wrong options */
    CLI_PATH = 65,     /* the path cannot be locked */
    CLI_COMMAND = 69,  /* the command could not be started */
    CLI_INTERNAL = 70, /* any failure without a code of its own */
    CLI_SERVER = 75,   /* no answer from ZooKeeper in time */
    CLI_DENIED = 77,   /* credentials, ACL or session refused */
    CLI_LOST = 79      /* the lock was lost while the command ran */
};

/** The exit code of a process that died of a signal, or ended because of one. */
static inline int cli_exit_signal(int signo)
{
    return 128 + signo;
}

/**
 * Writes "zkr: ..." as one line on stderr, with unprintable characters replaced. Returns @status, for `return
 * cli_fail(...)`. Does not block if the reader stalls, see say.h.
 */
int cli_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * From now on cli_fail() passes the text of each failure to @take and returns what @take returns. It writes nothing on
 * stderr, and drops notes. Several threads may call @take at once.
 */
void cli_divert(int (*take)(int status, const char *text));
/** Writes the same line for an event that is no failure. */
#define cli_note(...) ((void)cli_fail(0, __VA_ARGS__))

/** Reports that a thread, or a descriptor for one, could not be created; errno says why. Returns the exit code. */
int cli_fail_thread(void);
/** Report that memory ran out, or memory or descriptors. Return the exit code. */
int cli_fail_memory(void);
int cli_fail_limits(void);
/** Reports the last failure of the library, which returned @rc. Returns the exit code. */
int cli_fail_rc(int rc);
/** Returns 0 if @rc is ZKR_OK, else cli_fail_rc(@rc). */
int cli_check(int rc);
/** Reports that a write to stdout failed with errno @error, but is silent if the reader has gone (EPIPE). Returns the
 * exit code. */
int cli_fail_output(int error);
/** Drains stderr, then flushes stdout, and blocks if the reader stalls. Returns 0 or a reported exit code unless the
 * reader has gone. */
int cli_flush(void);

#endif

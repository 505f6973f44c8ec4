/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_CLI_H
#define ZKT_CLI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fixture.h"

/*
 * Runs the zkr command as a black box, for tests that a transcript cannot express: the real program, in separate
 * processes. The first argument of the test program is the path of zkr. A case waits for the processes that it starts.
 * Processes that remain end with the case.
 *
 * Started as "TEST --beat NAME MODE", the test program is itself a command to run under a lock. It records when it was
 * alive: see cli_beat.
 */

/** Return the paths of zkr and of this program. */
const char *cli_zkr(void);
const char *cli_self(void);

struct cli {
    pid_t pid;
    int in;          /* write end of its stdin; -1 = /dev/null or closed */
    int out, err;    /* files with its output */
    char text[8192]; /* text of the last call of cli_out() or cli_err() */
};

enum { CLI_PATIENCE_MS = 30000 };

/** Set $ZKR_SERVERS for a process that is about to start. Called with false after the fork, restore it. */
void cli_servers(bool set);

/** Start @argv with $ZKR_SERVERS of the tests. Its stdin is /dev/null or, if @piped, a pipe. */
void cli_spawn(struct cli *c, bool piped, const char *const *argv);

/** Start zkr with these arguments. PIPED: its stdin is a pipe. AS: start another program, which may run zkr. */
#define CLI_START(c, ...) CLI_START_AS((c), cli_zkr(), __VA_ARGS__)
#define CLI_START_PIPED(c, ...)                                                        \
    cli_spawn((c), true, (const char *const[]){cli_zkr(), __VA_ARGS__, NULL})
#define CLI_START_AS(c, ...)                                                           \
    cli_spawn((c), false, (const char *const[]){__VA_ARGS__, NULL})

/** Wait until the process ends. Returns its exit status, or 128 + N if signal N killed it. */
int cli_wait(struct cli *c);

/** Send a signal, and wait. Fails the test unless the process dies of the signal or exits with 128 + @signo. */
void cli_stop(struct cli *c, int signo);

/** Return what the process has written so far. */
const char *cli_out(struct cli *c);
const char *cli_err(struct cli *c);

/** Start a process, and wait for its end. */
#define CLI_RUN(c, ...) CLI_RUN_AS((c), cli_zkr(), __VA_ARGS__)
#define CLI_RUN_AS(c, ...) (CLI_START_AS((c), __VA_ARGS__), cli_wait(c))

/** Run a command, and return its status. */
int cli_status(const char *const *argv);
#define CLI(...) CLI_AS(cli_zkr(), __VA_ARGS__)
#define CLI_AS(...) cli_status((const char *const[]){__VA_ARGS__, NULL})
/** Run a shell script. $0 is zkr, and $1 and so on are the arguments. */
#define CLI_SH(script, ...) CLI_AS("sh", "-c", (script), cli_zkr(), __VA_ARGS__)

/** Check that stderr is exactly one line, "zkr: ...". */
void cli_assert_one_line(struct cli *c);

/** Check that zkr ends with @status and one line on stderr, and writes nothing to stdout. */
void cli_refused(int status, const char *const *argv);
#define CLI_REFUSED(status, ...)                                                       \
    cli_refused((status), (const char *const[]){cli_zkr(), __VA_ARGS__, NULL})
/** Run zkr with these arguments, which must succeed. Returns what it wrote to stdout, valid until the next call. */
const char *cli_says(const char *const *argv);
#define CLI_SAYS(...) cli_says((const char *const[]){cli_zkr(), __VA_ARGS__, NULL})

/** Returns the number of nodes at the path of the test. */
int cli_queue(void);

/**
 * Start a zkr that acquires the lock at the path of the test as "the holder", for a minute, and wait until it is
 * queued.
 */
void cli_hold(struct cli *c);

/** Start zkr with these arguments, and wait until it is in the queue. */
#define CLI_QUEUE(c, ...)                                                              \
    do {                                                                               \
        int cli_before_ = cli_queue();                                                 \
        CLI_START((c), __VA_ARGS__);                                                   \
        ZKT_BECOMES(cli_queue(), cli_before_ + 1, CLI_PATIENCE_MS);                    \
    } while (0)

/* ---- traces ---- */

/** The trace of a beat: times of CLOCK_MONOTONIC in ns; 0 = never. */
struct cli_beat {
    _Atomic(int64_t) first, last;
    _Atomic(int64_t) token; /* $ZKR_FENCING_TOKEN */
    _Atomic(int64_t) pid;
    char name[48]; /* for the beat's command line */
};

/** Returns @count traces in a file that ends with the case. */
struct cli_beat *cli_beats(int count);

/** The arguments that run a beat. cli.c lists the modes. */
#define CLI_BEAT(beat, mode) cli_self(), "--beat", (beat)->name, (mode)

/** Wait until the beat, which @c runs, has started. */
void cli_beat_wait(struct cli *c, const struct cli_beat *b);

/** Returns the ns from the last sign of life of @one to the first sign of @next. */
int64_t cli_gap(const struct cli_beat *one, const struct cli_beat *next);

int64_t cli_now_ns(void);

#endif

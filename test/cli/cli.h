/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_CLI_H
#define ZKT_CLI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fixture.h"

/*
 * The zkr command as a black box, where a transcript cannot show it: the real program, in processes of its own. Its path is this
 * one's last argument. What a case has started it waits for; all else is ended with the case.
 *
 * Started again as "TEST --beat NAME MODE", this program is a command to be run under a lock, which leaves a
 * trace of when it was alive: see cli_beat.
 */

/** Path of zkr, and of this program. */
const char *cli_zkr(void);
const char *cli_self(void);

struct cli {
    pid_t pid;
    int in;          /* write end of its stdin; -1 = it has /dev/null or is closed */
    int out, err;    /* what it wrote */
    char text[8192]; /* of the last look at one of them */
};

enum { CLI_PATIENCE_MS = 30000 };

/** $ZKR_SERVERS for a process that is about to start; taken back after the fork. */
void cli_servers(bool set);

/** Start @argv with $ZKR_SERVERS of the tests, stdin from /dev/null or (@piped) from a pipe. */
void cli_spawn(struct cli *c, bool piped, const char *const *argv);

/** zkr with these arguments. PIPED: its stdin is a pipe. AS: a program that may run zkr. */
#define CLI_START(c, ...) CLI_START_AS((c), cli_zkr(), __VA_ARGS__)
#define CLI_START_PIPED(c, ...)                                                        \
    cli_spawn((c), true, (const char *const[]){cli_zkr(), __VA_ARGS__, NULL})
#define CLI_START_AS(c, ...)                                                           \
    cli_spawn((c), false, (const char *const[]){__VA_ARGS__, NULL})

/** Wait for its end: its exit status, 128 + N when it died of a signal itself. */
int cli_wait(struct cli *c);

/** Send it a signal, and wait: it must have died of that, or say so by its status. */
void cli_stop(struct cli *c, int signo);

/** What it wrote so far. */
const char *cli_out(struct cli *c);
const char *cli_err(struct cli *c);

/** Start and wait. */
#define CLI_RUN(c, ...) CLI_RUN_AS((c), cli_zkr(), __VA_ARGS__)
#define CLI_RUN_AS(c, ...) (CLI_START_AS((c), __VA_ARGS__), cli_wait(c))

/** Only the status is of interest. */
int cli_status(const char *const *argv);
#define CLI(...) CLI_AS(cli_zkr(), __VA_ARGS__)
#define CLI_AS(...) cli_status((const char *const[]){__VA_ARGS__, NULL})
/** Of a script of sh: $0 is zkr, and $1 and so on are the arguments. */
#define CLI_SH(script, ...) CLI_AS("sh", "-c", (script), cli_zkr(), __VA_ARGS__)

/** Exactly one line on stderr, "zkr: ...". */
void cli_assert_one_line(struct cli *c);

/** It ends with @status, says why in one line, and writes nothing to stdout. */
void cli_refused(int status, const char *const *argv);
#define CLI_REFUSED(status, ...)                                                       \
    cli_refused((status), (const char *const[]){cli_zkr(), __VA_ARGS__, NULL})
/** What zkr with these arguments, which must succeed, wrote to stdout; up to the next call. */
const char *cli_says(const char *const *argv);
#define CLI_SAYS(...) cli_says((const char *const[]){cli_zkr(), __VA_ARGS__, NULL})

/** Nodes at the path of the test. */
int cli_queue(void);

/** One that holds the lock at the path of the test for a minute, "the holder". */
void cli_hold(struct cli *c);

/** One more with these arguments, which is in the queue when this is done. */
#define CLI_QUEUE(c, ...)                                                              \
    do {                                                                               \
        int cli_before_ = cli_queue();                                                 \
        CLI_START((c), __VA_ARGS__);                                                   \
        ZKT_BECOMES(cli_queue(), cli_before_ + 1, CLI_PATIENCE_MS);                    \
    } while (0)

/* ---- traces ---- */

/** Written by a beat while it lives, CLOCK_MONOTONIC in ns; 0 = never. */
struct cli_beat {
    _Atomic(int64_t) first, last;
    _Atomic(int64_t) token; /* $ZKR_FENCING_TOKEN */
    _Atomic(int64_t) pid;
    char name[48]; /* for its command line */
};

/** So many, in a file that is gone with the case. */
struct cli_beat *cli_beats(int count);

/** The command to be run; cli.c has the modes. */
#define CLI_BEAT(beat, mode) cli_self(), "--beat", (beat)->name, (mode)

/** Wait until it has started, run by @c. */
void cli_beat_wait(struct cli *c, const struct cli_beat *b);

/** Nanoseconds from the last sign of life of the one to the first of the other. */
int64_t cli_gap(const struct cli_beat *one, const struct cli_beat *next);

int64_t cli_now_ns(void);

#endif

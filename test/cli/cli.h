/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_CLI_H
#define ZKT_CLI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fixture.h"

/*
 * The zkr command as a black box: the real program, in processes of its own. Main calls
 * cli_main() first, with the program's path as the first argument.
 *
 * A program that is started again as "TEST --beat FILE INDEX MODE" is a command to be run under a lock, which
 * leaves a trace of when it was alive: see cli_beat.
 */
#define CLI_TEST(name) cmocka_unit_test_setup_teardown(name, cli_enter, cli_leave)

/** True: this process was a beat, and is done; leave with *status. */
bool cli_main(int argc, char **argv, int *status);
int cli_enter(void **state);
/** Ends what a test that failed has left running, then checks that nothing else is left. */
int cli_leave(void **state);

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

/** zkr with these arguments. */
#define CLI_START(c, ...)                                                              \
    cli_spawn((c), false, (const char *const[]){cli_zkr(), __VA_ARGS__, NULL})

/** Wait for its end: its exit status, 128 + N when it died of a signal itself. */
int cli_wait(struct cli *c);

/** Free what it wrote. */
void cli_free(struct cli *c);

/** What it wrote so far. */
const char *cli_out(struct cli *c);
const char *cli_err(struct cli *c);

/** Start and wait. */
#define CLI_RUN(c, ...) (CLI_START((c), __VA_ARGS__), cli_wait(c))

/** The same, freed as well: only the status is of interest. */
int cli_status(const char *const *argv);
#define CLI(...) cli_status((const char *const[]){cli_zkr(), __VA_ARGS__, NULL})

/** Exactly one line on stderr, "zkr: ...". */
void cli_assert_one_line(struct cli *c);

/** It ends with @status, says why in one line, and writes nothing to stdout. */
void cli_refused(int status, const char *const *argv);
#define CLI_REFUSED(status, ...)                                                       \
    cli_refused((status), (const char *const[]){cli_zkr(), __VA_ARGS__, NULL})
/** The same for a program that runs zkr. */
#define CLI_REFUSED_AS(status, ...)                                                    \
    cli_refused((status), (const char *const[]){__VA_ARGS__, NULL})

/** Nodes at the path of the test. */
int cli_queue(void);

/* ---- traces ---- */

/** Written by a beat while it lives, CLOCK_MONOTONIC in ns; 0 = never. */
struct cli_beat {
    _Atomic(int64_t) first, last;
    _Atomic(int64_t) token; /* $ZKR_FENCING_TOKEN */
    _Atomic(int64_t) pid;
};

/** A file of @count beats, mapped; its name is for the command line. */
struct cli_beat *cli_beats(int count, char *name, size_t size);
void cli_beats_free(struct cli_beat *beats, int count, const char *name);

/** Arguments of a beat; cli.c has the modes. */
#define CLI_BEAT(file, index, mode) cli_self(), "--beat", (file), (index), (mode)

/** Wait until it has started, run by @c. */
void cli_beat_wait(struct cli *c, const struct cli_beat *b);

int64_t cli_now_ns(void);

#endif

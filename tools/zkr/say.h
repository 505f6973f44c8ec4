/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines for stderr, and the holder line for stdout. Separate threads write them, so a stalled reader delays neither a
 * signal nor the end of a command.
 */
#ifndef ZKR_CLI_SAY_H
#define ZKR_CLI_SAY_H

#include <stdbool.h>
#include <stddef.h>

/** The longest line, which a pipe takes in one piece. */
enum { SAY_MOST = 4096 };

/**
 * Queues a line for stderr, and returns at once. @line: its first SAY_MOST bytes; @length: the length of the whole
 * line, whose rest is cut off. Replaces unprintable characters. If the queue is full, drops lines, those of a log
 * (@log) first; a later line reports how many. If the thread cannot start, the caller writes the line, and waits at
 * most a second for room.
 */
void say_line(char line[SAY_MOST], size_t length, bool log);
/** Starts the thread of stderr, which otherwise the first line starts. False: errno says why. */
bool say_begin(void);
/** Waits at most a second until all lines are written. */
void say_drain(void);
/** From now on say_drain() does not wait for a stalled reader. */
void say_in_haste(void);

/**
 * Writes @text to stdout in a thread, and returns at once. Call it only once. Takes ownership of @text, which is
 * allocated. Adds 1 to the eventfd @done_fd after the write, even if it fails. False: errno says why.
 */
bool say_out(char *text, int done_fd);
/** The result of say_out(): 0, or the errno of a failed write; -1: not done yet. */
int say_out_error(void);

#endif

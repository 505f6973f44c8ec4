/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines for stderr, and the holder line for stdout. Separate threads write them, so that a stalled reader delays
 * neither a signal nor the end of a command.
 */
#ifndef ZKR_CLI_SAY_H
#define ZKR_CLI_SAY_H

#include <stdbool.h>
#include <stddef.h>

/** The longest line. A pipe takes a line of this length in one piece. */
enum { SAY_MOST = 4096 };

/**
 * Queues a line for stderr, and returns at once. @line has the first SAY_MOST bytes of the line. @length is the length
 * of the whole line, whose rest is cut off. Replaces unprintable characters. If the queue is full, drops lines, first
 * those of a log (@log). A later line reports how many were dropped. If the thread cannot start, the caller writes the
 * line, and waits at most a second for room.
 */
void say_line(char line[SAY_MOST], size_t length, bool log);
/** Starts the thread for stderr, which otherwise starts with the first line. Returns false with the reason in errno. */
bool say_begin(void);
/** Waits at most a second until all lines are written. */
void say_drain(void);
/** From now on, say_drain() does not wait for a stalled reader. */
void say_in_haste(void);

/**
 * Writes @text to stdout in a thread, and returns at once. May be called only once. Takes ownership of @text, which is
 * allocated. Adds 1 to the eventfd @done_fd after the write, even if it fails. Returns false with the reason in errno.
 */
bool say_out(char *text, int done_fd);
/** Returns the result of say_out(): 0, the errno of a failed write, or -1 if the write is not done yet. */
int say_out_error(void);

#endif

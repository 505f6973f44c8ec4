/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines for stderr, and the holder line for stdout. Threads of their own write them, so a reader that stalls delays neither
 * a signal nor the end of a command.
 */
#ifndef ZKR_CLI_SAY_H
#define ZKR_CLI_SAY_H

#include <stdbool.h>
#include <stddef.h>

/** The longest line: pipes take that much in one piece. */
enum { SAY_MOST = 4096 };

/**
 * Queues a line for stderr, of which @line has the first SAY_MOST bytes, and returns at once. @length: of all of it. Replaces
 * unprintable characters, and cuts off what does not fit. Lines that find no room are left out, those of a log (@log) first; a
 * later line says how many. Without a thread the caller writes, and waits at most a second for room.
 */
void say_line(char line[SAY_MOST], size_t length, bool log);
/** Starts the thread of stderr, which the first line would do otherwise. False: errno says why. */
bool say_begin(void);
/** Waits until all lines are written, at most a second. */
void say_drain(void);
/** From now on say_drain() does not wait for a reader that stalls. */
void say_in_haste(void);

/**
 * Writes @text to stdout, once, and returns at once. @text: allocated, taken over. Afterwards adds 1 to the eventfd
 * @done_fd, also if it fails. False: errno says why.
 */
bool say_out(char *text, int done_fd);
/** Of say_out(): 0, or the errno of a write that failed; -1: it is not done. */
int say_out_error(void);

#endif

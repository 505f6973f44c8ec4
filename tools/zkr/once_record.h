/* SPDX-License-Identifier: Apache-2.0 */
/* The record of zkr once: the data of its path say when the command last succeeded. Pure. */
#ifndef ZKR_CLI_ONCE_RECORD_H
#define ZKR_CLI_ONCE_RECORD_H

#include <stddef.h>
#include <stdint.h>

enum { ONCE_RECORD_ROOM = 256 };

/** The first line of a record. zkr once claims a path with it. */
extern const char once_mark[];

/**
 * Returns why the path cannot have a record, or NULL. @text, @length: its data, the text cut and terminated. @node: our
 * lock node below the path.
 */
const char *once_record_fault(const char *text, size_t length, const char *node);

/** ONCE_AHEAD: not due either; the record is in the future because the clock of a server was ahead. */
enum once_due { ONCE_DUE, ONCE_NOT_DUE, ONCE_AHEAD };
/** Is a command due that was asked for at @asked_ms? */
enum once_due once_record_due(const char *text, int64_t asked_ms, int64_t every_ms);

/** When the command that last succeeded was asked for; 0: not recorded. */
int64_t once_record_asked_ms(const char *text);
/** The fencing token of that command; 0: not recorded. */
int64_t once_record_token(const char *text);
/** Writes a record of a success. */
void once_record_write(char text[ONCE_RECORD_ROOM], int64_t asked_ms, int64_t token);

#endif

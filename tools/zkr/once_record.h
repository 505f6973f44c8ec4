/* SPDX-License-Identifier: Apache-2.0 */
/* The record of zkr once, which is the data of its path. It contains when the command last succeeded. Pure. */
#ifndef ZKR_CLI_ONCE_RECORD_H
#define ZKR_CLI_ONCE_RECORD_H

#include <stddef.h>
#include <stdint.h>

enum { ONCE_RECORD_ROOM = 256 };

/** The first line of a record, which marks the path as claimed by zkr once. */
extern const char once_mark[];

/**
 * Returns why the path cannot have a record, or NULL. @text is the beginning of the path's data, with a null byte
 * appended, and @length is the length of all data. @node is our lock node below the path.
 */
const char *once_record_fault(const char *text, size_t length, const char *node);

/**
 * Whether a command is due. ONCE_AHEAD: the command is not due, and the record is in the future, because the clock of a
 * server was ahead.
 */
enum once_due { ONCE_DUE, ONCE_NOT_DUE, ONCE_AHEAD };
/** Returns whether a command requested at @asked_ms is due. */
enum once_due once_record_due(const char *text, int64_t asked_ms, int64_t every_ms);

/** Returns when the command that last succeeded was requested, or 0 if the record does not contain it. */
int64_t once_record_asked_ms(const char *text);
/** Returns the fencing token of that command, or 0 if the record does not contain it. */
int64_t once_record_token(const char *text);
/** Writes a record of a success. */
void once_record_write(char text[ONCE_RECORD_ROOM], int64_t asked_ms, int64_t token);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a history, line by line. test/history/README.md describes the format. */
#ifndef ZKT_EVENT_H
#define ZKT_EVENT_H

#include <stdint.h>
#include <stdio.h>

/** Begin a line. A @returned of 0 means that there was no answer. */
void zkt_event(FILE *out, const char *op, int64_t called, int64_t returned);
/** @life is the number of the process's current life. */
void zkt_event_by(FILE *out, int process, int life, int thread);
void zkt_event_number(FILE *out, const char *field, int64_t value);
/** @text must not have quotes or backslashes. */
void zkt_event_text(FILE *out, const char *field, const char *text);
/** @second is NULL, or the second of two paths. */
void zkt_event_paths(FILE *out, const char *first, const char *second);
void zkt_event_end(FILE *out);

#endif

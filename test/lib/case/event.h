/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a history, line by line; test/history/README.md has the format. */
#ifndef ZKT_EVENT_H
#define ZKT_EVENT_H

#include <stdint.h>
#include <stdio.h>

/** Begin a line. @returned 0: without answer. */
void zkt_event(FILE *out, const char *op, int64_t called, int64_t returned);
/** @life of the process. */
void zkt_event_by(FILE *out, int process, int life, int thread);
void zkt_event_number(FILE *out, const char *field, int64_t value);
/** Without quotes or backslashes. */
void zkt_event_text(FILE *out, const char *field, const char *text);
/** @second: NULL, or the other one of two. */
void zkt_event_paths(FILE *out, const char *first, const char *second);
void zkt_event_end(FILE *out);

#endif

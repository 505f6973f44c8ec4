/* SPDX-License-Identifier: Apache-2.0 */
/* Parses user input: variables, numbers, names of signals. */
#ifndef ZKR_CLI_PARSE_H
#define ZKR_CLI_PARSE_H

#include <stdbool.h>
#include <stdint.h>

/** Returns an environment variable, or NULL if it is unset or empty. */
const char *parse_variable(const char *name);
/**
 * Parses decimal seconds, for example "1.5", and rounds them up to milliseconds. Returns false if @text is not a number
 * in range.
 */
bool parse_seconds(const char *text, int64_t *ms);
/** Parses a decimal integer from @least to @most. Returns false if @text is not such an integer. */
bool parse_int(const char *text, int64_t least, int64_t most, int64_t *value);
/** Parses "TERM", "SIGTERM" or "15". Returns false if there is no such signal. */
bool parse_signal(const char *text, int *signo);

#endif

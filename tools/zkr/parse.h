/* SPDX-License-Identifier: Apache-2.0 */
/* What users give: variables, numbers, names of signals. */
#ifndef ZKR_CLI_PARSE_H
#define ZKR_CLI_PARSE_H

#include <stdbool.h>
#include <stdint.h>

/** An environment variable; NULL = not set, or empty. */
const char *parse_variable(const char *name);
/** Decimal seconds such as "1.5", rounded up to milliseconds. False: not a number in range. */
bool parse_seconds(const char *text, int64_t *ms);
/** A decimal integer from @least to @most. */
bool parse_int(const char *text, int64_t least, int64_t most, int64_t *value);
/** "TERM", "SIGTERM" or "15". */
bool parse_signal(const char *text, int *signo);

#endif

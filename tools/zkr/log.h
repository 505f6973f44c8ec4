/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the library's log to stderr. Does not block if the reader stalls (say.h). */
#ifndef ZKR_CLI_LOG_H
#define ZKR_CLI_LOG_H

/**
 * The log callback with -v, which writes a line. @ctx is an int, the highest level to write. Below ZKR_LOG_DEBUG, only
 * errors and warnings of libzookeeper itself are written.
 */
void log_write(int level, const char *line, void *ctx);
/**
 * The log callback without -v, which prints only what an operator must know about nodes of other clients at the path.
 */
void log_hint(int level, const char *line, void *unused);

#endif

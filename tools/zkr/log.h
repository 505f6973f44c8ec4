/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the library's log to stderr. Does not block if the reader stalls, see say.h. */
#ifndef ZKR_CLI_LOG_H
#define ZKR_CLI_LOG_H

/**
 * The log callback with -v: writes a line. @ctx: an int, the highest level to write. Below ZKR_LOG_DEBUG it writes only
 * errors and warnings of libzookeeper itself.
 */
void log_write(int level, const char *line, void *ctx);
/** The log callback without -v: prints only what an operator must know about nodes of other clients on the path. */
void log_hint(int level, const char *line, void *unused);

#endif

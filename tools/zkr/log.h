/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the library's log, for stderr. They do not wait for the reader, see say.h. */
#ifndef ZKR_CLI_LOG_H
#define ZKR_CLI_LOG_H

/**
 * Writes a line. @ctx: an int, the highest level asked for; below ZKR_LOG_DEBUG only errors and warnings of libzookeeper
 * itself are written.
 */
void log_write(int level, const char *line, void *ctx);
/** Without -v: prints only what an operator has to know of the nodes of others on the path. */
void log_hint(int level, const char *line, void *unused);

#endif

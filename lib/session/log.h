/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a client: lines go to options.log, on the dispatch thread. Each event is one line of `key=value` fields,
 * separated by spaces, in this order: event, path, node, session, epoch, fields of the event, reason. Values that are
 * not plain words are in double quotes, with \\, \" and \n as in C.
 */
#ifndef ZKR_SESSION_LOG_H
#define ZKR_SESSION_LOG_H

#include "session/client.h"

struct zkr__event {
    const char *name;
    const char *path, *node, *reason; /* NULL = none */
    int64_t session_id;               /* 0 = that of the current session */
    unsigned epoch;
};

#define ZKR__EVENT(...) (&(const struct zkr__event){.name = __VA_ARGS__})

/* Log a line. If too many lines are queued, the line is dropped and counted. */
void zkr__log(zkr_client *c, int level, const struct zkr__event *event) ZKR__LOCKED;
/* Like zkr__log(), with more fields before the reason. @format makes these fields, whose values must be plain words. */
void zkr__log_more(zkr_client *c,
                   int level,
                   const struct zkr__event *event,
                   const char *format,
                   ...) ZKR__LOCKED __attribute__((format(printf, 4, 5)));

/* Log a complete line. The client must have options.log. */
void zkr__log_line(zkr_client *c, int level, const char *text);

#endif

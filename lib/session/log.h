/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a client: lines go to options.log, on the dispatch thread. One line for each event: event, path, node,
 * session, epoch, what belongs to the event, reason; as `key=value`, separated by spaces. Values that are not plain
 * words stand in double quotes, with \\, \" and \n as in C.
 */
#ifndef ZKR_SESSION_LOG_H
#define ZKR_SESSION_LOG_H

#include "session/client.h"

struct zkr__event {
    const char *name;
    const char *path, *node, *reason; /* NULL = none */
    int64_t session_id;               /* 0 = the present one, and its epoch */
    unsigned epoch;
};

#define ZKR__EVENT(...) (&(const struct zkr__event){.name = __VA_ARGS__})

/* The line is dropped, and counted, when too many wait already. */
void zkr__log(zkr_client *c, int level, const struct zkr__event *event) ZKR__LOCKED;
/* With more before the reason, which has plain words as values. */
void zkr__log_more(zkr_client *c,
                   int level,
                   const struct zkr__event *event,
                   const char *format,
                   ...) ZKR__LOCKED __attribute__((format(printf, 4, 5)));

/* The same for a line that was made elsewhere, of a client with options.log. */
void zkr__log_line(zkr_client *c, int level, const char *text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a client: lines go to options.log, on the dispatch thread. */
#ifndef ZKR_SESSION_LOG_H
#define ZKR_SESSION_LOG_H

#include "session/client.h"

/* With the client's lock or without. Dropped, and counted, when too many wait already. */
void zkr__log(zkr_client *c, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a line made elsewhere. The client has options.log. */
void zkr__log_line(zkr_client *c, int level, const char *text);

#endif

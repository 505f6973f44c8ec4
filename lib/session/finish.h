/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a client without recipes: zkr_client_finish(). The end of the session deletes all its nodes. So the client
 * ends the session right after the deletes, without waiting for their answers. If no server confirms the end, another
 * handle resumes the session, and either ends it or learns that it has ended.
 */
#ifndef ZKR_SESSION_FINISH_H
#define ZKR_SESSION_FINISH_H

#include "session/client.h"

enum zkr__finish_step {
    ZKR__FINISH_LATER, /* the session goes on as usual */
    ZKR__FINISH_WAITS,
    ZKR__FINISH_OPENS /* open a handle for the last session */
};

/* Part of a turn of the service. Sets *next to the time of the next call. */
enum zkr__finish_step
zkr__finish_run(zkr_client *c, int64_t now, int64_t *next) ZKR__LOCKED;
/* Record that the handle of the last session was closed. @over is true if a server has ended the session. */
void zkr__finish_closed(zkr_client *c, bool over) ZKR__LOCKED;

#endif

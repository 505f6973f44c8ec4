/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of libzookeeper's own log: each client gets those of its handles, up to its own level, and few that say
 * the same again (log_echo.h). libzookeeper makes
 * them up to the highest level of all clients. Of clients beyond ZKR__LOG_SLOTS they go to the first that joined.
 */
#ifndef ZKR_SESSION_LOG_FOREIGN_H
#define ZKR_SESSION_LOG_FOREIGN_H

#include "session/client.h"

/* Take part from now on, until. Without options.log only the forks are minded. */
void zkr__log_join(zkr_client *c);
void zkr__log_leave(zkr_client *c);

/* A line, for the door's on_log. On any thread. */
void zkr__log_foreign(int slot, int level, const char *text);

/* Nothing is logged by libzookeeper between the two, and no other thread is between them. */
void zkr__log_hush(void);
void zkr__log_speak(void);

#endif

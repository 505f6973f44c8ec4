/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to requests that were not sent, kept until they are delivered: request.h says when. */
#ifndef ZKR_SESSION_UNSENT_H
#define ZKR_SESSION_UNSENT_H

#include "session/request.h"

/* Its code goes to @fn with the next delivery. */
void zkr__unsent_keep(zkr_client *c,
                      const struct zkr__answer *answer,
                      zkr__answer_fn fn,
                      void *ctx,
                      unsigned tag) ZKR__LOCKED;
/* Drop those that are left. */
void zkr__unsent_drop(zkr_client *c) ZKR__LOCKED;
/* Something that had to be told is lost: the service ends the session. */
void zkr__give_up_soon(zkr_client *c) ZKR__LOCKED;

#endif

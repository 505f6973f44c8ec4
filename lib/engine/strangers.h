/* SPDX-License-Identifier: Apache-2.0 */
/* Others on our path who may not respect us, or cannot see us at all: the log says so. */
#ifndef ZKR_ENGINE_STRANGERS_H
#define ZKR_ENGINE_STRANGERS_H

#include "engine/queue.h"

/* Look at a list, whose children in order are @children, and warn once for each queue. */
void zkr__strangers_warn(struct zkr__queue *q,
                         const struct zkr__children *children,
                         const struct zkr__answer *list) ZKR__LOCKED;

#endif

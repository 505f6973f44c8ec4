/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an object of any recipe is asked about its whole queue: who is in it, who is first, tell me
 * when that changes. These block, without the lock, and leave the detail of a failure in
 * zkr_last_error().
 */
#ifndef ZKR_ENGINE_CONTEST_H
#define ZKR_ENGINE_CONTEST_H

#include "engine/lookout.h"
#include "engine/queue.h"

/*
 * All contenders of @q in their order, within options.connect_timeout_ms. @lookout belongs to the
 * object, NULL until first needed: zkr__contest_watch() tells what changes from here on. It may
 * be NULL itself for objects that cannot watch.
 */
int zkr__contest_list(zkr_contenders **out,
                      const struct zkr__queue *q,
                      struct zkr__lookout **lookout);

/* The text of the first; ZKR_ENONODE when there is none, ZKR_EINVAL when it does not fit. */
int zkr__contest_first(char *buf,
                       size_t size,
                       const struct zkr__queue *q,
                       struct zkr__lookout **lookout);

/* Until contenders come or go. */
int zkr__contest_watch(const struct zkr__queue *q,
                       struct zkr__lookout **lookout,
                       int64_t timeout_ms);

/* Copy the path of @claim's node; ZKR_EINVAL when it does not fit. */
int zkr__contest_node(char *buf,
                      size_t size,
                      const struct zkr__claim *claim) ZKR__LOCKED;

#endif

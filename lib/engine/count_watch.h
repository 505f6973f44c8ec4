/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follow the number in a node: 4 bytes, big-endian, as Curator's SharedCount writes them.
 *
 * The node is read with a watch. While it is missing, the watch is one on its appearance; see contenders.h for
 * what that costs. A number that has changed counts no more, though the new one is still to be read. The same holds
 * when the session ends: what has changed in between nobody knows.
 */
#ifndef ZKR_ENGINE_COUNT_WATCH_H
#define ZKR_ENGINE_COUNT_WATCH_H

#include "session/client.h"

struct zkr__count_watch;

/* Instead of a number. */
enum {
    ZKR__COUNT_UNKNOWN = -1, /* not read yet, or changed since */
    ZKR__COUNT_MISSING = -2, /* there is no such node */
    ZKR__COUNT_BAD =
        -3 /* it holds no such number, or may not be read; the log says so */
};

/*
 * Follow @path. @on_change is called with the lock held at each news, first with what is found now; it must neither
 * block nor end the watch. Until then the count is ZKR__COUNT_UNKNOWN. Returns ZKR_OK or ZKR_ENOMEM.
 */
int zkr__count_watch_create(struct zkr__count_watch **out,
                            zkr_client *c,
                            const char *path,
                            void (*on_change)(void *ctx, int64_t count),
                            void *ctx) ZKR__LOCKED;
/* NULL is a no-op. */
void zkr__count_watch_end(struct zkr__count_watch *w) ZKR__LOCKED;

#endif

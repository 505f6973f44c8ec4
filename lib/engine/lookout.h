/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Learn that contenders of a queue came or went, whosever they are. A lookout lists the directory
 * and leaves one watch there, only while somebody wants to know.
 *
 * When the directory is missing the watch is one on its appearance, by exists(): the one place
 * where we do that. Such a watch stays at the server until the directory appears or the session
 * ends, also when nobody wants to know any more; there is at most one for each path and session.
 */
#ifndef ZKR_ENGINE_LOOKOUT_H
#define ZKR_ENGINE_LOOKOUT_H

#include <zkr/contenders.h>

#include "session/request.h"

struct zkr__engine;
struct zkr__lookout;

/*
 * Make one. @on_news, which may be NULL, makes it look from now on, and is called with the lock
 * held when contenders came or went since they were last known; it must neither block nor end
 * the lookout. Returns ZKR_OK, ZKR_ENOMEM or ZKR_ESYS.
 */
int zkr__lookout_create(struct zkr__lookout **out,
                        zkr_client *c,
                        const char *dir,
                        const char *prefix,
                        void (*on_news)(void *ctx),
                        void *ctx) ZKR__LOCKED;
/* NULL is a no-op. Nobody may wait. */
void zkr__lookout_end(struct zkr__lookout *l) ZKR__LOCKED;

/* The owner has read @list: from here on only what differs from it is news. */
void zkr__lookout_know(struct zkr__lookout *l, const zkr_contenders *list) ZKR__LOCKED;

/*
 * Sleep until there is news. Returns ZKR_OK, ZKR_ETIMEDOUT, or why we cannot look (ZKR_EAUTH and
 * the like). One round trip, unless the watch is still there; one more after each event.
 */
int zkr__lookout_wait(struct zkr__lookout *l, int64_t deadline) ZKR__LOCKED;
bool zkr__lookout_busy(const struct zkr__lookout *l); /* someone waits; NULL: no */

/* --- for engine.c: what happened, to all lookouts of the client --- */

void zkr__lookouts_up(struct zkr__engine *engine) ZKR__LOCKED;
void zkr__lookouts_over(struct zkr__engine *engine) ZKR__LOCKED;
void zkr__lookouts_refused(struct zkr__engine *engine) ZKR__LOCKED;
void zkr__lookouts_node(struct zkr__engine *engine, const char *path) ZKR__LOCKED;
int64_t zkr__lookouts_tick(struct zkr__engine *engine, int64_t now) ZKR__LOCKED;

#endif

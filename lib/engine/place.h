/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A place in a queue, and the hold that it becomes: one claim, and another one each time when
 * what was granted was worth nothing by the time somebody could be told. What a thread that
 * acquires and a ticket have in common. Embedded in either. A place in several queues is a group of
 * claims, and held when all of them are.
 *
 * A grant is *taken* when somebody is told of it. One that ends before is nobody's loss: the place
 * enters the queue anew, within its deadline. All functions need the client's lock.
 */
#ifndef ZKR_ENGINE_PLACE_H
#define ZKR_ENGINE_PLACE_H

#include "engine/place_state.h"

/*
 * Enter the queue: WAITING, or FAILED at once. @timeout_ms, from @started on, is an acquire's. The
 * members queue, queues, on_change and timed are the caller's to set before. One in several queues is
 * timed.
 */
void zkr__place_enter(struct zkr__place *place,
                      int64_t timeout_ms,
                      int64_t started) ZKR__LOCKED;

/* Where it stands now; what is granted is taken by that, what is worth nothing tried anew. */
enum zkr__place_state zkr__place_look(struct zkr__place *place) ZKR__LOCKED;
/* The same for one whom nobody is told of yet: a grant is left as it is. */
enum zkr__place_state zkr__place_follow(struct zkr__place *place) ZKR__LOCKED;
/* Sleep until it does not wait any more: it is taken, or has failed. The claim's release wakes
 * the sleeper itself. Not for one that is timed. */
enum zkr__place_state zkr__place_await(struct zkr__place *place) ZKR__LOCKED;
/* The sleeper gives up, if there is one. */
void zkr__place_cancel(struct zkr__place *place) ZKR__LOCKED;

/* The server has granted it, taken or not. */
bool zkr__place_granted(const struct zkr__place *place) ZKR__LOCKED;
/* Held, and surely so now. What is not is lost from here on, even if the session proves to be
 * alive. */
bool zkr__place_sure(struct zkr__place *place) ZKR__LOCKED;
/* Its claims, into @claims if it is not NULL; returns how many. Held. */
uint32_t zkr__place_claims(const struct zkr__place *place,
                           struct zkr__claim **claims) ZKR__LOCKED;
/* The path of a claim's node, which is known; ZKR_EINVAL when it does not fit. */
int zkr__place_node(const struct zkr__claim *claim, char *buf, size_t size) ZKR__LOCKED;

/*
 * Leave the queue, from any state; true: a hold had been lost. With @wait it returns when the node
 * is gone or the session over, and others may have the lock meanwhile.
 */
bool zkr__place_leave(struct zkr__place *place, bool wait) ZKR__LOCKED;

/*
 * A hold, or one that was lost, becomes @to's, and its claim one of @to's queue, which has the same directory. @to has
 * none yet, and its queue and on_change are set.
 */
void zkr__place_move(struct zkr__place *from, struct zkr__place *to) ZKR__LOCKED;

/* A try needs no more than two round trips, and ends when one has not been answered for so long. */
int64_t zkr__place_try_ms(const zkr_client *c);

/* Note why it has failed as the thread's last error; returns the code. */
int zkr__place_fail(const struct zkr__place *place, int64_t timeout_ms) ZKR__LOCKED;

#endif

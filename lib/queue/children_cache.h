/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this client knows of the children of a directory. There are two sources: lists, and the numbers that the servers
 * give to our own nodes (struct zkr__known).
 *
 * --- Lists: one at a time for each directory. A claim gets the first list that is sent after the claim has asked: behind
 * its create, and behind all events that the client has heard by then. Claims that ask while a list is on its way share
 * the next list, which is sent when the first is answered. So a crowd costs few lists.
 *
 * --- Numbers: the cache decides where a new node of ours stands by the node's number alone: granted, or behind a known
 * node. So a lock that only this client uses needs no lists.
 *
 * From the second node of a session on, a watch on the directory tells when the directory is deleted. The event
 * comes before the answers to later requests. The watch stays, so it costs one request. A re-connection, a change of the
 * directory's data and the end of the session use the watch up, and the cache knows nothing until the watch is set again.
 * Servers may withhold the event (zkr__engine_doubts_at()), so the watch is renewed now and then. Until the renewal, a
 * create whose number fits is believed, even in a directory that was made anew.
 *
 * The cache knows which nodes may be there: ours, from this client's tables, and others, from the last list. Other nodes
 * may have gone since, but none can have come. So what the cache grants, a list would grant. A claim that has to wait, by
 * the cache, for a node of another client reads that node with a watch, and so hears when the node is gone.
 *
 * The cache counts on the nodes of other clients only while the last node of ours is still being deleted: so soon after a
 * hold, the waiters behind it have hardly gone. So two processes that lock again and again need one list a cycle, when they
 * are woken, and none when they join.
 *
 * All functions need the client's lock.
 */
#ifndef ZKR_QUEUE_CHILDREN_CACHE_H
#define ZKR_QUEUE_CHILDREN_CACHE_H

#include "queue/children.h"
#include "queue/engine_state.h"
#include "queue/rule.h"

struct zkr__claim;

/* A node of ours is about to be created: set the watch, if it pays. */
void zkr__cache_begin(struct zkr__directory *d) ZKR__LOCKED;
/* The directory existed at the last answer: a watch would have reported its deletion. */
bool zkr__cache_watches(const struct zkr__directory *d) ZKR__LOCKED;
/* The number of the claim's node will probably do: send no list along with the create. */
bool zkr__cache_expects(const struct zkr__claim *claim) ZKR__LOCKED;
/* The claim's node was created. */
void zkr__cache_made(struct zkr__claim *claim) ZKR__LOCKED;
/*
 * The verdict of the rule on the claim, whose node was created just now, and the children that the verdict is about.
 * @children is valid until the next call. False: the numbers do not tell.
 */
bool zkr__cache_decide(const struct zkr__claim *claim,
                       struct zkr__verdict *verdict,
                       struct zkr__children *children) ZKR__LOCKED;
/* The node that the claim watches, if any, is gone. */
void zkr__cache_gone(const struct zkr__claim *claim) ZKR__LOCKED;
/* A node of ours may exist that is in no table: forget all. */
void zkr__cache_forget(struct zkr__directory *d) ZKR__LOCKED;

/* The claim is to get the next list, as the answer to ZKR__ASKED_LIST in its present round. */
void zkr__list_want(struct zkr__claim *claim) ZKR__LOCKED;
/* Send a list if a claim wants one, and none is on its way. */
void zkr__list_send(struct zkr__directory *d) ZKR__LOCKED;
/* The claim waits for a list, in this round. */
bool zkr__list_wanted(const struct zkr__claim *claim) ZKR__LOCKED;
/*
 * The children, while the answer to a list is handed out, without our own nodes that leave. A long list ends behind the
 * last claim that asked. Returns ZKR_OK or ZKR_ENOMEM.
 */
int zkr__list_children(struct zkr__directory *d,
                       const struct zkr__children **out) ZKR__LOCKED;

/* A try, and there may be no room for its node: the try is to list before it makes the node. */
bool zkr__try_is_wary(const struct zkr__claim *claim) ZKR__LOCKED;

/* The session is connected again: the events of the meantime come in no order. */
void zkr__caches_connected(struct zkr__engine *engine) ZKR__LOCKED;
void zkr__caches_session_over(struct zkr__engine *engine) ZKR__LOCKED;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this client knows of the children of a directory. The knowledge has two sources: lists, and the numbers that the
 * servers assign to our own nodes (struct zkr__known).
 *
 * --- Lists. At most one is in flight for each directory. A claim gets the first list that is sent after the claim has
 * asked for one. That list is sent after the claim's create, and after all events that the client had received when the
 * claim asked. Claims that ask while a list is in flight share the next list, which is sent when the first is answered.
 * So even many claims cost few lists.
 *
 * --- Numbers. The number of a new node of ours often suffices to decide whether the claim is granted or waits behind a
 * known node. So a lock that only this client uses needs no lists.
 *
 * From the second node of a session on, a watch on the directory reports when the directory is deleted. The event
 * arrives before the answers to later requests. The watch stays set, so it costs one request. A re-connection, a change
 * of the directory's data and the end of the session use up the watch, and the cache knows nothing until the watch is
 * set again. Servers may withhold the event (zkr__engine_doubts_at()), so the watch is renewed at intervals. Until the
 * renewal, the cache believes a create whose number fits, even if the directory was deleted and created again.
 *
 * The cache knows which nodes may exist: our nodes from this client's tables, and the nodes of other clients from the
 * last list. The latter may be gone by now, but no node can have been added. So every claim that the cache grants, a
 * list would grant, too. If the cache makes a claim wait for a node of another client, the claim reads that node with a
 * watch, and so learns when the node is gone.
 *
 * The cache relies on the nodes of other clients only while our last node is still being deleted, because waiters
 * rarely leave so soon after the hold ahead of them. So two processes that lock in a loop need one list per cycle, when
 * they are woken, and none when they join.
 *
 * All functions need the client's lock.
 */
#ifndef ZKR_QUEUE_CHILDREN_CACHE_H
#define ZKR_QUEUE_CHILDREN_CACHE_H

#include "queue/children.h"
#include "queue/engine_state.h"
#include "queue/rule.h"

struct zkr__claim;

/* Before a node of ours is created, set the watch on the directory if that is worth a request. */
void zkr__cache_begin(struct zkr__directory *d) ZKR__LOCKED;
/* Returns whether the watch on the directory is set. If it is, the directory existed at the last answer. */
bool zkr__cache_watches(const struct zkr__directory *d) ZKR__LOCKED;
/* Returns true if the number of the claim's node will probably be enough, so that no list is sent with the create. */
bool zkr__cache_expects(const struct zkr__claim *claim) ZKR__LOCKED;
/* Record that the claim's node was created. */
void zkr__cache_made(struct zkr__claim *claim) ZKR__LOCKED;
/*
 * Apply the rule to the claim, whose node was just created. The indexes in @verdict refer to @children, which are valid
 * until the next call. Returns false if the numbers do not decide.
 */
bool zkr__cache_decide(const struct zkr__claim *claim,
                       struct zkr__verdict *verdict,
                       struct zkr__children *children) ZKR__LOCKED;
/* If the claim watches a node, record that the node is gone. */
void zkr__cache_gone(const struct zkr__claim *claim) ZKR__LOCKED;
/* Drop all knowledge, because a node of ours may exist that is not in any table. */
void zkr__cache_forget(struct zkr__directory *d) ZKR__LOCKED;

/* Let the claim have the next list, as the answer to ZKR__ASKED_LIST in its current round. */
void zkr__list_want(struct zkr__claim *claim) ZKR__LOCKED;
/* If a claim wants a list and none is in flight, send one. */
void zkr__list_send(struct zkr__directory *d) ZKR__LOCKED;
/* Returns true if the claim waits for a list in its current round. */
bool zkr__list_wanted(const struct zkr__claim *claim) ZKR__LOCKED;
/*
 * Get the children of the list that is being delivered, without our nodes that are being deleted. A long list omits the
 * nodes behind the last claim that asked. Returns ZKR_OK or ZKR_ENOMEM.
 */
int zkr__list_children(struct zkr__directory *d,
                       const struct zkr__children **out) ZKR__LOCKED;

/* Returns true if the claim is a try that might have to wait, so that it must list before it creates its node. */
bool zkr__try_is_wary(const struct zkr__claim *claim) ZKR__LOCKED;

/* Drop all watches at each connection, because earlier events may arrive in any order. */
void zkr__caches_connected(struct zkr__engine *engine) ZKR__LOCKED;
void zkr__caches_session_over(struct zkr__engine *engine) ZKR__LOCKED;

#endif

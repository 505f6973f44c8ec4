/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lists of a directory's children, one at a time.
 *
 * A claim is served by the first list that is sent after it has asked, so behind its create, and behind all that it
 * has heard by then. While a list is on its way those who ask wait for the next one, which is sent as soon as the
 * first is answered, and share it. So a crowd costs a few lists, not one for each.
 *
 * All functions need the client's lock.
 */
#ifndef ZKR_ENGINE_LISTS_H
#define ZKR_ENGINE_LISTS_H

#include "engine/claim.h"
#include "engine/directory.h"
#include "engine/rule.h"

/*
 * Where a new node of ours stands, by its number alone (directory.h): granted, or behind another of ours. A lock that
 * only this client uses needs no lists then.
 *
 * From its second node in a session on, a directory is guarded by a watch, which tells when it is deleted: events come
 * before the answers to what was sent after. The watch stays, so it costs one request. A re-connect, a change of
 * the data of the directory and the end of the session use it up; then nothing is known until it is set again. So it is
 * now and then, as its event may have been kept from us (zkr__engine_doubts_at()). That is the one event for which there
 * is no remedy: a create whose number fits is believed until then.
 *
 * What is known is who may be there: ours, which this client has in its tables, and others as the last list had
 * them. Others may have gone meanwhile, but none can have come. So a grant by it is one by a list as well; one that
 * waits by it for a node of another client asks for that with a watch, and hears if it is gone.
 *
 * That others are there is only counted on while the last node of ours is still being deleted: so soon after a hold
 * those who waited behind it have hardly gone. Eight processes that lock again and again need one list a cycle by that,
 * when they are woken, and none when they join.
 *
 * All functions need the client's lock.
 */

/* A node of ours is about to be made: see that the directory is guarded, if it pays. */
void zkr__reckon_begin(struct zkr__directory *d) ZKR__LOCKED;
/* No list need go out with the create of the claim: its number will probably do. */
bool zkr__reckon_expects(const struct zkr__claim *claim) ZKR__LOCKED;
/* The claim's node was made. */
void zkr__reckon_made(struct zkr__claim *claim) ZKR__LOCKED;
/*
 * What the rule says about the claim, whose node was made just now, and about whom: @who is there until the next
 * call. False: the numbers do not tell.
 */
bool zkr__reckon(const struct zkr__claim *claim,
                 struct zkr__verdict *verdict,
                 struct zkr__children *who) ZKR__LOCKED;
/* A list that was sent behind our last node is about to be given to those who asked; the number that was next then. */
void zkr__reckon_listed(struct zkr__directory *d,
                        const struct zkr__children *children,
                        int64_t next) ZKR__LOCKED;
/* The node that the claim watches, if it does watch one, is gone. */
void zkr__reckon_gone(const struct zkr__claim *claim) ZKR__LOCKED;
/* A node of ours may be there, and is in no table. */
void zkr__reckon_forget(struct zkr__directory *d) ZKR__LOCKED;
/* The guard is gone: after a re-connect, and with the session. */
void zkr__reckon_end(struct zkr__directory *d) ZKR__LOCKED;

/* Give the claim the answer to the next list: @fn gets it as if it was asked for in the present round. */
void zkr__lists_want(struct zkr__claim *claim, zkr__answer_fn fn) ZKR__LOCKED;
/* Send a list if one is wanted, and none is on its way. */
void zkr__lists_send(struct zkr__directory *d) ZKR__LOCKED;
/* It waits for one, in this round. */
bool zkr__lists_wanted(const struct zkr__claim *claim) ZKR__LOCKED;
/*
 * While an answer is given: the children but for those of ours that leave, and of a long list for those behind all who
 * asked. Returns ZKR_OK or ZKR_ENOMEM.
 */
int zkr__lists_children(struct zkr__directory *d,
                        const struct zkr__children **out) ZKR__LOCKED;

/* The session came back: what happened meanwhile is told in no order. */
void zkr__lists_connected(struct zkr__engine *engine) ZKR__LOCKED;
void zkr__lists_session_over(struct zkr__engine *engine) ZKR__LOCKED;

#endif

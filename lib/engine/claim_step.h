/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step of a claim. claim_step.c moves a claim from phase to phase; transitions.c has what several events share, and
 * the events of our own node. Pure. A step returns what is to be done, as a set of zkr__action.
 */
#ifndef ZKR_ENGINE_CLAIM_STEP_H
#define ZKR_ENGINE_CLAIM_STEP_H

#include "engine/claim_state.h"

typedef unsigned zkr__step(struct zkr__claim_state *k,
                           const struct zkr__claim_event *e);

/* Move @k on. */
zkr__step zkr__claim_step;

/* --- transitions.c, for claim_step.c alone --- */

/* More of the same in a row are paused in between. */
enum { ZKR__QUICK_RETRIES = 3 };

/* Enter a phase and ask what is to be asked there; without a connection, or in a crowd, pause until that can be. */
unsigned zkr__enter(struct zkr__claim_state *k,
                    const struct zkr__claim_event *e,
                    enum zkr__phase phase);
/* Enter a phase after a pause. Fail with ZKR_ECONNLOSS when no more retries are allowed. */
unsigned zkr__retry_in(struct zkr__claim_state *k,
                       const struct zkr__claim_event *e,
                       enum zkr__phase phase);
/* Enter a phase after a pause, or fail if that cannot help. */
unsigned zkr__retry_or_fail(struct zkr__claim_state *k,
                            const struct zkr__claim_event *e,
                            enum zkr__phase phase);

/* Delete our node; the owner has let go, or lost it. */
zkr__step zkr__remove;
/* The owner gets @code; nothing of the claim stays. In CREATING no node has been made. */
unsigned
zkr__fail_claim(struct zkr__claim_state *k, const struct zkr__claim_event *e, int code);
/* Our node is gone but we still want one, at the tail of the queue. In DOUBTED it is lost; a member is place_lost. */
zkr__step zkr__requeue;
/* Nothing blocks us: hold, or first prove that the session lives. A member waits for the others before. */
zkr__step zkr__grant;
/* The hold is over; @reason is a ZKR_LOST_…. With ZKR_LOST_NODE there is nothing to delete. */
unsigned
zkr__lose(struct zkr__claim_state *k, const struct zkr__claim_event *e, int reason);

/* Get our node with a watch, if there is no watch and there is a connection. */
zkr__step zkr__watch_own;
/* When to look again at what has no watch. */
unsigned zkr__look_later(const struct zkr__claim_state *k);

/* At ZKR__EV_OWN_GONE and so on. */
zkr__step zkr__on_own_gone, zkr__on_own_changed, zkr__on_own_unchecked;
zkr__step zkr__on_got_own, zkr__on_got_owner, zkr__on_restored;
zkr__step zkr__on_metadata_sent, zkr__on_noted;
zkr__step zkr__on_writing, zkr__on_written;
zkr__step zkr__on_downgrade, zkr__on_downgraded;
/* Ask for the downgrade again, if there is a connection. */
zkr__step zkr__downgrade_again;

#endif

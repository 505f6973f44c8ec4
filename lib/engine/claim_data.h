/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the data of our nodes say: the owner text, or what the application gave, and fields behind it, which
 * engine/contender.h reads.
 *
 * A *note* is the fields that say since when it is held, and in a session of which time-out. A hold that lasts gets it by its first lease probe
 * (session_events.c), in place of the check there. Who writes over a wish, or makes another node of a hold, writes it too.
 */
#ifndef ZKR_ENGINE_CLAIM_DATA_H
#define ZKR_ENGINE_CLAIM_DATA_H

#include "engine/claim.h"

/* Room for an owner text with a field behind it; a longer one of a semaphore is cut. */
enum { ZKR__OWNER_TEXT_MAX = 1024 };

/* As a node is made; @text is room for it. Fills in all of @creation. */
void zkr__claim_fill_data(const struct zkr__claim *claim,
                          struct zkr__creation *creation,
                          char text[ZKR__OWNER_TEXT_MAX]) ZKR__LOCKED;
/* The same with the note, allocated. NULL: there is none to write, or no memory. */
char *zkr__claim_noted_data(const struct zkr__claim *claim, size_t *len) ZKR__LOCKED;

/* These data have the note. */
bool zkr__is_noted(const void *data, size_t len);

#endif

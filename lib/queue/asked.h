/* SPDX-License-Identifier: Apache-2.0 */
/* The tags of a claim's requests. Pure. */
#ifndef ZKR_QUEUE_ASKED_H
#define ZKR_QUEUE_ASKED_H

#include <stdbool.h>

/* The requests of a claim. */
enum zkr__asked {
    ZKR__ASKED_CREATE,
    ZKR__ASKED_LIST,
    ZKR__ASKED_OWN,
    ZKR__ASKED_AHEAD,
    ZKR__ASKED_PROVE,
    ZKR__ASKED_REMOVE,
    ZKR__ASKED_DOWNGRADE,
    ZKR__ASKED_RESTORE,
    ZKR__ASKED_OWNER,
    ZKR__ASKED_BEFORE,
    ZKR__ASKED_CHECK
};

enum { ZKR__ASKED_BITS = 4 };

/* Returns the tag of a request, made of its kind and its round. */
static inline unsigned zkr__asked_tag(enum zkr__asked asked, unsigned round)
{
    return round << ZKR__ASKED_BITS | asked;
}

static inline enum zkr__asked zkr__asked_of(unsigned tag)
{
    return (enum zkr__asked)(tag & ((1U << ZKR__ASKED_BITS) - 1));
}

static inline bool zkr__asked_in_round(unsigned tag, unsigned round)
{
    return tag >> ZKR__ASKED_BITS == (round & (~0U >> ZKR__ASKED_BITS));
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/known.h"

#include <string.h>

#include <zkr/error.h>

enum { QUIET = 2 };

void zkr__known_begin(struct zkr__known *known)
{
    *known = (struct zkr__known){.quiet = QUIET};
}

void zkr__known_forget(struct zkr__known *known)
{
    known->counts = false;
    zkr__children_free(&known->others);
}

bool zkr__known_made(struct zkr__known *known, int64_t number)
{
    bool next = known->counts && number == known->next;
    if (next) {
        known->quiet += known->quiet < QUIET;
    } else {
        known->quiet = known->counts ? 0 : known->quiet;
        known->from = number;
        zkr__children_free(&known->others);
    }
    known->next = number + 1;
    known->counts = number >= 0 && number < ZKR__SEQUENCE_LIMIT;
    if (!known->counts) { /* from there on numbers repeat */
        zkr__known_forget(known);
    }
    return next;
}

void zkr__known_listed(struct zkr__known *known,
                       const struct zkr__children *children,
                       int64_t next,
                       zkr__child_filter ours,
                       void *ctx)
{
    /* A lower number is not of the directory that our last node is in. */
    bool counts = next >= known->next;
    zkr__known_forget(known);
    if (counts && zkr__children_copy(&known->others, children, ours, ctx) == ZKR_OK) {
        known->counts = true;
        known->next = next;
        known->from = ZKR__KNOWN_ALL;
    }
}

void zkr__known_gone(struct zkr__known *known, const char *name)
{
    struct zkr__children *others = &known->others;
    size_t gone = zkr__children_find(others, name);
    if (gone < others->count) {
        others->count--;
        memmove(others->list + gone, others->list + gone + 1,
                (others->count - gone) * sizeof(*others->list));
    }
}

bool zkr__known_quiet(const struct zkr__known *known)
{
    return known->counts && known->quiet == QUIET;
}

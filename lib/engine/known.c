/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/known.h"

enum { QUIET = 2 };

void zkr__known_begin(struct zkr__known *known)
{
    *known = (struct zkr__known){.quiet = QUIET};
}

void zkr__known_forget(struct zkr__known *known)
{
    known->counts = false;
}

bool zkr__known_made(struct zkr__known *known, int64_t number)
{
    bool next = known->counts && number == known->next;
    if (next) {
        known->quiet += known->quiet < QUIET;
    } else {
        known->quiet = known->counts ? 0 : known->quiet;
        known->from = number;
    }
    known->next = number + 1;
    /* From there on numbers repeat. */
    known->counts = number >= 0 && number < ZKR__SEQUENCE_LIMIT;
    return next;
}

/* Of children that came behind our last node, the number of our next one will tell. */
void zkr__known_listed(struct zkr__known *known,
                       const struct zkr__children *children,
                       zkr__child_filter ours,
                       void *ctx)
{
    known->from = ZKR__KNOWN_ALL;
    known->strays = children->strays;
    for (size_t i = children->count; i > 0; i--) {
        const struct zkr__child *child = &children->list[i - 1];
        if (child->sequence < known->next && !ours(ctx, child->name)) {
            known->from = child->sequence + 1;
            return;
        }
    }
}

bool zkr__known_quiet(const struct zkr__known *known)
{
    return known->counts && known->quiet == QUIET;
}

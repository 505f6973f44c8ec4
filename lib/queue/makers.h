/* SPDX-License-Identifier: Apache-2.0 */
/* Whose node is it? Recipes of other makers, by the names of their nodes. docs/clients.md has the releases. Pure. */
#ifndef ZKR_QUEUE_MAKERS_H
#define ZKR_QUEUE_MAKERS_H

#include <stdbool.h>

/* How its clients treat a lock node of ours in their queue. */
enum zkr__regard {
    ZKR__WAITS,   /* they wait for it, as it waits for theirs */
    ZKR__IGNORES, /* they do not see it */
    ZKR__BREAKS   /* they fail, or wait for it while it waits for them */
};

struct zkr__maker {
    const char *name; /* as people call it */
    enum zkr__regard regard;
    /* The lowest number holds, alone. Otherwise several may hold, in an order of their own. */
    bool ordered;
    /* Others may name a node so by chance. */
    bool vague;
};

/* The maker of the child @name, which ends in a number. NULL: not known, or a recipe of Curator and ours. */
const struct zkr__maker *zkr__maker_of(const char *name);
/* Is the maker known, and not by chance? Such a node is a contender, persistent or not, whatever its number. */
bool zkr__maker_is_certain(const char *name);

#endif

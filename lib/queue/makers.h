/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which program made a node? Recognizes recipes of other programs by the names of their nodes. docs/clients.md has the
 * releases. Pure.
 */
#ifndef ZKR_QUEUE_MAKERS_H
#define ZKR_QUEUE_MAKERS_H

#include <stdbool.h>

/* How the clients of a maker treat a lock node of ours in their queue. */
enum zkr__regard {
    ZKR__WAITS,   /* they wait for our node, as ours wait for theirs */
    ZKR__IGNORES, /* they do not notice it */
    ZKR__BREAKS   /* they fail, or wait for it while it waits for them */
};

struct zkr__maker {
    const char *name; /* the common name of the program */
    enum zkr__regard regard;
    /* The holder is the lowest number, alone. If false, several may hold, or in another order. */
    bool ordered;
    /* Other programs may use such a name by chance. */
    bool vague;
};

/* Returns the maker of the child @name, which ends in a number. NULL: not known, or a recipe of Curator and ours. */
const struct zkr__maker *zkr__maker_of(const char *name);
/* Is the maker known for certain? Then the node is a contender, persistent or not, whatever its number. */
bool zkr__maker_is_certain(const char *name);

#endif

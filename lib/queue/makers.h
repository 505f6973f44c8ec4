/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognizes the recipes of other programs by the names of their nodes. The maker of a node is the program that created
 * it. docs/clients.md lists the releases. Pure.
 */
#ifndef ZKR_QUEUE_MAKERS_H
#define ZKR_QUEUE_MAKERS_H

#include <stdbool.h>

/* How the clients of another program treat a lock node of ours in their queue. */
enum zkr__regard {
    ZKR__WAITS,   /* they wait for our node, as our claims wait for theirs */
    ZKR__IGNORES, /* they do not notice our node */
    ZKR__BREAKS   /* they fail, or deadlock with our claim */
};

struct zkr__maker {
    const char *name; /* the common name of the program */
    enum zkr__regard regard;
    /* Only the node with the lowest number holds. If false, several nodes may hold, or the order is different. */
    bool ordered;
    /* Other programs may use such names by chance. */
    bool vague;
};

/*
 * Returns the maker of the child @name, which ends in a number. Returns NULL if the maker is not known, or the name
 * belongs to a recipe that Curator and zkrecipes share.
 */
const struct zkr__maker *zkr__maker_of(const char *name);
/* Returns whether the maker is certain. If it is, the node is a contender, ephemeral or not, whatever its number. */
bool zkr__maker_is_certain(const char *name);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The children of a queue in order, and what their numbers reveal. Pure; hostile names are safe. */
#ifndef ZKR_QUEUE_CHILDREN_H
#define ZKR_QUEUE_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "queue/names.h"

struct zkr__child {
    const char *name; /* points into the answer, unless this is a copy */
    enum zkr__name_kind kind;
    int64_t sequence;
};

struct zkr__children {
    struct zkr__child *list; /* by sequence, readers last, then by name */
    size_t count;
    size_t strays; /* number of other children, which have no number */
};

/* Returns whether to leave out a child. */
typedef bool (*zkr__child_filter)(void *ctx, const char *name);

/* No limit to the number of a child. */
#define ZKR__ANY_NUMBER INT64_MAX

/*
 * Sort the children that have a number up to @most and are not @dead (NULL = none is), and count the children without a
 * number. Returns ZKR_OK or ZKR_ENOMEM; the caller frees @out.
 */
int zkr__children_order(struct zkr__children *out,
                        const char *const *names,
                        size_t count,
                        int64_t most,
                        zkr__child_filter dead,
                        void *ctx);
/*
 * Do lists for the application include @child? Not if the child is of no known recipe and its number has not been given
 * out yet: such a child would be behind every contender that could enter now. @made: the number of the next child by
 * the server's count. If that count is too high, more children are included.
 */
bool zkr__child_is_shown(const struct zkr__child *child, int64_t made);
/* Like zkr__children_order(), but only children that reports include. The others count as children without a number. */
int zkr__children_shown(struct zkr__children *out,
                        const char *const *names,
                        size_t count,
                        int64_t made);
/* Copy the children and their names into one allocation, except those for which @not_these returns true. */
int zkr__children_copy(struct zkr__children *out,
                       const struct zkr__children *from,
                       zkr__child_filter not_these,
                       void *ctx);
void zkr__children_free(struct zkr__children *children);
void zkr__children_sort(struct zkr__children *children);

/* Remove the @dead children. */
void zkr__children_filter(struct zkr__children *children,
                          zkr__child_filter dead,
                          void *ctx);

/* Returns the index of the child @name, or count if there is none. */
size_t zkr__children_find(const struct zkr__children *children, const char *name);

/*
 * --- What the numbers reveal.
 *
 * Servers number the children of a directory by counting all children ever created there, with or without a number in
 * their names. Deletions do not change the count. So if a node of ours gets the next number, no node was created in
 * between, and the known nodes are all there are, except for nodes that are gone.
 *
 * A node that a server has shown proves the next number: it is at least one more than the node's number, so a node of
 * ours that gets exactly this number is right behind. The count that comes with a list proves nothing: ClickHouse
 * Keeper raises it with each write to a child, and a count that is too high would hide foreign nodes behind the list.
 * The count only hints that the highest node is gone. If the count and the nodes disagree, the list is not used.
 *
 * The count shows which nodes were created, not where they are: a client that chooses whole names chooses the number,
 * above or below the count. So known nodes of other clients are ordered by their own numbers, as in a list. No recipe
 * chooses numbers. Where a client does, two cases are left to chance:
 * - A node above the count that is not known comes to be between two nodes of ours, which are taken for neighbours.
 *   When the first hands over to the second, the unknown node is passed.
 * - A node that is put ahead of waiting nodes is passed by them, because their claims rely on an older list. The next
 *   node does not get the next number, so its claim requests a list, which shows the intruder. In neither case does a
 *   claim wait that would not wait after a list.
 *
 * A directory that is deleted and created again counts from 0. When this may have happened, all knowledge is dropped.
 */
struct zkr__known {
    bool counts;  /* the next three fields are valid */
    int64_t next; /* the number of the next child */
    /* All children with this number or a higher one are ours, except children whose makers chose the number. */
    int64_t from;
    /* If from is ZKR__KNOWN_ALL: the nodes of other clients. Some may be gone by now. */
    struct zkr__children others;
    /* How many nodes of ours in a row, at most two, got the next number. */
    unsigned quiet;
};

/* Value of `from`: there are no nodes but ours and `others`. */
#define ZKR__KNOWN_ALL INT64_MIN

void zkr__known_begin(struct zkr__known *known);
/* The directory may have been replaced: drop and free all knowledge. */
void zkr__known_forget(struct zkr__known *known);
/* A node of ours got @number. True: it was the next number, so no node was created in between. */
bool zkr__known_made(struct zkr__known *known, int64_t number);
/*
 * Learn from a list that was sent after the create of our last node. @children: all children. @next: the next number by
 * the server's count. @ours tells which children are ours.
 */
void zkr__known_listed(struct zkr__known *known,
                       const struct zkr__children *children,
                       int64_t next,
                       zkr__child_filter ours,
                       void *ctx);
/* The child @name is gone. */
void zkr__known_gone(struct zkr__known *known, const char *name);
/* Will the next node of ours probably get the next number? */
bool zkr__known_quiet(const struct zkr__known *known);

#endif

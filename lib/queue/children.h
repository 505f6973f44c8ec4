/* SPDX-License-Identifier: Apache-2.0 */
/* The children of a queue in their order, and what their numbers tell. Pure; hostile names are safe. */
#ifndef ZKR_QUEUE_CHILDREN_H
#define ZKR_QUEUE_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "queue/names.h"

struct zkr__child {
    const char *name; /* borrowed from the answer, unless this is a copy */
    enum zkr__name_kind kind;
    int64_t sequence;
};

struct zkr__children {
    struct zkr__child *list; /* by sequence, readers last, then by name */
    size_t count;
    size_t strays; /* how many other children there are, without a number */
};

/* Says whether a child is left out. */
typedef bool (*zkr__child_filter)(void *ctx, const char *name);

/* However high its number is. */
#define ZKR__ANY_NUMBER INT64_MAX

/*
 * Puts the children in order that have a number up to @most and are not @dead (NULL = none is), and counts the children
 * without a number. Returns ZKR_OK or ZKR_ENOMEM; free @out.
 */
int zkr__children_order(struct zkr__children *out,
                        const char *const *names,
                        size_t count,
                        int64_t most,
                        zkr__child_filter dead,
                        void *ctx);
/*
 * Is @child shown by who tells of a queue? One of no known recipe is not if the server has not given out its number yet:
 * it stands behind all that could queue now. @made: the number of the next child, as the list says; servers whose count
 * is too high show more.
 */
bool zkr__child_is_shown(const struct zkr__child *child, int64_t made);
/* The same as zkr__children_order(), of those that are shown. The others count as children without a number. */
int zkr__children_shown(struct zkr__children *out,
                        const char *const *names,
                        size_t count,
                        int64_t made);
/* Copies the children and their names into one piece of memory, except for the children that are @not_these. */
int zkr__children_copy(struct zkr__children *out,
                       const struct zkr__children *from,
                       zkr__child_filter not_these,
                       void *ctx);
void zkr__children_free(struct zkr__children *children);
void zkr__children_sort(struct zkr__children *children);

/* Take the @dead children out. */
void zkr__children_filter(struct zkr__children *children,
                          zkr__child_filter dead,
                          void *ctx);

/* Index of the child called @name; count if missing. */
size_t zkr__children_find(const struct zkr__children *children, const char *name);

/*
 * --- What the numbers tell of the children.
 *
 * Servers number the children of a directory by a count of all children ever created there, with a number in their
 * name or without. Deletions do not move the count. So when a node of ours gets the number that was next, no node has
 * come in between, and what was known before is still all there is, except for nodes that have gone.
 *
 * A node that a server has shown proves the next number: it is at least one more than the number of that node, so a node
 * of ours that gets exactly this number stands right behind. The count that comes with a list proves nothing: ClickHouse
 * Keeper raises it with each write to a child, and a count that is too high would hide strangers behind the list. The
 * count is only a hint that the highest node has gone. If the count and the nodes disagree, the list is not used.
 *
 * The count tells which nodes came, not where they stand: a client that names its child whole, digits and all, chooses
 * the number, above the count or below it. So known nodes of others stand before ours or behind them by their own
 * numbers, as in a list. No recipe chooses numbers. For a client that does, two things are left to chance:
 * - A node above the count that is not known comes to stand between two nodes of ours, which are taken for neighbours.
 *   When the first of the two hands over to the second, the unknown node is passed.
 * - A node that is put before waiting nodes is passed by these: their claims go by an older list. The next node does not
 *   get the number that was next, so its claim asks for a list, which shows the intruder.
 * In neither case does a claim wait that would not wait by a list.
 *
 * A directory that is deleted and created again counts from 0. When that may have happened, everything is forgotten.
 */
struct zkr__known {
    bool counts;  /* the next three mean something */
    int64_t next; /* the number of the next child */
    /* From this number on all children are ours, except for children whose makers chose the number. */
    int64_t from;
    /* With ZKR__KNOWN_ALL: the nodes of other clients, some of which may be gone by now. */
    struct zkr__children others;
    /* So many nodes of ours in a row, at most two, got the number that was next. */
    unsigned quiet;
};

/* There are no nodes but ours and `others`. */
#define ZKR__KNOWN_ALL INT64_MIN

void zkr__known_begin(struct zkr__known *known);
/* The directory may be another one. Frees what is remembered. */
void zkr__known_forget(struct zkr__known *known);
/* A node of ours got this number. True: it was the next number, so no node has come in between. */
bool zkr__known_made(struct zkr__known *known, int64_t number);
/*
 * A list that was sent behind our last node has been answered: all @children, and the next number by the server's count.
 * @ours is asked about the children.
 */
void zkr__known_listed(struct zkr__known *known,
                       const struct zkr__children *children,
                       int64_t next,
                       zkr__child_filter ours,
                       void *ctx);
/* The child of this name is gone. */
void zkr__known_gone(struct zkr__known *known, const char *name);
/* The next node of ours is likely to get the next number. */
bool zkr__known_quiet(const struct zkr__known *known);

#endif

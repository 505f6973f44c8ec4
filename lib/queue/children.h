/* SPDX-License-Identifier: Apache-2.0 */
/* The children of a queue in order, and what their numbers reveal. Pure. Hostile names are safe. */
#ifndef ZKR_QUEUE_CHILDREN_H
#define ZKR_QUEUE_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "queue/names.h"

struct zkr__child {
    /* Points into the answer or, in a copy, into the copy's own allocation. */
    const char *name;
    enum zkr__name_kind kind;
    int64_t sequence;
};

struct zkr__children {
    /* Sorted by sequence, then with readers last, then by name. */
    struct zkr__child *list;
    size_t count;
    size_t strays; /* how many children without a number were left out */
    /* How many children were left out because their numbers are above the limit. */
    size_t behind;
};

/* Returns true for a child that is left out. */
typedef bool (*zkr__child_filter)(void *ctx, const char *name);

/* A limit that no child's number exceeds. */
#define ZKR__ANY_NUMBER INT64_MAX

/*
 * Put the children into @out, in order, except those with numbers above @most and those for which @dead (NULL = none)
 * returns true. Count the children without a number. Returns ZKR_OK or ZKR_ENOMEM. The caller frees @out.
 */
int zkr__children_order(struct zkr__children *out,
                        const char *const *names,
                        size_t count,
                        int64_t most,
                        zkr__child_filter dead,
                        void *ctx);
/*
 * Returns whether lists for the application include @child. A child of no known recipe is left out if the server has
 * not assigned its number yet, because it is behind every contender that could enter now. @made is the number of the
 * next child by the server's count. If that count is too high, more children are included.
 */
bool zkr__child_is_shown(const struct zkr__child *child, int64_t made);
/*
 * Like zkr__children_order(), but a child for which zkr__child_is_shown() is false counts as a child without a number.
 */
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

/* Remove the children for which @dead returns true. */
void zkr__children_filter(struct zkr__children *children,
                          zkr__child_filter dead,
                          void *ctx);

/* Returns the index of the child @name, or children->count if no child has that name. */
size_t zkr__children_find(const struct zkr__children *children, const char *name);

/*
 * Returns true if the list has every node that was created after the child at index @self. Then nobody has deleted that
 * child and created another one with its name. @made is the number of the next child by the server's count. If the
 * count is too high, the result is false. The caller makes sure that the directory is older than the child.
 */
bool zkr__children_prove(const struct zkr__children *children,
                         size_t self,
                         int64_t made);

/*
 * --- What the numbers reveal.
 *
 * Servers number the children of a directory by counting all children ever created there, with or without a number in
 * their names. Deletions do not change the count. So if a node of ours gets the next number, no node was created in
 * between. Then every existing node is known, though some known nodes may be gone.
 *
 * A listed node gives a lower bound for the next number, which is its own number plus one. So a node of ours that gets
 * exactly this number is right behind the listed node. The count that the server returns with a list proves nothing,
 * because ClickHouse Keeper raises it with each write to a child, and a count that is too high would hide foreign nodes
 * created after the list. The count only hints that the node with the highest number is gone. If the count and the
 * nodes disagree, the list is not used.
 *
 * The count shows that nodes were created, but not where they are. A client that chooses whole names also chooses the
 * number, above or below the count. So the known nodes of other clients are ordered by their own numbers, as in a list.
 * No recipe chooses numbers. If a client does, two cases are not detected:
 * - An unknown node numbered above the count is between two nodes of ours that seem to be neighbours. When the first
 *   hands over to the second, the unknown node is overtaken.
 * - Waiting nodes of ours overtake a node that is created ahead of them, because their claims rely on an older list.
 *   Our next node does not get the expected number, so its claim requests a list, which shows the intruder.
 *
 * In neither case does a claim wait unless a list would make it wait, too.
 *
 * A directory that is deleted and created again counts from 0. When this may have happened, all knowledge is dropped.
 */
struct zkr__known {
    bool counts;  /* the next three fields are valid */
    int64_t next; /* the number of the next child */
    /* All children with this number or a higher one are ours, except those whose clients chose the number. */
    int64_t from;
    /* The nodes of other clients if `from` is ZKR__KNOWN_ALL. Some of these nodes may be gone by now. */
    struct zkr__children others;
    /* Number of our latest nodes that got the next number, counted up to two. */
    unsigned quiet;
};

/* Value of `from`: every node is ours or in `others`. */
#define ZKR__KNOWN_ALL INT64_MIN

void zkr__known_begin(struct zkr__known *known);
/* Drop and free all knowledge, because the directory may have been replaced. */
void zkr__known_forget(struct zkr__known *known);
/*
 * Record that a node of ours got @number. Returns true if that was the next number, so no node was created in between.
 */
bool zkr__known_made(struct zkr__known *known, int64_t number);
/*
 * Learn from a list that was sent after the create of our last node. @children are all children, and @next is the next
 * number by the server's count. @ours returns true for our own nodes.
 */
void zkr__known_listed(struct zkr__known *known,
                       const struct zkr__children *children,
                       int64_t next,
                       zkr__child_filter ours,
                       void *ctx);
/* Record that the child @name is gone. */
void zkr__known_gone(struct zkr__known *known, const char *name);
/* Returns whether our next node will probably get the next number. */
bool zkr__known_quiet(const struct zkr__known *known);

#endif

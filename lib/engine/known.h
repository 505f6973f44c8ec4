/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who stands in a directory, as far as its numbers tell. Pure.
 *
 * Servers number the children of a directory by a count of all that were ever made there, by whomever, with a
 * number in their name or without; deletions do not move it. So when a node of ours gets the number that was next,
 * nobody came in between, and what was known before is still all there is, but for what has gone. Which number is
 * next is known from our last node, and from the last list, which comes with that count.
 *
 * The count says who came, and not where they stand: whoever names its child whole, digits and all, chooses its number,
 * above the count as well as below. So the others that are known stand in front of ours or behind them by their own
 * numbers, as in a list. No recipe chooses numbers, and two things are left to chance for who does:
 * - One above the count that is not known comes to stand among ours, which are known not to have others in between. It is
 *   passed when one of ours hands over to the next.
 * - One that is put in front of those in line is passed by them: they go by whom they found. Whoever comes after it does
 *   not get the number that was next, and so asks for a list, which has it.
 * Neither makes anybody wait who would not by a list.
 *
 * That holds for one directory. One that is deleted and made again counts from 0, so whoever keeps this has to
 * forget it when that may have happened.
 */
#ifndef ZKR_ENGINE_KNOWN_H
#define ZKR_ENGINE_KNOWN_H

#include "engine/children.h"

/* There is nobody but our nodes and the others that are known. */
#define ZKR__KNOWN_ALL INT64_MIN

struct zkr__known {
    bool counts;  /* the next three mean something */
    int64_t next; /* the number of the next child */
    /* All children numbered from here on are ours, but for those whose makers chose the number. */
    int64_t from;
    /* With ZKR__KNOWN_ALL: who is there beside ours, and such as are gone by now. */
    struct zkr__children others;
    unsigned
        quiet; /* so many nodes of ours in a row, at most two, had nobody before them */
};

void zkr__known_begin(struct zkr__known *known);
/* The directory may be another one. Frees what is remembered. */
void zkr__known_forget(struct zkr__known *known);
/* A node of ours got this number. True: it was the next one, nobody came in between. */
bool zkr__known_made(struct zkr__known *known, int64_t number);
/*
 * A list that was sent behind our last node has been answered: all @children, and the number that was next.
 * @ours is asked about the children.
 */
void zkr__known_listed(struct zkr__known *known,
                       const struct zkr__children *children,
                       int64_t next,
                       zkr__child_filter ours,
                       void *ctx);
/* The child of this name is gone. */
void zkr__known_gone(struct zkr__known *known, const char *name);
/* The next node of ours is likely to have nobody before it, either. */
bool zkr__known_quiet(const struct zkr__known *known);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who stands in a directory, as far as its numbers tell. Pure.
 *
 * Servers number the children of a directory by a count of all that were ever made there, by whomever, with a
 * number in their name or without; deletions do not move it. So when a node of ours gets the number right behind that
 * of our last one, nobody came in between, and what was known before is still all there is, but for what has gone.
 *
 * That holds for one directory. One that is deleted and made again counts from 0, so whoever keeps this has to
 * forget it when that may have happened.
 */
#ifndef ZKR_ENGINE_KNOWN_H
#define ZKR_ENGINE_KNOWN_H

#include "engine/children.h"

/* There is nobody else below our nodes. */
#define ZKR__KNOWN_ALL INT64_MIN

struct zkr__known {
    bool counts;   /* the next two mean something */
    int64_t next;  /* the number behind that of our last node */
    int64_t from;  /* all children numbered from here on, up to `next`, are ours */
    size_t strays; /* with ZKR__KNOWN_ALL: children without a number, at most */
    unsigned
        quiet; /* so many nodes of ours in a row, at most two, had nobody before them */
};

void zkr__known_begin(struct zkr__known *known);
/* The directory may be another one. */
void zkr__known_forget(struct zkr__known *known);
/* A node of ours got this number. True: nobody came in between. */
bool zkr__known_made(struct zkr__known *known, int64_t number);
/* A list that was sent behind our last node has been answered. @ours is asked about the children. */
void zkr__known_listed(struct zkr__known *known,
                       const struct zkr__children *children,
                       zkr__child_filter ours,
                       void *ctx);
/* The next node of ours is likely to have nobody before it, either. */
bool zkr__known_quiet(const struct zkr__known *known);

#endif

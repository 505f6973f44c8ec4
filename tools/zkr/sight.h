/* SPDX-License-Identifier: Apache-2.0 */
/* What "zkr status" has read at a path, as rows to be shown. */
#ifndef ZKR_CLI_SIGHT_H
#define ZKR_CLI_SIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zkr/contenders.h>

/** Borrowed. */
struct sight_lists {
    const zkr_contenders *queue; /* at the path */
    const zkr_contenders *
        leases; /* of a semaphore below it, which say who holds: NULL or empty = none */
    const zkr_contenders *gate; /* who waits for permits */
};

struct sight_row {
    const zkr_contender *c;
    char *owner;     /* its text, as it is to be shown */
    char *server;    /* that serves its session; NULL: not asked, or not known */
    int64_t permits; /* it has so many; 0 = it is about none */
    bool holds;
};

struct sight {
    const char
        *kind; /* "lock", "read", ... of the holders, else of the first; NULL: nobody */
    bool semaphore;
    int64_t permits; /* that are held */
    int64_t max;     /* of the semaphore, 0 = not known */
    size_t holders, count;
    struct sight_row *rows; /* holders first, then who waits, in order */
};

/** False: out of memory. sight_end() follows all the same. */
bool sight_begin(struct sight *s, const struct sight_lists *lists);
void sight_end(struct sight *s);

/** The word for a ZKR_KIND_. */
const char *sight_kind(int kind);

/** What to be careful about, for a person; false: nothing. */
bool sight_warning(const struct sight_lists *lists, char *text, size_t size);

#endif

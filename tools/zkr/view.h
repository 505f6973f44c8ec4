/* SPDX-License-Identifier: Apache-2.0 */
/* The contenders at a path, shown as a table or as JSON. */
#ifndef ZKR_CLI_VIEW_H
#define ZKR_CLI_VIEW_H

#include <zkr/contenders.h>

#include "json.h"
#include "peers.h"

/**
 * The lists that were read at a path: its queue, the holders of permits, and the queue for permits. Each may be NULL.
 */
enum { VIEW_QUEUE, VIEW_PERMITS, VIEW_GATE, VIEW_LISTS };

struct view_row {
    const zkr_contender *c;
    const char *server; /* server of the contender's session; NULL: not known */
    int64_t permits;    /* number of permits held, or 0 */
    bool holds;
};

/* The rows that are shown. */
struct view {
    /* Kind of the holders or, if nobody holds, of the first contender. NULL = there are no contenders. */
    const char *kind;
    bool semaphore;
    bool unordered;            /* the order of the recipe is not known */
    int64_t permits;           /* number of permits held */
    int64_t max;               /* permits of the semaphore; 0 = not known */
    const struct peers *peers; /* borrowed */
    size_t holders, count;
    struct view_row *rows; /* holders first, and then the queue, in order */
};

/** Fills in @v, which borrows the lists. Returns false if memory runs out. view_end() must be called in any case. */
bool view_begin(struct view *v, zkr_contenders *const *lists, const struct peers *p);
/** Adds the path itself as the only row. The view must be empty. */
void view_add_node(struct view *v, const zkr_contender *node);
void view_end(struct view *v);
/** Prints a table. The view must have a row. */
void view_print(FILE *out, const struct view *v);
/** Prints one line of JSON. Its format is part of the interface (zkr.1). */
void view_json(FILE *out, const char *path, const struct view *v, bool exists);
/**
 * Warns on stderr if the first node of the queue is not ephemeral, because then no end of a session deletes it. Returns
 * whether it has warned.
 */
bool view_warn_stays(const char *path, const zkr_contenders *queue);
/** Warns on stderr about the contenders. Returns whether it has warned. */
bool view_warn(const char *path, zkr_contenders *const *lists);
/** Returns the maximum in the data of the newest permit that has one, or 0 if it is not known. */
int64_t view_max(const zkr_contenders *permits);
/** Returns the maximum in the data of the newest permit whose maximum is not @mine, or 0 if there is none. */
int64_t view_other_max(const zkr_contenders *permits, int64_t mine);

#endif

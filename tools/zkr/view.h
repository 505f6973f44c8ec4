/* SPDX-License-Identifier: Apache-2.0 */
/* The contenders at a path, shown as a table or as JSON. */
#ifndef ZKR_CLI_VIEW_H
#define ZKR_CLI_VIEW_H

#include <zkr/contenders.h>

#include "json.h"
#include "peers.h"

/** The lists read at a path: its queue, the holders of permits, and the queue for permits. Each may be NULL. */
enum { VIEW_QUEUE, VIEW_PERMITS, VIEW_GATE, VIEW_LISTS };

struct view_row {
    const zkr_contender *c;
    const char *server; /* of its session; NULL: not known */
    int64_t permits;    /* number of permits held, or 0 */
    bool holds;
};

/* The rows to be shown. */
struct view {
    const char *kind; /* of the holders, else of the first contender; NULL: nobody */
    bool semaphore;
    bool unordered;            /* the order of the recipe is not known */
    int64_t permits;           /* number of permits held */
    int64_t max;               /* of the semaphore, 0 = not known */
    const struct peers *peers; /* borrowed */
    size_t holders, count;
    struct view_row *rows; /* holders first, then the queue, in order */
};

/** Fills @v, which borrows the lists. False: out of memory. Call view_end() in any case. */
bool view_begin(struct view *v, zkr_contenders *const *lists, const struct peers *p);
/** Adds the path itself as the only row. The view must be empty. */
void view_add_node(struct view *v, const zkr_contender *node);
void view_end(struct view *v);
/** Prints a table. The view must have a row. */
void view_print(FILE *out, const struct view *v);
/** Prints one line of JSON, whose format is part of the interface, see zkr.1. */
void view_json(FILE *out, const char *path, const struct view *v, bool exists);
/** Warns on stderr if the first node of the queue is not ephemeral, so no session end deletes it. Returns whether it warned.
 */
bool view_warn_stays(const char *path, const zkr_contenders *queue);
/** Warns on stderr about the contenders. Returns whether it warned. */
bool view_warn(const char *path, zkr_contenders *const *lists);
/** The maximum in the data of the newest permit that has one; 0 = not known. */
int64_t view_max(const zkr_contenders *permits);
/** The maximum in the data of the newest permit that has another one than @mine; 0 = none. */
int64_t view_other_max(const zkr_contenders *permits, int64_t mine);

#endif

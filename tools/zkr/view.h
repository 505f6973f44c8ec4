/* SPDX-License-Identifier: Apache-2.0 */
/* Contenders, shown as tables or as JSON. */
#ifndef ZKR_CLI_VIEW_H
#define ZKR_CLI_VIEW_H

#include <zkr/contenders.h>

#include "peers.h"

/** The lists read at a path; a view borrows them. */
struct view_lists {
    const zkr_contenders *queue;  /* at the path */
    const zkr_contenders *leases; /* holders of permits; NULL or empty = none */
    const zkr_contenders *gate;   /* the queue for permits */
};

struct view_row {
    const zkr_contender *c;
    const char *owner;  /* for people */
    const char *server; /* of its session; NULL: not known */
    int64_t permits;    /* number of permits held, or 0 */
    bool holds;
};

/* The rows to be shown. */
struct view {
    const char *kind; /* of the holders, else of the first; NULL: nobody */
    bool semaphore;
    int64_t permits;           /* number of permits held */
    int64_t max;               /* of the semaphore, 0 = not known */
    const struct peers *peers; /* borrowed */
    size_t holders, count;
    struct view_row *rows; /* holders first, then the queue, in order */
};

/** False: out of memory. Call view_end() in any case. */
bool view_begin(struct view *v,
                const struct view_lists *lists,
                const struct peers *peers);
void view_end(struct view *v);

/** Prints a table; there is at least one row. */
void view_print(FILE *out, const struct view *v);

/** One line; its format is part of the interface, see zkr.1. */
void view_json(FILE *out, const char *path, const struct view *v, bool exists);

/** A warning about the contenders, for people. False: none. */
bool view_warning(const struct view_lists *lists, char *text, size_t size);

/** The first of the list, as a line of text or of JSON. */
void view_leader_print(FILE *out, const zkr_contenders *list);
void view_leader_json(FILE *out, const char *path, const zkr_contenders *list);

/** The members about the first holder; @c NULL: nobody holds. */
void view_holder_json(struct json *j, const zkr_contender *c);

/** The word for a ZKR_KIND_. */
const char *view_kind(int kind);

/** For how long it has been held, such as "2m05s", or "<3m10s" when only a limit of it is known. */
void view_held(char *buf, size_t size, const zkr_contender *c);

/** The time since @since_ms, in milliseconds since 1970, such as "2m05s". */
void view_age(char *buf, size_t size, int64_t since_ms);

#endif

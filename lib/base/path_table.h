/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things found by their path. There may be tens of thousands, so each pays two words for being in the table.
 * The text of the path is the thing's own, and stays as it is meanwhile.
 */
#ifndef ZKR_BASE_PATH_TABLE_H
#define ZKR_BASE_PATH_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct zkr__path_slot;

/* Embedded in the thing. Zeroed: in no table. */
struct zkr__path_entry {
    struct zkr__path_entry *next; /* of the same slot */
    const char *path;             /* NULL = in no table */
};

/* Zeroed: empty, and takes no memory. */
struct zkr__path_table {
    struct zkr__path_slot *slots;
    size_t slot_count, count;
};

/* Add an entry that is in no table. False: no memory. */
bool zkr__path_table_add(struct zkr__path_table *table,
                         struct zkr__path_entry *entry,
                         const char *path);
/* A no-op when it is in no table. */
void zkr__path_table_remove(struct zkr__path_table *table,
                            struct zkr__path_entry *entry);
/* The entry of that path, or NULL. */
struct zkr__path_entry *zkr__path_table_find(const struct zkr__path_table *table,
                                             const char *path);

#endif

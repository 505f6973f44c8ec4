/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects found by their path. There may be tens of thousands, so an entry is two words. The text of the path belongs
 * to the object, and does not change meanwhile.
 */
#ifndef ZKR_BASE_PATH_TABLE_H
#define ZKR_BASE_PATH_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Embedded in the object. Zeroed: in no table. */
struct zkr__path_entry {
    struct zkr__path_entry *next; /* in the same slot */
    const char *path;             /* NULL = in no table */
};

/* Zeroed: empty, and takes no memory. */
struct zkr__path_table {
    struct zkr__path_entry **slots;
    size_t slot_count, count;
};

/* Add an entry that is in no table. False: no memory. */
bool zkr__path_table_add(struct zkr__path_table *table,
                         struct zkr__path_entry *entry,
                         const char *path);
/* Does nothing when the entry is in no table. */
void zkr__path_table_remove(struct zkr__path_table *table,
                            struct zkr__path_entry *entry);
/* The entry of that path, or NULL. */
struct zkr__path_entry *zkr__path_table_find(const struct zkr__path_table *table,
                                             const char *path);

#endif

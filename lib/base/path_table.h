/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of objects by path. An entry has only two words, because a table may have tens of thousands of entries. The
 * object owns the text of its path, and must not change it while the entry is in a table.
 */
#ifndef ZKR_BASE_PATH_TABLE_H
#define ZKR_BASE_PATH_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Embedded in the object. A zeroed entry is in no table. */
struct zkr__path_entry {
    struct zkr__path_entry *next; /* next in the same slot */
    const char *path;             /* NULL = in no table */
};

/* A zeroed table is empty and owns no memory. */
struct zkr__path_table {
    struct zkr__path_entry **slots;
    size_t slot_count, count;
};

/* Add an entry that is in no table. Returns false if memory runs out. */
bool zkr__path_table_add(struct zkr__path_table *table,
                         struct zkr__path_entry *entry,
                         const char *path);
/* Remove an entry. If it is in no table, do nothing. */
void zkr__path_table_remove(struct zkr__path_table *table,
                            struct zkr__path_entry *entry);
/* Returns the entry for @path, or NULL. */
struct zkr__path_entry *zkr__path_table_find(const struct zkr__path_table *table,
                                             const char *path);

#endif

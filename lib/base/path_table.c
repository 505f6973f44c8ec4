/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path_table.h"

#include <string.h>

#include "base/mem.h"
#include "base/table.h"

/* CROWDED: the average number of entries in a slot at which the table grows. */
enum { FEWEST_SLOTS = 4, CROWDED = 4 };

/* slot_count must be a power of 2. */
static struct zkr__path_entry **slot_of(const struct zkr__path_table *table,
                                        const char *path)
{
    return &table->slots[zkr__table_hash(path, strlen(path)) & (table->slot_count - 1)];
}

static void put(struct zkr__path_table *table, struct zkr__path_entry *entry)
{
    struct zkr__path_entry **slot = slot_of(table, entry->path);
    entry->next = *slot;
    *slot = entry;
}

/* If memory runs out, keep the existing slots. Returns false if there are none. */
static bool grow(struct zkr__path_table *table)
{
    struct zkr__path_table bigger = {.count = table->count};
    bigger.slot_count = table->slots ? 2 * table->slot_count : FEWEST_SLOTS;
    bigger.slots = zkr__mem_alloc(bigger.slot_count * sizeof(void *));
    if (!bigger.slots) {
        return table->slots != NULL;
    }
    for (size_t i = 0; table->slots && i < table->slot_count; i++) {
        struct zkr__path_entry *entry, *next;
        for (entry = table->slots[i]; entry; entry = next) {
            next = entry->next;
            put(&bigger, entry);
        }
    }
    zkr__mem_free(table->slots);
    *table = bigger;
    return true;
}

bool zkr__path_table_add(struct zkr__path_table *table,
                         struct zkr__path_entry *entry,
                         const char *path)
{
    if (table->count >= CROWDED * table->slot_count && !grow(table)) {
        return false;
    }
    entry->path = path;
    put(table, entry);
    table->count++;
    return true;
}

void zkr__path_table_remove(struct zkr__path_table *table,
                            struct zkr__path_entry *entry)
{
    if (!entry->path) {
        return;
    }
    struct zkr__path_entry **at = slot_of(table, entry->path);
    while (*at != entry) {
        at = &(*at)->next;
    }
    *at = entry->next;
    *entry = (struct zkr__path_entry){.next = NULL};
    if (--table->count == 0) {
        zkr__mem_free(table->slots);
        *table = (struct zkr__path_table){.slots = NULL};
    }
}

struct zkr__path_entry *zkr__path_table_find(const struct zkr__path_table *table,
                                             const char *path)
{
    if (!table->slots) {
        return NULL;
    }
    struct zkr__path_entry *entry = *slot_of(table, path);
    while (entry && strcmp(entry->path, path) != 0) {
        entry = entry->next;
    }
    return entry;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Includes uthash, with settings that keep it from calling exit() when memory runs out. No other file includes uthash.
 */
#ifndef ZKR_BASE_TABLE_H
#define ZKR_BASE_TABLE_H

#include <stddef.h>

#include "base/mem.h"

#define HASH_NONFATAL_OOM 1
#define uthash_malloc(size) zkr__mem_alloc(size)
#define uthash_free(ptr, size) zkr__mem_free(ptr)
/* FNV-1a suits short keys, and uthash's default function causes compiler warnings. */
#define HASH_FUNCTION(key, len, hash) ((hash) = zkr__table_hash((key), (size_t)(len)))

static inline unsigned zkr__table_hash(const void *key, size_t len)
{
    const unsigned char *p = key;
    unsigned hash = 2166136261U;
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ p[i]) * 16777619U;
    }
    return hash;
}

#include <uthash.h>

/* Start with few buckets, because most tables have few entries, and a table that becomes empty frees its buckets. */
#undef HASH_INITIAL_NUM_BUCKETS
#undef HASH_INITIAL_NUM_BUCKETS_LOG2
#define HASH_INITIAL_NUM_BUCKETS 4U
#define HASH_INITIAL_NUM_BUCKETS_LOG2 2U

#include <utlist.h>

#endif

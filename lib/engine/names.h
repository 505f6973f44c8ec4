/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of lock nodes: "_c_" GUID "-" PREFIX NUMBER, as Curator writes them, and what others write beside
 * them. Pure; every input is safe.
 */
#ifndef ZKR_ENGINE_NAMES_H
#define ZKR_ENGINE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/guid.h"

/* The recipe of a node, by its prefix. */
enum zkr__name_kind {
    ZKR__NAME_LOCK,  /* "lock-": mutex, leader selector */
    ZKR__NAME_READ,  /* "__READ__" */
    ZKR__NAME_WRITE, /* "__WRIT__" */
    ZKR__NAME_LATCH, /* "latch-" */
    ZKR__NAME_LEASE, /* "lease-": semaphore */
    ZKR__NAME_OTHER  /* of somebody else */
};

/* Curator's protection: "_c_" GUID "-". */
#define ZKR__PROTECTED "_c_"
#define ZKR__PROTECTED_LEN (sizeof(ZKR__PROTECTED) - 1 + ZKR__GUID_LEN + 1)

/* What a node's data are set to when its holder is asked to let go (Curator: Revoker). */
#define ZKR__WISH "__REVOKE__"

/* Bytes for the longest name of any kind, and its end. */
enum {
    ZKR__NAME_ROOM = ZKR__PROTECTED_LEN + sizeof("__READ__") - 1 + sizeof("-2147483648")
};

/* Servers number children with a signed 32-bit count that sticks here; then numbers repeat. */
#define ZKR__SEQUENCE_LIMIT INT64_C(2147483647)
/* From here on we warn, and restart the count when a path is left empty. */
#define ZKR__SEQUENCE_WARN (INT64_C(1) << 30)

/* The name to ask for, into @out of ZKR__NAME_ROOM bytes. Not of ZKR__NAME_OTHER. */
void zkr__name_make(char *out,
                    enum zkr__name_kind kind,
                    const char guid[ZKR__GUID_LEN + 1]);

/* Turn the name, or path, of a writer's node into that of the reader with its number, or back. */
void zkr__name_turn(char *name, enum zkr__name_kind kind);

/*
 * The number of a sequential child, whoever made it: its last ten digits, after a minus in a count that ran
 * over. It may be higher than any that servers give out. False when it has none: no contender. A prefix of ours counts when the number stands right behind it.
 */
bool zkr__name_parse(const char *name, enum zkr__name_kind *kind, int64_t *sequence);

/*
 * Is @name what servers make of a name of @kind with the protection of @mine, which may be the same: that, its number,
 * and nothing else?
 */
bool zkr__name_grew(const char *name,
                    const char *mine,
                    enum zkr__name_kind kind,
                    int64_t *sequence);

/* These data say ZKR__WISH, and no more; compressed they say it, too. */
bool zkr__is_wish(const void *data, size_t len);

/* They are gzip, as Curator from 5.8 on may write them. */
bool zkr__is_compressed(const void *data, size_t len);

#endif

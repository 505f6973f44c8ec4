/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of lock nodes: "_c_" GUID "-" PREFIX NUMBER, as in Curator, and any other names beside them. Pure; every input
 * is safe.
 */
#ifndef ZKR_QUEUE_NAMES_H
#define ZKR_QUEUE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The recipe of a node, recognized by its prefix. */
enum zkr__name_kind {
    ZKR__NAME_LOCK,  /* "lock-": mutex, leader selector */
    ZKR__NAME_READ,  /* "__READ__" */
    ZKR__NAME_WRITE, /* "__WRIT__" */
    ZKR__NAME_LATCH, /* "latch-" */
    ZKR__NAME_LEASE, /* "lease-": semaphore */
    ZKR__NAME_OTHER  /* any other */
};

/* Curator's protection: "_c_" GUID "-". */
#define ZKR__PROTECTED "_c_"
#define ZKR__GUID_LEN 36
#define ZKR__PROTECTED_LEN (sizeof(ZKR__PROTECTED) - 1 + ZKR__GUID_LEN + 1)

/* Bytes for the longest name of any kind, with the terminating NUL. */
enum {
    ZKR__NAME_ROOM = ZKR__PROTECTED_LEN + sizeof("__READ__") - 1 + sizeof("-2147483648")
};

/* Servers number children with a signed 32-bit count that stops here; after that, numbers repeat. */
#define ZKR__SEQUENCE_LIMIT INT64_C(2147483647)
/* From here on the client warns, and restarts the count when a path is left empty. */
#define ZKR__SEQUENCE_WARN (INT64_C(1) << 30)

/* Write the name for a create request of any kind but ZKR__NAME_OTHER to @out, which has ZKR__NAME_ROOM bytes. */
void zkr__name_make(char *out,
                    enum zkr__name_kind kind,
                    const char guid[ZKR__GUID_LEN + 1]);

/* Change the name or path of a writer's node to that of the reader with its number, or back. */
void zkr__name_turn(char *name, enum zkr__name_kind kind);

/*
 * The number of a sequential child of any client: the last ten digits of its name, after a minus if the count has
 * overflowed. It may exceed any number that servers give out. False: no number, so the child is no contender. @kind is
 * that of the prefix right before the number.
 */
bool zkr__name_parse(const char *name, enum zkr__name_kind *kind, int64_t *sequence);

/* Does @name, of @kind, consist of Curator's protection (as ours), its prefix and its number? */
bool zkr__name_is_protected(const char *name, enum zkr__name_kind kind);

/*
 * Is @name what a server makes of our name @mine, of @kind: the same protection and prefix, followed by only a number?
 */
bool zkr__name_grew(const char *name,
                    const char *mine,
                    enum zkr__name_kind kind,
                    int64_t *sequence);

#endif

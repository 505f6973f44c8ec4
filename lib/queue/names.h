/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses and makes the names of lock nodes. Our names are "_c_" GUID "-" PREFIX NUMBER, as in Curator. Other clients
 * may use any names. Pure. Every input is safe.
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

/* The size of the longest name of any kind, with the terminating zero. */
enum {
    ZKR__NAME_ROOM = ZKR__PROTECTED_LEN + sizeof("__READ__") - 1 + sizeof("-2147483648")
};

/* The highest value of the signed 32-bit count by which servers number children. Beyond it, numbers are repeated. */
#define ZKR__SEQUENCE_LIMIT INT64_C(2147483647)
/* From this number on, the client logs a warning, and restarts the count when a path becomes empty. */
#define ZKR__SEQUENCE_WARN (INT64_C(1) << 30)

/* Write to @out, which has ZKR__NAME_ROOM bytes, the name for a create request of any kind except ZKR__NAME_OTHER. */
void zkr__name_make(char *out,
                    enum zkr__name_kind kind,
                    const char guid[ZKR__GUID_LEN + 1]);

/* Change the name or path of a WRIT node in place to that of the READ node with the same number, or back. */
void zkr__name_turn(char *name, enum zkr__name_kind kind);

/*
 * Get the number of a sequential child of any client: the last ten digits of its name, negative if the count has
 * overflowed. The number may be higher than any number that servers assign. Sets *kind from the prefix right before the
 * number. Returns false if there is no number, in which case the child is not a contender.
 */
bool zkr__name_parse(const char *name, enum zkr__name_kind *kind, int64_t *sequence);

/* Returns whether @name, of @kind, consists of Curator's protection (which our names have), the prefix and a number. */
bool zkr__name_is_protected(const char *name, enum zkr__name_kind kind);

/*
 * Returns whether a server made @name from our requested name @mine, of @kind: both have the same protection and
 * prefix, and only a number follows.
 */
bool zkr__name_grew(const char *name,
                    const char *mine,
                    enum zkr__name_kind kind,
                    int64_t *sequence);

#endif

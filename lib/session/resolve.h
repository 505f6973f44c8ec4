/* SPDX-License-Identifier: Apache-2.0 */
/* Server lists: "host:port,host:port/chroot". */
#ifndef ZKR_SESSION_RESOLVE_H
#define ZKR_SESSION_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

/* ZKR_OK, or ZKR_EINVAL with the thread's error detail saying what is wrong. */
int zkr__servers_check(const char *servers);

/* Addresses and no names: nobody has to be asked. */
bool zkr__servers_numeric(const char *servers);

/*
 * The same list with numeric addresses, as libzookeeper takes it. Blocks while the resolver does.
 * Names that cannot be resolved are left out; ZKR_ECONNLOSS with @why filled when none can.
 */
int zkr__servers_resolve(const char *servers, char **out, char *why, size_t why_size);

/* The same of those that are addresses already, at once: ZKR_ECONNLOSS when none is. */
int zkr__servers_addresses(const char *servers, char **out);

/* From the slash on; "" when there is none. */
const char *zkr__servers_chroot(const char *servers);

/* Is "host:port", without brackets around IPv6, one of a resolved list? */
bool zkr__servers_has(const char *servers, const char *address);

/* Do two resolved lists have the same addresses, in any order? */
bool zkr__servers_same(const char *one, const char *other);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Server lists: "host:port,host:port/chroot". */
#ifndef ZKR_SESSION_RESOLVE_H
#define ZKR_SESSION_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

/* ZKR_OK, or ZKR_EINVAL with the thread's error detail saying what is wrong. */
int zkr__servers_check(const char *servers);

/* Only addresses, no names? */
bool zkr__servers_numeric(const char *servers);

/*
 * The same list with numeric addresses, as libzookeeper takes it. With @ask the resolver is asked for the addresses of
 * the names, which may take long; names that cannot be resolved are left out. ZKR_ECONNLOSS without any address, and
 * ZKR_ENOMEM; @out is NULL then, and @why says why.
 */
int zkr__servers_resolve(const char *servers,
                         bool ask,
                         char **out,
                         char *why,
                         size_t why_size);

/*
 * Does libzookeeper take addresses of this family on this host? It calls getaddrinfo() with AI_ADDRCONFIG for each address.
 * If the host has other addresses than loopback in the other family alone, glibc refuses addresses of this family.
 * libzookeeper takes IPv4 written as IPv6, such as ::ffff:127.0.0.1, on every host: zkr__servers_resolve() writes it so.
 */
enum zkr__ip { ZKR__IPV4, ZKR__IPV6 };
bool zkr__servers_takes(enum zkr__ip ip);

/* From the slash on; "" without a chroot. */
const char *zkr__servers_chroot(const char *servers);

/* Has a resolved list, which may be NULL, this "host:port" of @len bytes? IPv6 stands without brackets. */
bool zkr__servers_has(const char *servers, const char *address, size_t len);

/* Have two resolved lists the same addresses, in any order? */
bool zkr__servers_same(const char *one, const char *other);
/* Has the resolved @list all of @addresses? */
bool zkr__servers_include(const char *list, const char *addresses);

/*
 * A copy of a resolved list for libzookeeper, with an odd number of addresses: one that @pick chooses may stand there
 * twice. After its first round libzookeeper (3.8.0 to 3.9.6) goes on by two at each failure, so it never tries half of an
 * even list again, and never pauses (ZOOKEEPER-2466). NULL: no memory.
 */
char *zkr__servers_odd(const char *servers, unsigned pick);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Server lists: "host:port,host:port/chroot". */
#ifndef ZKR_SESSION_RESOLVE_H
#define ZKR_SESSION_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

/* Check a server list. Returns ZKR_OK, or ZKR_EINVAL with the thread's last error set. */
int zkr__servers_check(const char *servers);

/* Returns whether the list has only addresses, no names. */
bool zkr__servers_numeric(const char *servers);

/*
 * Set *@out to the same list with numeric addresses, in libzookeeper's format. With @ask, names are resolved, which may
 * take long. Names that cannot be resolved are left out. Fails with ZKR_ECONNLOSS if there is no address, or with
 * ZKR_ENOMEM. Then *@out is NULL, and @why gives the reason.
 */
int zkr__servers_resolve(const char *servers,
                         bool ask,
                         char **out,
                         char *why,
                         size_t why_size);

/*
 * Returns whether libzookeeper accepts addresses of this family on this host. libzookeeper calls getaddrinfo() with
 * AI_ADDRCONFIG for each address. If only the other family has addresses besides loopback, glibc refuses addresses of
 * this family. IPv4-mapped IPv6 addresses, for example ::ffff:127.0.0.1, are accepted on every host. Where IPv4 is
 * refused, zkr__servers_resolve() writes literal and loopback IPv4 addresses in this form.
 */
enum zkr__ip { ZKR__IPV4, ZKR__IPV6 };
bool zkr__servers_takes(enum zkr__ip ip);

/* Returns the chroot with its leading slash, or "" if there is none. */
const char *zkr__servers_chroot(const char *servers);

/*
 * Returns whether a resolved list, which may be NULL, has this "host:port" of @len bytes. IPv6 addresses have no
 * brackets.
 */
bool zkr__servers_has(const char *servers, const char *address, size_t len);

/* Returns whether two resolved lists have the same addresses, in any order. */
bool zkr__servers_same(const char *one, const char *other);
/* Returns whether the resolved @list has all of @addresses. */
bool zkr__servers_include(const char *list, const char *addresses);

/*
 * Returns a copy of a resolved list for libzookeeper, with an odd number of addresses. If necessary, the address that
 * @pick selects is repeated. After its first round libzookeeper (3.8.0 to 3.9.6) advances by two at each failure, so
 * if the number of addresses is even, it never retries half of them, and never pauses (ZOOKEEPER-2466). Returns NULL if
 * memory runs out.
 */
char *zkr__servers_odd(const char *servers, unsigned pick);

#endif

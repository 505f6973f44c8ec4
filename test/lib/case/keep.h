/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_KEEP_H
#define ZKT_KEEP_H

/*
 * Objects that a case opens end with the case. Clients, locks, proxies and servers of fixture.h are kept automatically.
 * A body itself ends only the objects that it tests.
 */

/** Call @end(@object) at the end of the case, for the newest object first. Outside of cases, do nothing. */
void zkt_keep(void *object, void (*end)(void *object));

/** Forget @object, because the test ends it itself. */
void zkt_unkeep(const void *object);

/** Called when a case begins, and when a case has ended. */
void zkt_keep_begin(void);
void zkt_keep_end(void);

#endif
